//! squall's end of a supervisor.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use crate::error::Error;
use crate::mark::Mark;
use crate::protocol::{COMMAND, End, Launch, ProgramId, Reply, Request, Started};
use crate::server::clear_up;

/// Longest answer, in bytes: the names of what was left behind.
const MAX_REPLY: u64 = 1 << 20;
/// How often it is looked whether a program has ended that is waited for.
const LOOK: Duration = Duration::from_millis(20);

/// A process that starts programs, and ends them when this is dropped, or squall ends.
#[derive(Debug)]
pub struct Supervisor {
    child: Child,
    /// `None`: it has ended, or is being ended.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    /// By which all that it starts is known.
    mark: Mark,
    journal: Option<PathBuf>,
    /// The process group of each program that was not stopped.
    groups: BTreeMap<ProgramId, u32>,
}

impl Supervisor {
    /// Starts one. `squall` is squall's own program. `journal` is a file of the settings that were changed, in a folder
    /// that only one supervisor has at a time: what an earlier one that was killed has left there is ended and put back first.
    ///
    /// # Errors
    /// It cannot be started, something cannot be ended or put back, or another squall has the folder.
    pub fn start(squall: &Path, journal: Option<&Path>) -> Result<Supervisor, Error> {
        if !cfg!(target_os = "linux") {
            return Err(Error("programs can be supervised on Linux only".to_owned()));
        }
        let failed = |error| Error(format!("the supervisor could not be started: {error}"));
        let mut command = Command::new(squall);
        let mark = Mark::of(journal);
        command.arg(COMMAND).arg(&mark.0).args(journal);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(failed)?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let Some((input, output)) = pipes else {
            return Err(Error("the supervisor has no pipes".to_owned()));
        };
        let output = BufReader::new(output);
        let (input, journal) = (Some(input), journal.map(Path::to_owned));
        let groups = BTreeMap::new();
        let mut supervisor = Supervisor { child, input, output, mark, journal, groups };
        // It says that it is ready, or why not.
        match supervisor.reply()? {
            Reply::Done => Ok(supervisor),
            other => Err(supervisor.unexpected(other)),
        }
    }

    /// Starts a program.
    ///
    /// # Errors
    /// It is not there, or cannot be started.
    pub fn spawn(&mut self, launch: &Launch) -> Result<Started, Error> {
        match self.ask(&Request::Spawn(launch.clone()))? {
            Reply::Started(started) => {
                self.groups.insert(started.id, started.pid);
                Ok(started)
            }
            other => Err(self.unexpected(other)),
        }
    }

    /// How a program ended; `None`: it has not.
    ///
    /// # Errors
    /// The supervisor has ended.
    pub fn poll(&mut self, id: ProgramId) -> Result<Option<End>, Error> {
        match self.ask(&Request::Poll(id))? {
            Reply::Polled(end) => Ok(end),
            other => Err(self.unexpected(other)),
        }
    }

    /// Waits for the end of a program; `None`: before that, `gives_up` has said that nobody waits for it any longer.
    ///
    /// # Errors
    /// The supervisor has ended.
    pub fn wait(
        &mut self,
        id: ProgramId,
        mut gives_up: impl FnMut() -> bool,
    ) -> Result<Option<End>, Error> {
        loop {
            if let Some(end) = self.poll(id)? {
                return Ok(Some(end));
            }
            if gives_up() {
                return Ok(None);
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Ends a program and all that it has started: with SIGTERM, and with SIGKILL what is left after `within`.
    ///
    /// # Errors
    /// The supervisor has ended.
    pub fn stop(&mut self, id: ProgramId, within: Duration) -> Result<End, Error> {
        let within = u64::try_from(within.as_millis()).unwrap_or(u64::MAX);
        match self.ask(&Request::Stop(id, within))? {
            Reply::Stopped(end) => {
                self.groups.remove(&id);
                Ok(end)
            }
            other => Err(self.unexpected(other)),
        }
    }

    /// Ends all programs.
    ///
    /// # Errors
    /// The supervisor has ended.
    pub fn stop_all(&mut self) -> Result<(), Error> {
        self.done(&Request::StopAll)?;
        self.groups.clear();
        Ok(())
    }

    /// Sets `net.ipv4.tcp_tw_reuse`, say, and returns what it was.
    ///
    /// # Errors
    /// There is no such setting, it may not be set, or the kernel refuses the value.
    pub fn set(&mut self, setting: &str, value: &str) -> Result<String, Error> {
        match self.ask(&Request::Set(setting.to_owned(), value.to_owned()))? {
            Reply::Was(before) => Ok(before),
            other => Err(self.unexpected(other)),
        }
    }

    /// Puts all settings back.
    ///
    /// # Errors
    /// One could not be.
    pub fn restore(&mut self) -> Result<(), Error> {
        self.done(&Request::Restore)
    }

    fn done(&mut self, request: &Request) -> Result<(), Error> {
        match self.ask(request)? {
            Reply::Done => Ok(()),
            other => Err(self.unexpected(other)),
        }
    }

    fn ask(&mut self, request: &Request) -> Result<Reply, Error> {
        let mut line = serde_json::to_string(request).map_err(|error| Error(error.to_string()))?;
        line.push('\n');
        let written = self.input.as_mut().map(|input| input.write_all(line.as_bytes()));
        match written {
            Some(Ok(())) => self.reply(),
            _ => Err(self.gone()),
        }
    }

    fn reply(&mut self) -> Result<Reply, Error> {
        let mut line = String::new();
        let read = self.output.by_ref().take(MAX_REPLY).read_line(&mut line);
        match read {
            Ok(read) if read > 0 => serde_json::from_str(&line).map_err(|_| self.gone()),
            _ => Err(self.gone()),
        }
    }

    /// Sees to what it was to see to, as it has ended before its time.
    fn gone(&mut self) -> Error {
        drop(self.input.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
        Error(match self.clear_up() {
            Ok(()) => "the supervisor of the programs has ended; what it had started was ended, and what it had set was put back".to_owned(),
            Err(why) => format!("the supervisor of the programs has ended: {why}"),
        })
    }

    fn clear_up(&self) -> Result<(), String> {
        let groups: Vec<u32> = self.groups.values().copied().collect();
        clear_up(&self.mark, &groups, self.journal.as_deref())
    }

    fn unexpected(&mut self, reply: Reply) -> Error {
        match reply {
            Reply::Failed(error) => error,
            _ => self.gone(),
        }
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        let Some(input) = self.input.take() else { return };
        // The end of its input is the end of all that it has started; then it ends itself.
        drop(input);
        if !self.child.wait().is_ok_and(|status| status.success()) {
            // Nobody is left who could be told.
            let _ = self.clear_up();
        }
    }
}
