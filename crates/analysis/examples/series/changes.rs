//! How many of the runs that change are found unsteady, and how many of those that do not.

use crate::process::{Chance, Process, Response, Start, queue};
use crate::study;

/// How the latencies of a run change.
#[derive(Debug, Clone, Copy)]
enum Change {
    None,
    /// By a factor, from somewhere in the last half on: from 50% to 95% of the run.
    Step(f64),
    /// By a factor, in the last so many seconds.
    Late(u32, f64),
    /// Evenly, from their mean less half of this share to their mean and half of this share.
    Drift(f64),
    /// As the drift, but it is the server of a queue that becomes slower.
    Slower(f64),
}

const SHORT: Process = Process::Queue { load: 0.7, rate: 100.0 };
const LIGHT: Process = Process::Queue { load: 0.7, rate: 1_000.0 };
const HEAVY: Process = Process::Queue { load: 0.9, rate: 1_000.0 };

/// A series that changes, or does not.
#[derive(Debug)]
pub struct Case {
    /// What the series is called.
    pub name: &'static str,
    process: Process,
    /// How long its runs are.
    pub seconds: u32,
    change: Change,
    /// The change in words.
    words: &'static str,
}

/// What should be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// Nothing, in 95 of 100 runs.
    Steady,
    /// The change, in 95 of 100.
    Found,
    /// Nothing is promised: the change is lost in what the series varies by itself.
    None,
}

impl Goal {
    fn text(self) -> &'static str {
        match self {
            Goal::Steady => "at most 5%",
            Goal::Found => "at least 95%",
            Goal::None => "-",
        }
    }
}

impl Case {
    /// What should be found.
    pub fn goal(&self) -> Goal {
        match (self.change, self.process, self.seconds) {
            (Change::None, ..) => Goal::Steady,
            (Change::Drift(_), Process::Queue { .. }, 60) => Goal::None,
            _ => Goal::Found,
        }
    }
}

const fn case(
    name: &'static str,
    process: Process,
    seconds: u32,
    change: Change,
    words: &'static str,
) -> Case {
    Case { name, process, seconds, change, words }
}

pub const CASES: [Case; 28] = [
    case("M/M/1 70%, 100/s", SHORT, 10, Change::None, "steady"),
    case("M/M/1 70%, 100/s", SHORT, 60, Change::None, "steady"),
    case("M/M/1 70%, 100/s", SHORT, 240, Change::None, "steady"),
    case("M/M/1 70%, 1,000/s", LIGHT, 60, Change::None, "steady"),
    case("M/M/1 90%, 1,000/s", HEAVY, 60, Change::None, "steady"),
    case("AR(1), memory 1 s", Process::Memory { seconds: 1.0 }, 60, Change::None, "steady"),
    case("AR(1), memory 5 s", Process::Memory { seconds: 5.0 }, 60, Change::None, "steady"),
    case("AR(1), memory 10 s", Process::Memory { seconds: 10.0 }, 60, Change::None, "steady"),
    case("exponential", Process::Exponential, 60, Change::None, "steady"),
    case("exponential", Process::Exponential, 10, Change::None, "steady"),
    case("bimodal", Process::Bimodal, 60, Change::None, "steady"),
    case("lognormal", Process::Lognormal, 60, Change::None, "steady"),
    case("GC pauses", Process::Pauses, 60, Change::None, "steady"),
    case("GC pauses", Process::Pauses, 10, Change::None, "steady"),
    case("M/M/1 70%, 1,000/s", LIGHT, 60, Change::Step(1.5), "50% more"),
    case("M/M/1 70%, 1,000/s", LIGHT, 60, Change::Step(0.5), "half"),
    case("M/M/1 70%, 1,000/s", LIGHT, 60, Change::Drift(0.2), "20% drift"),
    case("M/M/1 70%, 1,000/s", LIGHT, 60, Change::Slower(0.2), "server 20% slower"),
    case("M/M/1 70%, 1,000/s", LIGHT, 240, Change::Drift(0.2), "20% drift"),
    case("exponential", Process::Exponential, 60, Change::Step(1.5), "50% more"),
    case("exponential", Process::Exponential, 60, Change::Step(0.5), "half"),
    case("exponential", Process::Exponential, 60, Change::Drift(0.2), "20% drift"),
    case("lognormal", Process::Lognormal, 60, Change::Step(1.5), "50% more"),
    case("lognormal", Process::Lognormal, 60, Change::Step(0.5), "half"),
    case("lognormal", Process::Lognormal, 60, Change::Drift(0.2), "20% drift"),
    case("GC pauses", Process::Pauses, 60, Change::Step(0.5), "half"),
    case(
        "exponential",
        Process::Exponential,
        20,
        Change::Late(4, 10.0),
        "ten times in the last 4 s",
    ),
    case("M/M/1 70%, 1,000/s", LIGHT, 20, Change::Late(4, 10.0), "ten times in the last 4 s"),
];

/// The responses of a run that changes.
fn responses(process: Process, seconds: u32, change: Change, seed: u64) -> Vec<Response> {
    let length = f64::from(seconds);
    if let (Change::Slower(by), Process::Queue { load, rate }) = (change, process) {
        let slower = |at: f64| 1.0 + by * (at / length - 0.5);
        return queue(load, rate, length, Start::Empty, slower, &mut Chance::new(seed));
    }
    let step_at = length * (0.5 + 0.45 * Chance::new(!seed).uniform());
    let factor = |at: f64| match change {
        Change::Step(factor) if at >= step_at => factor,
        Change::Late(last, factor) if at >= length - f64::from(last) => factor,
        Change::Drift(by) => 1.0 + by * (at / length - 0.5),
        _ => 1.0,
    };
    let all = process.responses(length, Start::Empty, seed);
    all.into_iter().map(|(at, latency)| (at, latency * factor(at))).collect()
}

/// Whether each of so many runs was called unsteady, and how much of it was cut off, as a share.
pub fn outcomes(case: &Case, runs: u64) -> Vec<(bool, f64)> {
    study::parallel(runs, |seed| {
        let responses = responses(case.process, case.seconds, case.change, seed);
        let steady = study::evaluate(&responses, case.seconds).expect("a constant load").steady;
        (steady.unsteady.is_some(), f64::from(steady.from) / f64::from(case.seconds))
    })
}

pub fn table(runs: u64) {
    println!(
        "\n| series | seconds | change | called unsteady | goal | mean share cut off |\n| --- | --- | --- | --- | --- | --- |"
    );
    for case in &CASES {
        let outcomes = outcomes(case, runs);
        let unsteady = outcomes.iter().filter(|(unsteady, _)| *unsteady).count() as f64;
        let cut = outcomes.iter().map(|(_, cut)| cut).sum::<f64>();
        let share = |sum: f64| format!("{:.1}%", 100.0 * sum / runs as f64);
        println!(
            "| {} | {} | {} | {} | {} | {} |",
            case.name,
            case.seconds,
            case.words,
            share(unsteady),
            case.goal().text(),
            share(cut)
        );
    }
}
