//! The progress line of a run.

use squall_analysis::Totals;
use squall_base::units::{count, rate, time};

/// The progress of a run.
#[derive(Debug, Clone, Copy)]
pub struct Live<'a> {
    /// Seconds since its start.
    pub elapsed_s: f64,
    /// Its length, if it is known.
    pub length_s: Option<f64>,
    /// What was recorded so far.
    pub totals: &'a Totals,
}

/// The line, at most 99 columns.
pub fn live_line(live: &Live<'_>) -> String {
    let progress = match live.length_s {
        Some(length) if length > 0.0 => {
            let part = (live.elapsed_s / length).clamp(0.0, 1.0);
            let done = (part * 20.0).round() as usize;
            format!(
                "{:>3.0}s/{length:.0}s [{}{}]",
                live.elapsed_s,
                "#".repeat(done),
                ".".repeat(20 - done)
            )
        }
        _ => format!("{:>3.0}s", live.elapsed_s),
    };
    // The last second may still lack workers; the one before it is complete.
    let row = live.totals.recent().rev().nth(1).or_else(|| live.totals.recent().next_back());
    let Some(row) = row else { return progress };
    format!(
        "{progress}  {} users  {}  p50 {}  p99 {}  {} errors",
        count(row.users),
        rate(row.requests as f64 / f64::from(row.seconds.max(1))),
        time(row.p50_us as f64),
        time(row.p99_us as f64),
        count(live.totals.errors()),
    )
}
