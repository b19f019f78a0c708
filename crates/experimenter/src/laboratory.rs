//! Makes runs for real: programs under a supervisor, and each run a process of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use squall_supervisor::{End, Launch, ProgramId, Supervisor};

use crate::clock::unix_time;
use crate::conduct::{Laboratory, RunFailure, RunMade, RunOrder, Stop};
use crate::logs::{LOGS, shown_log, slug, version_log};
use crate::measured::measured;
use crate::prepared::{Prepared, PreparedVariant};
use crate::programs::ServerProgram;
use crate::ready::ReadyCheck;
use crate::run_files::{command, folder_name, prefix, with_monitors, write_secret};

/// How often it is looked whether a program has ended, or a server is ready.
const LOOK: Duration = Duration::from_millis(20);
/// How long a run that is interrupted may take to end in order.
const RUN_ENDS_WITHIN: Duration = Duration::from_secs(40);
/// How long any other program may take that is interrupted.
const PROGRAM_ENDS_WITHIN: Duration = Duration::from_secs(5);
/// How long a server may take to print its version.
const VERSION_WITHIN: Duration = Duration::from_secs(10);
/// What programs that run after a run are called.
const AFTER: &str = "after";
/// The folder of runs, within that of the experiment.
pub const RUNS: &str = "runs";
/// Where the run in progress is, until its folder has its name.
const MAKING: &str = "in-progress";
/// The file of its plan, which holds secrets, until it is over.
const PLAN: &str = "plan-of-the-run.json";

/// Where and with what runs are made.
pub struct LocalLaboratory<'l> {
    own: &'l Prepared,
    /// The folder of the experiment, absolute.
    folder: PathBuf,
    supervisor: Supervisor,
    /// squall itself.
    squall: PathBuf,
    /// Further options of `squall run`.
    options: Vec<String>,
    is_interrupted: &'l dyn Fn() -> bool,
}

/// Why something did not work out.
enum Trouble {
    Stop(Stop),
    Failed(RunFailure),
}

impl Trouble {
    /// Something before the load.
    fn before(text: String) -> Trouble {
        Trouble::Failed(RunFailure { text, before_load: true })
    }
}

/// There is no supervisor any more.
fn ended(error: squall_supervisor::Error) -> Trouble {
    Trouble::Stop(Stop::Failed(error.to_string()))
}

/// A server that runs.
struct Running<'r> {
    server: &'r ServerProgram,
    id: ProgramId,
    pid: u32,
    log: PathBuf,
}

