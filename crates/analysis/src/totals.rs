//! Everything recorded in a run: the slices of all workers and seconds, merged.

pub(crate) mod summary;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};

use crate::series::{Extent, Scenarios, SeriesBuilder, Tracker};
use squall_metrics::{
    CheckCounts, Counters, MetricId, MetricKey, MetricStats, Metrics, NameId, Names, RequestStats,
    RowKey, RowKind, Selector, SelfMetrics, Slice, SliceSet, Source, TimeAccount,
};

/// Seconds of which the users are known by second. A slice that comes later than that counts in everything
/// but the most users active at once.
const SECONDS_OF_USERS: usize = 128;

/// Everything that was recorded in a run.
#[derive(Debug, Clone)]
pub struct Totals {
    names: Names,
    /// What identifies each row.
    keys: Vec<RowKey>,
    rows: Vec<RequestStats>,
    /// The number here of each worker's number.
    numbers: HashMap<(Source, NameId), NameId>,
    /// What was recorded under numbers of which the names have not come yet.
    nameless: HashMap<(Source, NameId), RequestStats>,
    /// What each check came to, by its number here.
    checks: BTreeMap<NameId, CheckCounts>,
    /// What checks came to whose names have not come yet.
    nameless_checks: HashMap<(Source, NameId), CheckCounts>,
    metrics: Metrics,
    /// What each metric recorded.
    metric_stats: Vec<MetricStats>,
    /// The number here of each worker's number.
    metric_numbers: HashMap<(Source, MetricId), MetricId>,
    /// What was recorded under numbers of which the metrics have not come yet.
    keyless: HashMap<(Source, MetricId), MetricStats>,
    /// The slices that have been added.
    seen: SliceSet,
    /// Slices that came a second time.
    refused: u64,
    extent: Extent,
    /// Users active, of all workers, by second.
    users: BTreeMap<u32, u64>,
    /// Most users active in any second.
    users_active: u64,
    counters: Counters,
    self_metrics: SelfMetrics,
    /// By source; a monitor's is empty, but for the last second that it covers.
    time_accounts: BTreeMap<Source, WorkerTime>,
}

/// The time account of a worker.
#[derive(Debug, Clone, Copy, Default)]
struct WorkerTime {
    account: TimeAccount,
    /// The latest second that it covers.
    last: u32,
}

impl WorkerTime {
    /// Adds the account of a second, whenever it comes: how many users there are is what the latest says.
    fn add(&mut self, second: u32, account: &TimeAccount) {
        let users = if second < self.last { self.account.users } else { account.users };
        self.account.add_later(account);
        self.account.users = users;
        self.last = self.last.max(second);
    }
}

impl Default for Totals {
    fn default() -> Totals {
        Totals::new()
    }
}

impl Totals {
    pub fn new() -> Totals {
        Totals {
            // The workers keep to the plan's number of names.
            names: Names::new(usize::MAX),
            keys: Vec::new(),
            rows: Vec::new(),
            numbers: HashMap::new(),
            nameless: HashMap::new(),
            checks: BTreeMap::new(),
            nameless_checks: HashMap::new(),
            metrics: Metrics::default(),
            metric_stats: Vec::new(),
            metric_numbers: HashMap::new(),
            keyless: HashMap::new(),
            seen: SliceSet::default(),
            refused: 0,
            extent: Extent::default(),
            users: BTreeMap::new(),
            users_active: 0,
            counters: Counters::default(),
            self_metrics: SelfMetrics::default(),
            time_accounts: BTreeMap::new(),
        }
    }

    /// Adds what a worker recorded in a second. Slices may come in any order. `false`: that second of that
    /// worker was added before, and the slice is left out.
    pub fn add(&mut self, slice: &Slice) -> bool {
        if !self.add_all_but_rows(slice) {
            return false;
        }
        for (id, row) in slice.rows() {
            match self.numbers.get(&(slice.source, id)) {
                Some(here) => self.rows[here.0 as usize].merge(row),
                None => self.nameless.entry((slice.source, id)).or_default().merge(row),
            }
        }
        true
    }

