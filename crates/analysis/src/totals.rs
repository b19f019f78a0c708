//! Everything recorded in a run: the slices of all workers and seconds, merged.

use std::collections::{BTreeMap, HashMap};

use crate::series::{Extent, OpenRow, Scenarios, SeriesBuilder, SeriesRow, Tracker};
use squall_metrics::{
    CheckCounts, Counters, MetricId, MetricKey, MetricStats, Metrics, NameId, Names, RequestStats,
    RowKey, RowKind, Selector, SelfMetrics, Slice, SliceSet, TimeAccount,
};

/// Seconds of which the records are held, for those who watch a run.
const RECENT_SECONDS: usize = 8;
/// Seconds of which the users are known by second. A slice that comes later than that counts in everything
/// but the most users active at once.
const SECONDS_OF_USERS: usize = 128;
/// A second is complete, or nearly, when this many later ones exist.
const SECONDS_UNTIL_COMPLETE: u32 = 3;

/// Everything that was recorded in a run.
#[derive(Debug, Clone)]
pub struct Totals {
    names: Names,
    /// What identifies each row.
    keys: Vec<RowKey>,
    rows: Vec<RequestStats>,
    /// The number here of each worker's number.
    numbers: HashMap<(u32, NameId), NameId>,
    /// What was recorded under numbers of which the names have not come yet.
    nameless: HashMap<(u32, NameId), RequestStats>,
    /// What each check came to, by its number here.
    checks: BTreeMap<NameId, CheckCounts>,
    /// What checks came to whose names have not come yet.
    nameless_checks: HashMap<(u32, NameId), CheckCounts>,
    metrics: Metrics,
    /// What each metric recorded.
    metric_stats: Vec<MetricStats>,
    /// The number here of each worker's number.
    metric_numbers: HashMap<(u32, MetricId), MetricId>,
    /// What was recorded under numbers of which the metrics have not come yet.
    keyless: HashMap<(u32, MetricId), MetricStats>,
    /// The slices that have been added.
    seen: SliceSet,
    /// Slices that came a second time.
    refused: u64,
    extent: Extent,
    /// The last seconds.
    recent: BTreeMap<u32, OpenRow>,
    /// Users active, of all workers, by second.
    users: BTreeMap<u32, u64>,
    /// Most users active in any second.
    users_active: u64,
    counters: Counters,
    self_metrics: SelfMetrics,
    /// By worker.
    time_accounts: BTreeMap<u32, WorkerTime>,
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
    /// Empty totals.
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
            recent: BTreeMap::new(),
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
        if !self.seen.insert(slice.worker, slice.second) {
            self.refused += 1;
            return false;
        }
        self.learn(slice);
        self.extent.add(slice.second);
        for (id, row) in slice.rows() {
            match self.numbers.get(&(slice.worker, id)) {
                Some(here) => self.rows[here.0 as usize].merge(row),
                None => self.nameless.entry((slice.worker, id)).or_default().merge(row),
            }
        }
        for (id, counts) in slice.checks() {
            match self.numbers.get(&(slice.worker, id)) {
                Some(here) => self.checks.entry(*here).or_default().merge(&counts),
                None => self.nameless_checks.entry((slice.worker, id)).or_default().merge(&counts),
            }
        }
        for (id, stats) in slice.metrics() {
            match self.metric_numbers.get(&(slice.worker, id)) {
                Some(here) => self.metric_stats[here.0 as usize].merge(stats),
                None => self.keyless.entry((slice.worker, id)).or_default().merge(stats),
            }
        }
        self.self_metrics.merge(&slice.self_metrics);
        self.counters.merge(&slice.counters);
        self.time_accounts.entry(slice.worker).or_default().add(slice.second, &slice.time_account);
        self.remember(slice);
        true
    }

    /// Adds a slice to the last seconds.
    fn remember(&mut self, slice: &Slice) {
        let users = self.users.entry(slice.second).or_default();
        *users = users.saturating_add(slice.counters.users_active);
        self.users_active = self.users_active.max(*users);
        if self.users.len() > SECONDS_OF_USERS {
            self.users.pop_first();
        }
        let is_new = !self.recent.contains_key(&slice.second);
        if let Some(done) = slice.second.checked_sub(SECONDS_UNTIL_COMPLETE).filter(|_| is_new) {
            // A worker that hands over its slice later still finds its row.
            self.recent.get_mut(&done).map(OpenRow::compact);
        }
        self.recent.entry(slice.second).or_default().add(slice, None);
        if self.recent.len() > RECENT_SECONDS {
            self.recent.pop_first();
        }
    }

    /// Learns a slice's names without counting the slice: later slices do not repeat them.
    pub fn learn(&mut self, slice: &Slice) {
        for (id, key) in &slice.names {
            let here = self.names.intern_key(key);
            self.numbers.insert((slice.worker, *id), here);
            // Numbers are given one after the other.
            if self.keys.len() < self.names.len() {
                self.keys.push(key.clone());
            }
            if self.rows.len() < self.names.len() {
                self.rows.resize_with(self.names.len(), RequestStats::default);
            }
            if let Some(early) = self.nameless.remove(&(slice.worker, *id)) {
                self.rows[here.0 as usize].merge(&early);
            }
            if let Some(early) = self.nameless_checks.remove(&(slice.worker, *id)) {
                self.checks.entry(here).or_default().merge(&early);
            }
        }
        for (id, key) in &slice.metric_keys {
            let here = self.metrics.intern(key);
            self.metric_numbers.insert((slice.worker, *id), here);
            if self.metric_stats.len() < self.metrics.len() {
                self.metric_stats.resize_with(self.metrics.len(), MetricStats::default);
            }
            if let Some(early) = self.keyless.remove(&(slice.worker, *id)) {
                self.metric_stats[here.0 as usize].merge(&early);
            }
        }
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
        let counted = self.rows().map(|(key, _)| key).chain(self.checks().map(|(key, _)| key));
        let counted: Vec<&RowKey> = counted.collect();
        let kinds = selector.kinds(counted.iter().copied());
        let is_meant = |key: &RowKey| kinds.contains(&key.place.kind) && selector.matches(key);
        let mut sum = RequestStats::default();
        self.rows().filter(|(key, _)| is_meant(key)).for_each(|(_, row)| sum.merge(row));
        for (_, counts) in self.checks().filter(|(key, _)| is_meant(key)) {
            sum.count = sum.count.saturating_add(counts.count());
            sum.errors = sum.errors.saturating_add(counts.failed);
        }
        (!sum.is_empty()).then_some(sum)
    }

    /// The rows of a kind by name, those of all scenarios and groups together, in the order of their
    /// first use, each with how many rows it is of.
    pub fn by_name(&self, kind: RowKind) -> Vec<(&str, usize, RequestStats)> {
        let mut names: Vec<(&str, usize, RequestStats)> = Vec::new();
        for (key, row) in self.of_kind(kind) {
            match names.iter_mut().find(|(name, ..)| *name == key.name) {
                Some((_, rows, sum)) => {
                    *rows += 1;
                    sum.merge(row);
                }
                None => names.push((&key.name, 1, row.clone())),
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

    /// Metrics that the plan recorded, in the order of their first use.
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

    /// The last seconds, in order, at most eight. The very last ones may still lack workers.
    pub fn recent(&self) -> impl DoubleEndedIterator<Item = SeriesRow> {
        self.recent.iter().map(|(second, row)| row.row(*second, 1))
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

#[cfg(test)]
mod tests {
    use super::*;
    use squall_metrics::{Sample, Verdict};

    fn request(name: &str) -> RowKey {
        RowKey::new(RowKind::Request, "s", name)
    }

    fn of(totals: &Totals, name: &str) -> Option<RequestStats> {
        totals.select(&Selector { name: Some(name.to_owned()), ..Selector::default() })
    }

    /// One name of a request, a group and a program, and of requests of two scenarios.
    #[test]
    fn a_row_is_more_than_its_name() {
        let mut slice = Slice::new(0, 0);
        let keys = [
            RowKey::new(RowKind::Request, "buyer", "login"),
            RowKey::new(RowKind::Program, "buyer", "login"),
            RowKey::new(RowKind::Request, "guest", "login"),
            RowKey::new(RowKind::Group, "buyer", "login"),
            RowKey::new(RowKind::Check, "buyer", "login"),
        ];
        for (id, key) in keys.iter().enumerate() {
            slice.announce(NameId(id as u32), key.clone());
        }
        for (id, times) in [(0, 1), (1, 2), (2, 4)] {
            (0..times).for_each(|_| slice.record(NameId(id), &Sample::ok(10)));
        }
        slice.record_span(NameId(3), 10_000, false);
        for verdict in [Verdict::Passed, Verdict::Passed, Verdict::Failed, Verdict::Warned] {
            slice.record_check(NameId(4), verdict);
        }
        let mut totals = Totals::new();
        assert!(totals.add(&slice));
        let counts: Vec<u64> = totals.rows().map(|(_, row)| row.count).collect();
        assert_eq!((counts, totals.all().count), (vec![1, 2, 4, 1], 7));
        let name = || Selector { name: Some("login".to_owned()), ..Selector::default() };
        let count =
            |selector: Selector| totals.select(&selector).map(|row| (row.count, row.errors));
        assert_eq!(count(name()), Some((5, 0)), "of both scenarios");
        assert_eq!(count(Selector { scenario: Some("guest".to_owned()), ..name() }), Some((4, 0)));
        assert_eq!(count(Selector { kind: Some(RowKind::Program), ..name() }), Some((2, 0)));
        assert_eq!(count(Selector { kind: Some(RowKind::Check), ..name() }), Some((4, 1)));
        assert_eq!(count(Selector { scenario: Some("nobody".to_owned()), ..name() }), None);
        let names = totals.by_name(RowKind::Request);
        let names: Vec<_> =
            names.iter().map(|(name, rows, row)| (*name, *rows, row.count)).collect();
        assert_eq!(names, [("login", 2, 5)]);
    }

    #[test]
    fn a_group_knows_the_outcomes_of_what_is_within_it() {
        let mut slice = Slice::new(0, 0);
        let group = RowKey::new(RowKind::Group, "s", "checkout");
        let mut inner = request("pay");
        inner.place.group.push("checkout".to_owned());
        for (id, key) in [group.clone(), inner, request("home")].into_iter().enumerate() {
            slice.announce(NameId(id as u32), key);
        }
        slice.record_span(NameId(0), 10_000, false);
        slice.record(NameId(1), &Sample { status: 503, ..Sample::ok(10) });
        slice.record(NameId(2), &Sample::ok(10));
        let mut totals = Totals::new();
        assert!(totals.add(&slice));
        assert_eq!(totals.within(&group).status, [(503, 1)]);
    }

    #[test]
    fn workers_may_number_names_differently() {
        let mut totals = Totals::new();
        for (worker, first, second) in [(0, "a", "b"), (1, "b", "a")] {
            let mut slice = Slice::new(worker, 0);
            slice.announce(NameId(0), request(first));
            slice.announce(NameId(1), request(second));
            slice.record(NameId(0), &Sample::ok(10));
            slice.record(NameId(0), &Sample::ok(10));
            slice.record(NameId(1), &Sample::ok(10));
            totals.add(&slice);
        }
        assert_eq!(of(&totals, "a").map(|row| row.count), Some(3));
        assert_eq!(of(&totals, "b").map(|row| row.count), Some(3));
        assert_eq!(totals.all().count, 6);
    }

    #[test]
    fn groups_do_not_count_twice() {
        let mut slice = Slice::new(0, 0);
        slice.announce(NameId(0), request("a"));
        slice.announce(NameId(1), RowKey::new(RowKind::Group, "s", "a"));
        slice.record(NameId(0), &Sample::ok(10));
        slice.record_span(NameId(1), 30_000, false);
        let mut totals = Totals::new();
        totals.add(&slice);
        assert_eq!(totals.all().count, 1);
        assert_eq!(
            totals.of_kind(RowKind::Group).map(|(_, row)| row.latency.max()).collect::<Vec<_>>(),
            [30]
        );
        assert_eq!(totals.recent().map(|row| row.requests).sum::<u64>(), 1);
    }

    /// Whatever the order in which slices come, and how often: totals and series are the same.
    #[test]
    fn slices_merge_in_any_order_and_once() {
        let slices: Vec<Slice> = (0..30u32)
            .flat_map(|second| [(0, second), (1, second)])
            .map(|(worker, second)| {
                let mut slice = Slice::new(worker, second);
                if second == 0 {
                    slice.announce(NameId(0), request("a"));
                    slice.announce(NameId(1), RowKey::new(RowKind::Group, "s", "g"));
                }
                slice.record(NameId(0), &Sample::ok(u64::from(10 + second)));
                slice.record_span(NameId(1), 5_000, false);
                slice.counters.users_active = u64::from(40 - second);
                slice.time_account.users = u64::from(second);
                slice
            })
            .collect();
        let evaluate = |order: &[usize]| {
            let mut totals = Totals::new();
            let added = order.iter().filter(|at| totals.add(&slices[**at])).count();
            let mut series = totals.series();
            order.iter().for_each(|at| series.add(&slices[*at]));
            let rows = series.finish().rows().to_vec();
            (totals, rows, added)
        };
        let forward: Vec<usize> = (0..60).collect();
        let (expected, rows, added) = evaluate(&forward);
        assert_eq!((added, rows.len(), rows[0].users, rows[7].requests), (60, 30, 80, 2));
        assert_eq!(expected.counters().users_active, 80);
        // Late by a few seconds; from the end to the beginning; everything twice.
        let late: Vec<usize> = (0..60).map(|at| at / 10 * 10 + (at * 7) % 10).collect();
        let backward: Vec<usize> = (0..60).rev().collect();
        for order in [late, backward, [forward.clone(), forward].concat()] {
            let (totals, same, added) = evaluate(&order);
            assert_eq!((added, totals.refused()), (60, order.len() as u64 - 60));
            assert_eq!(same, rows);
            assert_eq!(
                (totals.all(), totals.of_kind(RowKind::Request).count()),
                (expected.all(), 1)
            );
            assert_eq!(of(&totals, "g"), of(&expected, "g"));
            assert_eq!(totals.time_account(30.0), expected.time_account(30.0));
            assert_eq!(totals.time_account(30.0).users, 58);
        }
    }

    #[test]
    fn workers_may_number_metrics_differently_and_announce_them_late() {
        let bought = MetricKey::new(squall_metrics::MetricKind::Counter, "s", "bought", Vec::new());
        let mut totals = Totals::new();
        for (worker, number) in [(0, 0), (1, 5)] {
            let record = |slice: &mut Slice| {
                assert_eq!(slice.record_metric(MetricId(number), bought.kind, 1.5, 0), Ok(()));
            };
            let (mut first, mut second) = (Slice::new(worker, 0), Slice::new(worker, 1));
            first.announce_metric(MetricId(number), &bought);
            record(&mut first);
            record(&mut second);
            assert!(totals.add(&second) && totals.add(&first));
        }
        let all: Vec<_> = totals.metrics().map(|(key, stats)| (key, stats.sum())).collect();
        assert_eq!(all, [(&bought, 6.0)]);
    }

    /// What a run of a day holds: a few seconds with their records, and numbers of 1,200 rows at most.
    #[test]
    fn a_long_run_takes_no_more_memory_than_a_short_one() {
        let (mut totals, mut seconds) = (Totals::new(), Vec::new());
        for second in 0..10_000 {
            let mut slice = Slice::new(0, second);
            slice.announce(NameId(0), request("a"));
            slice.record(NameId(0), &Sample::ok(u64::from(second % 100)));
            slice.counters.users_active = 3;
            assert!(totals.add(&slice));
            assert!(totals.recent().count() <= RECENT_SECONDS);
            seconds.push(slice);
        }
        let mut builder = totals.series();
        seconds.iter().for_each(|slice| builder.add(slice));
        let series = builder.finish();
        let rows = series.rows();
        assert!((600..=1_200).contains(&rows.len()), "{}", rows.len());
        assert_eq!(rows.iter().map(|row| row.requests).sum::<u64>(), 10_000);
        assert!(rows.iter().all(|row| row.users == 3 && row.second % row.seconds == 0));
        assert!(rows.iter().map(|row| row.seconds).sum::<u32>() >= 10_000);
    }
}
