//! Whether comparisons hold what they promise: pairs of synthetic runs with known answers, on the path that recorded
//! ones take. Prints Markdown tables, and ends with exit code 1 where a goal is missed: 95 of 100 are right.
//! `bench/compare.py` runs it.
//!
//! Usage: comparison [PAIRS]: pairs of each line (1,000).

#[allow(dead_code)]
#[path = "../series/process.rs"]
mod process;

use std::process::ExitCode;

use process::{Chance, Process, Response, Start, queue};
use squall_analysis::{Comparison, Measured, SketchBuilder, compare, steps};
use squall_metrics::{NameId, RowKey, RowKind, Sample, Slice};

/// By which factor a target is slower that must be found.
const SLOWER: f64 = 1.05;

/// Of a hundred pairs or series of which something is required, so many are right.
const GOAL: u64 = 95;

fn main() -> ExitCode {
    let pairs =
        std::env::args().nth(1).map_or(1_000, |text| text.parse().expect("a number of pairs"));
    let met = [compared(pairs), trends(pairs)];
    if met == [true, true] { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The table of pairs; whether all goals are met.
fn compared(pairs: u64) -> bool {
    println!("| runs | s | change | pairs | found | goal | wrong | goal | |");
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    let mut all = true;
    for case in CASES {
        let [found, wrong] = parallel(pairs, |seed| case.judge(seed));
        let met = (!case.must_be_found() || is_goal(found, pairs)) && is_goal(pairs - wrong, pairs);
        println!(
            "| {} | {} | {} | {pairs} | {} | {} | {} | 5% | {} |",
            case.name,
            case.seconds,
            case.change(),
            share(found, pairs),
            if case.must_be_found() { "95%" } else { "" },
            share(wrong, pairs),
            word(met)
        );
        all &= met;
    }
    all
}

/// The table of trends; whether all goals are met.
fn trends(series: u64) -> bool {
    println!(
        "\n| trend of 30 runs | series | at the right run | at most one off | none | others | goal | |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    let mut all = true;
    for (name, by, noise, goal) in [
        ("none", 1.0, 0.02, "none: 95%"),
        ("5%, runs vary by 1%", 1.05, 0.01, "right: 95%"),
        // A step of 2.5 deviations: it is seen, but not always at its run.
        ("5%, runs vary by 2%", 1.05, 0.02, ""),
        ("10%, runs vary by 2%", 1.1, 0.02, "right: 95%"),
    ] {
        let [right, near, none, others] = trend(by, noise, series);
        let met = is_goal(if by == 1.0 { none } else { right }, series) || goal.is_empty();
        let [right, near, none, others] =
            [right, right + near, none, others].map(|count| share(count, series));
        let word = if goal.is_empty() { "" } else { word(met) };
        println!("| {name} | {series} | {right} | {near} | {none} | {others} | {goal} | {word} |");
        all &= met;
    }
    all
}

fn is_goal(right: u64, of: u64) -> bool {
    100 * right >= GOAL * of
}

fn word(met: bool) -> &'static str {
    if met { "met" } else { "**missed**" }
}

fn share(count: u64, of: u64) -> String {
    format!("{:.1}%", 100.0 * count as f64 / of as f64)
}

/// What a run's latencies are.
#[derive(Clone, Copy)]
enum Kind {
    /// A series of `process.rs`.
    Of(Process),
    /// Requests of so many names, each at this rate: independent, lognormal with this deviation of the logarithm
    /// about 8 ms.
    Lognormal { names: usize, rate: usize, spread: f64 },
}

struct Case {
    name: &'static str,
    kind: Kind,
    seconds: u32,
    /// By which factor the second run is slower; with several names, the fifth of them alone.
    slower: f64,
}

const fn of(name: &'static str, process: Process, seconds: u32) -> Case {
    Case { name, kind: Kind::Of(process), seconds, slower: 1.0 }
}

const fn lognormal(
    name: &'static str,
    names: usize,
    rate: usize,
    spread: f64,
    slower: f64,
) -> Case {
    Case { name, kind: Kind::Lognormal { names, rate, spread }, seconds: 30, slower }
}

const CASES: [Case; 15] = [
    of("M/M/1 70%, 500/s", Process::Queue { load: 0.7, rate: 500.0 }, 30),
    of("M/M/1 70%, 500/s", Process::Queue { load: 0.7, rate: 500.0 }, 120),
    of("M/M/1 90%, 500/s", Process::Queue { load: 0.9, rate: 500.0 }, 60),
    of("AR(1), memory 1 s", Process::Memory { seconds: 1.0 }, 60),
    of("AR(1), memory 5 s", Process::Memory { seconds: 5.0 }, 60),
    of("exponential", Process::Exponential, 30),
    of("bimodal", Process::Bimodal, 30),
    of("lognormal, deviation 1", Process::Lognormal, 30),
    of("GC pauses", Process::Pauses, 30),
    lognormal("lognormal, deviation 0.3, 500/s", 1, 500, 0.3, 1.0),
    lognormal("lognormal, deviation 0.3, 500/s", 1, 500, 0.3, SLOWER),
    lognormal("lognormal, deviation 0.5, 500/s", 1, 500, 0.5, SLOWER),
    lognormal("lognormal, deviation 1, 500/s", 1, 500, 1.0, SLOWER),
    lognormal("10 names, deviation 0.3, 100/s each", 10, 100, 0.3, 1.0),
    lognormal("10 names, deviation 0.3, 100/s each", 10, 100, 0.3, 1.1),
];

/// The name that changes where there are several.
const CHANGED: usize = 4;

impl Case {
    fn change(&self) -> String {
        match (self.slower, self.kind) {
            (1.0, _) => "none".to_owned(),
            (by, Kind::Lognormal { names: 2.., .. }) => {
                format!("one name {:.0}% slower", (by - 1.0) * 100.0)
            }
            (by, _) => format!("{:.0}% slower", (by - 1.0) * 100.0),
        }
    }

    /// Whether the change is one that must be found. With a deviation of 1, 30 s do not tell 5% from chance.
    fn must_be_found(&self) -> bool {
        self.slower != 1.0 && !matches!(self.kind, Kind::Lognormal { spread, .. } if spread >= 1.0)
    }

    /// Whether a pair shows what changed, and whether it shows what did not.
    fn judge(&self, seed: u64) -> [bool; 2] {
        let before = self.run(2 * seed, 1.0);
        let changed = changed(&compare(&before, &self.run(2 * seed + 1, self.slower)));
        let is_meant = |name: &str| match self.kind {
            _ if self.slower == 1.0 => false,
            Kind::Lognormal { names: 2.., .. } => name == format!("r{CHANGED}"),
            _ => true,
        };
        // All requests together hold the one that changed.
        let is_right = |name: &str| is_meant(name) || self.slower != 1.0 && name == "all";
        [changed.iter().any(|name| is_meant(name)), !changed.iter().all(|name| is_right(name))]
    }

    fn run(&self, seed: u64, slower: f64) -> Measured {
        let seconds = f64::from(self.seconds);
        match self.kind {
            Kind::Of(Process::Queue { load, rate }) => {
                let mut chance = Chance::new(seed);
                sketch(
                    &[queue(load, rate, seconds, Start::Stationary, |_| slower, &mut chance)],
                    self.seconds,
                )
            }
            Kind::Of(process) => {
                sketch(&[process.responses(seconds, Start::Stationary, seed)], self.seconds)
            }
            Kind::Lognormal { names, rate, spread } => {
                let mut chance = Chance::new(seed);
                let rows = (0..names).map(|row| {
                    let median = 8_000.0 * if names == 1 || row == CHANGED { slower } else { 1.0 };
                    let all = 0..rate * self.seconds as usize;
                    all.map(|at| {
                        (at as f64 / rate as f64, median * (spread * chance.normal()).exp())
                    })
                    .collect()
                });
                let rows: Vec<Vec<Response>> = rows.collect();
                sketch(&rows, self.seconds)
            }
        }
    }
}

/// The names of what changed.
fn changed(comparison: &Comparison) -> Vec<String> {
    let rows = comparison.rows.iter().filter(|row| row.changed().next().is_some());
    rows.map(|row| row.key.as_ref().map_or("all".to_owned(), |key| key.name.clone())).collect()
}

/// What is kept of a run of the responses of some names.
fn sketch(rows: &[Vec<Response>], seconds: u32) -> Measured {
    let mut slices: Vec<Slice> = (0..seconds).map(|second| Slice::new(0, second)).collect();
    for (row, responses) in rows.iter().enumerate() {
        let id = NameId(row as u32);
        slices[0].announce(id, RowKey::new(RowKind::Request, "s", &format!("r{row}")));
        for (end_s, latency_us) in responses {
            if let Some(slice) = slices.get_mut(*end_s as usize) {
                slice
                    .record(id, &Sample { latency_ns: (latency_us * 1e3) as u64, ..Sample::ok(0) });
            }
        }
    }
    let mut builder = SketchBuilder::new(0, seconds);
    slices.iter().for_each(|slice| builder.add(slice));
    Measured::Blocks(builder.finish())
}

/// A step by a factor at the 18th of 30 runs: how many series show it there, one run off, not at all, and otherwise.
fn trend(by: f64, noise: f64, series: u64) -> [u64; 4] {
    let [mut right, mut near, mut none, mut others] = [0; 4];
    for seed in 0..series {
        let mut chance = Chance::new(seed);
        let level = |run: usize| if run < 17 { 100.0 } else { 100.0 * by };
        let values: Vec<f64> =
            (0..30).map(|run| level(run) * (1.0 + noise * chance.normal())).collect();
        match steps(&values).as_slice() {
            [] => none += 1,
            [step] if step.at == 17 => right += 1,
            [step] if step.at.abs_diff(17) == 1 => near += 1,
            _ => others += 1,
        }
    }
    [right, near, none, others]
}

/// How many of the seeds say yes, to each of two questions, on all processors.
fn parallel(pairs: u64, one: impl Fn(u64) -> [bool; 2] + Sync) -> [u64; 2] {
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    let one = &one;
    std::thread::scope(|scope| {
        let parts: Vec<_> = (0..threads)
            .map(|thread| {
                let seeds = (thread..pairs).step_by(threads as usize);
                scope.spawn(move || {
                    seeds.map(one).fold([0, 0], |sum, own| {
                        [sum[0] + u64::from(own[0]), sum[1] + u64::from(own[1])]
                    })
                })
            })
            .collect();
        let sums = parts.into_iter().map(|part| part.join().expect("no panic"));
        sums.fold([0, 0], |sum, own| [sum[0] + own[0], sum[1] + own[1]])
    })
}
