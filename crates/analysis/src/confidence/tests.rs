use super::*;
use crate::{Batches, RowLatencies, Steady, Totals};
use squall_metrics::{NameId, Sample, Slice};

/// The batches of latencies in µs, each with its second; corrected ones are twice as long.
fn batches(latencies: &[(u32, u64)], seconds: u32) -> Batches {
    let mut slices: Vec<Slice> = (0..seconds).map(|second| Slice::new(0, second)).collect();
    for (second, latency) in latencies {
        let corrected_latency_ns = Some(latency * 2_000);
        let sample = Sample { corrected_latency_ns, ..Sample::ok(*latency) };
        slices[*second as usize].record(NameId(0), &sample);
    }
    let mut totals = Totals::new();
    slices.iter().for_each(|slice| assert!(totals.add(slice)));
    let mut series = totals.series();
    // The order of slices, and a slice that comes twice, make no difference.
    let complete = slices.iter().rev().chain(&slices).filter_map(|slice| series.complete(slice));
    let latencies: Vec<RowLatencies> = complete.map(RowLatencies::from).collect();
    let steady = Steady { from: 0, to: seconds, unsteady: None };
    Batches::of(&series.finish(), steady, &latencies)
}

/// So many responses a second of 1,000 to 1,999 µs, the same in each second.
fn even(seconds: u32, rate: u32) -> Batches {
    let at = |second, number: u32| (second, 1_000 + u64::from(number * 1_000 / rate));
    let all: Vec<(u32, u64)> =
        (0..seconds).flat_map(|second| (0..rate).map(move |number| at(second, number))).collect();
    batches(&all, seconds)
}

fn holds(interval: Interval, value: f64) -> bool {
    let Interval::Between { low, high } = interval else { return false };
    low <= value && value <= high
}

#[test]
fn seconds_that_do_not_differ_know_everything() {
    let run = even(40, 1_000);
    assert_eq!((run.requests(), run.seconds(), run.rate()), (40_000, 40, 1_000.0));
    assert_eq!(run.rate_interval(), Interval::Between { low: 1_000.0, high: 1_000.0 });
    assert_eq!(run.latency().mean(), Interval::Between { low: 1_499.5, high: 1_499.5 });
    assert_eq!(run.corrected_latency().mean(), Interval::Between { low: 2_999.0, high: 2_999.0 });
    for (p, value) in [(50.0, 1_500.0), (90.0, 1_900.0), (99.0, 1_990.0)] {
        assert!(holds(run.latency().percentile(p), value), "{p}");
        assert!(holds(run.corrected_latency().percentile(p), 2.0 * value), "{p} corrected");
    }
}

#[test]
fn what_is_unknown_says_why() {
    let none = batches(&[], 30);
    assert_eq!(none.latency().mean(), Interval::None { why: Unknown::Empty });
    assert_eq!(none.latency().percentile(99.0), Interval::None { why: Unknown::Empty });
    let short = even(4, 100);
    assert_eq!(short.latency().mean(), Interval::None { why: Unknown::Seconds });
    assert_eq!(short.latency().percentile(50.0), Interval::None { why: Unknown::Seconds });
    assert_eq!(short.rate_interval(), Interval::None { why: Unknown::Seconds });
    let bound = |run: &Batches, p| match run.latency().percentile(p) {
        Interval::AtLeast { low, why, longer_s } => (low, why, longer_s),
        other => panic!("{other:?}"),
    };
    let (low, why, longer_s) = bound(&even(12, 1_000), 99.0);
    assert!(low > 1_900.0 && low <= 1_990.0, "{low}");
    assert_eq!((why, longer_s), (Unknown::SecondsAbove, 8.0));
    assert_eq!(bound(&even(30, 10), 99.0).1, Unknown::Responses);
    // All the slow ones in two of 40 seconds.
    let slow = |second| if second == 7 || second == 23 { 90_000 } else { 1_000 };
    let all: Vec<(u32, u64)> = (0..40_000).map(|n| (n / 1_000, slow(n / 1_000))).collect();
    let (low, why, longer_s) = bound(&batches(&all, 40), 99.0);
    assert_eq!((low, why), (1_000.0, Unknown::Together));
    assert!(longer_s > 10.0, "{longer_s}");
}

#[test]
fn a_second_that_slows_those_after_it_widens() {
    let width = |order: fn(u32) -> u32| {
        let slow = |second| if order(second) < 20 { 1_000 } else { 1_200 };
        let all: Vec<(u32, u64)> = (0..4_000).map(|n| (n / 100, slow(n / 100))).collect();
        let mean = batches(&all, 40).latency().mean();
        mean.high().expect("an end") - mean.low().expect("an end")
    };
    let (mixed, apart) = (width(|second| second % 2 * 20), width(|second| second));
    assert!(apart > 3.0 * mixed, "{apart} {mixed}");
}

#[test]
fn advice_shrinks_with_the_square_root_of_the_time() {
    let interval = Interval::Between { low: 90.0, high: 110.0 };
    assert!((interval.longer_s(100.0, 60).expect("known") - 60.0 * 4.2).abs() < 1e-9);
    assert_eq!(interval.longer_s(300.0, 60), Some(0.0));
    assert_eq!(Interval::None { why: Unknown::Memory }.longer_s(1.0, 60), None);
}

#[test]
fn factors_are_quantiles_of_gamma() {
    // Chi-square with 2a degrees of freedom, divided by 2a: tables at 2.5% and 97.5%.
    for (a, low, high) in [(2.5, 0.166, 2.566), (5.0, 0.325, 2.048), (50.0, 0.742, 1.296)] {
        let (fewest, most) = factors(a);
        assert!((fewest - low).abs() < 0.01 && (most - high).abs() < 0.01, "{a}: {fewest} {most}");
    }
    assert!(factors(0.1).1 > factors(0.5).1, "fewer values, more doubt");
}
