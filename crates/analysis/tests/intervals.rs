//! That intervals hold what they promise, and that what changes is called unsteady: 50 or 150 runs of each
//! synthetic series with known answers, with `warmup: auto`. `examples/series` makes 1,000 of more series.

#[path = "../examples/series/changes.rs"]
#[allow(dead_code)]
mod changes;
#[path = "../examples/series/intervals.rs"]
#[allow(dead_code)]
mod intervals;
#[path = "../examples/series/process.rs"]
mod process;
#[path = "../examples/series/study.rs"]
mod study;

use intervals::{CASES, Tally, tallies};
use process::{Process, Start};

const RUNS: u64 = 150;
const CHANGING_RUNS: u64 = 50;

/// 95% of the intervals hold; three standard errors below that is still no contradiction. Lower bounds are
/// one-sided and hold more often.
fn check(name: &str, tally: &Tally) {
    let least = |shown: usize| 0.95 * shown as f64 - 3.0 * (0.0475 * shown as f64).sqrt();
    assert!(tally.hold as f64 >= least(tally.intervals), "{name}: {tally:?}");
    assert!(tally.bounds_hold as f64 >= least(tally.bounds), "{name}: {tally:?}");
}

/// Two tests of each series: of its intervals, and of what is found to change in it.
macro_rules! tests_of {
    ($($module:ident: $name:literal,)*) => {
        const TESTED: &[&str] = &[$($name),*];
        $(mod $module {
            #[test]
            fn intervals_hold_what_they_promise() {
                super::intervals_hold($name);
            }

            #[test]
            fn what_changes_is_found_and_what_is_steady_is_not() {
                super::changes_are_found($name);
            }
        })*
    };
}

tests_of! {
    light_queue: "M/M/1 70%, 100/s",
    busy_queue: "M/M/1 70%, 1,000/s",
    heavy_queue: "M/M/1 90%, 1,000/s",
    short_memory: "AR(1), memory 1 s",
    memory: "AR(1), memory 5 s",
    long_memory: "AR(1), memory 10 s",
    exponential: "exponential",
    bimodal: "bimodal",
    lognormal: "lognormal",
    pauses: "GC pauses",
}

#[test]
fn each_series_is_tested() {
    let names = CASES.iter().map(|case| case.name);
    for name in names.chain(changes::CASES.iter().map(|case| case.name)) {
        assert!(TESTED.contains(&name), "{name}");
    }
}

/// Some also say how often there must be an upper bound, and how wide an interval may be: a p99 that is made
/// of some two independent bad moments has no upper bound, however lucky the run; one that is made of
/// many always has one.
fn intervals_hold(series: &str) {
    let never = |tally: &Tally| tally.intervals <= 2 && tally.bounds as u64 + 2 >= RUNS;
    for case in CASES.iter().filter(|case| case.name == series && case.seconds <= 60) {
        for (value, mut tally) in tallies(case, Start::Empty, RUNS) {
            let name = format!("{} {} s {value}", case.name, case.seconds);
            check(&name, &tally);
            let widest = match (case.name, case.seconds, value) {
                (_, 10, "p99") | ("M/M/1 70%, 100/s" | "M/M/1 90%, 1,000/s", 60, "p99") => {
                    assert!(never(&tally), "{name}: {tally:?}");
                    continue;
                }
                ("exponential", _, "p99") => 0.06,
                ("lognormal", _, "p99") => 0.105,
                ("M/M/1 70%, 1,000/s", _, "p99") => 0.14,
                ("M/M/1 70%, 100/s", 60, "mean") => 0.16,
                _ => continue,
            };
            let shown = tally.intervals as u64 + 5 >= RUNS;
            assert!(shown && tally.half_width() < widest, "{name}: {tally:?}");
        }
    }
}

/// At most 5 of 100 steady runs are called unsteady, and at least 95 that change by a half, or evenly by a
/// fifth: of 50 runs three standard errors beyond that are 7 and 43.
fn changes_are_found(series: &str) {
    let cases = changes::CASES.iter().filter(|case| case.name == series && case.seconds <= 60);
    for case in cases {
        let outcomes = changes::outcomes(case, CHANGING_RUNS);
        let found = outcomes.iter().filter(|(unsteady, _)| *unsteady).count();
        match case.goal() {
            changes::Goal::Steady => assert!(found <= 7, "{found}: {case:?}"),
            changes::Goal::Found => assert!(found >= 43, "{found}: {case:?}"),
            changes::Goal::None => {}
        }
    }
}

/// The series themselves: what a long one shows is what it should.
#[test]
fn truths_are_true() {
    for process in [
        Process::Queue { load: 0.5, rate: 1_000.0 },
        Process::Memory { seconds: 0.05 },
        Process::Exponential,
        Process::Bimodal,
        Process::Lognormal,
        Process::Pauses,
    ] {
        let mut all: Vec<f64> =
            process.responses(2_000.0, Start::Stationary, 1).iter().map(|(_, us)| *us).collect();
        all.sort_by(f64::total_cmp);
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        assert!((mean / process.mean() - 1.0).abs() < 0.03, "{process:?} {mean}");
        for p in [50.0, 99.0] {
            let seen = all[(all.len() as f64 * p / 100.0) as usize];
            assert!((seen / process.percentile(p) - 1.0).abs() < 0.06, "{process:?} {p} {seen}");
        }
    }
}
