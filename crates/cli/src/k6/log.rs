//! The log of a run on the standard error, in the form of k6's: what a script writes to its console, and exceptions that
//! nothing in it caught.

use std::io;
use std::time::{SystemTime, UNIX_EPOCH};

use squall_report::Run;
use squall_runner::{Event, EventKind, Second, Sink, Start, Wanted};

use crate::out;

/// Words before a line that say how important it is, and k6's for each.
const LEVELS: [(&str, &str); 3] =
    [("error: ", "error"), ("warning: ", "warning"), ("debug: ", "debug")];

/// Behind a line that a script has written.
const CONSOLE: &str = " source=console";

/// Prints lines of the log.
#[derive(Debug, Default)]
pub struct Log {
    /// When the run began, in seconds since 1970.
    began_unix_s: f64,
}

impl Sink for Log {
    fn start(&mut self, start: &Start) -> io::Result<Wanted> {
        self.began_unix_s = start.meta.started_unix;
        Ok(Wanted::default())
    }

    fn second(&mut self, _: &Second) -> io::Result<()> {
        Ok(())
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        if let EventKind::Log { text, example, .. } = &event.kind {
            let at_s = (self.began_unix_s + event.at_s) as u64;
            out::message(&line(at_s, text, example.is_some()));
        }
        Ok(())
    }

    fn finish(&mut self, _: &Run) -> io::Result<()> {
        Ok(())
    }
}

/// Prints what squall itself says now, as a line of a level.
pub fn say(level: &str, text: &str) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
    out::message(&written(now, (level, ""), &squall_base::escape_control(text)));
}

/// A line of the run's log. An example is one of an error.
fn line(unix_s: u64, text: &str, is_example: bool) -> String {
    let leveled = LEVELS.iter().find_map(|(word, level)| Some((*level, text.strip_prefix(word)?)));
    match leveled {
        _ if is_example => written(unix_s, ("error", ""), text),
        Some((level, rest)) => written(unix_s, (level, CONSOLE), rest),
        None => written(unix_s, ("info", CONSOLE), text),
    }
}

/// A line at a time in seconds since 1970, of a text whose control characters are escaped.
fn written(unix_s: u64, (level, source): (&str, &str), text: &str) -> String {
    let (year, month, day) =
        squall_base::calendar::date(i64::try_from(unix_s / 86_400).unwrap_or(0));
    let (hour, minute, second) = (unix_s / 3_600 % 24, unix_s / 60 % 60, unix_s % 60);
    let quoted = text.replace('"', "\\\"");
    format!(
        "time=\"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z\" level={level} msg=\"{quoted}\"{source}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_k6() {
        let at = "time=\"2026-11-28T20:42:53Z\"";
        let unix_s = 1_795_898_573;
        for (text, is_example, expected) in [
            ("hello \"you\"", false, "level=info msg=\"hello \\\"you\\\"\" source=console"),
            ("warning: low", false, "level=warning msg=\"low\" source=console"),
            ("error: no", false, "level=error msg=\"no\" source=console"),
            (
                "iteration: script: TypeError",
                true,
                "level=error msg=\"iteration: script: TypeError\"",
            ),
        ] {
            assert_eq!(line(unix_s, text, is_example), format!("{at} {expected}\n"));
        }
    }
}
