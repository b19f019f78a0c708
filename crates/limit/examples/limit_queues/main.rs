//! Searches the sustained maximum of simulated queues, whose edges are known, with the code of `squall limit`:
//! how many answers are right, and how many intervals hold. `bench/limit_queues.py` runs it.
//! Usage: limit_queues [SEARCHES [STEP_S...]]; exit code 1 if a goal is missed.

mod queue;
mod search;

use std::process::ExitCode;

use queue::{Queue, Service};
use squall_limit::{SearchEnd, SustainedMax};

/// The queues and what is required of each.
const QUEUES: [Queue; 10] = [
    queue("M/M/1", 1, Service::Exponential, 2.0, 15.0),
    queue("M/M/1", 1, Service::Exponential, 2.0, 40.0),
    queue("M/M/4", 4, Service::Exponential, 8.0, 40.0),
    queue("M/M/4", 4, Service::Exponential, 8.0, 60.0),
    queue("M/M/16", 16, Service::Exponential, 32.0, 200.0),
    queue("M/D/1", 1, Service::Fixed, 2.0, 15.0),
    queue("M/D/4", 4, Service::Fixed, 8.0, 40.0),
    queue("lognormal/4", 4, Service::Lognormal(1.0), 8.0, 60.0),
    queue("M/H2/1", 1, Service::Hyperexponential(4.0), 2.0, 40.0),
    queue("M/H2/1", 1, Service::Hyperexponential(4.0), 2.0, 80.0),
];
/// An answer is right if it is within this share of the edge.
const RIGHT: f64 = 0.07;

const fn queue(
    name: &'static str,
    servers: usize,
    service: Service,
    mean_ms: f64,
    p99_ms: f64,
) -> Queue {
    Queue { name, servers, service, mean_ms, p99_ms }
}

/// What came of many searches of a queue.
#[derive(Default)]
struct Tally {
    right: usize,
    inside: usize,
    found: usize,
    none: usize,
    broken: usize,
    steps: usize,
    /// Half an interval, as a share of the edge.
    halves: Vec<f64>,
    errors: Vec<f64>,
}

impl Tally {
    fn of(queue: &Queue, edge: f64, step_s: u32, searches: std::ops::Range<u64>) -> Tally {
        let mut tally = Tally::default();
        for seed in searches {
            let limit = search::search(
                queue,
                step_s,
                seed.wrapping_add(9_000_000).wrapping_mul(0xD134_2543_DE82_EF95),
            );
            tally.steps += limit.steps.len();
            tally.found += usize::from(limit.end == SearchEnd::Found);
            let Some(SustainedMax { level, low, high, .. }) = limit.sustained_max else {
                tally.none += 1;
                continue;
            };
            let contradicted = search::is_contradicted(&limit.steps, level);
            tally.broken += usize::from(contradicted);
            tally.right += usize::from((level / edge - 1.0).abs() <= RIGHT);
            tally.inside += usize::from(low <= edge && edge <= high);
            tally.halves.push((high - low) / 2.0 / edge);
            tally.errors.push(level / edge - 1.0);
        }
        tally
    }

    fn join(&mut self, other: Tally) {
        self.right += other.right;
        self.inside += other.inside;
        self.found += other.found;
        self.none += other.none;
        self.broken += other.broken;
        self.steps += other.steps;
        self.halves.extend(other.halves);
        self.errors.extend(other.errors);
    }
}

/// The value below which this share of the values lies.
fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let at = (share * values.len() as f64) as usize;
    values.get(at.min(values.len().saturating_sub(1))).copied().unwrap_or(f64::NAN)
}

/// Tallies the searches, on all processors.
fn tally(queue: &Queue, edge: f64, step_s: u32, searches: u64) -> Tally {
    let threads = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    std::thread::scope(|scope| {
        let parts: Vec<_> = (0..threads)
            .map(|at| {
                let part = searches * at / threads..searches * (at + 1) / threads;
                scope.spawn(move || Tally::of(queue, edge, step_s, part))
            })
            .collect();
        let mut all = Tally::default();
        // A thread that panics has shown a bug, and the searches are worth nothing.
        parts.into_iter().for_each(|part| all.join(part.join().expect("no panic")));
        all
    })
}

fn main() -> ExitCode {
    let mut numbers = std::env::args().skip(1).filter_map(|text| text.parse::<u64>().ok());
    let searches = numbers.next().unwrap_or(300);
    let mut lengths: Vec<u32> = numbers.map(|seconds| seconds as u32).collect();
    if lengths.is_empty() {
        lengths = vec![30, 10];
    }
    println!(
        "| queue | requirement | true edge | step | within 7 % | edge inside its interval | half an interval | error: median, 90 % below | steps | no answer | contradicted | goals |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    let mut all_met = true;
    for queue in &QUEUES {
        let edge = queue.edge();
        for seconds in &lengths {
            all_met &= row(queue, edge, *seconds, searches);
        }
    }
    if all_met { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Prints a row of the table; whether its goals are met.
fn row(queue: &Queue, edge: f64, seconds: u32, searches: u64) -> bool {
    let mut tally = tally(queue, edge, seconds, searches);
    let share = |count: usize| 100.0 * count as f64 / searches as f64;
    let (right, inside) = (share(tally.right), share(tally.inside));
    let met = tally.broken == 0
        && if seconds >= 30 { right >= 90.0 && inside >= 90.0 } else { inside >= 85.0 };
    let mut sizes: Vec<f64> = tally.errors.iter().map(|error| error.abs()).collect();
    println!(
        "| {} {} ms | p99 < {} ms | {edge:.1}/s | {seconds} s | {right:.0} % | {inside:.0} % | {:.1} % | {:+.1} %, {:.1} % | {:.1} | {} | {} | {} |",
        queue.name,
        queue.mean_ms,
        queue.p99_ms,
        100.0 * quantile(&mut tally.halves, 0.5),
        100.0 * quantile(&mut tally.errors, 0.5),
        100.0 * quantile(&mut sizes, 0.9),
        tally.steps as f64 / searches as f64,
        tally.none,
        tally.broken,
        if met { "met" } else { "**missed**" },
    );
    met
}
