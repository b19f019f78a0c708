//! The supervisor itself.

mod processes;
mod programs;
mod settings;
mod trampoline;

use std::ffi::OsString;
use std::io::{self, BufRead as _, Write as _};
use std::path::Path;
use std::time::Duration;

use self::programs::Programs;
use self::settings::Settings;
use crate::protocol::{Reply, Request};

/// How long programs may take to end when squall has ended, before they are killed.
const AT_THE_END: Duration = Duration::from_secs(5);

/// Serves the process that has started this one, until its input ends. `words` are what stands behind the command. Returns the
/// exit code.
pub fn serve(words: &[OsString]) -> i32 {
    if let Some(code) = trampoline::jump(words) {
        return code;
    }
    // A group of its own: what a terminal sends to squall is for squall alone.
    let _ = rustix::process::setsid();
    let mut settings = Settings::new(words.first().map(Path::new));
    let subreaper = rustix::process::set_child_subreaper(rustix::process::Pid::from_raw(1));
    let ready = subreaper.map_err(|error| format!("no subreaper: {error}"));
    let ready = ready.and_then(|()| settings.restore());
    let is_ready = ready.is_ok();
    let mut programs = Programs::default();
    let _ = say(&done(ready));
    if is_ready {
        serve_lines(&mut programs, &mut settings);
    }
    programs.stop_all(AT_THE_END);
    i32::from(settings.restore().is_err())
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
