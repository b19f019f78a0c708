//! Makes whole seconds of what single workers hand over. A second is whole when all workers have handed over
//! theirs or, as a worker may have nothing to do any more, when one has handed over the next but one. What monitors
//! sample in it belongs to it, if it comes in time.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use squall_metrics::{
    CheckCounts, Counters, HostSample, MetricId, MetricKey, MetricStats, NameId, RequestStats,
    RowKey, RowKind, SelfMetrics, Slice, Source,
};

use super::merged_load::MergedLoad;

/// A second of the load.
#[derive(Debug, Default)]
pub struct Second {
    /// Its number, from 0, from the start of the load.
    pub second: u32,
    /// Requests, resources, programs, groups and iterations that ended in it, of all workers.
    pub rows: Vec<Row>,
    /// What checks came to.
    pub checks: Vec<(Arc<RowKey>, CheckCounts)>,
    /// What the plan recorded itself and monitors sampled, by metric.
    pub metrics: Vec<(Arc<MetricKey>, MetricStats)>,
    /// What is counted besides requests: users, iterations, arrivals that were due, and so on.
    pub counters: Counters,
    /// The load that was there: users, requests in flight and iterations, by scenario.
    pub load: MergedLoad,
    /// squall's own delays and CPU time.
    pub self_metrics: SelfMetrics,
    /// Samples of the host that were taken in it: seconds after the start of the load, and the sample.
    pub host: Vec<(f64, HostSample)>,
    /// Everything as the workers recorded it.
    pub slices: Vec<Slice>,
}

/// What was recorded in a row of the results in a second.
#[derive(Debug)]
pub struct Row {
    /// What identifies the row.
    pub key: Arc<RowKey>,
    /// The statistics.
    pub stats: RequestStats,
}

/// Collects slices into seconds.
#[derive(Debug)]
pub(crate) struct Seconds {
    workers: usize,
    names: HashMap<(Source, NameId), Arc<RowKey>>,
    metrics: HashMap<(Source, MetricId), Arc<MetricKey>>,
    open: BTreeMap<u32, Open>,
    /// The seconds before this one were whole.
    whole_until: u32,
}

#[derive(Debug, Default)]
struct Open {
    slices: Vec<Slice>,
    host: Vec<(f64, HostSample)>,
}

impl Seconds {
    /// Of so many workers.
    pub(crate) fn new(workers: u32) -> Seconds {
        Seconds {
            workers: workers as usize,
            names: HashMap::new(),
            metrics: HashMap::new(),
            open: BTreeMap::new(),
            whole_until: 0,
        }
    }

    /// Adds a slice. Slices of a second that was whole already make it come again.
    pub(crate) fn add(&mut self, slice: &Slice) {
        for (id, key) in &slice.names {
            self.names.insert((slice.source, *id), Arc::new(key.clone()));
        }
        for (id, key) in &slice.metric_keys {
            self.metrics.insert((slice.source, *id), Arc::new(key.clone()));
        }
        self.open.entry(slice.second).or_default().slices.push(slice.clone());
    }

    /// Whether a second is not whole yet.
    pub(crate) fn is_open(&self, second: u32) -> bool {
        second >= self.whole_until
    }

    /// Notes a sample of the host in a second.
    pub(crate) fn note_host(&mut self, second: u32, at_s: f64, sample: HostSample) {
        self.open.entry(second).or_default().host.push((at_s, sample));
    }

    /// The seconds that are whole now that second `latest` has begun to come, in order.
    pub(crate) fn whole(&mut self, latest: u32) -> Vec<Second> {
        let mut whole = Vec::new();
        while let Some(first) = self.open.first_entry() {
            let from_workers = first.get().slices.iter().filter(|slice| slice.source.is_worker());
            let is_whole = from_workers.count() >= self.workers || *first.key() + 2 <= latest;
            if !is_whole {
                break;
            }
            let (second, open) = first.remove_entry();
            self.whole_until = self.whole_until.max(second + 1);
            whole.push(self.merge(second, open));
        }
        whole
    }

    /// All that is left: the load is over.
    pub(crate) fn rest(&mut self) -> Vec<Second> {
        let open = std::mem::take(&mut self.open);
        open.into_iter().map(|(second, open)| self.merge(second, open)).collect()
    }

