//! The steps of a search: which are run, how it ends, and what of them is on disk meanwhile. What a step measures
//! comes from a [`Load`].

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use squall_analysis::Threshold;
use squall_limit::{
    LevelKind, Limit, LoadStep, Next, Recovery, RecoveryDetector, Search, SearchEnd, StepOutcome,
};
use squall_plan::model::Plan;
use squall_report::{Around, Meta, RunPhase, limit_html, limit_json, limit_text};

use super::level;
use super::load::Load;
use super::types::{LimitNotice, LimitOptions, LimitOutcome};
use super::window::Window;
use crate::error::Error;
use crate::handle::Handle;

/// Share of a step that is not measured, while connections are opened and the previous step dies away.
const UNMEASURED_SHARE: f64 = 0.2;
/// How long recovery is watched at most, in lengths of a step.
const MAX_RECOVERY_STEPS: u32 = 2;

/// Runs a plan at different load levels.
pub(super) struct Steps<'a> {
    pub load: &'a dyn Load,
    pub plan: &'a Plan,
    pub asked: &'a LimitOptions,
    pub meta: Meta,
    pub by: LevelKind,
    pub from: f64,
    pub requirements: Vec<Threshold>,
    pub handle: &'a Handle,
    /// Where the steps that are done are written after each of them: a search that is killed loses only the
    /// step that it was at.
    pub folder: Option<PathBuf>,
    /// What became of setup and teardown, as far as they are over.
    pub phases: Vec<RunPhase>,
    /// What of the losses of monitors was told, without its numbers.
    pub losses: Vec<String>,
    pub tell: &'a mut dyn FnMut(LimitNotice<'_>),
}

/// What is done of a search.
#[derive(Debug, Clone, Default)]
struct Done {
    steps: Vec<LoadStep>,
    recoveries: Vec<Recovery>,
    /// How long after the end of the last step its last request was over.
    tail: Duration,
}

/// How a search ends, unless an error of the generator ends it.
type Ending = Result<SearchEnd, Error>;