    /// Adds several slices as [`Totals::add`] does, row by row: what a row has counted is then fetched into the
    /// processor's cache once for all of them, which for some hundred rows is most of the work.
    pub fn add_together(&mut self, slices: &[Slice]) {
        let added = |totals: &mut Totals, slice| totals.add_all_but_rows(slice);
        let new: Vec<&Slice> = slices.iter().filter(|slice| added(self, slice)).collect();
        let mut rows = Vec::new();
        for slice in new {
            for (id, row) in slice.rows() {
                match self.numbers.get(&(slice.source, id)) {
                    Some(here) => rows.push((here.0 as usize, row)),
                    None => self.nameless.entry((slice.source, id)).or_default().merge(row),
                }
            }
        }
        // Stable: each row's in the order in which they came.
        rows.sort_by_key(|(here, _)| *here);
        rows.into_iter().for_each(|(here, row)| self.rows[here].merge(row));
    }

    fn add_all_but_rows(&mut self, slice: &Slice) -> bool {
        if !self.seen.insert(slice.source, slice.second) {
            self.refused += 1;
            return false;
        }
        self.learn(slice);
        self.extent.add(slice.second);
        for (id, counts) in slice.checks() {
            match self.numbers.get(&(slice.source, id)) {
                Some(here) => self.checks.entry(*here).or_default().merge(&counts),
                None => self.nameless_checks.entry((slice.source, id)).or_default().merge(&counts),
            }
        }
        for (id, stats) in slice.metrics() {
            match self.metric_numbers.get(&(slice.source, id)) {
                Some(here) => self.metric_stats[here.0 as usize].merge(stats),
                None => self.keyless.entry((slice.source, id)).or_default().merge(stats),
            }
        }
        self.self_metrics.merge(&slice.self_metrics);
        self.counters.merge(&slice.counters);
        self.time_accounts.entry(slice.source).or_default().add(slice.second, &slice.time_account);
        self.count_users(slice);
        true
    }

    /// Adds the users of a slice to those of its second.
    fn count_users(&mut self, slice: &Slice) {
        if !slice.source.is_worker() {
            return;
        }
        let users = self.users.entry(slice.second).or_default();
        *users = users.saturating_add(slice.counters.users_active);
        self.users_active = self.users_active.max(*users);
        if self.users.len() > SECONDS_OF_USERS {
            self.users.pop_first();
        }
    }

    /// Learns a slice's names without counting the slice: later slices do not repeat them.
    pub fn learn(&mut self, slice: &Slice) {
        for (id, key) in &slice.names {
            let here = self.number(key);
            self.numbers.insert((slice.source, *id), here);
            if let Some(early) = self.nameless.remove(&(slice.source, *id)) {
                self.rows[here.0 as usize].merge(&early);
            }
            if let Some(early) = self.nameless_checks.remove(&(slice.source, *id)) {
                self.checks.entry(here).or_default().merge(&early);
            }
        }
        for (id, key) in &slice.metric_keys {
            let here = self.metric_number(key);
            self.metric_numbers.insert((slice.source, *id), here);
            if let Some(early) = self.keyless.remove(&(slice.source, *id)) {
                self.metric_stats[here.0 as usize].merge(&early);
            }
        }
    }

    /// Adds all that was counted in a run that began so many ns later, such as the load after its setup: rows, checks, metrics
    /// and counters. Seconds and users stay those of this one.
    pub fn add_later(&mut self, other: &Totals, by: u64) {
        for (key, row) in other.rows() {
            let here = self.number(key);
            self.rows[here.0 as usize].merge(row);
        }
        for (key, counts) in other.checks() {
            let here = self.number(key);
            self.checks.entry(here).or_default().merge(&counts);
        }
        for (key, stats) in other.metrics() {
            let here = self.metric_number(key);
            self.metric_stats[here.0 as usize].merge_later(stats, by);
        }
        self.counters.merge(&other.counters);
    }

    /// Takes the users of another one: they are those of a load, not of what comes before and after it.
    pub fn take_users(&mut self, other: &Totals) {
        self.users.clone_from(&other.users);
        self.users_active = other.users_active;
    }

    /// The number here of a row, which is made if it is new.
    fn number(&mut self, key: &RowKey) -> NameId {
        let here = self.names.intern_key(key);
        // Numbers are given one after the other.
        if self.keys.len() < self.names.len() {
            self.keys.push(key.clone());
            self.rows.resize_with(self.names.len(), RequestStats::default);
        }
        here
    }

