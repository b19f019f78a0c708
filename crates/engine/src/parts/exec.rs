//! Runs a program, without a shell, within a time.

use std::io;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::process::Command;

/// Most bytes of its output that are kept; it is read to its end.
const MAX_OUTPUT: u64 = 1 << 20;

/// What a program gave.
#[derive(Debug)]
pub(crate) struct Output {
    /// Exit code; 128 and the number for a signal, as shells have it.
    pub code: i32,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

/// Runs it; killed when the time is over, or when the future is dropped.
pub(crate) async fn run(command: &[String], limit: Duration) -> io::Result<Output> {
    let [program, args @ ..] = command else {
        return Err(io::Error::other("there is no program to run"));
    };
    let mut child = Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let (mut out, mut err) = (child.stdout.take(), child.stderr.take());
    let all = async {
        let (stdout, stderr) = tokio::try_join!(read(&mut out), read(&mut err))?;
        io::Result::Ok((child.wait().await?, stdout, stderr))
    };
    match tokio::time::timeout(limit, all).await {
        Ok(done) => {
            let (status, stdout, stderr) = done?;
            Ok(Output { code: code(status), stdout, stderr })
        }
        Err(_) => Err(io::Error::new(io::ErrorKind::TimedOut, format!("not over after {limit:?}"))),
    }
}

async fn read(from: &mut Option<impl tokio::io::AsyncRead + Unpin>) -> io::Result<Vec<u8>> {
    let mut kept = Vec::new();
    if let Some(from) = from {
        from.take(MAX_OUTPUT).read_to_end(&mut kept).await?;
        tokio::io::copy(from, &mut tokio::io::sink()).await?;
    }
    Ok(kept)
}

fn code(status: std::process::ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    status.code().or(status.signal().map(|signal| 128 + signal)).unwrap_or(-1)
}
