//! How many of the intervals hold the true value.

use squall_analysis::{Batches, Interval};

use crate::process::{Process, Start};
use crate::study;

/// A series of one length.
pub struct Case {
    /// What it is called.
    pub name: &'static str,
    process: Process,
    /// How long its runs are.
    pub seconds: u32,
}

const fn case(name: &'static str, process: Process, seconds: u32) -> Case {
    Case { name, process, seconds }
}

const LIGHT: Process = Process::Queue { load: 0.7, rate: 100.0 };

pub const CASES: [Case; 13] = [
    case("M/M/1 70%, 100/s", LIGHT, 10),
    case("M/M/1 70%, 100/s", LIGHT, 60),
    case("M/M/1 70%, 100/s", LIGHT, 240),
    case("M/M/1 70%, 1,000/s", Process::Queue { load: 0.7, rate: 1_000.0 }, 60),
    case("M/M/1 90%, 1,000/s", Process::Queue { load: 0.9, rate: 1_000.0 }, 60),
    case("AR(1), memory 1 s", Process::Memory { seconds: 1.0 }, 60),
    case("AR(1), memory 5 s", Process::Memory { seconds: 5.0 }, 60),
    case("AR(1), memory 10 s", Process::Memory { seconds: 10.0 }, 60),
    case("exponential", Process::Exponential, 60),
    case("bimodal", Process::Bimodal, 60),
    case("lognormal", Process::Lognormal, 60),
    case("GC pauses", Process::Pauses, 60),
    case("GC pauses", Process::Pauses, 10),
];

/// What is looked at in each series.
#[derive(Debug, Clone, Copy)]
enum Value {
    Mean,
    Percentile(f64),
}

const VALUES: [(&str, Value); 4] = [
    ("mean", Value::Mean),
    ("p50", Value::Percentile(50.0)),
    ("p90", Value::Percentile(90.0)),
    ("p99", Value::Percentile(99.0)),
];

impl Value {
    fn truth(self, process: Process) -> f64 {
        match self {
            Value::Mean => process.mean(),
            Value::Percentile(p) => process.percentile(p),
        }
    }
}

/// What a run says about a value, in µs.
#[derive(Debug, Clone, Copy)]
enum Shown {
    Interval(f64, f64),
    AtLeast(f64),
    Nothing(&'static str),
}

fn shown(batches: &Batches, value: Value) -> Shown {
    let interval = match value {
        Value::Mean => batches.latency().mean(),
        Value::Percentile(p) => batches.latency().percentile(p),
    };
    match interval {
        Interval::Between { low, high } => Shown::Interval(low, high),
        Interval::AtLeast { low, .. } => Shown::AtLeast(low),
        Interval::None { why } => Shown::Nothing(why.text()),
    }
}

/// What a run says about each of the values.
fn one(case: &Case, start: Start, seed: u64) -> [Shown; VALUES.len()] {
    let responses = case.process.responses(f64::from(case.seconds), start, seed);
    let run = study::evaluate(&responses, case.seconds);
    VALUES.map(|(_, value)| match &run {
        Some(run) => shown(&run.batches, value),
        None => Shown::Nothing("no steady part"),
    })
}

/// What became of the runs of a case.
#[derive(Debug, Default, Clone)]
pub struct Tally {
    /// How many showed an interval, ...
    pub intervals: usize,
    /// ... and how many of these hold the true value.
    pub hold: usize,
    /// How many showed a lower bound, ...
    pub bounds: usize,
    /// ... and how many of these hold.
    pub bounds_hold: usize,
    nothing: Vec<(&'static str, usize)>,
    half_widths: Vec<f64>,
}

impl Tally {
    fn add(&mut self, shown: Shown, truth: f64) {
        match shown {
            Shown::Interval(low, high) => {
                self.intervals += 1;
                self.hold += usize::from(low <= truth && truth <= high);
                self.half_widths.push((high - low) / 2.0 / truth);
            }
            Shown::AtLeast(low) => {
                self.bounds += 1;
                self.bounds_hold += usize::from(low <= truth);
            }
            Shown::Nothing(why) => match self.nothing.iter_mut().find(|(own, _)| *own == why) {
                Some((_, count)) => *count += 1,
                None => self.nothing.push((why, 1)),
            },
        }
    }

    /// The median of half the width of the intervals, as a share of the true value; 0 without any.
    pub fn half_width(&mut self) -> f64 {
        self.half_widths.sort_by(f64::total_cmp);
        self.half_widths.get(self.half_widths.len() / 2).copied().unwrap_or(0.0)
    }

    fn cells(&mut self) -> String {
        let half = match self.intervals {
            0 => "-".to_owned(),
            _ => format!("{:.1}%", self.half_width() * 100.0),
        };
        let nothing: Vec<String> =
            self.nothing.iter().map(|(why, count)| format!("{count} ({why})")).collect();
        format!(
            "{} | {} | {half} | {} | {} | {}",
            self.intervals,
            share(self.hold, self.intervals),
            self.bounds,
            share(self.bounds_hold, self.bounds),
            if nothing.is_empty() { "0".to_owned() } else { nothing.join(", ") }
        )
    }
}

fn share(part: usize, whole: usize) -> String {
    if whole == 0 { "-".to_owned() } else { format!("{:.1}%", 100.0 * part as f64 / whole as f64) }
}

/// What became of so many runs of a case, by value.
pub fn tallies(case: &Case, start: Start, runs: u64) -> Vec<(&'static str, Tally)> {
    let all = study::parallel(runs, |seed| one(case, start, seed));
    let tallies = VALUES.iter().enumerate().map(|(at, (name, value))| {
        let mut tally = Tally::default();
        let truth = value.truth(case.process);
        all.iter().for_each(|one| tally.add(one[at], truth));
        (*name, tally)
    });
    tallies.collect()
}

pub fn table(runs: u64) {
    println!(
        "\n| series | seconds | start | value | intervals | hold | half width (median) | at least | hold | nothing |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for case in &CASES {
        for (word, start) in [("stationary", Start::Stationary), ("empty", Start::Empty)] {
            if start == Start::Empty && !case.process.has_state() {
                continue;
            }
            for (name, mut tally) in tallies(case, start, runs) {
                println!(
                    "| {} | {} | {word} | {name} | {} |",
                    case.name,
                    case.seconds,
                    tally.cells()
                );
            }
        }
    }
}