    /// The number here of a metric, which is made if it is new.
    fn metric_number(&mut self, key: &MetricKey) -> MetricId {
        let here = self.metrics.intern(key);
        if self.metric_stats.len() < self.metrics.len() {
            self.metric_stats.resize_with(self.metrics.len(), MetricStats::default);
        }
        here
    }

    /// Slices that were left out because they had been added before.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Requests, programs and groups whose names have not come: the slice that has them is missing.
    pub fn nameless(&self) -> u64 {
        self.nameless.values().fold(0, |sum, row| sum.saturating_add(row.count))
    }

    /// What computes the series from the slices that were added.
    pub fn series(&self) -> SeriesBuilder {
        SeriesBuilder::new(self.extent.clone(), self.scenarios(), self.tracker())
    }

    /// The scenarios, as the rows of their iterations name them.
    fn scenarios(&self) -> Scenarios {
        let is_scenario =
            |key: &RowKey| key.place.kind == RowKind::Iteration && !key.place.scenario.is_empty();
        let numbered = self.keys.iter().enumerate().filter(|(_, key)| is_scenario(key));
        let (ids, names): (Vec<NameId>, Vec<String>) =
            numbered.map(|(id, key)| (NameId(id as u32), key.place.scenario.clone())).unzip();
        let place = |here: &NameId| ids.iter().position(|own| own == here);
        let places = self.numbers.iter().filter_map(|(own, here)| Some((*own, place(here)?)));
        Scenarios { names, places: places.collect() }
    }

    /// What is followed by second.
    fn tracker(&self) -> Tracker {
        let numbered = self.keys.iter().zip(&self.rows).enumerate();
        let rows = numbered.filter(|(_, (_, row))| !row.is_empty());
        let rows = rows.map(|(id, (key, row))| (row.count, NameId(id as u32), key.clone()));
        let checks = self.checks.iter().filter_map(|(id, counts)| {
            Some((counts.count(), *id, self.keys.get(id.0 as usize)?.clone()))
        });
        let metrics = self.metric_stats.iter().enumerate().filter_map(|(id, stats)| {
            let id = MetricId(id as u32);
            Some((stats.count, id, self.metrics.get(id)?.clone()))
        });
        Tracker::new(
            rows.collect(),
            checks.collect(),
            metrics.filter(|(count, ..)| *count > 0).collect(),
            &self.numbers,
            &self.metric_numbers,
            self.extent.rows(),
        )
    }

    /// All requests, resources and programs together.
    pub fn all(&self) -> RequestStats {
        let mut all = RequestStats::default();
        let requests = self.rows().filter(|(key, _)| key.place.kind.is_request());
        requests.for_each(|(_, row)| all.merge(row));
        all
    }

    /// All rows that recorded anything, checks aside, in the order of their numbers.
    pub fn rows(&self) -> impl Iterator<Item = (&RowKey, &RequestStats)> {
        self.keys.iter().zip(&self.rows).filter(|(_, row)| !row.is_empty())
    }

    /// The rows of a kind, in the order of their numbers.
    pub fn of_kind(&self, kind: RowKind) -> impl Iterator<Item = (&RowKey, &RequestStats)> {
        self.rows().filter(move |(key, _)| key.place.kind == kind)
    }

    /// What checks came to, in the order of their numbers.
    pub fn checks(&self) -> impl Iterator<Item = (&RowKey, CheckCounts)> {
        self.checks.iter().filter_map(|(id, counts)| Some((self.keys.get(id.0 as usize)?, *counts)))
    }

    /// The rows of a selector together: a name is that of all scenarios and groups that have it. A check has
    /// a count and errors. `None`: nothing was recorded under it.
    pub fn select(&self, selector: &Selector) -> Option<RequestStats> {
        let kinds = self.kinds(selector);
        let is_meant = |key: &RowKey| kinds.contains(&key.place.kind) && selector.matches(key);
        let mut sum = RequestStats::default();
        self.rows().filter(|(key, _)| is_meant(key)).for_each(|(_, row)| sum.merge(row));
        for (_, counts) in self.checks().filter(|(key, _)| is_meant(key)) {
            sum.count = sum.count.saturating_add(counts.count());
            sum.errors = sum.errors.saturating_add(counts.failed);
        }
        (!sum.is_empty()).then_some(sum)
    }

