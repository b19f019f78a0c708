//! A program whose output is lines of a name and a value.

use std::io::{self, Read, Write as _};
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use super::source::TextSource;

/// Most bytes of its output.
const MAX_BYTES: u64 = 4 << 20;
/// Most of what it says of an error.
const MAX_ERROR: u64 = 1_000;
/// How long it may take, unless the plan says otherwise.
const TIMEOUT: Duration = Duration::from_secs(1);
/// Ends a group of processes when its standard input does, which it does when squall has ended, however; a line says that there
/// is nothing to end.
const GUARD: &str = r#"read -r _ || kill -s KILL -- "-$0""#;

/// A program that is started for each sample.
#[derive(Debug)]
pub(crate) struct Command {
    line: Vec<String>,
    timeout: Duration,
}

impl Command {
    pub(crate) fn new(line: &[String], timeout: Option<Duration>) -> Command {
        Command { line: line.to_vec(), timeout: timeout.unwrap_or(TIMEOUT) }
    }

    fn start(&self) -> io::Result<Running> {
        let [program, arguments @ ..] = self.line.as_slice() else {
            return Err(io::Error::other("there is no program to run"));
        };
        let child = std::process::Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|error| io::Error::new(error.kind(), format!("{program}: {error}")))?;
        let mut own = Running { child, guard: None };
        own.guard = Some(guard(own.child.id())?);
        Ok(own)
    }
}

impl TextSource for Command {
    fn text(&self) -> io::Result<String> {
        let mut own = self.start()?;
        let (stdout, stderr) = (own.child.stdout.take(), own.child.stderr.take());
        let (send, output) = channel();
        // It ends with the program's output, at the latest when its group is ended.
        std::thread::spawn(move || {
            let read = |pipe: Option<Box<dyn Read>>, most| {
                let mut bytes = Vec::new();
                let read = pipe.map(|pipe| pipe.take(most).read_to_end(&mut bytes));
                read.transpose().map(|_| bytes)
            };
            let out = read(stdout.map(|own| Box::new(own) as Box<dyn Read>), MAX_BYTES);
            let error = read(stderr.map(|own| Box::new(own) as Box<dyn Read>), MAX_ERROR);
            // Whoever asked may have waited long enough.
            let _ = send.send((out, error));
        });
        let (out, error) = output.recv_timeout(self.timeout).map_err(|error| match error {
            RecvTimeoutError::Timeout => {
                io::Error::other(format!("it took longer than {:?}, and was ended", self.timeout))
            }
            RecvTimeoutError::Disconnected => io::Error::other("its output cannot be read"),
        })?;
        let status = own.end()?;
        let text = String::from_utf8_lossy(&out?).into_owned();
        if status.success() {
            return Ok(text);
        }
        let error = String::from_utf8_lossy(&error?).into_owned();
        let said = error.lines().find(|line| !line.trim().is_empty());
        let said = said.map_or(String::new(), |line| format!(": {}", line.trim()));
        Err(io::Error::other(format!("it ended with {status}{said}")))
    }
}

/// A program that runs, with all that it has started: it is ended when nobody waits for it any more.
struct Running {
    child: Child,
    guard: Option<Child>,
}

impl Running {
    /// How it ended, after its output has.
    fn end(&mut self) -> io::Result<std::process::ExitStatus> {
        // One that has closed its output and goes on is not waited for.
        for _ in 0..20 {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        self.kill();
        self.child.wait()
    }

    fn kill(&self) {
        let group = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let Some(group) = group {
            // It may have ended.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
        let _ = self.child.wait();
        if let Some(mut guard) = self.guard.take() {
            // One that has ended takes no line.
            let _ = guard.stdin.take().map(|mut input| input.write_all(b"\n"));
            let _ = guard.wait();
        }
    }
}

/// Starts what ends a group if squall ends.
fn guard(group: u32) -> io::Result<Child> {
    std::process::Command::new("sh")
        .args(["-c", GUARD, &group.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;

    #[test]
    fn a_program_ends_with_squall() {
        let line = ["sh", "-c", "sleep 60 & wait"].map(str::to_owned);
        let mut own = Command::new(&line, None).start().expect("it starts");
        // All that squall has open is closed when it ends.
        drop(own.guard.as_mut().and_then(|guard| guard.stdin.take()));
        let status = own.child.wait().expect("it ends");
        assert_eq!(status.signal(), Some(9));
    }
}
