//! What is kept of runs to compare them: for each row its distribution, and by block of whole seconds how many ended, how
//! many were errors, and their latencies in coarse buckets. Buckets are the same in every run, so that several runs are
//! one sketch ([`Sketch::pool`]). That takes some kilobytes a row, however long the run was and however many requests it
//! made.

use squall_metrics::{COARSE, Histogram, RequestStats, RowKey, Slice, SliceSet};

use crate::long_run::MAX_VALUES;
use crate::row_numbers::RowNumbers;

/// What was counted of a row in a block.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Block {
    /// How many have ended.
    pub count: u64,
    /// How many of them were errors.
    pub errors: u64,
    /// The sum of the latencies, in µs.
    pub sum_us: f64,
    /// The latencies, in µs, to 2 digits.
    pub latency: Histogram<COARSE>,
}

/// What is kept of a row.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RowSketch {
    /// What identifies it; `None`: all requests together.
    pub key: Option<RowKey>,
    /// The latencies of all runs, in µs, to 3 digits.
    pub latency: Histogram,
    /// What was counted, by run and block.
    pub runs: Vec<Vec<Block>>,
}

/// Runs, as far as they are compared: one, or several of the same thing.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sketch {
    /// How many seconds each block has, by run.
    pub seconds: Vec<Vec<u64>>,
    /// All requests together, and each row.
    pub rows: Vec<RowSketch>,
}

/// Makes a [`Sketch`] of the slices of some seconds of a run.
#[derive(Debug)]
pub struct SketchBuilder {
    /// The first second, and the one after the last.
    window: (u32, u32),
    /// How many seconds each block has.
    seconds: Vec<u64>,
    /// The rows by their numbers; the place of each is one more, as all requests together come first.
    numbers: RowNumbers,
    seen: SliceSet,
    rows: Vec<RowSketch>,
}

impl SketchBuilder {
    /// Of the seconds from one on and before another.
    pub fn new(from: u32, to: u32) -> SketchBuilder {
        let length = u64::from(to.saturating_sub(from));
        let size = length.div_ceil(MAX_VALUES as u64).max(1);
        // What is left after the last whole block belongs to it.
        let mut seconds = vec![size; (length / size) as usize];
        if let Some(last) = seconds.last_mut() {
            *last += length % size;
        }
        let mut builder = SketchBuilder {
            window: (from, to),
            seconds,
            numbers: RowNumbers::new(usize::MAX),
            seen: SliceSet::default(),
            rows: Vec::new(),
        };
        builder.add_row(None);
        builder
    }

    /// Adds a slice; one that was added before is left out.
    pub fn add(&mut self, slice: &Slice) {
        self.numbers.learn(slice);
        for number in self.rows.len() - 1..self.numbers.keys().len() {
            self.add_row(Some(self.numbers.keys()[number].clone()));
        }
        let (from, to) = self.window;
        let Some(size) = self.seconds.first() else { return };
        if !(from..to).contains(&slice.second) || !self.seen.insert(slice.source, slice.second) {
            return;
        }
        let block = u64::from(slice.second - from) / size;
        let block = (block as usize).min(self.seconds.len() - 1);
        for (_, stats) in slice.requests() {
            self.rows[0].add(block, stats);
        }
        for (id, stats) in slice.rows() {
            if let Some(number) = self.numbers.get(slice.source, id) {
                self.rows[number + 1].add(block, stats);
            }
        }
    }

    fn add_row(&mut self, key: Option<RowKey>) {
        let runs = vec![vec![Block::default(); self.seconds.len()]];
        self.rows.push(RowSketch { key, latency: Histogram::new(), runs });
    }

    /// The sketch, without the rows that have nothing.
    pub fn finish(mut self) -> Sketch {
        self.rows.retain(|row| row.key.is_none() || row.count() > 0);
        for row in &mut self.rows {
            row.latency.compact();
            row.runs.iter_mut().flatten().for_each(|block| block.latency.compact());
        }
        Sketch { seconds: vec![self.seconds], rows: self.rows }
    }
}

impl Sketch {
    /// Several as one: the runs of all of them, which should be of the same thing. A row that a run does not have counted
    /// nothing there.
    pub fn pool(sketches: impl IntoIterator<Item = Sketch>) -> Sketch {
        let mut all = Sketch::default();
        for sketch in sketches {
            let before: Vec<Vec<Block>> = all.seconds.iter().map(|run| empty(run)).collect();
            for row in &sketch.rows {
                if all.rows.iter().all(|own| own.key != row.key) {
                    let runs = before.clone();
                    all.rows.push(RowSketch { key: row.key.clone(), runs, ..RowSketch::default() });
                }
            }
            for own in &mut all.rows {
                match sketch.rows.iter().find(|row| row.key == own.key) {
                    Some(row) => {
                        own.latency.merge(&row.latency);
                        own.runs.extend(row.runs.iter().cloned());
                    }
                    None => own.runs.extend(sketch.seconds.iter().map(|run| empty(run))),
                }
            }
            all.seconds.extend(sketch.seconds);
        }
        all
    }

    /// The seconds of all its runs.
    pub fn total_seconds(&self) -> u64 {
        self.seconds.iter().flatten().sum()
    }
}

/// Blocks of a run in which nothing was counted.
fn empty(seconds: &[u64]) -> Vec<Block> {
    vec![Block::default(); seconds.len()]
}

impl RowSketch {
    fn add(&mut self, block: usize, stats: &RequestStats) {
        self.latency.merge(&stats.latency);
        if let Some(block) = self.runs.first_mut().and_then(|run| run.get_mut(block)) {
            block.add(stats);
        }
    }

    /// Its blocks, of all runs.
    pub fn blocks(&self) -> impl Iterator<Item = &Block> {
        self.runs.iter().flatten()
    }

    /// How many have ended.
    pub fn count(&self) -> u64 {
        self.blocks().fold(0, |sum, block| sum.saturating_add(block.count))
    }

    /// A percentile, in µs.
    pub fn percentile(&self, p: f64) -> f64 {
        self.latency.percentile(p) as f64
    }
}

impl Block {
    fn add(&mut self, stats: &RequestStats) {
        self.count = self.count.saturating_add(stats.count);
        self.errors = self.errors.saturating_add(stats.errors);
        self.sum_us += stats.latency.sum();
        for (low, width, count) in stats.latency.buckets() {
            self.latency.record_n(low + (width - 1) / 2, count);
        }
    }
}