    /// What a slice recorded of the rows of a selector, together.
    pub fn select_in(&self, slice: &Slice, selector: &Selector) -> RequestStats {
        let kinds = self.kinds(selector);
        let is_meant = |id: NameId| {
            let here = self.numbers.get(&(slice.source, id));
            let key = here.and_then(|here| self.keys.get(here.0 as usize));
            key.is_some_and(|key| kinds.contains(&key.place.kind) && selector.matches(key))
        };
        let mut sum = RequestStats::default();
        slice.rows().filter(|(id, _)| is_meant(*id)).for_each(|(_, row)| sum.merge(row));
        for (_, counts) in slice.checks().filter(|(id, _)| is_meant(*id)) {
            sum.count = sum.count.saturating_add(counts.count());
            sum.errors = sum.errors.saturating_add(counts.failed);
        }
        sum
    }

    /// What a slice recorded of metrics.
    pub fn metrics_in<'s>(
        &'s self,
        slice: &'s Slice,
    ) -> impl Iterator<Item = (&'s MetricKey, &'s MetricStats)> {
        slice.metrics().filter_map(|(id, stats)| {
            let here = self.metric_numbers.get(&(slice.source, id))?;
            Some((self.metrics.get(*here)?, stats))
        })
    }

    /// The kinds of rows that a selector means.
    fn kinds(&self, selector: &Selector) -> Vec<RowKind> {
        let counted = self.rows().map(|(key, _)| key).chain(self.checks().map(|(key, _)| key));
        let counted: Vec<&RowKey> = counted.collect();
        selector.kinds(counted.iter().copied())
    }

    /// The rows of a kind by name, those of all scenarios and groups that have it together, in the order of their first
    /// use.
    pub fn by_name(&self, kind: RowKind) -> Vec<(&str, Vec<&RequestStats>)> {
        let mut names: Vec<(&str, Vec<&RequestStats>)> = Vec::new();
        let mut places = HashMap::new();
        for (key, row) in self.of_kind(kind) {
            let place = *places.entry(key.name.as_str()).or_insert(names.len());
            match names.get_mut(place) {
                Some((_, rows)) => rows.push(row),
                None => names.push((&key.name, vec![row])),
            }
        }
        names
    }

    /// What is known of the requests within a group: their errors by kind and their statuses.
    pub fn within(&self, group: &RowKey) -> RequestStats {
        let mut sum = RequestStats::default();
        let within = self.rows().filter(|(key, _)| key.place.kind.is_request() && key.is_in(group));
        within.for_each(|(_, row)| sum.merge_outcomes(row));
        sum
    }

    /// Metrics that the plan recorded or a monitor sampled, in the order of their first use.
    pub fn metrics(&self) -> impl Iterator<Item = (&MetricKey, &MetricStats)> {
        self.metric_stats.iter().enumerate().filter_map(|(number, stats)| {
            let key = self.metrics.get(MetricId(number as u32))?;
            (stats.count > 0).then_some((key, stats))
        })
    }

    /// Whether there were more metrics than are recorded separately.
    pub fn metrics_overflowed(&self) -> bool {
        self.metrics.overflowed()
    }

    /// Requests and programs that were errors.
    pub fn errors(&self) -> u64 {
        let requests = self.rows().filter(|(key, _)| key.place.kind.is_request());
        requests.fold(0, |sum, (_, row)| sum.saturating_add(row.errors))
    }

    /// What is counted besides requests; `users_active` is the most of any second.
    pub fn counters(&self) -> Counters {
        Counters { users_active: self.users_active, ..self.counters }
    }

    /// Users active in the last second that has begun before `elapsed_s`: of a later one not all workers may have told yet.
    pub fn users_at(&self, elapsed_s: f64) -> Option<u64> {
        let seconds = ..elapsed_s.ceil() as u32;
        self.users.range(seconds).next_back().map(|(_, users)| *users)
    }

    /// The second after the last of which anything was recorded; 0: there is none.
    pub fn seconds(&self) -> u32 {
        let last = self.last_seconds().map(|(_, last)| last).max();
        last.map_or(0, |last| last.saturating_add(1))
    }

    /// Of each worker the last second of which it recorded anything.
    pub fn last_seconds(&self) -> impl Iterator<Item = (Source, u32)> {
        let workers = self.time_accounts.iter().filter(|(source, _)| source.is_worker());
        workers.map(|(source, account)| (*source, account.last))
    }

    /// How many workers have recorded anything.
    pub fn workers(&self) -> usize {
        self.last_seconds().count()
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
            let mut account = account.account;
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