    fn merge(&self, second: u32, Open { slices, host }: Open) -> Second {
        let (mut counters, mut self_metrics) = (Counters::default(), SelfMetrics::default());
        let mut load = MergedLoad::default();
        let mut rows: Vec<Row> = Vec::new();
        let mut places: HashMap<Arc<RowKey>, usize> = HashMap::new();
        let mut checks: HashMap<Arc<RowKey>, CheckCounts> = HashMap::new();
        for slice in &slices {
            counters.merge(&slice.counters);
            self_metrics.merge(&slice.self_metrics);
            load.add_workers(&self.load_of(slice));
            for (id, stats) in slice.rows() {
                // A worker announces a name before it records under it.
                let Some(key) = self.names.get(&(slice.source, id)) else { continue };
                let place = *places.entry(key.clone()).or_insert_with(|| {
                    rows.push(Row { key: key.clone(), stats: RequestStats::default() });
                    rows.len() - 1
                });
                rows[place].stats.merge(stats);
            }
            for (id, counts) in slice.checks() {
                let Some(key) = self.names.get(&(slice.source, id)) else { continue };
                checks.entry(key.clone()).or_default().merge(&counts);
            }
        }
        let mut checks: Vec<_> = checks.into_iter().collect();
        checks.sort_by(|(a, _), (b, _)| a.cmp(b));
        let metrics = self.metrics_of(&slices);
        Second { second, rows, checks, metrics, counters, load, self_metrics, host, slices }
    }

    /// What the plan recorded on all workers, and what monitors sampled, in the order of its metrics.
    fn metrics_of(&self, slices: &[Slice]) -> Vec<(Arc<MetricKey>, MetricStats)> {
        let mut merged: BTreeMap<Arc<MetricKey>, MetricStats> = BTreeMap::new();
        for slice in slices {
            for (id, stats) in slice.metrics() {
                // A worker announces a metric before it records it.
                let Some(key) = self.metrics.get(&(slice.source, id)) else { continue };
                merged.entry(key.clone()).or_default().merge(stats);
            }
        }
        merged.into_iter().collect()
    }

    /// The load on one worker: its scenarios bear the numbers of their iterations' rows.
    fn load_of(&self, slice: &Slice) -> MergedLoad {
        let named = slice.load.scenarios.iter().filter_map(|(id, load)| {
            let key = self.names.get(&(slice.source, *id))?;
            let is_iteration = key.place.kind == RowKind::Iteration;
            is_iteration.then(|| (key.place.scenario.clone(), *load))
        });
        MergedLoad { in_flight: slice.load.in_flight, scenarios: named.collect() }
    }
}

#[cfg(test)]
mod tests {
    use squall_metrics::{CheckResult, Level, Load, MetricKind, Sample, ScenarioLoad};

    use super::*;

    fn slice(worker: u32, second: u32) -> Slice {
        let mut slice = Slice::new(worker, second);
        if second == 0 {
            // Workers may number names differently.
            slice.announce(NameId(worker), RowKey::new(RowKind::Request, "s", "a"));
            slice.announce(NameId(1 - worker), RowKey::new(RowKind::Group, "s", "a"));
            slice.announce(NameId(2), RowKey::new(RowKind::Check, "s", "a"));
        }
        slice.record(NameId(worker), &Sample::ok(10));
        slice.record_span(NameId(1 - worker), 5_000, false);
        slice.record_check(NameId(2), CheckResult::Passed);
        slice
    }

    fn counts(seconds: &[Second]) -> Vec<(u32, Vec<(RowKind, u64)>)> {
        let rows = |second: &Second| {
            let rows = second.rows.iter().map(|row| (row.key.place.kind, row.stats.count));
            let checks = second.checks.iter().map(|(key, own)| (key.place.kind, own.passed));
            rows.chain(checks).collect()
        };
        seconds.iter().map(|second| (second.second, rows(second))).collect()
    }

