//! The progress line, and what a person should know meanwhile.

use std::io::{self, Write};

use squall_analysis::Totals;
use squall_report::{Live, Run, live_line};

use super::{Event, EventKind, Second, Sink, Start, Wanted};
use crate::handle::Phase;

/// Seconds between progress lines without a terminal.
const PLAIN_PROGRESS_S: u32 = 5;

/// How progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgressStyle {
    /// One line, which each second takes the place of the one before, on a terminal.
    Terminal,
    /// A line every five seconds.
    Plain,
    /// Only warnings.
    Quiet,
}

/// Writes the progress of a run.
pub struct Progress<W> {
    out: W,
    style: ProgressStyle,
    totals: Totals,
    length_s: Option<f64>,
    /// Whether the terminal shows a line.
    is_shown: bool,
}

impl<W: Write + Send> Progress<W> {
    /// To `out`, which a person reads.
    pub fn new(out: W, style: ProgressStyle) -> Progress<W> {
        Progress { out, style, totals: Totals::new(), length_s: None, is_shown: false }
    }

    /// Takes the line away from the terminal.
    fn clear(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.is_shown) {
            write!(self.out, "\r\x1b[K")?;
        }
        Ok(())
    }
}

impl<W: Write + Send> Sink for Progress<W> {
    fn start(&mut self, start: &Start) -> io::Result<Wanted> {
        self.length_s = start.program.length_s();
        Ok(Wanted::default())
    }

    fn second(&mut self, second: &Second) -> io::Result<()> {
        for slice in &second.slices {
            self.totals.add(slice);
        }
        let number = second.second + 1;
        let is_due = match self.style {
            ProgressStyle::Terminal => true,
            ProgressStyle::Plain => number.is_multiple_of(PLAIN_PROGRESS_S),
            ProgressStyle::Quiet => false,
        };
        if !is_due {
            return Ok(());
        }
        let (elapsed_s, length_s) = (f64::from(number), self.length_s);
        let line = live_line(&Live { elapsed_s, length_s, totals: &self.totals });
        match self.style {
            ProgressStyle::Terminal => {
                self.is_shown = true;
                write!(self.out, "\r\x1b[K{line}")?;
            }
            ProgressStyle::Plain | ProgressStyle::Quiet => writeln!(self.out, "{line}")?,
        }
        self.out.flush()
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        match &event.kind {
            EventKind::Warning(text) => {
                self.clear()?;
                write!(self.out, "{}", squall_base::escape_lines(text))?;
                self.out.flush()
            }
            EventKind::PhaseEnded { phase: Phase::Load, .. } => {
                self.clear()?;
                self.out.flush()
            }
            _ => Ok(()),
        }
    }

    fn finish(&mut self, _: &Run) -> io::Result<()> {
        self.clear()?;
        self.out.flush()
    }
}
