//! A row of the series that is not complete: everything recorded of its seconds, merged.

use squall_metrics::{
    CheckCounts, Counters, Histogram, Level, PHASES, Quantities, Recorded, RequestStats,
    SelfMetrics, Slice, Times,
};

use super::row::{PhaseTimes, ScenarioRow, SeriesRow};
use super::scenarios::Scenarios;

/// What is recorded of a row of the series while it is not complete.
#[derive(Debug, Clone, Default)]
pub(crate) struct OpenRow {
    has_workers: bool,
    all: RequestStats,
    counters: Counters,
    checks: CheckCounts,
    self_metrics: SelfMetrics,
    busiest_ns: u64,
    /// What was there in each second: workers add up, seconds do not.
    seconds: Vec<Second>,
}

/// What was there in a second, of the workers that have handed it over.
#[derive(Debug, Clone, Default)]
struct Second {
    second: u32,
    users: u64,
    in_flight: Level,
    scenarios: Vec<ScenarioRow>,
}

impl Second {
    fn add(&mut self, slice: &Slice, scenarios: Option<&Scenarios>) {
        self.users = self.users.saturating_add(slice.counters.users_active);
        self.in_flight.add_worker(slice.load.in_flight);
        if let Some(scenarios) = scenarios {
            self.add_scenarios(slice, scenarios);
        }
    }

    fn add_scenarios(&mut self, slice: &Slice, scenarios: &Scenarios) {
        self.scenarios.resize_with(scenarios.names.len(), ScenarioRow::default);
        let place = |id| scenarios.places.get(&(slice.source, id)).copied();
        for (id, load) in &slice.load.scenarios {
            if let Some(own) = place(*id).and_then(|at| self.scenarios.get_mut(at)) {
                own.load.add_worker(load);
            }
        }
        for (id, spans) in slice.spans() {
            if let Some(own) = place(id).and_then(|at| self.scenarios.get_mut(at)) {
                own.iterations_done = own.iterations_done.saturating_add(spans.count);
            }
        }
    }
}

impl OpenRow {
    /// Adds a slice of one of its seconds; those of monitors have no part in it.
    pub fn add(&mut self, slice: &Slice, scenarios: Option<&Scenarios>) {
        if !slice.source.is_worker() {
            return;
        }
        self.has_workers = true;
        slice.requests().for_each(|(_, row)| self.all.merge(row));
        slice.checks().for_each(|(_, counts)| self.checks.merge(&counts));
        self.counters.merge(&slice.counters);
        self.self_metrics.merge(&slice.self_metrics);
        self.busiest_ns = self.busiest_ns.max(slice.self_metrics.busiest_ns());
        let at = match self.seconds.binary_search_by_key(&slice.second, |own| own.second) {
            Ok(at) => at,
            Err(at) => {
                self.seconds.insert(at, Second { second: slice.second, ..Second::default() });
                at
            }
        };
        self.seconds[at].add(slice, scenarios);
    }

    /// Whether any worker recorded anything of it: monitors alone make no row.
    pub fn has_workers(&self) -> bool {
        self.has_workers
    }

    /// Gives back the memory that it does not need until more is added.
    pub fn compact(&mut self) {
        self.all.compact();
        self.self_metrics.compact();
    }

    /// All requests of its seconds together.
    pub fn into_requests(self) -> RequestStats {
        self.all
    }

    /// Its scenarios, over its seconds.
    fn scenarios(&self) -> Vec<ScenarioRow> {
        let mut sums: Vec<ScenarioRow> = Vec::new();
        for second in &self.seconds {
            sums.resize_with(sums.len().max(second.scenarios.len()), ScenarioRow::default);
            for (sum, own) in sums.iter_mut().zip(&second.scenarios) {
                sum.load.add_later(&own.load);
                sum.iterations_done = sum.iterations_done.saturating_add(own.iterations_done);
            }
        }
        sums
    }

    pub fn row(&self, second: u32, seconds: u32) -> SeriesRow {
        let (all, own, counters) = (&self.all, &self.self_metrics, &self.counters);
        // A lost packet holds back what came after it, and its response looks as if it was read late.
        let arrivals = (counters.segments_retransmitted == 0).then_some(&own.receive_delay);
        let stalls = [Some(&own.loop_iteration), Some(&own.timer_delay), arrivals];
        let mut in_flight = Level::default();
        self.seconds.iter().for_each(|second| in_flight.add_later(second.in_flight));
        let recorded = Recorded {
            requests: all,
            latency: Times::of(&all.latency).unwrap_or_default(),
            counters,
            checks: self.checks,
            self_metrics: own,
            users: self.seconds.iter().map(|second| second.users).max().unwrap_or(0),
            in_flight,
            busiest_ns: self.busiest_ns,
        };
        let phases = PHASES.iter().zip(&all.phases);
        SeriesRow {
            second,
            seconds,
            quantities: Quantities::of(&recorded),
            error_kinds: all.error_kinds.clone(),
            status: all.status.clone(),
            corrected: Times::of(&all.corrected_latency),
            phases: phases.filter_map(|(name, own)| PhaseTimes::of(name, own)).collect(),
            longest_stall_us: stalls.into_iter().flatten().map(Histogram::max).max().unwrap_or(0),
            scenarios: self.scenarios(),
        }
    }
}
