//! Which run comes next, and whether there are enough.
//!
//! Runs are made block by block, each variant once a block. A run that failed is made again at the end of its block, so
//! that it still belongs there; one that fails too often leaves its cell empty.

use std::time::Duration;

use crate::design::Design;
use crate::statistics::{Sample, Scale, half_width};

/// What is asked of the runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Demand {
    /// When there are enough blocks.
    pub repeats: Repeats,
    /// How often a run that failed is made again.
    pub retries: usize,
    /// The seed of the order of each block; `None`: the variants' own order.
    pub seed: Option<u64>,
}

/// How many blocks are made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Repeats {
    /// So many.
    Fixed(usize),
    /// Until each variant's interval, of each measure, is this narrow: half its width as a share of the value.
    Until { relative_error: f64, least: usize, most: usize },
}

impl Repeats {
    /// The most blocks that there may be.
    pub fn most(self) -> usize {
        match self {
            Repeats::Fixed(repeats) => repeats,
            Repeats::Until { most, .. } => most,
        }
    }
}

/// A run that was made.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    pub variant: usize,
    pub block: usize,
    /// From the start of its preparations to the end of what comes after it.
    pub took: Duration,
    /// The value of each measure; `None`: the run failed, or its numbers are not valid.
    pub values: Option<Vec<Option<f64>>>,
}

/// A run to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Next {
    pub variant: usize,
    pub block: usize,
    /// From 1; more: it failed before.
    pub attempt: usize,
}

/// The runs of an experiment, made and to be made.
#[derive(Debug, Clone)]
pub struct Schedule {
    design: Design,
    demand: Demand,
    scales: Vec<Scale>,
    runs: Vec<Run>,
}

impl Schedule {
    /// `scales` are those of the measures.
    pub fn new(design: Design, demand: Demand, scales: Vec<Scale>) -> Schedule {
        Schedule { design, demand, scales, runs: Vec::new() }
    }

    /// Notes a run that was made, now or before an interruption.
    pub fn made(&mut self, run: Run) {
        self.runs.push(run);
    }

    /// The runs that were made, in order.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// The run that comes next; `None`: there are enough.
    pub fn next(&self) -> Option<Next> {
        for block in 0..self.demand.repeats.most() {
            let order = self.order(block);
            let open: Vec<Next> =
                order.into_iter().filter_map(|own| self.open(own, block)).collect();
            // Those that were not tried yet come first.
            if let Some(next) = open.iter().min_by_key(|next| next.attempt) {
                return Some(*next);
            }
            if self.is_narrow(block + 1) {
                return None;
            }
        }
        None
    }

    /// How many runs are left, if none fails, at most.
    pub fn left(&self) -> usize {
        let blocks = 0..self.demand.repeats.most();
        if self.next().is_none() {
            return 0;
        }
        let open = blocks.map(|block| {
            (0..self.design.variants()).filter(|own| self.open(*own, block).is_some()).count()
        });
        open.sum()
    }

    /// How long that takes, from the runs so far. `None`: none was made.
    pub fn left_time(&self) -> Option<Duration> {
        let took: Duration = self.runs.iter().map(|run| run.took).sum();
        let each = took.checked_div(u32::try_from(self.runs.len()).ok()?)?;
        each.checked_mul(u32::try_from(self.left()).ok()?)
    }

    /// How many blocks are done, of which no run is to be made or made again.
    pub fn blocks_done(&self) -> usize {
        let is_done =
            |block: &usize| (0..self.design.variants()).all(|own| self.open(own, *block).is_none());
        (0..self.demand.repeats.most()).take_while(is_done).count()
    }

    /// A measure of all runs, by variant and block.
    pub fn sample(&self, measure: usize) -> Sample {
        let blocks = self.runs.iter().map(|run| run.block + 1).max().unwrap_or(0);
        let mut values = vec![vec![None; blocks]; self.design.variants()];
        for run in &self.runs {
            if let Some(value) =
                run.values.as_ref().and_then(|own| own.get(measure).copied().flatten())
            {
                values[run.variant][run.block] = Some(value);
            }
        }
        Sample::new(self.scales[measure], values)
    }

    /// Runs that failed to the last attempt.
    pub fn given_up(&self) -> Vec<(usize, usize)> {
        let mut all: Vec<(usize, usize)> =
            self.runs.iter().map(|run| (run.variant, run.block)).collect();
        all.sort_unstable();
        all.dedup();
        all.retain(|(variant, block)| {
            !self.has_values(*variant, *block) && self.open(*variant, *block).is_none()
        });
        all
    }

    fn order(&self, block: usize) -> Vec<usize> {
        match self.demand.seed {
            Some(seed) => self.design.block(seed, block),
            None => (0..self.design.variants()).collect(),
        }
    }

