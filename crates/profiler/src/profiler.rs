//! The sink that takes a profile while the load runs.

use std::io;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use squall_plan::model;
use squall_report::{Profile, Run};
use squall_runner::{Event, EventKind, Phase, Profiled, Second, Sink, Start, Wanted};

use crate::begin::Begin;
use crate::stop::Stop;
use crate::take::{Order, take};
use crate::tools::Supervised;

/// How long a profile takes whose plan does not say.
const USUAL: Duration = Duration::from_secs(10);

/// Finds the processes that are to be profiled.
type Find = Box<dyn Fn() -> io::Result<Vec<u32>> + Send>;

/// Takes a profile of the target's CPU time while the load runs.
pub struct Profiler {
    process: String,
    lasts: Duration,
    begin: Begin,
    /// Until it has begun.
    find: Option<Find>,
    /// squall's own program, which is the supervisor of those that take the profile.
    squall: PathBuf,
    /// When the load began.
    load_began: Option<Instant>,
    /// Who takes it, until it was waited for.
    taking: Option<JoinHandle<()>>,
    stop: Stop,
    profiled: Profiled,
}

impl Profiler {
    /// As a plan says. `find` finds the processes when it begins; `squall` is squall's own program.
    ///
    /// # Errors
    /// What the plan says is wrong, in a sentence.
    pub fn new(
        profile: &model::Profile,
        squall: PathBuf,
        find: impl Fn() -> io::Result<Vec<u32>> + Send + 'static,
    ) -> Result<Profiler, String> {
        Ok(Profiler {
            process: profile.process.value.clone(),
            lasts: profile.lasts.unwrap_or(USUAL),
            begin: Begin::of(profile)?,
            find: Some(Box::new(find)),
            squall,
            load_began: None,
            taking: None,
            stop: Stop::default(),
            profiled: Profiled::default(),
        })
    }

    /// Begins to take it, on a thread of its own: programs take their time.
    fn begin(&mut self) {
        let (Some(find), Some(load_began)) = (self.find.take(), self.load_began) else { return };
        let (process, lasts) = (self.process.clone(), self.lasts);
        let (squall, stop, profiled) =
            (self.squall.clone(), self.stop.clone(), self.profiled.clone());
        let run = move || {
            let from_s = load_began.elapsed().as_secs_f64();
            match taken(&find, lasts, &squall, &stop) {
                Ok(taken) => profiled.took(Profile {
                    process,
                    tool: taken.tool.to_owned(),
                    from_s,
                    lasts_s: taken.lasted.as_secs_f64(),
                    stacks: taken.stacks,
                }),
                Err(error) => profiled.failed(untaken(&process, &error)),
            }
        };
        match std::thread::Builder::new().name("profile".to_owned()).spawn(run) {
            Ok(thread) => self.taking = Some(thread),
            Err(error) => self.profiled.failed(untaken(&self.process, &error.to_string())),
        }
    }

    /// Waits until it is taken.
    fn settle(&mut self) {
        self.stop.stop();
        if let Some(thread) = self.taking.take() {
            if thread.join().is_err() {
                let why = "it panicked: this is a bug of squall";
                self.profiled.failed(untaken(&self.process, why));
            }
        } else if self.find.take().is_some() && self.load_began.is_some() {
            self.profiled.failed(untaken(&self.process, &self.begin.missed()));
        }
    }
}

impl Sink for Profiler {
    fn start(&mut self, _: &Start) -> io::Result<Wanted> {
        Ok(Wanted { profile: Some(self.profiled.clone()), ..Wanted::default() })
    }

    fn second(&mut self, second: &Second) -> io::Result<()> {
        if self.find.is_some() && self.begin.after(second.second, &second.slices) {
            self.begin();
        }
        Ok(())
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        match event.kind {
            EventKind::PhaseBegan(Phase::Load) => {
                self.load_began = Some(Instant::now());
                if matches!(self.begin, Begin::At(at) if at.is_zero()) {
                    self.begin();
                }
            }
            EventKind::PhaseEnded { phase: Phase::Load, .. } => self.stop.stop(),
            EventKind::Evaluated(_) => self.settle(),
            _ => {}
        }
        Ok(())
    }

    fn finish(&mut self, _: &Run) -> io::Result<()> {
        Ok(())
    }
}

/// Why there is no profile, as a warning.
fn untaken(process: &str, why: &str) -> String {
    format!("there is no profile of {process}: {why}")
}

fn taken(
    find: &Find,
    lasts: Duration,
    squall: &Path,
    stop: &Stop,
) -> Result<crate::take::Taken, String> {
    let pids = find().map_err(|error| error.to_string())?;
    if pids.is_empty() {
        return Err("its process was not found".to_owned());
    }
    let folder = tempfile::Builder::new().prefix("squall-profile-").tempdir();
    let folder = folder.map_err(|error| format!("no folder for it: {error}"))?;
    let mut tools = Supervised::start(squall, folder.path())?;
    take(&Order { pids, lasts, folder: folder.path().to_owned() }, &mut tools, stop)
}
