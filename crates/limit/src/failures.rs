//! What a requirement's value is when requests fail: a request that failed, or that nobody answered, took longer
//! than any limit allows. Pure.

use squall_analysis::{Statistic, Threshold, Totals};
use squall_base::units::{rate, time};
use squall_metrics::{Histogram, RequestStats, rank};

/// In a mean, a request that failed counts as so many times the limit, or as the slowest response if
/// that was slower: a tenth of the requests, failing, use up any limit of a mean.
const FAILED_IN_MEAN: f64 = 10.0;

/// The value of a requirement, in µs, per second, or as it is; infinite: so many requests failed that none can be
/// given. `None`: nothing was counted.
pub fn value(requirement: &Threshold, totals: &Totals, seconds: f64) -> Option<f64> {
    let own = requirement.evaluate(totals, seconds).value;
    if requirement.is_of_metric() {
        return own;
    }
    let Some(row) = totals.select(requirement.selector()).filter(|row| row.errors > 0) else {
        return own;
    };
    let Some((statistic, corrected)) = requirement.of_latency() else {
        let succeeded = 1.0 - row.errors as f64 / row.count.max(1) as f64;
        return if requirement.is_of_rate() { own.map(|rate| rate * succeeded) } else { own };
    };
    let latency = if corrected { &row.corrected_latency } else { &row.latency };
    match statistic {
        Statistic::Percentile(percentile) => Some(percentile_of(&row, latency, percentile)),
        Statistic::Mean => {
            let limit = 1.0 / requirement.used(1.0)?;
            Some(mean_of(&row, latency, limit))
        }
        Statistic::Max => Some(f64::INFINITY),
        Statistic::Min => own,
    }
}

/// A value of [`value`] that differs from the requirement's own, as a person reads it.
pub fn shown(requirement: &Threshold, value: f64) -> String {
    if value.is_infinite() {
        return "more requests failed than it leaves out".to_owned();
    }
    let shown = if requirement.is_of_rate() { rate(value) } else { time(value) };
    format!("{shown} with the requests that failed")
}

/// Requests without a response, and failed ones among those with one.
fn failed(row: &RequestStats) -> (u64, u64) {
    let without = row.count.saturating_sub(row.latency.count());
    (without, row.errors.saturating_sub(without))
}

/// The percentile with failed requests above all others. Those that failed with a response are among the latencies,
/// nobody knows where: they are taken to have been the fastest, as errors mostly are.
fn percentile_of(row: &RequestStats, latency: &Histogram, percentile: f64) -> f64 {
    let (without, with) = failed(row);
    let all = latency.count() + without;
    let rank = rank(percentile, all) + with;
    if rank > latency.count() {
        return f64::INFINITY;
    }
    latency.at_rank(rank) as f64
}

fn mean_of(row: &RequestStats, latency: &Histogram, limit: f64) -> f64 {
    let (without, with) = failed(row);
    let failed = (without + with) as f64;
    let each = (FAILED_IN_MEAN * limit).max(latency.max() as f64);
    let answered = latency.count().saturating_sub(with) as f64;
    (latency.mean() * answered + each * failed) / (answered + failed)
}

#[cfg(test)]
mod tests {
    use squall_metrics::{ErrorKind, NameId, RowKey, RowKind, Sample, Slice};

    use super::*;

    /// 100 requests that took 1 to 100 ms, of which the last `timeouts` got no response and the first `refused`
    /// were answered with an error.
    fn totals(timeouts: u64, refused: u64) -> Totals {
        let mut slice = Slice::new(0, 0);
        slice.announce(NameId(0), RowKey::new(RowKind::Request, "s", "a"));
        for n in 1..=100u64 {
            let (late, wrong) = (n > 100 - timeouts, n <= refused);
            let sample = Sample {
                latency_ns: n * 1_000_000,
                complete: !late,
                status: if late { 0 } else { 200 },
                error: (late || wrong).then_some(ErrorKind::TimeoutFirstByte),
                ..Sample::ok(0)
            };
            slice.record(NameId(0), &sample);
        }
        let mut totals = Totals::new();
        totals.add(&slice);
        totals
    }

    fn ms(text: &str, totals: &Totals) -> f64 {
        let value = value(&Threshold::parse(text).expect("a threshold"), totals, 10.0);
        (value.expect("a value") / 100.0).round() / 10.0
    }

    #[test]
    fn what_failed_is_above_every_limit() {
        let fine = totals(0, 0);
        assert_eq!((ms("p95 < 40ms", &fine), ms("max < 40ms", &fine)), (95.0, 100.0));
        let some = totals(5, 0);
        assert_eq!(ms("p95 < 40ms", &some), 95.0, "the five are the slowest");
        assert_eq!(ms("p90(a) < 40ms", &some), 90.0);
        assert!(ms("p99 < 40ms", &some).is_infinite() && ms("max < 40ms", &some).is_infinite());
        // Those that were answered with an error at once would have been the slowest: all others move up.
        let wrong = totals(0, 5);
        assert_eq!(ms("p90 < 40ms", &wrong), 95.0);
        assert!(ms("p99 < 40ms", &wrong).is_infinite());
        assert!(ms("p50 < 40ms", &totals(100, 0)).is_infinite(), "nothing was answered");
    }

    /// 999 of 1,000 is 99.9 %, whatever rounding makes of it.
    #[test]
    fn one_of_a_thousand_may_be_left_out() {
        let mut slice = Slice::new(0, 0);
        slice.announce(NameId(0), RowKey::new(RowKind::Request, "s", "a"));
        (1..1_000).for_each(|_| slice.record(NameId(0), &Sample::ok(1_000)));
        let lost = Sample { complete: false, error: Some(ErrorKind::Reset), ..Sample::ok(0) };
        slice.record(NameId(0), &lost);
        let mut totals = Totals::new();
        totals.add(&slice);
        assert_eq!(ms("p99.9 < 40ms", &totals), 1.0);
        assert!(ms("p99.95 < 40ms", &totals).is_infinite());
    }

    #[test]
    fn means_and_rates_count_them_too() {
        let tenth = totals(10, 0);
        assert!((ms("mean < 40ms", &tenth) - (0.9 * 45.5 + 0.1 * 400.0)).abs() < 0.2);
        let rate = value(&Threshold::parse("rate > 1/s").expect("a threshold"), &tenth, 10.0);
        assert!((rate.expect("a rate") - 9.0).abs() < 1e-9);
        let share = value(&Threshold::parse("error_rate < 1%").expect("a threshold"), &tenth, 10.0);
        assert_eq!(share, Some(0.1));
    }
}
