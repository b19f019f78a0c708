//! The steady part of a run in batches of whole seconds, from a stream of slices: what intervals are
//! computed from.

use crate::confidence::{Interval, Latencies, rate_interval};
use crate::long_run::MAX_VALUES;
use crate::series::Series;
use crate::steady::Steady;
use squall_metrics::Slice;
use squall_metrics::SliceSet;

/// The steady part of a run, in batches of whole seconds.
#[derive(Debug, Clone, Default)]
pub struct Batches {
    latency: Latencies,
    corrected_latency: Latencies,
    /// Requests that have ended, and seconds, of each batch.
    load: Vec<(u64, u64)>,
    errors: u64,
}

impl Batches {
    /// Latencies.
    pub fn latency(&self) -> &Latencies {
        &self.latency
    }

    /// Corrected latencies; none where there is no schedule.
    pub fn corrected_latency(&self) -> &Latencies {
        &self.corrected_latency
    }

    /// Requests that have ended.
    pub fn requests(&self) -> u64 {
        self.load.iter().fold(0u64, |sum, (requests, _)| sum.saturating_add(*requests))
    }

    /// Those of them that were errors.
    pub fn errors(&self) -> u64 {
        self.errors
    }

    /// How many seconds it is long.
    pub fn seconds(&self) -> u64 {
        self.load.iter().map(|(_, seconds)| seconds).sum()
    }

    /// Requests per second.
    pub fn rate(&self) -> f64 {
        self.requests() as f64 / (self.seconds() as f64).max(1.0)
    }

    /// The interval of the rate.
    pub fn rate_interval(&self) -> Interval {
        rate_interval(&self.load)
    }
}

/// Computes [`Batches`] from all slices of a run, in any order. Only the batch that was added to last takes
/// more memory than it needs.
#[derive(Debug, Clone)]
pub struct BatchesBuilder<'s> {
    series: &'s Series,
    /// Position of the first of the rows that count, ...
    first: usize,
    /// ... how many there are, ...
    rows: usize,
    /// ... and how many belong to one batch; the rest after the last whole one belongs to the last one.
    size: usize,
    seen: SliceSet,
    /// The batch that was added to last.
    open: usize,
    batches: Batches,
}

impl<'s> BatchesBuilder<'s> {
    /// Groups those rows of the series that begin within the steady part.
    pub fn new(series: &'s Series, steady: Steady) -> BatchesBuilder<'s> {
        let first = series.rows().partition_point(|row| row.second < steady.from);
        let rest = &series.rows()[first..];
        let rows = &rest[..rest.partition_point(|row| row.second < steady.to)];
        let size = rows.len().div_ceil(MAX_VALUES).max(1);
        let count = (rows.len() / size).max(1);
        let mut load = vec![(0u64, 0u64); count];
        for (at, row) in rows.iter().enumerate() {
            let (requests, seconds) = &mut load[(at / size).min(count - 1)];
            *requests = requests.saturating_add(row.requests);
            *seconds += u64::from(row.seconds);
        }
        let errors = rows.iter().fold(0u64, |sum, row| sum.saturating_add(row.errors));
        let seconds = load.iter().map(|(_, seconds)| seconds).sum();
        let latency = Latencies::new(count, seconds);
        let batches = Batches { corrected_latency: latency.clone(), latency, load, errors };
        let (rows, seen, open) = (rows.len(), SliceSet::default(), 0);
        BatchesBuilder { series, first, rows, size, seen, open, batches }
    }

    /// Adds a slice. One that was added already is left out, and so is one of another part of the run.
    pub fn add(&mut self, slice: &Slice) {
        let position = self.series.position(slice.second);
        let at = position.and_then(|at| at.checked_sub(self.first)).filter(|at| *at < self.rows);
        let Some(at) = at else { return };
        if !self.seen.insert(slice.worker, slice.second) {
            return;
        }
        let of = (at / self.size).min(self.batches.load.len() - 1);
        if of != self.open {
            self.batches.latency.compact(self.open);
            self.batches.corrected_latency.compact(self.open);
            self.open = of;
        }
        for (_, row) in slice.requests() {
            self.batches.latency.add(of, &row.latency);
            self.batches.corrected_latency.add(of, &row.corrected_latency);
        }
    }

    /// The batches.
    pub fn finish(self) -> Batches {
        self.batches
    }
}
