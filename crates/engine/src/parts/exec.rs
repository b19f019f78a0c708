//! Runs a program, without a shell, within a time. It has a process group of its own, and what is left
//! of that ends with the step.

use std::fs::File;
use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::io::AsyncReadExt;
use tokio::process::{Child, Command};
use tokio::signal::unix::{SignalKind, signal};

/// Most bytes of each of its outputs; a program that prints more has failed.
const MAX_OUTPUT: u64 = 16 << 20;

/// What is to be run, and where. Paths are relative to where squall was started.
#[derive(Debug, Clone, Default)]
pub(crate) struct Told {
    /// The program, and its arguments.
    pub command: Vec<String>,
    /// Variables of its environment, besides squall's own.
    pub env: Vec<(String, String)>,
    /// The folder that it runs in.
    pub directory: Option<String>,
    /// Files in place of its standard streams; without them the first is empty, and the others are read here.
    pub stdin: Option<String>,
    pub stdout: Option<String>,
    pub stderr: Option<String>,
}

/// What a program gave.
#[derive(Debug)]
pub(crate) struct Output {
    /// Exit code; 128 and the number for a signal, as shells have it.
    pub code: i32,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

/// Runs it, until it has ended and its outputs are closed. What it has left behind is then killed. When the time is over,
/// when it prints too much, or when the future is dropped, it is killed together with the programs that it has started.
///
/// # Errors
/// It cannot be started, a file cannot be opened, it does not end in time, or prints more than 16 MiB.
pub(crate) async fn run(told: &Told, limit: Duration) -> io::Result<Output> {
    let [program, args @ ..] = told.command.as_slice() else {
        return Err(io::Error::other("there is no program to run"));
    };
    let named =
        |path: &str, error: io::Error| io::Error::new(error.kind(), format!("{path}: {error}"));
    let output = |path: &Option<String>| match path {
        Some(path) => File::create(path).map(Stdio::from).map_err(|error| named(path, error)),
        None => Ok(Stdio::piped()),
    };
    let input = match &told.stdin {
        Some(path) => Stdio::from(File::open(path).map_err(|error| named(path, error))?),
        None => Stdio::null(),
    };
    let mut command = Command::new(program);
    if let Some(directory) = &told.directory {
        command.current_dir(directory);
    }
    let child = command
        .args(args)
        .envs(told.env.iter().map(|(name, value)| (name, value)))
        .stdin(input)
        .stdout(output(&told.stdout)?)
        .stderr(output(&told.stderr)?)
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| {
            io::Error::new(error.kind(), format!("cannot start {program}: {error}"))
        })?;
    let mut group = Group(child);
    let (mut out, mut err) = (group.0.stdout.take(), group.0.stderr.take());
    let all = async {
        let (stdout, stderr) = tokio::try_join!(read(&mut out), read(&mut err))?;
        io::Result::Ok((group.wait().await?, stdout, stderr))
    };
    match tokio::time::timeout(limit, all).await {
        Ok(done) => {
            let (status, stdout, stderr) = done?;
            Ok(Output { code: code(status), stdout, stderr })
        }
        Err(_) => {
            Err(io::Error::new(io::ErrorKind::TimedOut, format!("still running after {limit:?}")))
        }
    }
}

/// A program that leads a process group.
struct Group(Child);

impl Group {
    /// Its number. A program that was waited for has none any more. That of one that was not cannot be another's, even if it
    /// has ended.
    fn leader(&self) -> Option<Pid> {
        self.0.id().and_then(|id| Pid::from_raw(id.cast_signed()))
    }

    /// Waits until the program has ended, and ends what it has left behind.
    async fn wait(&mut self) -> io::Result<ExitStatus> {
        if let Some(leader) = self.leader() {
            ended(leader).await?;
        }
        self.kill();
        self.0.wait().await
    }

