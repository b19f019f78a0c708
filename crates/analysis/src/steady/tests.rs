use squall_metrics::{NameId, Sample, Slice};

use super::*;
use squall_metrics::Quantities;

/// Chance that is the same in every run.
struct Chance(u64);

impl Chance {
    /// About normal: the sum of twelve uniform numbers, less 6.
    fn normal(&mut self) -> f64 {
        let mut sum = -6.0;
        for _ in 0..12 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            sum += (self.0 >> 11) as f64 / (1u64 << 53) as f64;
        }
        sum
    }
}

/// Rows of a second with this mean latency, in µs, and an even rate.
fn rows(means: &[f64]) -> Vec<SeriesRow> {
    let row = |(second, mean_us): (usize, &f64)| SeriesRow {
        second: second as u32,
        seconds: 1,
        quantities: Quantities {
            requests: 100,
            mean_us: *mean_us,
            p50_us: *mean_us,
            ..Quantities::default()
        },
        ..SeriesRow::default()
    };
    means.iter().enumerate().map(row).collect()
}

/// Where the beginning ends, and what changes after it.
fn cut(means: &[f64]) -> (usize, Option<Change>) {
    let rows = rows(means);
    let (cut, change) = Watched::new(&rows.iter().collect::<Vec<_>>()).cut();
    (cut, change.map(|(_, change)| change))
}

fn noisy(length: usize, level: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut chance = Chance(7);
    (0..length).map(|at| 1_000.0 * level(at) * (1.0 + 0.02 * chance.normal())).collect()
}

#[test]
fn a_slow_beginning_is_cut_off() {
    for (length, transient) in [(20, 4), (60, 1), (100, 20), (600, 100)] {
        let (cut, change) = cut(&noisy(length, |at| if at < transient { 1.5 } else { 1.0 }));
        assert!(cut >= transient && cut <= length / 2, "{length} {transient}: {cut}");
        assert_eq!(change, None, "{length} {transient}");
    }
    let fading = noisy(60, |at| 1.0 + 2.0 * (-(at as f64) / 3.0).exp());
    let (cut, change) = cut(&fading);
    assert!((5..=15).contains(&cut) && change.is_none(), "{cut} {change:?}");
}

#[test]
fn what_is_steady_is_not_cut() {
    for length in [10, 30, 60, 300] {
        assert_eq!(cut(&noisy(length, |_| 1.0)), (0, None), "{length}");
    }
}

#[test]
fn what_changes_late_or_all_the_time_is_not_cut_but_told() {
    let step = |from: usize| move |at: usize| if at < from { 1.0 } else { 0.5 };
    for from in [31, 45, 57] {
        let (cut, change) = cut(&noisy(60, step(from)));
        assert_eq!((cut, change.and_then(|change| change.at)), (0, Some(from)));
    }
    let (from, change) = cut(&noisy(60, |at| 1.0 + 0.2 * at as f64 / 59.0));
    assert!(from == 0 && change.is_some_and(|change| change.at.is_none()), "{from} {change:?}");
    // Slow at first, and then again at the end: the beginning is cut off, the end is told.
    let twice = noisy(60, |at| {
        if at < 5 {
            20.0
        } else if at < 50 {
            1.0
        } else {
            1.3
        }
    });
    assert_eq!((cut(&twice).0, cut(&twice).1.and_then(|change| change.at)), (5, Some(50)));
}

/// The steady part of a run of so many even seconds whose load is like this.
fn part(
    elapsed_s: f64,
    warmup: Warmup,
    constant: Option<(f64, Option<f64>)>,
) -> Option<(u32, u32)> {
    let mut totals = Totals::new();
    let seconds = elapsed_s.ceil() as u32;
    let slices: Vec<Slice> = (0..seconds)
        .map(|second| {
            let mut slice = Slice::new(0, second);
            (0..200).for_each(|_| slice.record(NameId(0), &Sample::ok(2_000)));
            slice
        })
        .collect();
    slices.iter().for_each(|slice| assert!(totals.add(slice)));
    let mut series = totals.series();
    slices.iter().for_each(|slice| series.add(slice));
    let shape = Shape {
        warmup,
        constant_from_s: constant.map(|(from, _)| from),
        constant_to_s: constant.and_then(|(_, to)| to),
    };
    let steady = steady(&totals, &series.finish(), elapsed_s, shape)?;
    assert_eq!(steady.unsteady, None);
    Some((steady.from, steady.to))
}

#[test]
fn ramps_warm_ups_and_ends_are_cut_off() {
    assert_eq!(part(6.5, Warmup::None, Some((1.0, None))), Some((1, 6)));
    assert_eq!(part(6.5, Warmup::None, Some((0.2, Some(6.5)))), Some((1, 6)));
    assert_eq!(part(7.5, Warmup::Fixed(2.0), Some((0.0, Some(7.5)))), Some((2, 7)));
    assert_eq!(part(20.0, Warmup::Auto, Some((0.0, Some(11.5)))), Some((0, 11)), "it ends early");
    assert_eq!(part(5.9995, Warmup::None, Some((1.0, None))), Some((1, 6)));
}

#[test]
fn a_load_that_always_changes_has_no_steady_part_and_nor_has_a_short_one() {
    assert_eq!(part(20.0, Warmup::None, None), None);
    assert_eq!(part(4.5, Warmup::None, Some((0.0, None))), None);
    assert_eq!(part(6.5, Warmup::None, Some((2.0, None))), None);
}
