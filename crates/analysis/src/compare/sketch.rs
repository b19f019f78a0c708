//! What is kept of a run to compare it: for each row its distribution, and by block of whole seconds how many
//! ended, how many were errors, the sum of their latencies, and how many exceeded the row's own percentiles.
//! That takes about 2 KiB a row, however long the run was and however many requests it made.

use squall_metrics::{Histogram, RequestStats, RowKey, Slice, SliceSet};

use super::measure::GRID;
use crate::long_run::MAX_VALUES;
use crate::row_numbers::RowNumbers;

/// The percentiles at which a distribution is kept: close together where its tail is.
pub fn quantile_ranks() -> impl Iterator<Item = f64> {
    let range = |from: u32, to: u32, steps: f64| (from..to).map(move |at| f64::from(at) / steps);
    range(0, 90, 1.0)
        .chain(range(90 * 4, 99 * 4, 4.0))
        .chain(range(99 * 20, 1_998, 20.0))
        .chain(range(9_990, 10_001, 100.0))
}

/// What was counted of a row in a block.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Block {
    /// How many have ended.
    pub count: u64,
    /// How many of them were errors.
    pub errors: u64,
    /// How many of them have a latency.
    pub complete: u64,
    /// The sum of these, in µs.
    pub sum_us: f64,
    /// How many of these exceed each percentile of [`GRID`] of the row in the whole run.
    pub above: [u64; GRID.len()],
}

/// What is kept of a row.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RowSketch {
    /// What identifies it; `None`: all requests together.
    pub key: Option<RowKey>,
    /// What was counted, by block.
    pub blocks: Vec<Block>,
    /// Its distribution, in µs, at each of [`quantile_ranks`]; empty: nothing has a latency.
    pub quantiles: Vec<u64>,
}

/// A run, as far as it is compared.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sketch {
    /// How many seconds each block has.
    pub seconds: Vec<u64>,
    /// All requests together, and each row.
    pub rows: Vec<RowSketch>,
}

/// Makes a [`Sketch`] of the slices of some seconds of a run, which are read twice: for the distributions, ...
#[derive(Debug)]
pub struct SketchBuilder {
    part: Window,
    seen: SliceSet,
    /// The distribution of all requests together, and of each row.
    latencies: Vec<Histogram>,
}

/// ... and for the blocks.
#[derive(Debug)]
pub struct Counting {
    part: Window,
    seen: SliceSet,
    /// The percentiles of each row.
    limits: Vec<[u64; GRID.len()]>,
    sketch: Sketch,
}

/// Which seconds count, and which rows there are.
#[derive(Debug)]
struct Window {
    /// The first second, and the one after the last.
    seconds: (u32, u32),
    /// Their numbers; the place of each is one more, as all requests together come first.
    rows: RowNumbers,
}

impl Window {
    fn holds(&self, second: u32) -> bool {
        (self.seconds.0..self.seconds.1).contains(&second)
    }

    /// The rows of a slice, each with its position; requests also count under that of all together.
    fn each(&self, slice: &Slice, mut row: impl FnMut(usize, &RequestStats)) {
        slice.requests().for_each(|(_, stats)| row(0, stats));
        for (id, stats) in slice.rows() {
            if let Some(number) = self.rows.get(slice.worker, id) {
                row(number + 1, stats);
            }
        }
    }
}

impl SketchBuilder {
    /// Of the seconds from one on and before another.
    pub fn new(from: u32, to: u32) -> SketchBuilder {
        let part = Window { seconds: (from, to), rows: RowNumbers::new(usize::MAX) };
        SketchBuilder { part, seen: SliceSet::default(), latencies: Vec::new() }
    }

    /// Adds a slice; one that was added before is left out.
    pub fn add(&mut self, slice: &Slice) {
        self.part.rows.learn(slice);
        self.latencies.resize_with(1 + self.part.rows.keys().len(), Histogram::default);
        if self.part.holds(slice.second) && self.seen.insert(slice.worker, slice.second) {
            self.part.each(slice, |at, stats| self.latencies[at].merge(&stats.latency));
        }
    }

