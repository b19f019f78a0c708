use super::*;
use squall_base::random::Random;
use squall_metrics::{ErrorKind, NameId, RowKey, RowKind, Sample, Slice};

/// Requests a second of each row.
const RATE: usize = 50;

/// A run of some rows: each request takes what `latency` says of (row, second, chance), in µs; below 0 it is an
/// error.
fn run(
    rows: usize,
    seconds: u32,
    seed: u64,
    latency: impl Fn(usize, u32, &mut Random) -> f64,
) -> Measured {
    let mut random = Random::of(seed, 7, 7, 7);
    let slices: Vec<Slice> = (0..seconds)
        .map(|second| {
            let mut slice = Slice::new(0, second);
            for row in 0..rows {
                if second == 0 {
                    let key = RowKey::new(RowKind::Request, "s", &format!("r{row}"));
                    slice.announce(NameId(row as u32), key);
                }
                for _ in 0..RATE {
                    let us = latency(row, second, &mut random);
                    let error = (us < 0.0).then_some(ErrorKind::Status);
                    let sample =
                        Sample { latency_ns: (us.abs() * 1e3) as u64, error, ..Sample::ok(0) };
                    slice.record(NameId(row as u32), &sample);
                }
            }
            slice
        })
        .collect();
    let mut builder = SketchBuilder::new(0, seconds);
    slices.iter().for_each(|slice| builder.add(slice));
    Measured::Blocks(builder.finish())
}

fn lognormal(median: f64, random: &mut Random) -> f64 {
    median * random.normal(0.0, 0.5).exp()
}

fn changed(comparison: &Comparison) -> Vec<(String, Measure)> {
    let rows = comparison.rows.iter();
    let name = |row: &RowComparison| row.key.as_ref().map_or("all", |key| &key.name).to_owned();
    rows.flat_map(|row| row.changed().map(move |own| (name(row), own.measure))).collect()
}

#[test]
fn a_sketch_counts_everything_once() {
    let evidence = run(2, 130, 1, |row, second, _| 1_000.0 * (row + 1) as f64 + f64::from(second));
    let sketch = evidence.sketch().expect("blocks");
    let seconds = &sketch.seconds[0];
    assert_eq!(seconds.len(), 43, "blocks of 3 s, and what is left in the last");
    assert_eq!(seconds.iter().sum::<u64>(), 130);
    let names: Vec<_> =
        sketch.rows.iter().map(|row| row.key.as_ref().map(|key| key.name.as_str())).collect();
    assert_eq!(names, [None, Some("r0"), Some("r1")]);
    assert_eq!(sketch.rows[0].count(), 2 * 130 * RATE as u64);
    assert_eq!(sketch.rows[1].percentile(50.0), 1_064.0);
    assert_eq!(
        (sketch.rows[1].percentile(0.0), sketch.rows[1].percentile(100.0)),
        (1_000.0, 1_129.0)
    );
    let latencies: u64 = sketch.rows[1].blocks().map(|block| block.latency.count()).sum();
    assert_eq!(latencies, 130 * RATE as u64);
}

#[test]
fn equal_runs_are_equal() {
    let runs = 200;
    let alarms = (0..runs).filter(|seed| {
        let [a, b] = [0, 1]
            .map(|side| run(3, 30, 2 * seed + side, |_, _, random| lognormal(8_000.0, random)));
        !changed(&compare(&a, &b)).is_empty()
    });
    let alarms = alarms.count();
    assert!(alarms <= 6, "{alarms} of {runs}");
}

#[test]
fn what_one_second_shares_with_the_next_is_no_change() {
    // The level wanders: what was slow in one second is slow in the next ones.
    let runs = 200;
    let wander = |seed: u64| {
        let mut random = Random::of(seed, 1, 1, 1);
        let mut level = 0.0;
        let levels: Vec<f64> = (0..60)
            .map(|_| {
                level = 0.8 * level + random.normal(0.0, 0.06);
                level
            })
            .collect();
        run(1, 60, seed, move |_, second, random| {
            lognormal(8_000.0, random) * f64::exp(levels[second as usize])
        })
    };
    let alarms = (0..runs)
        .filter(|seed| !changed(&compare(&wander(2 * seed), &wander(2 * seed + 1))).is_empty());
    let alarms = alarms.count();
    assert!(alarms <= 18, "{alarms} of {runs}");
}

#[test]
fn a_change_is_found_and_is_that_of_its_row() {
    let runs = 100;
    let (mut found, mut right) = (0, 0);
    for seed in 0..runs {
        let a = run(10, 30, 2 * seed, |_, _, random| lognormal(8_000.0, random));
        let b = run(10, 30, 2 * seed + 1, |row, _, random| {
            lognormal(if row == 4 { 9_200.0 } else { 8_000.0 }, random)
        });
        let rows: Vec<String> =
            changed(&compare(&a, &b)).into_iter().map(|(name, _)| name).collect();
        found += usize::from(rows.iter().any(|row| row == "r4"));
        right += usize::from(rows.iter().all(|row| row == "r4" || row == "all"));
    }
    assert!(found >= 95 && right >= 95, "found {found}, right {right}");
}

