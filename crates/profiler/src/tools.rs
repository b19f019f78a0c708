//! The programs that take a profile, under a supervisor.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use squall_supervisor::{Launch, Supervisor};

use crate::stop::Stop;

/// How long a recording may take to be written when it is ended.
const TO_WRITE: Duration = Duration::from_secs(10);

/// What runs the programs; tests have another one.
pub(crate) trait Tools {
    /// Whether a program is on the PATH.
    fn has(&self, program: &str) -> bool;

    /// Whether a process is a Java virtual machine.
    fn is_jvm(&self, pid: u32) -> bool;

    /// Runs a program until it ends, or `stop` says so; one that takes longer than `within` has failed.
    ///
    /// # Errors
    /// It cannot be started, or takes too long, in a sentence.
    fn run(
        &mut self,
        command: &[String],
        within: Duration,
        stop: Option<&Stop>,
    ) -> Result<Ran, String>;
}

/// A program that has ended.
#[derive(Debug)]
pub(crate) struct Ran {
    /// Whether it did what it was to do.
    pub is_good: bool,
    /// What it printed.
    pub printed: PathBuf,
}

impl Ran {
    /// The last that it printed, in a line.
    pub fn last_words(&self) -> String {
        let text = fs::read(&self.printed).unwrap_or_default();
        let text =
            String::from_utf8_lossy(&text[text.len().saturating_sub(4 << 10)..]).into_owned();
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let last = lines.next_back().unwrap_or("it printed nothing");
        last.chars().filter(|c| !c.is_control()).take(300).collect()
    }
}

/// Programs under a supervisor.
#[derive(Debug)]
pub(crate) struct Supervised {
    supervisor: Supervisor,
    folder: PathBuf,
    started: usize,
}

impl Supervised {
    /// `squall` is squall's own program; what programs print goes into `folder`.
    ///
    /// # Errors
    /// There is no supervisor, in a sentence.
    pub fn start(squall: &Path, folder: &Path) -> Result<Supervised, String> {
        let supervisor = Supervisor::start(squall, None).map_err(|error| error.to_string())?;
        Ok(Supervised { supervisor, folder: folder.to_owned(), started: 0 })
    }
}

impl Tools for Supervised {
    fn has(&self, program: &str) -> bool {
        let folders = std::env::var_os("PATH").unwrap_or_default();
        let is_program = |path: PathBuf| {
            fs::metadata(path)
                .is_ok_and(|own| own.is_file() && own.permissions().mode() & 0o111 != 0)
        };
        std::env::split_paths(&folders).any(|folder| is_program(folder.join(program)))
    }

    fn is_jvm(&self, pid: u32) -> bool {
        // Every JVM has its library mapped, whatever its program is called.
        fs::read(format!("/proc/{pid}/maps"))
            .is_ok_and(|maps| String::from_utf8_lossy(&maps).contains("/libjvm.so"))
    }

    fn run(
        &mut self,
        command: &[String],
        within: Duration,
        stop: Option<&Stop>,
    ) -> Result<Ran, String> {
        self.started += 1;
        let name = command.first().cloned().unwrap_or_default();
        let log = self.folder.join(format!("{}-{name}.log", self.started));
        let launch = Launch {
            name: name.clone(),
            command: command.to_vec(),
            env: Vec::new(),
            directory: self.folder.clone(),
            cpus: None,
            log: log.clone(),
        };
        let said = |error: squall_supervisor::Error| error.to_string();
        let started = self.supervisor.spawn(&launch).map_err(said)?;
        let until = Instant::now() + within;
        let is_stopped = || stop.is_some_and(Stop::is_stopped);
        let gives_up = || is_stopped() || Instant::now() >= until;
        if let Some(end) = self.supervisor.wait(started.id, gives_up).map_err(said)? {
            return Ok(Ran { is_good: end.is_success(), printed: log });
        }
        let end = self.supervisor.stop(started.id, TO_WRITE).map_err(said)?;
        match is_stopped() {
            // SIGTERM is how it was asked to end.
            true => Ok(Ran { is_good: end.is_success() || end.signal == Some(15), printed: log }),
            false => Err(format!("{name} took longer than {} s", within.as_secs())),
        }
    }
}