    /// The distributions are complete.
    pub fn counting(self) -> Counting {
        let length = u64::from(self.part.seconds.1.saturating_sub(self.part.seconds.0));
        let size = length.div_ceil(MAX_VALUES as u64).max(1);
        // What is left after the last whole block belongs to it.
        let mut seconds = vec![size; (length / size) as usize];
        if let Some(last) = seconds.last_mut() {
            *last += length % size;
        }
        let keys = std::iter::once(None).chain(self.part.rows.keys().iter().cloned().map(Some));
        let rows = keys.enumerate().map(|(at, key)| {
            let quantiles = self.latencies.get(at).map(quantiles).unwrap_or_default();
            RowSketch { key, blocks: vec![Block::default(); seconds.len()], quantiles }
        });
        let rows = rows.collect();
        let limits = self.latencies.iter().map(|own| GRID.map(|p| own.percentile(p))).collect();
        let sketch = Sketch { seconds, rows };
        Counting { part: self.part, seen: SliceSet::default(), limits, sketch }
    }
}

fn quantiles(latencies: &Histogram) -> Vec<u64> {
    match latencies.is_empty() {
        true => Vec::new(),
        false => quantile_ranks().map(|p| latencies.percentile(p)).collect(),
    }
}

impl Counting {
    /// Adds a slice again; one that was added before is left out.
    pub fn add(&mut self, slice: &Slice) {
        let Some(first) = self.sketch.seconds.first() else { return };
        if !self.part.holds(slice.second) || !self.seen.insert(slice.worker, slice.second) {
            return;
        }
        let last = self.sketch.seconds.len() - 1;
        let of = (u64::from(slice.second - self.part.seconds.0) / first) as usize;
        let (limits, rows) = (&self.limits, &mut self.sketch.rows);
        self.part.each(slice, |at, stats| {
            if let (Some(row), Some(limits)) = (rows.get_mut(at), limits.get(at)) {
                row.blocks[of.min(last)].add(stats, limits);
            }
        });
    }

    /// The sketch, without the rows that have nothing.
    pub fn finish(mut self) -> Sketch {
        self.sketch.rows.retain(|row| row.key.is_none() || row.count() > 0);
        self.sketch
    }
}

impl Block {
    fn add(&mut self, stats: &RequestStats, limits: &[u64; GRID.len()]) {
        self.count = self.count.saturating_add(stats.count);
        self.errors = self.errors.saturating_add(stats.errors);
        self.complete = self.complete.saturating_add(stats.latency.count());
        self.sum_us += stats.latency.sum();
        for (low, _, count) in stats.latency.buckets() {
            let exceeded = limits.partition_point(|limit| *limit < low);
            self.above[..exceeded].iter_mut().for_each(|above| *above += count);
        }
    }
}

impl RowSketch {
    /// How many have ended.
    pub fn count(&self) -> u64 {
        self.blocks.iter().fold(0, |sum, block| sum.saturating_add(block.count))
    }

    /// How many have a latency.
    pub fn complete(&self) -> u64 {
        self.blocks.iter().fold(0, |sum, block| sum.saturating_add(block.complete))
    }

    /// A percentile, in µs: exact at [`quantile_ranks`], on a straight line in between.
    pub fn percentile(&self, p: f64) -> f64 {
        let mut before: Option<(f64, f64)> = None;
        for (rank, value) in quantile_ranks().zip(&self.quantiles) {
            let value = *value as f64;
            if rank >= p {
                return match before {
                    Some((low, own)) if rank > p => own + (value - own) * (p - low) / (rank - low),
                    _ => value,
                };
            }
            before = Some((rank, value));
        }
        before.map_or(0.0, |(_, value)| value)
    }
}
