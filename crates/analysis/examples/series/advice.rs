//! Whether "run N s longer to know p99 to ±5%" is right: the advice of one run is taken by another.

use crate::process::{Process, Start};
use crate::study;

/// Series that are looked at, and how long the runs that give advice are.
const CASES: [(&str, Process, u32); 5] = [
    ("M/M/1 70%, 1,000/s", Process::Queue { load: 0.7, rate: 1_000.0 }, 60),
    ("exponential", Process::Exponential, 20),
    ("lognormal", Process::Lognormal, 60),
    ("GC pauses", Process::Pauses, 20),
    ("bimodal", Process::Bimodal, 10),
];

/// Longest run that is made, in seconds.
const LONGEST_S: f64 = 2_000.0;

/// Half the width of the interval of p99 as a share of p99, and how much longer a run should be, in s.
fn p99(process: Process, seconds: u32, seed: u64) -> Option<(f64, f64)> {
    let responses = process.responses(f64::from(seconds), Start::Empty, seed);
    let batches = study::evaluate(&responses, seconds)?.batches;
    let value = batches.latency().all().percentile(99.0) as f64;
    let interval = batches.latency().percentile(99.0);
    let half = (interval.high()? - interval.low()?) / 2.0;
    Some((half / value, interval.longer_s(value, batches.seconds())?))
}

pub fn table(runs: u64) {
    println!(
        "\n| series | seconds | advised | median of N | half width is 5% at most | 6% at most |\n| --- | --- | --- | --- | --- | --- |"
    );
    for (name, process, seconds) in CASES {
        let widths = study::parallel(runs, |seed| {
            let longer = p99(process, seconds, seed)?.1.ceil();
            let length = f64::from(seconds) + longer;
            (longer >= 1.0 && length <= LONGEST_S)
                .then(|| Some((longer, p99(process, length as u32, seed + runs)?.0)))
        });
        let taken: Vec<(f64, f64)> =
            widths.iter().flatten().map(|taken| taken.unwrap_or((0.0, f64::INFINITY))).collect();
        let mut longer: Vec<f64> = taken.iter().map(|(longer, _)| *longer).collect();
        longer.sort_by(f64::total_cmp);
        let within = |most: f64| {
            let count = taken.iter().filter(|(_, half)| *half <= most).count();
            100.0 * count as f64 / taken.len().max(1) as f64
        };
        let median = longer.get(longer.len() / 2).copied().unwrap_or(0.0);
        println!(
            "| {name} | {seconds} | {} | {median:.0} s | {:.0}% | {:.0}% |",
            taken.len(),
            within(0.05),
            within(0.06)
        );
    }
}