    fn of(&self, variant: usize, block: usize) -> impl Iterator<Item = &Run> {
        self.runs.iter().filter(move |run| (run.variant, run.block) == (variant, block))
    }

    fn has_values(&self, variant: usize, block: usize) -> bool {
        self.of(variant, block).any(|run| run.values.is_some())
    }

    /// A run of a block, if it has to be made.
    fn open(&self, variant: usize, block: usize) -> Option<Next> {
        let attempts = self.of(variant, block).count();
        let is_open = !self.has_values(variant, block) && attempts <= self.demand.retries;
        is_open.then_some(Next { variant, block, attempt: attempts + 1 })
    }

    /// Whether so many blocks are enough.
    fn is_narrow(&self, blocks: usize) -> bool {
        let Repeats::Until { relative_error, least, .. } = self.demand.repeats else {
            return false;
        };
        let narrow = |sample: &Sample| {
            (0..self.design.variants())
                .all(|own| half_width(sample, own).is_none_or(|half| half <= relative_error))
        };
        blocks >= least && (0..self.scales.len()).all(|measure| narrow(&self.sample(measure)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::Factor;

    fn schedule(repeats: Repeats, retries: usize) -> Schedule {
        let factor =
            Factor { name: "one".into(), levels: vec!["a".into(), "b".into(), "c".into()] };
        let demand = Demand { repeats, retries, seed: Some(1) };
        Schedule::new(Design::new(vec![factor]).unwrap(), demand, vec![Scale::Ratio])
    }

    /// Makes all runs, each with what `of` says, and gives them back.
    fn make(schedule: &mut Schedule, of: impl Fn(Next) -> Option<f64>) -> Vec<Next> {
        let mut made = Vec::new();
        while let Some(next) = schedule.next() {
            assert!(made.len() < 1_000, "it does not end");
            made.push(next);
            let (variant, block) = (next.variant, next.block);
            let values = of(next).map(|value| vec![Some(value)]);
            schedule.made(Run { variant, block, took: Duration::from_secs(2), values });
        }
        made
    }

    #[test]
    fn each_variant_is_run_once_a_block_in_another_order_each_time() {
        let mut own = schedule(Repeats::Fixed(8), 2);
        assert_eq!((own.left(), own.left_time()), (24, None));
        let made = make(&mut own, |_| Some(1.0));
        assert_eq!(made.len(), 24);
        let orders: Vec<Vec<usize>> =
            made.chunks(3).map(|own| own.iter().map(|own| own.variant).collect()).collect();
        for (block, order) in orders.iter().enumerate() {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2], "block {block}");
        }
        assert!(orders.iter().any(|order| *order != orders[0]), "{orders:?}");
        assert_eq!(own.left(), 0);
    }

    #[test]
    fn a_run_that_failed_is_made_again_in_its_block_and_given_up_in_the_end() {
        let mut own = schedule(Repeats::Fixed(2), 2);
        let made = make(&mut own, |next| (next.variant != 1 || next.block != 0).then_some(1.0));
        let tries: Vec<usize> = made
            .iter()
            .filter(|own| own.variant == 1 && own.block == 0)
            .map(|own| own.attempt)
            .collect();
        assert_eq!(tries, [1, 2, 3]);
        assert_eq!(
            made.iter().position(|own| own.block == 1),
            Some(5),
            "the block ends first: {made:?}"
        );
        assert_eq!(own.given_up(), [(1, 0)]);
        assert_eq!(own.sample(0).value(1, 0), None);
    }

    #[test]
    fn it_goes_on_where_it_was() {
        let mut all = schedule(Repeats::Fixed(3), 0);
        let made = make(&mut all, |_| Some(1.0));
        let mut again = schedule(Repeats::Fixed(3), 0);
        for run in &all.runs()[..4] {
            again.made(run.clone());
        }
        assert_eq!(again.next(), Some(made[4]));
        assert_eq!((again.blocks_done(), all.blocks_done()), (1, 3));
        assert_eq!(again.left_time(), Some(Duration::from_secs(10)));
    }

    #[test]
    fn runs_go_on_until_intervals_are_narrow() {
        let repeats = Repeats::Until { relative_error: 0.02, least: 3, most: 20 };
        let mut same = schedule(repeats, 0);
        assert_eq!(make(&mut same, |_| Some(1.0)).len(), 9);
        let noise =
            |of: f64| move |next: Next| Some(if next.block.is_multiple_of(2) { 1.0 } else { of });
        let mut some = schedule(repeats, 0);
        let blocks = make(&mut some, noise(1.04)).len() / 3;
        assert!((4..20).contains(&blocks), "{blocks}");
        let mut much = schedule(repeats, 0);
        assert_eq!(make(&mut much, noise(2.0)).len(), 60);
    }
}