impl Steps<'_> {
    /// Runs all steps, unless the setup was the `end`, and says what follows from them.
    pub(super) fn run(&mut self, end: Option<SearchEnd>) -> LimitOutcome {
        let (by, from, to) = (self.by, self.from, self.asked.to);
        let search = Search { by, from, to, max_steps: self.asked.max_steps as usize };
        let mut done = Done::default();
        let end = end.map_or_else(|| self.search(search, &mut done), Ok);
        self.conclude(done, end)
    }

    /// Raises the load until a requirement is violated, then narrows down the sustained maximum.
    fn search(&mut self, search: Search, done: &mut Done) -> Ending {
        let mut recovered = true;
        loop {
            let level = match search.next(&done.steps, recovered) {
                Next::Try(level) => level,
                Next::Done(end) => return Ok(end),
            };
            let Some(outcome) = self.step(level, search.max_steps, done)? else {
                return Ok(SearchEnd::Interrupted);
            };
            recovered = matches!(outcome, StepOutcome::Met | StepOutcome::Borderline)
                || self.watch(level, done)?;
            if self.is_interrupted() {
                return Ok(SearchEnd::Interrupted);
            }
        }
    }

    /// Runs one step; `None`: it was interrupted, and counts for nothing.
    fn step(
        &mut self,
        level: f64,
        of: usize,
        done: &mut Done,
    ) -> Result<Option<StepOutcome>, Error> {
        let first = unmeasured(self.asked.step);
        let mut window =
            Window::new(first, whole(self.asked.step) - first).map_err(Error::incomplete)?;
        let length = self.asked.step;
        let ran =
            self.load.measure(&self.at(level, length), length, &mut |slice| window.add(slice))?;
        if self.is_interrupted() {
            return Ok(None);
        }
        let step = window
            .step(level, self.arrivals(level), &self.requirements, &ran.host)
            .map_err(Error::incomplete)?;
        let outcome = step.outcome();
        for loss in ran.losses {
            // It is told once, however many samples of further steps are lost.
            let kind = loss.replace(|c: char| c.is_ascii_digit(), "");
            if !self.losses.contains(&kind) {
                (self.tell)(LimitNotice::Warning(&format!("{loss}\n")));
                self.losses.push(kind);
            }
        }
        let number = done.steps.len() + 1;
        (self.tell)(LimitNotice::Step { step: &step, by: self.by, number, most: of });
        done.steps.push(step);
        done.tail = ran.tail;
        self.save_done(done);
        Ok(Some(outcome))
    }

    /// The plan at a level, for this long.
    fn at(&self, level: f64, length: Duration) -> Plan {
        // What is in flight at its end has another step to end.
        level::at(self.plan, self.by, level, length, self.asked.step)
    }

    /// The rate of arrivals at a level, if all the load is arrivals.
    fn arrivals(&self, level: f64) -> Option<f64> {
        level::arrivals(&self.at(level, Duration::ZERO))
    }

    /// Watches the target at the lowest level that met the requirements, until its latency is back to normal.
    /// `false`: it was not in time.
    fn watch(&self, from: f64, done: &mut Done) -> Result<bool, Error> {
        let met = done.steps.iter().filter(|step| step.met() && step.mean_us > 0.0);
        let Some(normal) = met.min_by(|a, b| a.level.total_cmp(&b.level)) else { return Ok(true) };
        let at = normal.level;
        let detector = RecoveryDetector::new(normal);
        let length = self.asked.step * MAX_RECOVERY_STEPS;
        let seconds = self.load.watch(&self.at(at, length), length, detector)?;
        if !self.is_interrupted() {
            // It begins when the load that was too much ends.
            let tail = done.tail.as_secs_f64();
            let seconds = seconds.map(|seconds| tail + seconds);
            let watched_s = tail + length.as_secs_f64();
            done.recoveries.push(Recovery { from, at, seconds, watched_s });
            self.save_done(done);
        }
        Ok(seconds.is_some())
    }

    fn is_interrupted(&self) -> bool {
        self.handle.is_stopped()
    }

    /// What follows from what is done.
    fn limit(&self, done: Done, end: SearchEnd) -> Limit {
        let limit = Limit::new(self.plan.name.clone(), self.by, done.steps, end);
        Limit { recoveries: done.recoveries, ..limit }
    }

    /// Writes what is done so far. If that fails, so will the result, which says so.
    fn save_done(&self, done: &Done) {
        let limit = self.limit(done.clone(), SearchEnd::Interrupted);
        let _ = self.save(&limit, &[]);
    }

    /// Writes a result into the folder, with what has failed.
    pub(super) fn save(&self, limit: &Limit, failures: &[String]) -> Result<(), String> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let around = Around { phases: &self.phases, failures };
        let text = limit_text(limit, &self.meta, around);
        let json = format!("{:#}\n", limit_json(limit, &self.meta, around));
        let page = limit_html(limit, &self.meta, failures);
        for (name, content) in [("limit.txt", text), ("limit.json", json), ("limit.html", page)] {
            let path = folder.join(name);
            squall_report::replace_file(&path, |mut file| file.write_all(content.as_bytes()))
                .map_err(|error| format!("{}: {error}", path.display()))?;
        }
        Ok(())
    }

    fn conclude(&self, done: Done, ending: Ending) -> LimitOutcome {
        let (end, broken) = match ending {
            Ok(end) => (end, None),
            Err(failure) => (SearchEnd::Interrupted, Some(failure.text)),
        };
        let limit = self.limit(done, end);
        let failures: Vec<String> = broken.into_iter().collect();
        // The teardown may take long. What cannot be written now may be after it, which says so if it cannot.
        let _ = self.save(&limit, &failures);
        let (meta, folder) = (self.meta.clone(), self.folder.clone());
        LimitOutcome { meta, limit, failures, folder, phases: Vec::new() }
    }
}

/// Whole seconds of a step.
fn whole(step: Duration) -> u32 {
    u32::try_from(step.as_secs()).unwrap_or(u32::MAX)
}

/// Seconds at the start of a step that are not measured.
fn unmeasured(step: Duration) -> u32 {
    (step.as_secs_f64() * UNMEASURED_SHARE).ceil() as u32
}
