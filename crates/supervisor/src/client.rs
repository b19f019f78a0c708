//! squall's end of a supervisor.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use crate::error::Error;
use crate::protocol::{COMMAND, End, Launch, ProgramId, Reply, Request, Started};

/// Longest answer, in bytes: the names of what was left behind.
const MAX_REPLY: u64 = 1 << 20;

/// A process that starts programs, and ends them when this is dropped, or squall ends.
#[derive(Debug)]
pub struct Supervisor {
    child: Child,
    /// `None`: it is being ended.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Supervisor {
    /// Starts one. `squall` is squall's own program. `journal` is a file of the settings that were changed: where it is there, an
    /// earlier supervisor was killed, and this one puts them back first.
    ///
    /// # Errors
    /// It cannot be started, or settings cannot be put back.
    pub fn start(squall: &Path, journal: Option<&Path>) -> Result<Supervisor, Error> {
        if !cfg!(target_os = "linux") {
            return Err(Error("programs can be supervised on Linux only".to_owned()));
        }
        let failed = |error| Error(format!("the supervisor could not be started: {error}"));
        let mut command = Command::new(squall);
        command.arg(COMMAND).args(journal);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(failed)?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let Some((input, output)) = pipes else {
            return Err(Error("the supervisor has no pipes".to_owned()));
        };
        let output = BufReader::new(output);
        let mut supervisor = Supervisor { child, input: Some(input), output };
        // It says that it is ready, or why not.
        match supervisor.reply()? {
            Reply::Done => Ok(supervisor),
            other => Err(unexpected(other)),
        }
    }

    /// Starts a program.
    ///
    /// # Errors
    /// It is not there, or cannot be started.
    pub fn spawn(&mut self, launch: &Launch) -> Result<Started, Error> {
        match self.ask(&Request::Spawn(launch.clone()))? {
            Reply::Started(started) => Ok(started),
            other => Err(unexpected(other)),
        }
    }

    /// How a program ended; `None`: it has not.
    ///
    /// # Errors
    /// The supervisor has ended.
    pub fn poll(&mut self, id: ProgramId) -> Result<Option<End>, Error> {
        match self.ask(&Request::Poll(id))? {
            Reply::Polled(end) => Ok(end),
            other => Err(unexpected(other)),
        }
    }

    /// Ends a program and all that it has started: with SIGTERM, and with SIGKILL what is left after `within`.
    ///
    /// # Errors
    /// The supervisor has ended.
    pub fn stop(&mut self, id: ProgramId, within: Duration) -> Result<End, Error> {
        let within = u64::try_from(within.as_millis()).unwrap_or(u64::MAX);
        match self.ask(&Request::Stop(id, within))? {
            Reply::Stopped(end) => Ok(end),
            other => Err(unexpected(other)),
        }
    }

    /// Ends all programs.
    ///
    /// # Errors
    /// The supervisor has ended.
    pub fn stop_all(&mut self) -> Result<(), Error> {
        self.done(&Request::StopAll)
    }

    /// Sets `net.ipv4.tcp_tw_reuse`, say, and returns what it was.
    ///
    /// # Errors
    /// There is no such setting, it may not be set, or the kernel refuses the value.
    pub fn set(&mut self, setting: &str, value: &str) -> Result<String, Error> {
        match self.ask(&Request::Set(setting.to_owned(), value.to_owned()))? {
            Reply::Was(before) => Ok(before),
            other => Err(unexpected(other)),
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
            other => Err(unexpected(other)),
        }
    }

    fn ask(&mut self, request: &Request) -> Result<Reply, Error> {
        let mut line = serde_json::to_string(request).map_err(|error| Error(error.to_string()))?;
        line.push('\n');
        let written = self.input.as_mut().map(|input| input.write_all(line.as_bytes()));
        match written {
            Some(Ok(())) => self.reply(),
            _ => Err(gone()),
        }
    }

    fn reply(&mut self) -> Result<Reply, Error> {
        let mut line = String::new();
        let read = self.output.by_ref().take(MAX_REPLY).read_line(&mut line);
        match read {
            Ok(read) if read > 0 => serde_json::from_str(&line).map_err(|_| gone()),
            _ => Err(gone()),
        }
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        // The end of its input is the end of all that it has started; then it ends itself.
        drop(self.input.take());
        let _ = self.child.wait();
    }
}

fn gone() -> Error {
    Error("the supervisor of the programs has ended; what it had started was killed".to_owned())
}

fn unexpected(reply: Reply) -> Error {
    match reply {
        Reply::Failed(error) => error,
        _ => gone(),
    }
}
