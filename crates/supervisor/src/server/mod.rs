//! The supervisor itself.

mod left_behind;
mod processes;
mod programs;
mod settings;
mod trampoline;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead as _, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

pub(crate) use self::left_behind::clear_up;
use self::processes::LOOK;
use self::programs::Programs;
use self::settings::Settings;
use crate::mark::Mark;
use crate::protocol::{Reply, Request};

/// How long programs may take to end when squall has ended, before they are killed.
const AT_THE_END: Duration = Duration::from_secs(5);
/// How long an earlier supervisor of the same folder may take to end: it may just have lost its squall.
const PATIENCE: Duration = Duration::from_secs(15);

/// Serves the process that has started this one, until its input ends. `words` are what stands behind the command: a mark, and
/// perhaps a journal. Returns the exit code.
pub fn serve(words: &[OsString]) -> i32 {
    if let Some(code) = trampoline::jump(words) {
        return code;
    }
    // A group of its own: what a terminal sends to squall is for squall alone.
    let _ = rustix::process::setsid();
    let mark =
        Mark(words.first().map(|own| own.to_string_lossy().into_owned()).unwrap_or_default());
    let journal = words.get(1).map(Path::new);
    let ready = make_ready(&mark, journal);
    let mut settings = Settings::new(journal);
    let mut programs = Programs::new(mark);
    // Locked until this process has ended.
    let (ready, _lock) = match ready {
        Ok(lock) => (Ok(()), lock),
        Err(error) => (Err(error), None),
    };
    let is_ready = ready.is_ok();
    let _ = say(&done(ready));
    if !is_ready {
        return 1;
    }
    serve_lines(&mut programs, &mut settings);
    programs.stop_all(AT_THE_END);
    i32::from(settings.restore().is_err())
}

/// Puts what an earlier supervisor of the same folder has left behind in order. Returns the folder, locked.
fn make_ready(mark: &Mark, journal: Option<&Path>) -> Result<Option<File>, String> {
    rustix::process::set_child_subreaper(rustix::process::Pid::from_raw(1))
        .map_err(|error| format!("no subreaper: {error}"))?;
    let lock = journal.and_then(Path::parent).map(|own| locked(own, PATIENCE)).transpose()?;
    clear_up(mark, &[], journal)?;
    Ok(lock)
}

/// A folder that no other supervisor has, or gives up within so long.
fn locked(folder: &Path, patience: Duration) -> Result<File, String> {
    let failed = |error: io::Error| format!("{}: {error}", folder.display());
    let file = File::open(folder).map_err(failed)?;
    let last = Instant::now() + patience;
    loop {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(file),
            Err(Errno::WOULDBLOCK) if Instant::now() < last => std::thread::sleep(LOOK),
            Err(Errno::WOULDBLOCK) => {
                let folder = folder.display();
                return Err(format!(
                    "{folder}: another squall works in this folder: wait for its end"
                ));
            }
            Err(error) => return Err(failed(error.into())),
        }
    }
}

fn serve_lines(programs: &mut Programs, settings: &mut Settings) {
    for line in io::stdin().lock().lines() {
        let Ok(request) =
            line.map_err(drop).and_then(|own| serde_json::from_str(&own).map_err(drop))
        else {
            return;
        };
        if say(&answer(programs, settings, request)).is_err() {
            return;
        }
    }
}

fn answer(programs: &mut Programs, settings: &mut Settings, request: Request) -> Reply {
    let failed = |error: String| Reply::Failed(crate::error::Error(error));
    match request {
        Request::Spawn(launch) => programs.spawn(&launch).map_or_else(failed, Reply::Started),
        Request::Poll(id) => Reply::Polled(programs.poll(id)),
        Request::Stop(id, within) => {
            Reply::Stopped(programs.stop(id, Duration::from_millis(within)))
        }
        Request::StopAll => {
            programs.stop_all(AT_THE_END);
            Reply::Done
        }
        Request::Set(name, value) => settings.set(&name, &value).map_or_else(failed, Reply::Was),
        Request::Restore => done(settings.restore()),
    }
}

fn done(result: Result<(), String>) -> Reply {
    result.map_or_else(|error| Reply::Failed(crate::error::Error(error)), |()| Reply::Done)
}

fn say(reply: &Reply) -> io::Result<()> {
    let mut line = serde_json::to_string(reply)?;
    line.push('\n');
    let mut out = io::stdout().lock();
    out.write_all(line.as_bytes())?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_one_supervisor_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let first = locked(folder.path(), Duration::ZERO).unwrap();
        let error = locked(folder.path(), Duration::ZERO).unwrap_err();
        assert!(error.contains("another squall works in this folder"), "{error}");
        drop(first);
        locked(folder.path(), Duration::ZERO).unwrap();
    }
}
