//! The progress line of a run.

use squall_analysis::Recent;
use squall_base::units::{counted, rate, time};

/// Most columns: a line as wide as a terminal of 80 columns would wrap where a character follows.
const MAX_COLUMNS: usize = 79;
/// Columns of the bar, if there is room for so many; and the fewest that are worth it.
const BAR: usize = 10;
const MIN_BAR: usize = 5;

/// The progress of a run.
#[derive(Debug, Clone, Copy)]
pub struct Live<'a> {
    /// Seconds since its start.
    pub elapsed_s: f64,
    /// Its length, if it is known.
    pub length_s: Option<f64>,
    /// Requests so far that were errors.
    pub errors: u64,
    pub recent: &'a Recent,
}

/// The line, at most 79 columns.
pub fn live_line(live: &Live<'_>) -> String {
    let clock = match live.length_s {
        // What is in flight at the end takes longer.
        Some(length) => format!("{:>3.0}s/{length:.0}s", live.elapsed_s.min(length.ceil())),
        None => format!("{:>3.0}s", live.elapsed_s),
    };
    let numbers = numbers(live);
    let room = MAX_COLUMNS.saturating_sub(clock.chars().count() + numbers.chars().count() + 3);
    let bar = match live.length_s {
        Some(length) if length > 0.0 && room >= MIN_BAR => {
            let width = room.min(BAR);
            let done = ((live.elapsed_s / length).clamp(0.0, 1.0) * width as f64).round() as usize;
            format!(" [{}{}]", "#".repeat(done), ".".repeat(width - done))
        }
        _ => String::new(),
    };
    let line = format!("{clock}{bar}{numbers}");
    line.chars().take(MAX_COLUMNS).collect()
}

/// The numbers of the last second that all workers have reported, each with a gap before it: the one before the last
/// that there is. Of the first second alone there are none yet.
fn numbers(live: &Live<'_>) -> String {
    let Some(row) = live.recent.rows().rev().nth(1) else { return String::new() };
    // Without a complete response there is no latency.
    let latency = |us: f64| if us == 0.0 { "-".to_owned() } else { time(us) };
    format!(
        "  {}  {}  p50 {}  p99 {}  {}",
        counted(row.users, "user"),
        rate(row.requests as f64 / f64::from(row.seconds.max(1))),
        latency(row.p50_us),
        latency(row.p99_us),
        counted(live.errors, "error"),
    )
}

#[cfg(test)]
mod tests {
    use squall_metrics::{NameId, RowKey, RowKind, Sample, Slice};

    use super::*;

    /// Two workers with so many users each, that make requests of so many µs.
    fn recorded(users: u64, latency_us: u64, seconds: u32) -> Recent {
        let mut recent = Recent::default();
        for (second, worker) in (0..seconds).flat_map(|second| [(second, 0), (second, 1)]) {
            // The second worker's last second has not come yet.
            if (second + 1, worker) == (seconds, 1) {
                continue;
            }
            let mut slice = Slice::new(worker, second);
            if second == 0 {
                slice.announce(NameId(0), RowKey::new(RowKind::Request, "s", "a"));
            }
            slice.counters.users_active = users;
            slice.record(NameId(0), &Sample::ok(latency_us));
            recent.add(&slice);
        }
        recent
    }

    fn line(elapsed_s: f64, length_s: Option<f64>, recent: &Recent) -> String {
        live_line(&Live { elapsed_s, length_s, errors: 0, recent })
    }

    #[test]
    fn all_workers_count() {
        let wanted = "  3s/4s [########..]  10 users  2.00/s  p50 1.00 ms  p99 1.00 ms  0 errors";
        assert_eq!(line(3.0, Some(4.0), &recorded(5, 1_000, 3)), wanted);
        assert_eq!(line(1.0, Some(4.0), &recorded(5, 1_000, 1)), "  1s/4s [###.......]");
        assert_eq!(
            line(2.0, None, &recorded(5, 1_000, 2)),
            "  2s  10 users  2.00/s  p50 1.00 ms  p99 1.00 ms  0 errors"
        );
    }

    #[test]
    fn what_has_no_latency_shows_none() {
        let mut recent = Recent::default();
        for second in 0..2 {
            let mut slice = Slice::new(0, second);
            slice.counters.users_active = 1;
            recent.add(&slice);
        }
        let wanted = "  2s  1 user  0.00/s  p50 -  p99 -  0 errors";
        assert_eq!(line(2.0, None, &recent), wanted);
    }

    #[test]
    fn it_fits_80_columns() {
        for (elapsed, length) in [(3.0, 3.2), (99_999.0, 100_000.0), (9e9, 9e9)] {
            for users in [1, 20_000, u64::MAX / 4] {
                for latency in [1, 999_999, 60_000_000_000] {
                    let line = line(elapsed, Some(length), &recorded(users, latency, 3));
                    assert!(line.chars().count() <= 79, "{line}");
                    assert!(line.contains(" users"), "{line}");
                }
            }
        }
    }
}