#[test]
fn errors_are_compared_in_points() {
    let with = |share: f64, seed: u64| {
        run(1, 30, seed, move |_, _, random| {
            let sign = if random.uniform() < share { -1.0 } else { 1.0 };
            sign * lognormal(8_000.0, random)
        })
    };
    let comparison = compare(&with(0.0, 1), &with(0.02, 2));
    let errors = comparison.rows[0].of(Measure::ErrorRate).expect("it is always there");
    assert_eq!(errors.result, DifferenceResult::Changed);
    let change = errors.change.expect("known");
    assert!(errors.low.expect("known") > 0.0 && (0.01..0.03).contains(&change), "{errors:?}");
    let none = compare(&with(0.0, 1), &with(0.0, 2));
    let errors = none.rows[0].of(Measure::ErrorRate).expect("it is always there");
    assert_eq!((errors.change, errors.result), (Some(0.0), DifferenceResult::Same));
}

#[test]
fn a_shift_has_its_size_everywhere_in_the_distribution() {
    let a = run(1, 60, 1, |_, _, random| lognormal(8_000.0, random));
    let b = run(1, 60, 2, |_, _, random| 1.3 * lognormal(8_000.0, random));
    let comparison = compare(&a, &b);
    let row = &comparison.rows[0];
    assert_eq!(row.shift.len(), GRID.len());
    for point in row.shift.iter().filter(|point| point.measure != Measure::Percentile(99.9)) {
        let (low, high) = (point.low.expect("known"), point.high.expect("known"));
        assert!(low < 0.3 && 0.3 < high && high < 0.6, "{point:?}");
    }
    assert_eq!(row.curves.each_ref().map(Vec::len), [60, 60]);
}

#[test]
fn rows_that_one_run_alone_has_are_named() {
    let [two, three] =
        [2, 3].map(|rows| run(rows, 10, rows as u64, |_, _, random| lognormal(8_000.0, random)));
    let comparison = compare(&two, &three);
    assert_eq!(comparison.rows.len(), 3);
    assert!(comparison.only_before.is_empty());
    assert_eq!(comparison.only_after[0].name, "r2");
    assert!(compare(&two, &Measured::Values(Vec::new())).rows.is_empty());
}

#[test]
fn values_alone_have_a_change_and_no_more() {
    let values = |us: f64| {
        let mean = Estimate::alone(us, "no recording");
        Measured::Values(vec![(None, vec![(Measure::Mean, mean)])])
    };
    let comparison = compare(&values(1_000.0), &values(2_000.0));
    let mean = comparison.rows[0].of(Measure::Mean).expect("a mean");
    assert_eq!((mean.change, mean.p, mean.result), (Some(1.0), None, DifferenceResult::Unknown));
    assert_eq!(comparison.rows[0].of(Measure::Rate).expect("a rate").change, None);
}

#[test]
fn gates_need_a_change_that_is_larger_and_real() {
    let a = run(2, 30, 1, |_, _, random| lognormal(8_000.0, random));
    let b =
        run(2, 30, 2, |row, _, random| lognormal(if row == 1 { 9_600.0 } else { 8_000.0 }, random));
    let judged = |text: &str| judge(&[Gate::parse(text).expect(text)], &a, &b);
    let outcome = |text: &str| judged(text)[0].outcome;
    assert_eq!(outcome("p50(r1) +10%"), GateOutcome::Worse);
    for text in ["p50(r1) +30%", "p50(r0) +10%", "rate -5%"] {
        assert_eq!(outcome(text), GateOutcome::NotWorse, "{text}");
    }
    assert_eq!(outcome("p50(nothing) +10%"), GateOutcome::Missing);
    let row = |text: &str| judged(text)[0].row.clone();
    assert_eq!(row("p50(nothing) +10%"), GatedRow::Missing);
    assert_eq!(row("p50 +10%"), GatedRow::All);
    assert!(matches!(row("p50(r1) +10%"), GatedRow::Of(key) if key.name == "r1"));
    // A thousandth of chance is beyond any limit of 0, and no reason to fail.
    assert_eq!([outcome("rate +0%"), outcome("rate -0%")], [GateOutcome::NotWorse; 2]);
}

/// A run of one row whose level wanders: neighbouring seconds have a correlation of 0.5.
fn wandering(seconds: u32, seed: u64, slower: f64) -> Measured {
    let mut random = Random::of(seed, 2, 2, 2);
    let mut level = 0.0;
    let levels: Vec<f64> = (0..seconds)
        .map(|_| {
            level = 0.5 * level + random.normal(0.0, 0.04);
            level
        })
        .collect();
    run(1, seconds, seed, move |_, second, random| {
        slower * lognormal(8_000.0, random) * f64::exp(levels[second as usize])
    })
}

