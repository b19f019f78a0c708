//! Totals as a few slices, which can be written and read as all slices can.

use squall_metrics::{MetricId, NameId, Slice, Source};

use super::Totals;
use crate::series::Extent;

/// The worker of the slice that has what all of them recorded.
const ALL: Source = Source::Worker(Source::HIGHEST);

/// What a run came to, once it is over: as much as there are names and values, whatever the length of the run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Summary {
    /// What all workers recorded, under the numbers of the totals.
    pub all: Slice,
    /// Of each worker and monitor its last second: the numbers that it gave, and its time account.
    pub sources: Vec<Slice>,
    /// Seconds of a row of the series.
    pub resolution: u32,
    /// How many slices there were, by row of the series.
    pub slices: Vec<u32>,
    /// Slices that came a second time.
    pub refused: u64,
}

impl Totals {
    /// What they come to; `None`: the names of something are missing, and may still come.
    pub fn summary(&self) -> Option<Summary> {
        if !(self.nameless.is_empty() && self.nameless_checks.is_empty() && self.keyless.is_empty())
        {
            return None;
        }
        let (resolution, slices) = self.extent.parts();
        Some(Summary {
            all: self.sum(),
            sources: self.time_accounts.keys().map(|source| self.of_source(*source)).collect(),
            resolution,
            slices: slices.to_vec(),
            refused: self.refused,
        })
    }

    /// What all workers recorded.
    fn sum(&self) -> Slice {
        let mut all = Slice::new(ALL, 0);
        for (number, (key, row)) in self.keys.iter().zip(&self.rows).enumerate() {
            let id = NameId(number as u32);
            all.announce(id, key.clone());
            all.put_row(id, key.place.kind, row);
        }
        self.checks.iter().for_each(|(id, counts)| all.merge_check(*id, counts));
        for (number, stats) in self.metric_stats.iter().enumerate() {
            let id = MetricId(number as u32);
            if let Some(key) = self.metrics.get(id) {
                all.announce_metric(id, key);
                all.merge_metric(id, stats);
            }
        }
        all.counters = self.counters();
        all.self_metrics = self.self_metrics.clone();
        all
    }

    /// What is known of a source alone.
    fn of_source(&self, source: Source) -> Slice {
        let time = self.time_accounts.get(&source).copied().unwrap_or_default();
        let mut own = Slice::new(source, time.last);
        own.time_account = time.account;
        let numbers = self.numbers.iter().filter(|((of, _), _)| *of == source);
        for ((_, id), here) in numbers {
            if let Some(key) = self.keys.get(here.0 as usize) {
                own.announce(*id, key.clone());
            }
        }
        let numbers = self.metric_numbers.iter().filter(|((of, _), _)| *of == source);
        for ((_, id), here) in numbers {
            if let Some(key) = self.metrics.get(*here) {
                own.announce_metric(*id, key);
            }
        }
        own.names.sort_unstable_by_key(|(id, _)| id.0);
        own.metric_keys.sort_unstable_by_key(|(id, _)| id.0);
        own
    }
}

impl From<&Summary> for Totals {
    /// The totals of which it is a summary; they take no more slices.
    fn from(summary: &Summary) -> Totals {
        let mut totals = Totals::new();
        // The rows get the numbers that they had, as they come in this order.
        totals.add(&summary.all);
        totals.numbers.clear();
        totals.metric_numbers.clear();
        totals.time_accounts.clear();
        for own in &summary.sources {
            totals.learn(own);
            let time = totals.time_accounts.entry(own.source).or_default();
            time.add(own.second, &own.time_account);
        }
        totals.extent = Extent::of_parts(summary.resolution, summary.slices.clone());
        totals.refused = summary.refused;
        totals
    }
}
