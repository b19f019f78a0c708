//! Thresholds while a run goes on: which of them fail so far, by how much, and what the last second alone came to. Pure.

use squall_analysis::{ThresholdResult, Totals};
use squall_base::escape_control;
use squall_base::units::{percent, rate, time};
use squall_metrics::{MetricId, NameId, Slice};
use squall_runner::Second;

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
/// came to.
pub(super) fn failing(own: &ThresholdResult, lately: Option<&ThresholdResult>) -> String {
    // No limit has such a sign in it, but a name may.
    let (measure, limit) = own.text.rsplit_once(&own.op).unwrap_or((&own.text, ""));
    let (measure, limit) = (escape_control(measure.trim()), limit.trim());
    let Some(value) = own.value else { return format!("{measure}: {}", own.shown) };
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
    format!("{measure} {}{sign} {limit}{lately}", own.shown)
}

#[cfg(test)]
mod tests {
    use squall_analysis::Threshold;
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
}
