//! One synthetic run on the path that a real one takes: slices, totals, series, the steady part, batches,
//! intervals.

use squall_analysis::{Batches, RowLatencies, Shape, Steady, Totals, Warmup, steady};
use squall_metrics::{NameId, Sample, Slice};

use crate::process::Response;

/// A run that was evaluated.
pub struct Run {
    pub steady: Steady,
    /// The batches of this part.
    pub batches: Batches,
}

/// Evaluates the responses of a run of so many whole seconds, with `warmup: auto`. `None`: it has no
/// steady part.
pub fn evaluate(responses: &[Response], seconds: u32) -> Option<Run> {
    let slices = slices(responses, seconds);
    let mut totals = Totals::new();
    for slice in &slices {
        totals.add(slice);
    }
    let mut series = totals.series();
    let complete = slices.iter().filter_map(|slice| series.complete(slice));
    let latencies: Vec<RowLatencies> = complete.map(RowLatencies::from).collect();
    let series = series.finish();
    let shape = Shape { warmup: Warmup::Auto, constant_from_s: Some(0.0), constant_to_s: None };
    let steady = steady(&totals, &series, f64::from(seconds), shape)?;
    Some(Run { steady, batches: Batches::of(&series, steady, &latencies) })
}

/// What a worker would have recorded: each response in the second in which it ended.
fn slices(responses: &[Response], seconds: u32) -> Vec<Slice> {
    let mut slices: Vec<Slice> = (0..seconds).map(|second| Slice::new(0, second)).collect();
    for (end_s, latency_us) in responses {
        if let Some(slice) = slices.get_mut(*end_s as usize) {
            let sample = Sample { latency_ns: (latency_us * 1e3) as u64, ..Sample::ok(0) };
            slice.record(NameId(0), &sample);
        }
    }
    slices
}

/// Something for each seed from 0, on all processors.
pub fn parallel<T: Send>(runs: u64, one: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    let one = &one;
    let mut all: Vec<(u64, T)> = std::thread::scope(|scope| {
        let parts: Vec<_> = (0..threads)
            .map(|thread| {
                let seeds = (thread..runs).step_by(threads as usize);
                scope.spawn(move || seeds.map(|seed| (seed, one(seed))).collect::<Vec<_>>())
            })
            .collect();
        parts.into_iter().flat_map(|part| part.join().expect("no panic")).collect()
    });
    all.sort_by_key(|(seed, _)| *seed);
    all.into_iter().map(|(_, value)| value).collect()
}