/// How often a gate has each outcome among so many pairs of which the second is slower by a factor.
fn outcomes(gate: &str, pairs: u64, seconds: u32, slower: f64) -> [usize; 3] {
    let gate = [Gate::parse(gate).expect(gate)];
    let of = |seed: u64| {
        let (before, after) =
            (wandering(seconds, 2 * seed, 1.0), wandering(seconds, 2 * seed + 1, slower));
        judge(&gate, &before, &after)[0].outcome
    };
    let found: Vec<GateOutcome> = (0..pairs).map(of).collect();
    [GateOutcome::Worse, GateOutcome::NotWorse, GateOutcome::CannotTell]
        .map(|outcome| found.iter().filter(|own| **own == outcome).count())
}

#[test]
fn gates_are_wrong_rarely_and_say_when_they_cannot_tell() {
    for (gate, seconds) in [("mean +10%", 10), ("p95 +10%", 10), ("p95 +10%", 40), ("p99 +10%", 20)]
    {
        let (equal, slower) =
            (outcomes(gate, 200, seconds, 1.0), outcomes(gate, 200, seconds, 1.2));
        assert!(equal[0] <= 10 && slower[1] <= 10, "{gate}, {seconds} s: {equal:?} {slower:?}");
    }
    let (equal, slower) = (outcomes("p50 +10%", 100, 60, 1.0), outcomes("p50 +10%", 100, 60, 1.2));
    assert!(equal[1] >= 95 && slower[0] >= 95, "a minute tells: {equal:?} {slower:?}");
    let short = outcomes("p99 +10%", 100, 6, 1.0);
    assert!(short[2] >= 80, "6 s tell nothing of the slowest: {short:?}");
}

#[test]
fn runs_as_long_as_is_advised_tell() {
    let gate = [Gate::parse("p95 +10%").expect("a gate")];
    let pair = |seconds: u32, seed: u64| {
        let (before, after) =
            (wandering(seconds, 2 * seed, 1.0), wandering(seconds, 2 * seed + 1, 1.0));
        judge(&gate, &before, &after).remove(0)
    };
    let advised: Vec<f64> = (0..60)
        .map(|seed| pair(12, seed))
        .filter(|own| own.outcome == GateOutcome::CannotTell)
        .filter_map(|own| own.needed?.seconds)
        .collect();
    assert!(advised.len() >= 20 && advised.iter().all(|own| *own >= 12.0), "{advised:?}");
    let told = advised.iter().zip(1_000..).filter(|(seconds, seed)| {
        pair(seconds.min(600.0).ceil() as u32, *seed).outcome == GateOutcome::NotWorse
    });
    let (told, all) = (told.count(), advised.len());
    assert!(4 * told >= 3 * all, "{told} of {all}: {advised:?}");
}

#[test]
fn runs_are_pooled_by_their_rows() {
    let latency = |_: usize, _: u32, random: &mut Random| lognormal(8_000.0, random);
    let (one, three) = (run(1, 10, 1, latency), run(3, 20, 2, latency));
    let pooled = Measured::pool(vec![one.clone(), three.clone(), one.clone()]).expect("blocks");
    let sketch = pooled.sketch().expect("blocks");
    assert_eq!((sketch.seconds.len(), sketch.total_seconds()), (3, 40));
    let counts: Vec<u64> = sketch.rows.iter().map(RowSketch::count).collect();
    let rate = RATE as u64;
    assert_eq!(counts, [80 * rate, 40 * rate, 20 * rate, 20 * rate], "all, r0, r1, r2");
    assert!(sketch.rows.iter().all(|row| row.runs.iter().map(Vec::len).eq([10, 20, 10])));
    let values = Measured::Values(Vec::new());
    assert!(Measured::pool(vec![one.clone(), values.clone()]).is_none());
    assert_eq!(
        (Measured::pool(vec![values.clone()]), Measured::pool(Vec::new())),
        (Some(values), None)
    );
}

/// A run that lacks a row does not make it better known.
#[test]
fn a_row_that_one_of_two_runs_lacks_is_of_one_run() {
    let latency = |_: usize, _: u32, random: &mut Random| lognormal(8_000.0, random);
    let (less, more) = (run(1, 20, 1, latency), run(2, 20, 2, latency));
    let pooled = Measured::pool(vec![less, more.clone()]).expect("blocks");
    let between = |before: &Measured, name: &str| {
        let compared = compare(before, &more);
        let is_meant = |row: &&RowComparison| row.key.as_ref().is_some_and(|key| key.name == name);
        let row = compared.rows.iter().find(is_meant).expect("a row");
        row.of(Measure::Rate).expect("a difference").between_runs
    };
    assert_eq!(between(&pooled, "r1"), between(&more, "r1"));
    assert!(between(&pooled, "r0") < between(&more, "r0"), "both runs have it");
}
