//! Everything recorded in a run: the slices of all workers and seconds, merged.

use std::collections::{BTreeMap, HashMap};

use crate::histogram::Histogram;
use crate::names::{NameId, NameKind, Names};
use crate::request_stats::RequestStats;
use crate::self_metrics::SelfMetrics;
use crate::slice::{Counters, Slice};
use crate::time_account::TimeAccount;

/// Most rows of the series; in longer runs, neighbouring rows are merged.
const MAX_SERIES: usize = 1_200;
/// A row is complete when this many later rows exist.
const ROWS_UNTIL_COMPLETE: u32 = 3;

/// One second of a run, all workers and names together; in long runs, several seconds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SecondStats {
    /// The first second, from 0.
    pub second: u32,
    /// How many seconds it covers; the last row may cover fewer.
    pub seconds: u32,
    /// Requests that have ended.
    pub requests: u64,
    /// Those of them that were errors.
    pub errors: u64,
    /// Bytes read.
    pub bytes_in: u64,
    /// Bytes written.
    pub bytes_out: u64,
    /// Latency of complete responses, in µs.
    pub latency: Histogram,
    /// What is counted besides requests.
    pub counters: Counters,
    /// Self-metrics of the workers.
    pub self_metrics: SelfMetrics,
    /// CPU time of the busiest worker in any of the seconds, in ns per second.
    pub busiest_ns: u64,
}

/// Everything that was recorded in a run.
#[derive(Debug, Clone)]
pub struct Totals {
    names: Names,
    rows: Vec<RequestStats>,
    /// The number here of each worker's number.
    numbers: HashMap<(u32, NameId), NameId>,
    /// By first second divided by the resolution.
    series: BTreeMap<u32, SecondStats>,
    /// Seconds per row of the series.
    resolution: u32,
    counters: Counters,
    self_metrics: SelfMetrics,
    /// By worker.
    time_accounts: BTreeMap<u32, TimeAccount>,
}

impl SecondStats {
    fn add(&mut self, row: &RequestStats) {
        self.requests = self.requests.saturating_add(row.count);
        self.errors = self.errors.saturating_add(row.errors);
        self.bytes_in = self.bytes_in.saturating_add(row.bytes_in);
        self.bytes_out = self.bytes_out.saturating_add(row.bytes_out);
        self.latency.merge(&row.latency);
    }

    /// Frees memory: the row is complete, or nearly.
    fn compact(&mut self) {
        self.latency.compact();
        self.self_metrics.compact();
    }

    /// Adds the next row.
    fn add_later(&mut self, later: &SecondStats) {
        self.requests = self.requests.saturating_add(later.requests);
        self.errors = self.errors.saturating_add(later.errors);
        self.bytes_in = self.bytes_in.saturating_add(later.bytes_in);
        self.bytes_out = self.bytes_out.saturating_add(later.bytes_out);
        self.latency.merge(&later.latency);
        self.counters.add_later(&later.counters);
        self.self_metrics.merge(&later.self_metrics);
        self.busiest_ns = self.busiest_ns.max(later.busiest_ns);
    }
}

impl Default for Totals {
    fn default() -> Totals {
        Totals::new()
    }
}

impl Totals {
    /// Empty totals.
    pub fn new() -> Totals {
        Totals {
            // The workers keep to the plan's number of names.
            names: Names::new(usize::MAX),
            rows: Vec::new(),
            numbers: HashMap::new(),
            series: BTreeMap::new(),
            resolution: 1,
            counters: Counters::default(),
            self_metrics: SelfMetrics::default(),
            time_accounts: BTreeMap::new(),
        }
    }

