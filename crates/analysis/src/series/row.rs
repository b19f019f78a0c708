//! A row of the series: what remains of a second when it is complete.

use std::ops::Deref;

use squall_metrics::{COARSE, ErrorKind, Histogram, Quantities, ScenarioLoad, Times};

/// One second of a run, all workers and names together; in long runs, several seconds. It can be used as the
/// [`Quantities`] that it has.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SeriesRow {
    /// The first second, from 0.
    pub second: u32,
    /// How many seconds it covers; the last row may cover fewer.
    pub seconds: u32,
    pub quantities: Quantities,
    pub error_kinds: Vec<(ErrorKind, u64)>,
    /// Responses by status code.
    pub status: Vec<(u16, u64)>,
    /// Corrected latency; `None`: there is no schedule.
    pub corrected: Option<Times>,
    /// Phases of requests, those that there were, in the order of [`squall_metrics::PHASES`].
    pub phases: Vec<PhaseTimes>,
    /// The longest time for which an event loop may have stood still, in µs: one of its iterations, a timer that was
    /// late or, where no packet was lost, a response that was read late.
    pub longest_stall_us: u64,
    /// The scenarios, in the order of [`super::Series::scenarios`].
    pub scenarios: Vec<ScenarioRow>,
}

impl Deref for SeriesRow {
    type Target = Quantities;

    fn deref(&self) -> &Quantities {
        &self.quantities
    }
}

/// A scenario in a row of the series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ScenarioRow {
    pub load: ScenarioLoad,
    pub iterations_done: u64,
}

/// The times of a phase, in µs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PhaseTimes {
    pub phase: &'static str,
    /// Requests that had it.
    pub count: u64,
    pub mean: f64,
    /// The 99th percentile.
    pub p99: u64,
}

impl PhaseTimes {
    /// Those of a phase; `None`: no request had it.
    pub(super) fn of(phase: &'static str, own: &Histogram<COARSE>) -> Option<PhaseTimes> {
        let (count, mean, p99) = (own.count(), own.mean(), own.percentile(99.0));
        (count > 0).then_some(PhaseTimes { phase, count, mean, p99 })
    }
}
