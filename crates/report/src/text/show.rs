//! How a run is shown as text, and phrases that several parts of it have.

use std::fmt::Write as _;

use squall_base::units::{count, counted, time};
use squall_metrics::ErrorKind;

use crate::document::{RunDocument, RunPhase};

/// Most lines of the log that are shown.
pub(super) const MAX_LOG_SHOWN: usize = 10;
/// The narrowest and the widest text, in columns.
const WIDTHS: (usize, usize) = (80, 200);

/// How a run is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Show {
    /// Columns of the terminal; what is less than 80 or more than 200 counts as that.
    pub columns: usize,
    /// Whether it has colours.
    pub color: bool,
    /// Whether everything is shown that is known, or only what a tester asks first.
    pub full: bool,
    /// Whether the numbers are defined, which shows all of them.
    pub explain: bool,
}

impl Show {
    pub(crate) fn width(&self) -> usize {
        self.columns.clamp(WIDTHS.0, WIDTHS.1) - 1
    }

    /// A word in a colour, if there are any; `code` is that of the terminal.
    pub(crate) fn word(&self, word: &str, code: &str) -> String {
        if self.color { format!("\x1b[{code}m{word}\x1b[0m") } else { word.to_owned() }
    }
}

/// So much more than is shown.
pub(super) fn more(out: &mut String, number: usize, what: &str) {
    if number > 0 {
        let _ = writeln!(out, "             and {} more {what}, in run.json", count(number as u64));
    }
}

/// What became of the setup or the teardown.
pub(crate) fn phase_text(phase: &RunPhase) -> String {
    let (requests, errors) = (phase.requests, phase.errors);
    let mut text = counted(requests, "request");
    if errors > 0 {
        let _ = write!(text, ", {}", counted(errors, "error"));
    }
    let _ = match phase.end.as_str() {
        "done" => write!(text, ", {}", time(phase.elapsed_s * 1e6)),
        end => write!(text, ", {}", end.replace('_', " ")),
    };
    text
}

/// What a line about a kind of error begins with: requests of some kinds were never sent.
pub(super) fn of_kind(run: &RunDocument, kind: Option<ErrorKind>) -> &'static str {
    match run.totals.not_sent > 0 && kind.is_some_and(ErrorKind::is_of_making) {
        true => " not sent    ",
        false => " errors      ",
    }
}
