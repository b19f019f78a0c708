//! Makes whole seconds of what single workers hand over. A second is whole when all workers have handed over
//! theirs or, as a worker may have nothing to do any more, when one has handed over the next but one.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use squall_metrics::{Counters, HostSample, NameId, NameKind, RequestStats, SelfMetrics, Slice};

/// A second of the load.
#[derive(Debug)]
pub struct Second {
    /// Its number, from 0, from the start of the load.
    pub second: u32,
    /// Requests, programs and groups that ended in it, of all workers.
    pub rows: Vec<Row>,
    /// What is counted besides requests: users, iterations, arrivals that were due, and so on.
    pub counters: Counters,
    /// squall's own delays and CPU time.
    pub self_metrics: SelfMetrics,
    /// Samples of the host that were taken in it: seconds after the start of the load, and the sample.
    pub host: Vec<(f64, HostSample)>,
    /// Everything as the workers recorded it.
    pub slices: Vec<Slice>,
}

/// What was recorded under a name in a second.
#[derive(Debug)]
pub struct Row {
    /// What bears the name.
    pub kind: NameKind,
    /// The name.
    pub name: Arc<str>,
    /// The statistics.
    pub stats: RequestStats,
}

/// Collects slices into seconds.
#[derive(Debug)]
pub(crate) struct Seconds {
    workers: usize,
    names: HashMap<(u32, NameId), (NameKind, Arc<str>)>,
    open: BTreeMap<u32, Open>,
}

#[derive(Debug, Default)]
struct Open {
    slices: Vec<Slice>,
    host: Vec<(f64, HostSample)>,
}

impl Seconds {
    /// Of so many workers.
    pub(crate) fn new(workers: u32) -> Seconds {
        Seconds { workers: workers as usize, names: HashMap::new(), open: BTreeMap::new() }
    }

    /// Adds a slice. Slices of a second that was whole already make it come again.
    pub(crate) fn add(&mut self, slice: &Slice) {
        for (id, kind, name) in &slice.names {
            self.names.insert((slice.worker, *id), (*kind, name.as_str().into()));
        }
        self.open.entry(slice.second).or_default().slices.push(slice.clone());
    }

    /// Notes a sample of the host in a second.
    pub(crate) fn note_host(&mut self, second: u32, at_s: f64, sample: HostSample) {
        self.open.entry(second).or_default().host.push((at_s, sample));
    }

    /// The seconds that are whole now that second `latest` has begun to come, in order.
    pub(crate) fn whole(&mut self, latest: u32) -> Vec<Second> {
        let mut whole = Vec::new();
        while let Some(first) = self.open.first_entry() {
            let is_whole = first.get().slices.len() >= self.workers || *first.key() + 2 <= latest;
            if !is_whole {
                break;
            }
            let (second, open) = first.remove_entry();
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
        let mut rows: Vec<Row> = Vec::new();
        let mut places: HashMap<(NameKind, Arc<str>), usize> = HashMap::new();
        for slice in &slices {
            counters.merge(&slice.counters);
            self_metrics.merge(&slice.self_metrics);
            for (id, stats) in slice.rows() {
                // A worker announces a name before it records under it.
                let Some((kind, name)) = self.names.get(&(slice.worker, id)) else { continue };
                let place = *places.entry((*kind, name.clone())).or_insert_with(|| {
                    let stats = RequestStats::default();
                    rows.push(Row { kind: *kind, name: name.clone(), stats });
                    rows.len() - 1
                });
                rows[place].stats.merge(stats);
            }
        }
        Second { second, rows, counters, self_metrics, host, slices }
    }
}

#[cfg(test)]
mod tests {
    use squall_metrics::Sample;

    use super::*;

    fn slice(worker: u32, second: u32) -> Slice {
        let mut slice = Slice::new(worker, second);
        if second == 0 {
            // Workers may number names differently.
            slice.announce(NameId(worker), NameKind::Request, "a");
            slice.announce(NameId(1 - worker), NameKind::Group, "a");
        }
        slice.record(NameId(worker), &Sample::ok(10));
        slice.record_group(NameId(1 - worker), 5_000, false);
        slice
    }

    fn counts(seconds: &[Second]) -> Vec<(u32, Vec<(NameKind, u64)>)> {
        let rows =
            |second: &Second| second.rows.iter().map(|row| (row.kind, row.stats.count)).collect();
        seconds.iter().map(|second| (second.second, rows(second))).collect()
    }

    #[test]
    fn a_second_is_whole_when_all_workers_have_handed_it_over() {
        let mut seconds = Seconds::new(2);
        seconds.add(&slice(0, 0));
        assert!(seconds.whole(0).is_empty());
        seconds.add(&slice(1, 0));
        let both = vec![(NameKind::Request, 2), (NameKind::Group, 2)];
        assert_eq!(counts(&seconds.whole(0)), [(0, both)]);
        assert!(seconds.rest().is_empty());
    }

    #[test]
    fn a_worker_that_is_late_makes_its_second_come_again() {
        let mut seconds = Seconds::new(2);
        seconds.add(&slice(0, 0));
        seconds.add(&slice(0, 1));
        assert!(seconds.whole(1).is_empty());
        seconds.add(&slice(0, 2));
        let one = vec![(NameKind::Request, 1), (NameKind::Group, 1)];
        assert_eq!(counts(&seconds.whole(2)), [(0, one.clone())]);
        seconds.add(&slice(1, 0));
        assert_eq!(counts(&seconds.whole(2)), [(0, one.clone())]);
        assert_eq!(counts(&seconds.rest()), [(1, one.clone()), (2, one)]);
    }
}