    fn kill(&self) {
        if let Some(leader) = self.leader() {
            // It fails only if there is nobody left in the group.
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Waits until a program has ended, and leaves its number to it.
async fn ended(program: Pid) -> io::Result<()> {
    let mut child_ends = signal(SignalKind::child())?;
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    while waitid(WaitId::Pid(program), options)?.is_none() {
        child_ends.recv().await;
    }
    Ok(())
}

async fn read(from: &mut Option<impl tokio::io::AsyncRead + Unpin>) -> io::Result<Vec<u8>> {
    let mut output = Vec::new();
    if let Some(from) = from {
        from.take(MAX_OUTPUT + 1).read_to_end(&mut output).await?;
    }
    if output.len() as u64 > MAX_OUTPUT {
        return Err(io::Error::other("it printed more than 16 MiB: redirect its output to a file"));
    }
    Ok(output)
}

fn code(status: ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    status.code().or(status.signal().map(|signal| 128 + signal)).unwrap_or(-1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Told {
        Told { command: ["sh", "-c", script].map(str::to_owned).to_vec(), ..Told::default() }
    }

    fn blocking<T>(future: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(future)
    }

    const LONG: Duration = Duration::from_secs(600);

    #[test]
    fn output_and_exit_code() {
        let output =
            blocking(run(&shell("echo out; echo err >&2; exit 7"), LONG)).expect("it runs");
        assert_eq!(
            (output.code, &*output.stdout, &*output.stderr),
            (7, &b"out\n"[..], &b"err\n"[..])
        );
        let output = blocking(run(&shell("kill -9 $$"), LONG)).expect("it runs");
        assert_eq!(output.code, 137);
        let nowhere = Told { command: vec!["/nowhere/program".to_owned()], ..Told::default() };
        let error = blocking(run(&nowhere, LONG)).expect_err("none");
        assert!(error.to_string().contains("cannot start /nowhere/program"), "{error}");
    }

    #[test]
    fn folder_environment_and_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name).display().to_string();
        std::fs::write(path("in"), "typed").expect("writable");
        let told = Told {
            env: vec![("GREETING".to_owned(), "hello".to_owned())],
            directory: Some(folder.path().display().to_string()),
            stdin: Some(path("in")),
            stdout: Some(path("out")),
            stderr: Some(path("err")),
            ..shell("echo $GREETING $(cat); ls in >&2")
        };
        let output = blocking(run(&told, LONG)).expect("it runs");
        assert_eq!((output.code, output.stdout.len(), output.stderr.len()), (0, 0, 0));
        let read = |name: &str| std::fs::read_to_string(path(name)).expect("written");
        assert_eq!((read("out"), read("err")), ("hello typed\n".to_owned(), "in\n".to_owned()));
        let lost = Told { stdin: Some(path("none")), ..told };
        let error = blocking(run(&lost, LONG)).expect_err("no such file");
        assert!(error.to_string().contains("none: "), "{error}");
    }

    #[test]
    fn a_program_that_prints_without_end_has_failed() {
        for script in ["exec cat /dev/zero", "exec cat /dev/zero >&2"] {
            let error = blocking(run(&shell(script), LONG)).expect_err("too much");
            assert!(error.to_string().contains("more than 16 MiB"), "{error}");
        }
    }

    /// Runs a script that starts another program and waits for it, within a time. `end` gives up on it
    /// or waits; the path is that of a file that is there once the other program is.
    fn abandoned(
        limit: Duration,
        end: impl AsyncFnOnce(std::pin::Pin<&mut dyn Future<Output = ()>>, &std::path::Path),
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("pid");
        let script = format!("sleep 600 & echo $! > {0}.new; mv {0}.new {0}; wait", file.display());
        blocking(async {
            let command = shell(&script);
            let mut running = Box::pin(async {
                run(&command, limit).await.expect_err("it does not end");
            });
            end(running.as_mut(), &file).await;
        });
        await_end(&std::fs::read_to_string(&file).expect("the script has written it"));
    }

    /// Waits until a program has ended that somebody else has started.
    fn await_end(pid: &str) {
        let stat = format!("/proc/{}/stat", pid.trim());
        // Gone, or dead and not yet collected by whoever has inherited it.
        let is_alive = || std::fs::read_to_string(&stat).is_ok_and(|text| !text.contains(") Z "));
        for _ in 0..1_000 {
            if !is_alive() {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("what the program had started still runs");
    }

    #[test]
    fn what_a_program_leaves_behind_ends_with_it() {
        let script = "sleep 600 > /dev/null 2>&1 & echo $!";
        let output = blocking(run(&shell(script), LONG)).expect("it runs");
        assert_eq!(output.code, 0);
        await_end(&String::from_utf8(output.stdout).expect("a number"));
        // Though nothing of its output is read.
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("pid");
        let told = Told { stdout: Some(file.display().to_string()), ..shell(script) };
        let output = blocking(run(&told, LONG)).expect("it runs");
        assert_eq!(output.code, 0);
        await_end(&std::fs::read_to_string(&file).expect("written"));
    }

    #[test]
    fn what_a_program_has_started_ends_with_its_time() {
        abandoned(Duration::from_secs(3), async |running, _| running.await);
    }

    #[test]
    fn what_a_program_has_started_ends_with_its_user() {
        abandoned(LONG, async |running, file| {
            let started = async {
                while !file.exists() {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            };
            // Dropped in the middle, as when a user is cancelled.
            tokio::select! {
                () = running => panic!("it has ended"),
                () = started => {}
            }
        });
    }
}
