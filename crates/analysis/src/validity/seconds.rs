//! The seconds of a run in which something was the case, in words.

use super::facts::Facts;
use crate::series::SeriesRow;

/// What of a second a run must have for it to count as one of its seconds.
const MIN_OF_SECOND: f64 = 0.05;

/// The seconds for which a condition is true, in words.
pub(super) fn when(facts: &Facts<'_>, is: impl Fn(&SeriesRow) -> bool) -> String {
    let rows = facts.series.rows();
    let length = |row: &SeriesRow| row.seconds.max(1);
    // One that has hardly begun when the run ends is none of its seconds, unless it is meant.
    let counts = |row: &&SeriesRow| {
        is(row) || f64::from(row.second - rows[0].second) + MIN_OF_SECOND < facts.elapsed_s
    };
    let all: Vec<(u32, u32)> =
        rows.iter().filter(counts).map(|row| (row.second, length(row))).collect();
    let meant = rows.iter().filter(|row| is(row)).map(|row| (row.second, length(row)));
    seconds_in_words(&meant.collect::<Vec<_>>(), &all)
}

/// Some of the seconds of a run in words; each is given by its number, from 0, and how many follow it without a gap, itself
/// included.
pub(super) fn seconds_in_words(meant: &[(u32, u32)], all: &[(u32, u32)]) -> String {
    let count = |spans: &[(u32, u32)]| spans.iter().map(|(_, seconds)| seconds).sum::<u32>();
    let (Some((first, _)), Some((last, more))) = (meant.first(), meant.last()) else {
        return String::new();
    };
    let (last, number) = (last + more - 1, count(meant));
    let begin = all.first().map_or(0, |(begin, _)| *begin);
    let end = all.last().map_or(last, |(second, more)| second + more - 1);
    let of = match begin {
        0 => (end + 1).to_string(),
        _ => format!("{begin} to {end}"),
    };
    match number {
        1 => format!("in second {first}"),
        _ if last - first + 1 == number => format!("in seconds {first} to {last} of {of}"),
        _ => format!("in {number} of {} seconds, first in second {first}", count(all)),
    }
}
