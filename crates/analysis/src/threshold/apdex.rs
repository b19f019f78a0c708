//! `apdex(items, 500ms)`: the Application Performance Index for a target time T (Apdex Alliance, *Application Performance
//! Index: Apdex Technical Specification*, version 1.1, 2007): those who got their response within T are satisfied, those
//! who got it within 4T tolerate it, all others and those who got an error are frustrated. The index is the number of the
//! satisfied and half of those who tolerate it, divided by all; from 0 to 1.

use squall_base::units;
use squall_metrics::{Histogram, RequestStats};

/// Its target time, and what is left of the text without it: what it is about, in parentheses, and the limit.
#[derive(Debug, PartialEq)]
pub(super) struct Parsed {
    /// In µs.
    pub target_us: u64,
    pub rest: String,
}

/// Takes the target time out of what follows the word: `(items, 500ms) > 0.9` is `(items) > 0.9`.
pub(super) fn parse(text: &str) -> Result<Parsed, String> {
    let expected =
        || "expected a target time as the last of apdex, as in apdex(login, 500ms) > 0.9";
    let inner = text.trim_start().strip_prefix('(').ok_or_else(expected)?;
    let close = closing(inner).ok_or("the closing parenthesis is missing")?;
    let (about, rest) = (&inner[..close], &inner[close + 1..]);
    let (subject, target) = about.rsplit_once(',').unwrap_or(("", about));
    let target = units::parse_duration(target.trim()).map_err(|_| expected())?;
    let target_us = u64::try_from(target.as_micros()).unwrap_or(u64::MAX);
    if target_us == 0 {
        return Err(expected().to_owned());
    }
    let subject = subject.trim();
    let subject = if subject.is_empty() { String::new() } else { format!("({subject})") };
    Ok(Parsed { target_us, rest: format!("{subject}{rest}") })
}

/// Where the parenthesis closes, which none in quotes does.
fn closing(text: &str) -> Option<usize> {
    let mut quote = None;
    text.char_indices().find_map(|(at, c)| {
        match quote {
            Some(open) if c == open => quote = None,
            None if matches!(c, '"' | '\'') => quote = Some(c),
            None if c == ')' => return Some(at),
            _ => {}
        }
        None
    })
}

/// The Application Performance Index of requests or groups for a target time of so many µs (*Apdex Technical Specification*,
/// version 1.1, 2007): the share that was satisfied (within it), with half of those that were tolerating (within four times as
/// much). Who got an error is neither. `None`: there were none.
pub fn apdex_index(row: &RequestStats, target_us: u64) -> Option<f64> {
    let up_to = |of: &Histogram, limit| of.count() - of.count_above(limit).min(of.count());
    // Who got an error is frustrated, however fast that came.
    let good_up_to =
        |limit| up_to(&row.latency, limit).saturating_sub(up_to(&row.error_latency, limit));
    let satisfied = good_up_to(target_us);
    let tolerating = good_up_to(target_us.saturating_mul(4)).saturating_sub(satisfied);
    (row.count > 0).then(|| (satisfied as f64 + tolerating as f64 / 2.0) / row.count as f64)
}

#[cfg(test)]
mod tests {
    use squall_metrics::{ErrorKind, Sample};

    use super::*;
    use crate::Threshold;

    #[test]
    fn the_index_is_that_of_the_specification() {
        let mut row = RequestStats::default();
        let mut record = |number, sample: Sample| (0..number).for_each(|_| row.record(&sample));
        record(60, Sample::ok(400_000));
        record(30, Sample::ok(2_000_000));
        record(5, Sample::ok(2_100_000));
        // An error that came at once, and a timeout.
        record(3, Sample { error: Some(ErrorKind::Status), ..Sample::ok(1_000) });
        let error = Some(ErrorKind::TimeoutFirstByte);
        record(2, Sample { error, complete: false, ..Sample::ok(100) });
        // Cut off by squall: nobody's.
        let error = Some(ErrorKind::Interrupted);
        record(7, Sample { error, complete: false, ..Sample::ok(100) });
        assert_eq!(apdex_index(&row, 500_000), Some(0.75));
        assert_eq!(apdex_index(&RequestStats::default(), 500_000), None);
    }

    #[test]
    fn the_target_time_comes_last() {
        for (text, target_us, rest) in [
            ("(items, 500ms) > 0.9", 500_000, "(items) > 0.9"),
            ("(1s) > 0.9", 1_000_000, " > 0.9"),
            (
                "( \"a, (b)\", scenario: x, 2s ) >= 0.5",
                2_000_000,
                "(\"a, (b)\", scenario: x) >= 0.5",
            ),
        ] {
            assert_eq!(parse(text), Ok(Parsed { target_us, rest: rest.to_owned() }), "{text}");
        }
        for text in
            ["apdex > 0.9", "apdex(items) > 0.9", "apdex(items, 0s) > 0.9", "apdex(500ms > 0.9"]
        {
            assert!(Threshold::parse(text).is_err(), "{text}");
        }
    }
}
