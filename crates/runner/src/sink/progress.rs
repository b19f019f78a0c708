//! Progress in lines, and what a person should know meanwhile.

use std::io::{self, Write};

use squall_analysis::Recent;
use squall_metrics::SliceSet;
use squall_report::{Live, Run, live_line};

use super::event::{Event, EventKind};
use super::interface::{Sink, Start, Wanted};
use super::second::Second;

/// Seconds between progress lines.
const PROGRESS_S: u32 = 5;

/// How progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgressStyle {
    /// A line every five seconds.
    Lines,
    /// Only warnings.
    Quiet,
}

/// Writes the progress of a run.
pub struct Progress<W> {
    out: W,
    style: ProgressStyle,
    /// The slices that were counted: one may come again.
    seen: SliceSet,
    errors: u64,
    recent: Recent,
    length_s: Option<f64>,
    /// Seconds of the last line: the last second may come again, with what was late.
    shown_s: u32,
}

impl<W: Write + Send> Progress<W> {
    /// To `out`, which a person reads.
    pub fn new(out: W, style: ProgressStyle) -> Progress<W> {
        let (seen, recent) = (SliceSet::default(), Recent::default());
        Progress { out, style, seen, errors: 0, recent, length_s: None, shown_s: 0 }
    }
}

impl<W: Write + Send> Sink for Progress<W> {
    fn start(&mut self, start: &Start) -> io::Result<Wanted> {
        self.length_s = start.program.length_s();
        Ok(Wanted::default())
    }

    fn second(&mut self, second: &Second) -> io::Result<()> {
        if self.style == ProgressStyle::Quiet {
            return Ok(());
        }
        for slice in &second.slices {
            if self.seen.insert(slice.source, slice.second) {
                self.errors += slice.requests().map(|(_, stats)| stats.errors).sum::<u64>();
                self.recent.add(slice);
            }
        }
        let number = second.second + 1;
        if !number.is_multiple_of(PROGRESS_S) || number <= self.shown_s {
            return Ok(());
        }
        self.shown_s = number;
        let (elapsed_s, length_s) = (f64::from(number), self.length_s);
        let (errors, recent) = (self.errors, &self.recent);
        let line = live_line(&Live { elapsed_s, length_s, errors, recent });
        writeln!(self.out, "{line}")?;
        self.out.flush()
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        match &event.kind {
            EventKind::Warning(text) => {
                write!(self.out, "{}", squall_base::escape_lines(text))?;
                self.out.flush()
            }
            EventKind::Notice { text, .. } if self.style == ProgressStyle::Lines => {
                writeln!(self.out, "{}", squall_base::escape_lines(text))?;
                self.out.flush()
            }
            EventKind::Aborted(abort) => {
                writeln!(self.out, "{}", abort.text())?;
                self.out.flush()
            }
            _ => Ok(()),
        }
    }

    fn finish(&mut self, _: &Run) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use squall_metrics::{ErrorKind, NameId, Sample, Slice};

    use super::*;

    #[test]
    fn a_second_that_comes_again_has_no_second_line() {
        let mut written = Vec::new();
        let mut progress = Progress::new(&mut written, ProgressStyle::Lines);
        for number in [0, 3, 4, 4, 5, 9, 9, 4, 14] {
            let second = Second { second: number, ..Second::default() };
            progress.second(&second).expect("a Vec takes everything");
        }
        let shown = String::from_utf8(written).expect("text");
        let lines: Vec<&str> = shown.lines().map(str::trim).collect();
        assert_eq!(lines, ["5s", "10s", "15s"]);
    }

    #[test]
    fn errors_of_requests_count_once() {
        let mut written = Vec::new();
        let mut progress = Progress::new(&mut written, ProgressStyle::Lines);
        for number in [0, 3, 3, 4] {
            let mut slice = Slice::new(0, number);
            let error = Some(ErrorKind::TimeoutBody);
            slice.record(NameId(0), &Sample { error, complete: false, ..Sample::ok(1_000) });
            slice.record(NameId(0), &Sample::ok(1_000));
            slice.record_span(NameId(1), 1_000, true);
            let second = Second { second: number, slices: vec![slice], ..Second::default() };
            progress.second(&second).expect("a Vec takes everything");
        }
        let shown = String::from_utf8(written).expect("text");
        assert!(shown.trim_end().ends_with(" 3 errors"), "{shown}");
    }
}
