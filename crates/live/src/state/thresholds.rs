//! Thresholds while a run goes on: which of them fail so far, by how much, and what the last second alone came to. Pure.

use squall_analysis::{ThresholdResult, Totals};
use squall_base::escape_control;
use squall_base::units::{percent, rate, time};
use squall_metrics::{MetricId, NameId, Slice};
use squall_runner::Second;

/// How a threshold stands while a run goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It passes so far.
    Passes,
    /// It fails so far.
    Fails,
    /// It has a moving window, and no value before the first one is over.
    NotYet,
}

impl Standing {
    /// A word for it.
    pub fn label(self) -> &'static str {
        match self {
            Standing::Passes => "passes",
            Standing::Fails => "fails",
            Standing::NotYet => "not yet",
        }
    }
}

/// What was recorded in a second alone.
pub(super) fn of_second(second: &Second) -> Totals {
    let mut slice = Slice::new(0, 0);
    for (id, row) in (0..).map(NameId).zip(&second.rows) {
        slice.announce(id, (*row.key).clone());
        slice.put_row(id, row.key.place.kind, &row.stats);
    }
    for (id, (key, stats)) in (0..).map(MetricId).zip(&second.metrics) {
        slice.announce_metric(id, key);
        slice.merge_metric(id, stats);
    }
    let mut totals = Totals::new();
    totals.add(&slice);
    totals
}

/// A threshold that fails, in a line: `p95(list) 440 ms > 300 ms, last second 7.70 ms`; `lately` is what the last second alone
/// came to. Of a moving window also its length, and where the worst one lies: `> 300 ms over 5s (seconds 6 to 11)`.
pub(super) fn failing(own: &ThresholdResult, lately: Option<&ThresholdResult>) -> String {
    // No limit has such a sign in it, but a name may.
    let (measure, limit) = own.text.rsplit_once(&own.op).unwrap_or((&own.text, ""));
    let (measure, limit) = (escape_control(measure.trim()), limit.trim());
    let Some(value) = own.value else { return format!("{measure}: {}", own.shown) };
    let (limit, over) = match limit.split_once(" over ") {
        Some((limit, length)) => (limit.trim(), format!(" over {}", length.trim())),
        None => (limit, String::new()),
    };
    let window = match (own.worst_from_s, own.over_s) {
        (Some(from), Some(length)) => format!(" (seconds {from} to {})", from + length),
        _ => String::new(),
    };
    let limit = match own.unit.as_str() {
        "us" => time(own.limit),
        "per_second" => rate(own.limit),
        "share" => percent(own.limit),
        _ => limit.to_owned(),
    };
    let sign = match value.total_cmp(&own.limit) {
        std::cmp::Ordering::Greater => " >",
        std::cmp::Ordering::Less if !own.at_least => " <",
        // The value may be beyond what is known of it.
        _ => ", limit",
    };
    // Of what is counted over the whole run a second says nothing.
    let lately = lately.filter(|last| last.value.is_some() && last.unit != "number");
    let lately = lately.map_or(String::new(), |last| format!(", last second {}", last.shown));
    format!("{measure} {}{sign} {limit}{over}{window}{lately}", own.shown_alone())
}

#[cfg(test)]
mod tests {
    use squall_analysis::{MovingWindow, Threshold};
    use squall_metrics::{RowKey, RowKind, Sample};

    use super::*;

    /// What a threshold came to where each response under `list < 9` took so many ms.
    fn result(text: &str, ms: u64) -> ThresholdResult {
        let mut slice = Slice::new(0, 0);
        slice.announce(NameId(0), RowKey::new(RowKind::Request, "s", "list < 9"));
        (0..10).for_each(|_| slice.record(NameId(0), &Sample::ok(ms * 1_000)));
        let mut totals = Totals::new();
        totals.add(&slice);
        Threshold::parse(text).expect("a threshold").evaluate(&totals, 10.0)
    }

    #[test]
    fn a_failing_threshold_has_both_values_and_its_limit() {
        let line = |text: &str| failing(&result(text, 440), Some(&result(text, 8)));
        let named = line("p95(\"list < 9\") < 300ms");
        assert_eq!(named, "p95(\"list < 9\") 440 ms > 300 ms, last second 8.00 ms");
        assert_eq!(line("rate > 50/s"), "rate 1.00/s < 50.0/s, last second 1.00/s");
        assert_eq!(line("count > 500"), "count 10 < 500");
        let none = failing(&result("p95(other) < 1s", 440), None);
        assert!(none.starts_with("p95(other): n"), "{none}");
    }

    #[test]
    fn a_failing_window_has_its_length_and_its_seconds_behind_the_limit() {
        let line = |text: &str| {
            let threshold = Threshold::parse(text).expect("a threshold");
            let mut window = MovingWindow::new(&threshold, 0).expect("a window");
            let mut totals = Totals::new();
            for second in 0..12 {
                let mut slice = Slice::new(0, second);
                if second == 0 {
                    slice.announce(NameId(0), RowKey::new(RowKind::Request, "s", "list"));
                }
                let ms = if (6..11).contains(&second) { 400 } else { 10 };
                (0..10).for_each(|_| slice.record(NameId(0), &Sample::ok(ms * 1_000)));
                totals.add(&slice);
                window.add(second, [&slice], &totals);
            }
            failing(&window.result(), Some(&result("max < 1s", 8)))
        };
        let expected = "min(list) 400 ms > 300 ms over 5s (seconds 6 to 11), last second 8.00 ms";
        assert_eq!(line("min(list) < 300ms over 5s"), expected);
        let count = line("count(list) > 500 over 12s");
        assert!(count.starts_with("count(list) 120 < 500 over 12s (seconds 0 to 12)"), "{count}");
    }
}
