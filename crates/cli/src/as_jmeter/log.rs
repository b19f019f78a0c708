//! The log of a run in a file, in the form of JMeter's: a line for each thing worth to be known.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

use squall_report::Run;
use squall_runner::{Event, EventKind, Second, Sink, Start, Wanted};

#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    out: Option<File>,
    /// When the run began, in seconds since 1970.
    began_unix_s: f64,
}

impl Log {
    /// To this file, which is overwritten.
    pub fn new(path: PathBuf) -> Log {
        Log { path, out: None, began_unix_s: 0.0 }
    }

    fn write(&mut self, at_s: f64, level: &str, text: &str) -> io::Result<()> {
        let Some(out) = &mut self.out else { return Ok(()) };
        let unix_ms = ((self.began_unix_s + at_s) * 1e3) as u64;
        let (days, of_day) = (unix_ms / 86_400_000, unix_ms % 86_400_000);
        let (year, month, day) = squall_base::calendar::date(i64::try_from(days).unwrap_or(0));
        let (hour, minute, second) =
            (of_day / 3_600_000, of_day / 60_000 % 60, of_day / 1_000 % 60);
        let at = format!(
            "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02},{:03}",
            of_day % 1_000
        );
        for line in text.lines() {
            writeln!(out, "{at} {level} squall: {}", squall_base::escape_control(line))?;
        }
        Ok(())
    }
}

impl Sink for Log {
    fn start(&mut self, start: &Start) -> io::Result<Wanted> {
        self.out = Some(File::create(&self.path)?);
        self.began_unix_s = start.meta.started_unix;
        Ok(Wanted::default())
    }

    fn second(&mut self, _: &Second) -> io::Result<()> {
        Ok(())
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        let at_s = event.at_s;
        match &event.kind {
            EventKind::Warning(text) => self.write(at_s, "WARN", text),
            EventKind::PhaseBegan(phase) => {
                self.write(at_s, "INFO", &format!("{} begins", phase.label()))
            }
            EventKind::PhaseEnded { phase, failed: None } => {
                self.write(at_s, "INFO", &format!("{} is over", phase.label()))
            }
            EventKind::PhaseEnded { phase, failed: Some(why) } => {
                self.write(at_s, "ERROR", &format!("{} failed: {why}", phase.label()))
            }
            EventKind::Aborted(abort) => self.write(at_s, "WARN", &abort.text()),
            EventKind::StopAsked(_) | EventKind::AbortAsked(_) => {
                self.write(at_s, "WARN", "shutdown requested")
            }
            EventKind::Log { text, example, .. } => {
                self.write(at_s, if example.is_some() { "WARN" } else { "INFO" }, text)
            }
            EventKind::Error(text) => self.write(at_s, "ERROR", text),
            _ => Ok(()),
        }
    }

    fn finish(&mut self, _: &Run) -> io::Result<()> {
        self.out.take().map_or(Ok(()), |out| out.sync_data())
    }
}