    /// Adds a slice. Slices of one worker come in the order of their seconds.
    pub fn add(&mut self, slice: &Slice) {
        self.learn(slice);
        let second = slice.second / self.resolution;
        let is_new = !self.series.contains_key(&second);
        if let Some(done) = second.checked_sub(ROWS_UNTIL_COMPLETE).filter(|_| is_new) {
            // A worker that hands over its slice later still finds its row.
            self.series.get_mut(&done).map(SecondStats::compact);
        }
        let of_second = self.series.entry(second).or_insert_with(|| SecondStats {
            second: second * self.resolution,
            seconds: self.resolution,
            ..SecondStats::default()
        });
        of_second.counters.merge(&slice.counters);
        of_second.self_metrics.merge(&slice.self_metrics);
        of_second.busiest_ns = of_second.busiest_ns.max(slice.self_metrics.cpu_ns);
        self.self_metrics.merge(&slice.self_metrics);
        for (id, row) in slice.rows() {
            let Some(here) = self.numbers.get(&(slice.worker, id)) else { continue };
            self.rows[here.0 as usize].merge(row);
            // Groups hold requests that count by themselves.
            if self.names.get(*here).is_some_and(|(kind, _)| kind != NameKind::Group) {
                of_second.add(row);
            }
        }
        self.counters.merge(&slice.counters);
        self.time_accounts.entry(slice.worker).or_default().add_later(&slice.time_account);
        if self.series.len() > MAX_SERIES {
            self.halve();
        }
    }

    /// Learns a slice's names without counting the slice: later slices do not repeat them.
    pub fn learn(&mut self, slice: &Slice) {
        for (id, kind, text) in &slice.names {
            let here = self.names.intern(*kind, text);
            self.numbers.insert((slice.worker, *id), here);
            if self.rows.len() < self.names.len() {
                self.rows.resize_with(self.names.len(), RequestStats::default);
            }
        }
    }

    /// Merges neighbouring rows of the series.
    fn halve(&mut self) {
        self.resolution *= 2;
        let rows = std::mem::take(&mut self.series);
        for (_, mut row) in rows {
            row.seconds = self.resolution;
            let key = row.second / self.resolution;
            match self.series.get_mut(&key) {
                Some(first) => {
                    first.add_later(&row);
                    // At once: a thousand rows that are not compacted would briefly take much more memory.
                    first.compact();
                }
                None => {
                    self.series.insert(key, row);
                }
            }
        }
    }

    /// All requests and programs together.
    pub fn all(&self) -> RequestStats {
        let mut all = RequestStats::default();
        self.of_kind(|kind| kind != NameKind::Group).for_each(|(_, row)| all.merge(row));
        all
    }

    /// Requests and programs by name, in the order of their numbers.
    pub fn requests(&self) -> impl Iterator<Item = (&str, &RequestStats)> {
        self.of_kind(|kind| kind != NameKind::Group)
    }

    /// Groups by name, in the order of their numbers.
    pub fn groups(&self) -> impl Iterator<Item = (&str, &RequestStats)> {
        self.of_kind(|kind| kind == NameKind::Group)
    }

    fn of_kind(
        &self,
        wanted: impl Fn(NameKind) -> bool,
    ) -> impl Iterator<Item = (&str, &RequestStats)> {
        self.rows.iter().enumerate().filter_map(move |(index, row)| {
            let (kind, text) = self.names.get(NameId(index as u32))?;
            (wanted(kind) && row.count > 0).then_some((text, row))
        })
    }

    /// Statistics of a name: of a request or program, or else of a group.
    pub fn named(&self, name: &str) -> Option<&RequestStats> {
        let find = |(own, row)| if own == name { Some(row) } else { None };
        self.requests().find_map(find).or_else(|| self.groups().find_map(find))
    }

    /// One row per second, in order. While a run is in progress, the last rows may still lack workers.
    pub fn series(&self) -> impl DoubleEndedIterator<Item = &SecondStats> {
        self.series.values()
    }

    /// What is counted besides requests; `users_active` is the most of any second.
    pub fn counters(&self) -> Counters {
        let most = self.series.values().map(|row| row.counters.users_active).max();
        Counters { users_active: most.unwrap_or(0), ..self.counters }
    }

    /// How many workers have recorded anything.
    pub fn workers(&self) -> usize {
        self.time_accounts.len()
    }

    /// Self-metrics of all workers.
    pub fn self_metrics(&self) -> &SelfMetrics {
        &self.self_metrics
    }