    #[test]
    fn a_second_is_whole_when_all_workers_have_handed_it_over() {
        let mut seconds = Seconds::new(2);
        seconds.add(&slice(0, 0));
        assert!(seconds.whole(0).is_empty());
        seconds.add(&slice(1, 0));
        let both = vec![(RowKind::Request, 2), (RowKind::Group, 2), (RowKind::Check, 2)];
        assert_eq!(counts(&seconds.whole(0)), [(0, both)]);
        assert!(seconds.rest().is_empty());
    }

    #[test]
    fn no_second_waits_for_a_monitor_or_is_whole_by_one() {
        let mut seconds = Seconds::new(2);
        let key = MetricKey::new(MetricKind::Gauge, "", "cpu", Vec::new());
        for monitor in 0..2 {
            let mut sampled = Slice::new(Source::Monitor(monitor), 0);
            sampled.announce_metric(MetricId(0), &key);
            sampled.record_metric(MetricId(0), key.kind, 0.5, 0).expect("a value");
            seconds.add(&sampled);
        }
        seconds.add(&slice(0, 0));
        assert!(seconds.whole(0).is_empty());
        seconds.add(&slice(1, 0));
        let whole = seconds.whole(0);
        let metrics = whole[0].metrics.iter().map(|(key, stats)| (key.name.as_str(), stats.count));
        assert_eq!(metrics.collect::<Vec<_>>(), [("cpu", 2)]);
    }

    #[test]
    fn a_worker_that_is_late_makes_its_second_come_again() {
        let mut seconds = Seconds::new(2);
        seconds.add(&slice(0, 0));
        seconds.add(&slice(0, 1));
        assert!(seconds.whole(1).is_empty());
        seconds.add(&slice(0, 2));
        let one = vec![(RowKind::Request, 1), (RowKind::Group, 1), (RowKind::Check, 1)];
        assert_eq!(counts(&seconds.whole(2)), [(0, one.clone())]);
        seconds.add(&slice(1, 0));
        assert_eq!(counts(&seconds.whole(2)), [(0, one.clone())]);
        assert_eq!(counts(&seconds.rest()), [(1, one.clone()), (2, one)]);
    }

    #[test]
    fn the_load_of_workers_that_number_scenarios_differently_is_merged_by_name() {
        let mut seconds = Seconds::new(2);
        for worker in 0..2 {
            let mut slice = slice(worker, 0);
            let in_flight = Level { most: 3, at_end: 2 };
            let own =
                ScenarioLoad { users: 4, in_flight, iterations_started: 9, arrivals_dropped: 1 };
            let (a, b) = (NameId(5 + worker), NameId(6 - worker));
            slice.announce(a, RowKey::new(RowKind::Iteration, "a", "iteration"));
            slice.announce(b, RowKey::new(RowKind::Iteration, "b", "iteration"));
            slice.load = Load { in_flight, scenarios: vec![(a, own)] };
            // What bears no name of an iteration is nobody's.
            slice.load.scenarios.push((NameId(2), own));
            seconds.add(&slice);
        }
        let whole = seconds.whole(0);
        let load = &whole[0].load;
        let in_flight = Level { most: 6, at_end: 4 };
        let a = ScenarioLoad { users: 8, in_flight, iterations_started: 18, arrivals_dropped: 2 };
        assert_eq!(load.scenarios, BTreeMap::from([("a".to_owned(), a)]));
        assert_eq!((load.in_flight, load.users()), (in_flight, 8));
    }

    #[test]
    fn metrics_of_workers_that_number_them_differently_are_merged_by_key() {
        let mut seconds = Seconds::new(2);
        let key = |name: &str| MetricKey::new(MetricKind::Counter, "s", name, Vec::new());
        for (worker, names) in [(0, ["a", "b"]), (1, ["b", "a"])] {
            let mut slice = Slice::new(worker, 0);
            for (id, name) in (0..).zip(names) {
                slice.announce_metric(MetricId(id), &key(name));
            }
            slice.record_metric(MetricId(1), MetricKind::Counter, 2.0, 0).expect("a value");
            seconds.add(&slice);
        }
        let whole = seconds.whole(0);
        let sums = whole[0].metrics.iter().map(|(key, stats)| (key.name.as_str(), stats.sum()));
        assert_eq!(sums.collect::<Vec<_>>(), [("a", 2.0), ("b", 2.0)]);
    }
}