impl<'l> LocalLaboratory<'l> {
    pub fn new(
        own: &'l Prepared,
        folder: &Path,
        supervisor: Supervisor,
        squall: PathBuf,
        options: Vec<String>,
        is_interrupted: &'l dyn Fn() -> bool,
    ) -> std::io::Result<LocalLaboratory<'l>> {
        let folder = std::path::absolute(folder)?;
        fs::create_dir_all(folder.join(RUNS))?;
        fs::create_dir_all(folder.join(LOGS))?;
        let laboratory =
            LocalLaboratory { own, folder, supervisor, squall, options, is_interrupted };
        laboratory.forget_run();
        Ok(laboratory)
    }

    /// Sets each setting of each variant once and puts it back, so that what cannot be set is known before the first run.
    ///
    /// # Errors
    /// One cannot be set, in a sentence.
    pub fn try_settings(&mut self) -> Result<(), String> {
        let own = self.own;
        for variant in &own.variants {
            for (name, value) in &variant.sysctl {
                let set = self.supervisor.set(name, value);
                set.map_err(|error| format!("variant `{}`: {error}", variant.name))?;
            }
            self.restore()?;
        }
        Ok(())
    }

    /// Ends all that is left, and puts all settings back.
    pub fn close(mut self) -> Vec<String> {
        self.forget_run();
        let left = self.supervisor.stop_all().err().map(|error| error.to_string());
        left.into_iter().chain(self.restore().err()).collect()
    }

    /// Removes what a run that did not end has left.
    fn forget_run(&self) {
        // What is not there need not be removed.
        let _ = fs::remove_dir_all(self.folder.join(RUNS).join(MAKING));
        let _ = fs::remove_file(self.folder.join(RUNS).join(PLAN));
    }

    fn log(&self, name: &str) -> PathBuf {
        self.folder.join(LOGS).join(format!("{name}.log"))
    }

    /// Runs programs one after the other, each to its end.
    fn programs(
        &mut self,
        what: &str,
        commands: &[Vec<String>],
        log: &Path,
    ) -> Result<(), Trouble> {
        for command in commands {
            let launch = Launch {
                name: what.to_owned(),
                command: command.clone(),
                env: Vec::new(),
                directory: self.own.file.folder.clone(),
                cpus: None,
                log: log.to_owned(),
            };
            let said =
                |why: String| Trouble::before(format!("{what}: `{}` {why}", command.join(" ")));
            let started = self.supervisor.spawn(&launch);
            let id = started.map_err(|error| said(format!("could not be started: {error}")))?.id;
            // What clears up is let do so.
            let gives_up = || what != AFTER && (self.is_interrupted)();
            let end = self.supervisor.wait(id, gives_up).map_err(ended)?;
            let Some(end) = end else {
                self.stop(id, PROGRAM_ENDS_WITHIN);
                return Err(Trouble::Stop(Stop::Interrupted));
            };
            if !end.is_success() {
                return Err(said(format!("{end}{}", shown_log(log))));
            }
        }
        Ok(())
    }

    fn ended(&mut self, id: ProgramId) -> Result<Option<End>, Trouble> {
        self.supervisor.poll(id).map_err(ended)
    }

    /// Ends a program; what it left behind, in words.
    fn stop(&mut self, id: ProgramId, within: Duration) -> Vec<String> {
        match self.supervisor.stop(id, within) {
            Ok(end) => end.left_behind,
            Err(error) => vec![error.to_string()],
        }
    }

    /// Sets what the variant has of kernel settings.
    fn set(&mut self, variant: &PreparedVariant) -> Result<(), Trouble> {
        for (name, value) in &variant.sysctl {
            let set = self.supervisor.set(name, value);
            set.map_err(|error| Trouble::Stop(Stop::Failed(error.to_string())))?;
        }
        Ok(())
    }

    fn restore(&mut self) -> Result<(), String> {
        self.supervisor.restore().map_err(|error| error.to_string())
    }

    /// Lets the servers of a variant print their versions, each once. One that does not in time, or cannot be started, says
    /// nothing of it: that is no reason to fail a run.
    fn versions(&mut self, variant: usize) -> Result<(), Trouble> {
        let own = self.own;
        for server in &own.variants[variant].programs.servers {
            let log = version_log(&self.folder, &server.name, variant);
            if server.version.is_empty() || log.exists() {
                continue;
            }
            let launch = Launch {
                name: format!("version of {}", server.name),
                command: server.version.clone(),
                env: server.env.clone(),
                directory: server.directory.clone(),
                cpus: None,
                log,
            };
            let Ok(started) = self.supervisor.spawn(&launch) else { continue };
            let began = Instant::now();
            while self.ended(started.id)?.is_none() {
                if (self.is_interrupted)() || began.elapsed() >= VERSION_WITHIN {
                    self.stop(started.id, PROGRAM_ENDS_WITHIN);
                    break;
                }
                std::thread::sleep(LOOK);
            }
        }
        Ok(())
    }

    /// Starts a server and waits until it is ready.
    fn start<'r>(
        &mut self,
        server: &'r ServerProgram,
        prefix: &str,
        running: &mut Vec<Running<'r>>,
    ) -> Result<(), Trouble> {
        let name = &server.name;
        if let ReadyCheck::Http(place) | ReadyCheck::Tcp(place) = &server.ready
            && place.accepts()
        {
            return Err(Trouble::before(format!(
                "server `{name}`: something listens at {} already: stop it first, the run would drive that",
                place.host
            )));
        }
        let log = self.log(&format!("{prefix}-{name}"));
        // A run that was interrupted and is made again may have left one.
        let _ = fs::remove_file(&log);
        let launch = Launch {
            name: name.clone(),
            command: server.command.clone(),
            env: server.env.clone(),
            directory: server.directory.clone(),
            cpus: server.cpus.clone(),
            log: log.clone(),
        };
        let started = self.supervisor.spawn(&launch).map_err(|error| {
            Trouble::before(format!("server `{name}` could not be started: {error}"))
        })?;
        running.push(Running { server, id: started.id, pid: started.pid, log: log.clone() });
        self.wait_until_ready(server, started.id, &log)
    }

    fn wait_until_ready(
        &mut self,
        server: &ServerProgram,
        id: ProgramId,
        log: &Path,
    ) -> Result<(), Trouble> {
        let began = Instant::now();
        let name = &server.name;
        loop {
            if let Some(end) = self.ended(id)? {
                let text = format!("server `{name}` ended before it was ready: it {end}");
                return Err(Trouble::before(text + &shown_log(log)));
            }
            let Err(why) = server.ready.ask(began.elapsed(), log) else { return Ok(()) };
            let is_timed = !matches!(server.ready, ReadyCheck::After(_));
            if is_timed && began.elapsed() >= server.within {
                let within = squall_base::units::print_duration(server.within);
                let text = format!("server `{name}` was not ready within {within}: {why}");
                return Err(Trouble::before(text + &shown_log(log)));
            }
            if (self.is_interrupted)() {
                return Err(Trouble::Stop(Stop::Interrupted));
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Makes the run itself, whose servers are ready.
    fn drive(
        &mut self,
        order: RunOrder,
        prefix: &str,
        servers: &[Running<'_>],
    ) -> Result<(), Trouble> {
        let variant = &self.own.variants[order.variant];
        let log = self.log(&format!("{prefix}-run"));
        let _ = fs::remove_file(&log);
        let failed = |why: String| Trouble::Stop(Stop::Failed(why));
        let [plan, making] = [PLAN, MAKING].map(|name| self.folder.join(RUNS).join(name));
        let names = (self.own.name.as_str(), variant.name.as_str());
        let pids = servers.iter().map(|own| (own.server.name.as_str(), own.pid));
        write_secret(&plan, &with_monitors(&variant.plan, pids))
            .map_err(|error| failed(format!("{}: {error}", plan.display())))?;
        let launch = Launch {
            name: "squall run".to_owned(),
            command: command(&self.squall, &plan, &self.options, order, names, &making),
            env: Vec::new(),
            directory: self.own.file.folder.clone(),
            cpus: self.own.cpus.clone(),
            log: log.clone(),
        };
        let started = self.supervisor.spawn(&launch);
        let id = started.map_err(|error| failed(format!("the run: {error}")))?.id;
        let (began, patience) = (Instant::now(), self.own.patience(order.variant));
        loop {
            if let Some(end) = self.ended(id)? {
                self.are_alive(servers)?;
                return match end.code {
                    Some(0 | 1 | 3) => Ok(()),
                    // What is wrong with its input will be so the next time.
                    Some(2) => Err(failed(format!("the run {end}{}", shown_log(&log)))),
                    _ => Err(Trouble::before(format!("the run {end}{}", shown_log(&log)))),
                };
            }
            if let Err(dead) = self.are_alive(servers) {
                self.stop(id, PROGRAM_ENDS_WITHIN);
                return Err(dead);
            }
            if began.elapsed() >= patience {
                self.stop(id, RUN_ENDS_WITHIN);
                let within = squall_base::units::print_duration(patience);
                let text = format!(
                    "the run did not end within {within}, and was ended; `run_within` sets this time"
                );
                return Err(Trouble::Failed(RunFailure { text, before_load: false }));
            }
            if (self.is_interrupted)() {
                self.stop(id, RUN_ENDS_WITHIN);
                return Err(Trouble::Stop(Stop::Interrupted));
            }
            std::thread::sleep(LOOK);
        }
    }

    /// That no server has ended while the run was made.
    fn are_alive(&mut self, servers: &[Running<'_>]) -> Result<(), Trouble> {
        for Running { server, id, log, .. } in servers {
            if let Some(end) = self.ended(*id)? {
                let text = format!("server `{}` ended during the run: it {end}", server.name);
                let text = text + &shown_log(log);
                return Err(Trouble::Failed(RunFailure { text, before_load: false }));
            }
        }
        Ok(())
    }

    /// Gives the folder of the run that was made its name; `None`: it has none.
    fn keep(&self, order: RunOrder) -> Result<Option<String>, Stop> {
        let making = self.folder.join(RUNS).join(MAKING);
        let failed = |error: std::io::Error| Stop::Failed(format!("{}: {error}", making.display()));
        let found = match fs::read_dir(&making) {
            Ok(mut entries) => entries.next().transpose().map_err(failed)?,
            Err(_) => None,
        };
        let Some(found) = found else { return Ok(None) };
        let name = format!("{RUNS}/{}", folder_name(order, &self.own.variants[order.variant].name));
        let to = self.folder.join(&name);
        // One of a run that did not count: it was interrupted after it had its name.
        let _ = fs::remove_dir_all(&to);
        fs::rename(found.path(), &to).map_err(failed)?;
        self.forget_run();
        Ok(Some(name))
    }

    /// Does all of a run, but for what is put back after it.
    fn attempt<'r>(
        &mut self,
        order: RunOrder,
        variant: &'r PreparedVariant,
        running: &mut Vec<Running<'r>>,
    ) -> Result<(), Trouble> {
        let prefix = prefix(order);
        self.versions(order.variant)?;
        self.set(variant)?;
        let log = self.log(&format!("{prefix}-before"));
        self.programs("before", &variant.programs.before, &log)?;
        for server in &variant.programs.servers {
            self.start(server, &prefix, running)?;
        }
        self.drive(order, &prefix, running)
    }

    /// Ends what a run has started, and puts back what it has set; what is to be known of that.
    fn put_back(
        &mut self,
        order: RunOrder,
        variant: &PreparedVariant,
        running: Vec<Running<'_>>,
    ) -> Result<Vec<String>, Stop> {
        let mut warnings = Vec::new();
        for Running { server, id, .. } in running.into_iter().rev() {
            let left = self.stop(id, server.stop_within);
            if !left.is_empty() {
                let left = left.join(", ");
                warnings
                    .push(format!("server `{}` left behind: {left}; it was ended", server.name));
            }
        }
        let log = self.log(&format!("{}-after", prefix(order)));
        match self.programs(AFTER, &variant.programs.after, &log) {
            Ok(()) => {}
            Err(Trouble::Failed(why)) => warnings.push(why.text),
            Err(Trouble::Stop(stop)) => {
                self.restore().map_err(Stop::Failed)?;
                return Err(stop);
            }
        }
        self.restore().map_err(Stop::Failed)?;
        Ok(warnings)
    }
}

impl Laboratory for LocalLaboratory<'_> {
    fn now(&self) -> f64 {
        unix_time()
    }

    fn prepare(&mut self, variant: usize) -> Result<(), Stop> {
        let own = self.own;
        let variant = &own.variants[variant];
        let log = self.log(&format!("prepare-{}", slug(&variant.name)));
        let _ = fs::remove_file(&log);
        match self.programs("prepare", &variant.programs.prepare, &log) {
            Ok(()) => Ok(()),
            Err(Trouble::Stop(stop)) => Err(stop),
            Err(Trouble::Failed(RunFailure { text, .. })) => {
                Err(Stop::Failed(format!("variant `{}`: {text}", variant.name)))
            }
        }
    }

    fn wait(&mut self, time: Duration) -> Result<(), Stop> {
        let began = Instant::now();
        while began.elapsed() < time {
            if (self.is_interrupted)() {
                return Err(Stop::Interrupted);
            }
            std::thread::sleep(LOOK);
        }
        Ok(())
    }

    fn run(&mut self, order: RunOrder) -> Result<RunMade, Stop> {
        let began = Instant::now();
        let own = self.own;
        let variant = &own.variants[order.variant];
        let mut running = Vec::new();
        let driven = self.attempt(order, variant, &mut running);
        let put_back = self.put_back(order, variant, running);
        let driven = match driven {
            Err(Trouble::Stop(stop)) => return Err(stop),
            Err(Trouble::Failed(why)) => Err(why),
            Ok(()) => Ok(()),
        };
        let mut warnings = put_back?;
        let mut counted_invalid = Vec::new();
        let folder = self.keep(order)?;
        let values = driven.and_then(|()| {
            let Some(folder) = &folder else {
                let log = self.log(&format!("{}-run", prefix(order)));
                let text = format!("the run left no result{}", shown_log(&log));
                return Err(RunFailure { text, before_load: true });
            };
            let measured = measured(&self.folder.join(folder), &own.measures, &own.counting);
            let measured = measured.map_err(|text| RunFailure { text, before_load: false })?;
            warnings.extend(measured.warnings);
            counted_invalid = measured.counted_invalid;
            Ok(measured.values)
        });
        Ok(RunMade { folder, took: began.elapsed(), values, counted_invalid, warnings })
    }
}