    /// Time accounting over `elapsed_s` seconds: a worker ends with its last user, and its users count as
    /// finished from then on.
    pub fn time_account(&self, elapsed_s: f64) -> TimeAccount {
        let mut sum = TimeAccount::default();
        for account in self.time_accounts.values() {
            let mut account = *account;
            account.extend((elapsed_s * 1e9) as u64);
            sum.add_users(&account);
        }
        sum
    }

    /// Heap memory in bytes, without the series.
    pub fn heap_bytes(&self) -> usize {
        self.rows.iter().map(|row| size_of::<RequestStats>() + row.heap_bytes()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request_stats::{Phases, Sample};

    fn sample(latency_us: u64) -> Sample {
        Sample {
            latency_us,
            corrected_latency_us: None,
            complete: true,
            status: 200,
            error: None,
            bytes_in: 0,
            bytes_out: 0,
            phases: Phases::default(),
        }
    }

    #[test]
    fn workers_may_number_names_differently() {
        let mut totals = Totals::new();
        for (worker, first, second) in [(0, "a", "b"), (1, "b", "a")] {
            let mut slice = Slice::new(worker, 0);
            slice.announce(NameId(0), NameKind::Request, first);
            slice.announce(NameId(1), NameKind::Request, second);
            slice.record(NameId(0), &sample(10));
            slice.record(NameId(0), &sample(10));
            slice.record(NameId(1), &sample(10));
            totals.add(&slice);
        }
        assert_eq!(totals.named("a").map(|row| row.count), Some(3));
        assert_eq!(totals.named("b").map(|row| row.count), Some(3));
        assert_eq!(totals.all().count, 6);
    }

    #[test]
    fn groups_do_not_count_twice() {
        let mut slice = Slice::new(0, 0);
        slice.announce(NameId(0), NameKind::Request, "a");
        slice.announce(NameId(1), NameKind::Group, "a");
        slice.record(NameId(0), &sample(10));
        slice.record_group(NameId(1), 30, false);
        let mut totals = Totals::new();
        totals.add(&slice);
        assert_eq!(totals.all().count, 1);
        assert_eq!(totals.groups().map(|(_, row)| row.latency.max()).collect::<Vec<_>>(), [30]);
        assert_eq!(totals.series().map(|row| row.requests).sum::<u64>(), 1);
    }

    /// Rows that are complete take three bytes for each latency that was seen in them, and say the same.
    #[test]
    fn rows_of_the_series_are_small() {
        let (mut totals, mut whole) = (Totals::new(), crate::Histogram::<{ crate::FINE }>::new());
        let mut chance = 1u64;
        for second in 0..10 {
            let mut slice = Slice::new(0, second);
            if second == 0 {
                slice.announce(NameId(0), NameKind::Request, "a");
            }
            for _ in 0..20_000 {
                chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                // 50 µs to 50 ms, each octave as often.
                let value = 50 << ((chance >> 40) % 10);
                let value = value + (chance >> 50) % value;
                slice.record(NameId(0), &sample(value));
                whole.record(value);
            }
            totals.add(&slice);
        }
        for row in totals.series().take(7) {
            let (size, buckets) = (row.latency.heap_bytes(), row.latency.buckets().count());
            assert!(buckets > 1_000 && size <= 3 * buckets, "{size} for {buckets}");
        }
        let mut merged = crate::Histogram::<{ crate::FINE }>::new();
        totals.series().for_each(|row| merged.merge(&row.latency));
        assert_eq!((merged.count(), merged.percentile(99.0)), (200_000, whole.percentile(99.0)));
    }

    #[test]
    fn the_series_of_a_long_run_stays_short() {
        let mut totals = Totals::new();
        for second in 0..10_000 {
            let mut slice = Slice::new(0, second);
            slice.announce(NameId(0), NameKind::Request, "a");
            slice.record(NameId(0), &sample(5));
            totals.add(&slice);
        }
        assert!(totals.series().count() <= MAX_SERIES);
        assert_eq!(totals.series().map(|row| row.requests).sum::<u64>(), 10_000);
        assert!(totals.series().map(|row| row.seconds).sum::<u32>() >= 10_000);
    }
}
