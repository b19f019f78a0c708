//! Whether gates hold what they promise, on pairs of synthetic runs with known answers and known correlation: of equal
//! pairs 5 in 100 at most are called worse, and of pairs of which the second is slower by twice the limit 5 in 100 at most
//! are called not worse. Beside the share of pairs of which a gate cannot tell stands what theory allows: the share of
//! which a test cannot tell that knows exactly how much such pairs vary. Prints a Markdown table, and ends with exit code 1
//! where a goal is missed. `bench/gates.py` runs it.
//!
//! Usage: gates [PAIRS [RUNS]]: pairs of each line (1,000), and runs of each side (1).

#[allow(dead_code)]
#[path = "../series/process.rs"]
mod process;

use std::process::ExitCode;

use process::{Process, Response, Start};
use squall_analysis::{Gate, GateOutcome, Measured, SketchBuilder, judge};
use squall_metrics::{NameId, RowKey, RowKind, Sample, Slice};

/// Of a hundred pairs so many may be called what they are not.
const WRONG: f64 = 5.0;
/// The limit of every gate, as a share.
const LIMIT: f64 = 0.1;
const GATES: [&str; 4] = ["mean +10%", "p50 +10%", "p95 +10%", "p99 +10%"];

/// What latencies are, and for how many seconds.
const CASES: [(&str, Process, u32); 13] = [
    ("lognormal, deviation 1, 200/s", Process::Lognormal, 10),
    ("lognormal, deviation 1, 200/s", Process::Lognormal, 30),
    ("lognormal, deviation 1, 200/s", Process::Lognormal, 60),
    ("exponential, 200/s", Process::Exponential, 10),
    ("exponential, 200/s", Process::Exponential, 60),
    ("bimodal, 200/s", Process::Bimodal, 10),
    ("AR(1), memory 1 s, 100/s", Process::Memory { seconds: 1.0 }, 30),
    ("AR(1), memory 1 s, 100/s", Process::Memory { seconds: 1.0 }, 60),
    ("AR(1), memory 5 s, 100/s", Process::Memory { seconds: 5.0 }, 60),
    ("M/M/1 50%, 200/s", Process::Queue { load: 0.5, rate: 200.0 }, 10),
    ("M/M/1 70%, 200/s", Process::Queue { load: 0.7, rate: 200.0 }, 30),
    ("M/M/1 90%, 500/s", Process::Queue { load: 0.9, rate: 500.0 }, 60),
    ("GC pauses, 200/s", Process::Pauses, 30),
];

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: u64| {
        arguments.next().map_or(default, |text| text.parse().expect("a whole number above 0"))
    };
    let (pairs, runs) = (number(1_000), number(1));
    let gates = GATES.map(|text| Gate::parse(text).expect("a gate"));
    println!(
        "| runs of each side | s | gate | pairs | equal: worse | goal | cannot tell | in theory | slower by 20%: not worse | goal | cannot tell | in theory | |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    let mut all = true;
    for (name, process, seconds) in CASES {
        // Each gate's outcome and change, of equal pairs and of those that are slower.
        let found = parallel(pairs, |seed| {
            let side = |which: u64, slower: f64| {
                let run = |at: u64| run(process, seconds, (seed * runs + at) * 3 + which, slower);
                Measured::pool((0..runs).map(run).collect()).expect("blocks")
            };
            let (before, equal, slower) = (side(0, 1.0), side(1, 1.0), side(2, 1.0 + 2.0 * LIMIT));
            let judged = |gate: &Gate| {
                [&equal, &slower].map(|after| {
                    let own = judge(std::slice::from_ref(gate), &before, after).remove(0);
                    (own.outcome, own.difference.and_then(|own| own.change).unwrap_or(f64::NAN))
                })
            };
            gates.iter().map(judged).collect::<Vec<_>>()
        });
        for (at, gate) in GATES.iter().enumerate() {
            let of = |which: usize| found.iter().map(move |pair| pair[at][which]);
            let share = |which: usize, outcome: GateOutcome| {
                100.0 * of(which).filter(|own| own.0 == outcome).count() as f64 / pairs as f64
            };
            let theory =
                |which: usize| 100.0 * unsure(of(which).map(|own| own.1.ln_1p()).collect());
            let (worse, not_worse) =
                (share(0, GateOutcome::Worse), share(1, GateOutcome::NotWorse));
            let met = worse <= WRONG && not_worse <= WRONG;
            all &= met;
            println!(
                "| {runs} of {name} | {seconds} | {gate} | {pairs} | {worse:.1}% | 5% | {:.1}% | {:.1}% | {not_worse:.1}% | 5% | {:.1}% | {:.1}% | {} |",
                share(0, GateOutcome::CannotTell),
                theory(0),
                share(1, GateOutcome::CannotTell),
                theory(1),
                if met { "met" } else { "**missed**" }
            );
        }
    }
    if all { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Of which share of changes, as logarithms, a test cannot tell that knows how much they vary.
fn unsure(changes: Vec<f64>) -> f64 {
    let count = changes.len() as f64;
    let mean = changes.iter().sum::<f64>() / count;
    let error =
        (changes.iter().map(|own| (own - mean).powi(2)).sum::<f64>() / (count - 1.0)).sqrt();
    let (limit, caught) = (LIMIT.ln_1p(), (2.0 * LIMIT).ln_1p());
    let is_unsure = |own: &&f64| {
        let is_worse = **own > limit && **own > 1.96 * error;
        !is_worse && **own > caught - 1.645 * error
    };
    changes.iter().filter(is_unsure).count() as f64 / count
}

/// What is kept of a run whose latencies are longer by a factor.
fn run(process: Process, seconds: u32, seed: u64, slower: f64) -> Measured {
    let responses: Vec<Response> = process.responses(f64::from(seconds), Start::Stationary, seed);
    let mut slices: Vec<Slice> = (0..seconds).map(|second| Slice::new(0, second)).collect();
    slices[0].announce(NameId(0), RowKey::new(RowKind::Request, "s", "r"));
    for (end_s, latency_us) in responses {
        if let Some(slice) = slices.get_mut(end_s as usize) {
            let latency_ns = (latency_us * slower * 1e3) as u64;
            slice.record(NameId(0), &Sample { latency_ns, ..Sample::ok(0) });
        }
    }
    let mut builder = SketchBuilder::new(0, seconds);
    slices.iter().for_each(|slice| builder.add(slice));
    Measured::Blocks(builder.finish())
}

/// Something for each seed, on all processors.
fn parallel<T: Send>(seeds: u64, one: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    let one = &one;
    std::thread::scope(|scope| {
        let parts: Vec<_> = (0..threads)
            .map(|thread| {
                let seeds = (thread..seeds).step_by(threads as usize);
                scope.spawn(move || seeds.map(one).collect::<Vec<_>>())
            })
            .collect();
        parts.into_iter().flat_map(|part| part.join().expect("no panic")).collect()
    })
}
