//! A row of the series: what remains of a second when it is complete.

use squall_metrics::{COARSE, CheckCounts, ErrorKind, Histogram, Level};

/// One second of a run, all workers and names together; in long runs, several seconds. Times are in µs
/// where nothing else is said.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SeriesRow {
    /// The first second, from 0.
    pub second: u32,
    /// How many seconds it covers; the last row may cover fewer.
    pub seconds: u32,
    /// Most users active in any of the seconds.
    pub users: u64,
    /// Requests in flight: most at once in any of the seconds, and at the end of the last one.
    pub in_flight: Level,
    /// Iterations started.
    pub iterations_started: u64,
    /// Iterations finished.
    pub iterations_done: u64,
    /// Requests that have ended.
    pub requests: u64,
    /// Those of them that were errors.
    pub errors: u64,
    /// Errors by kind.
    pub error_kinds: Vec<(ErrorKind, u64)>,
    /// Responses by status code.
    pub status: Vec<(u16, u64)>,
    /// Bytes read.
    pub bytes_in: u64,
    /// Bytes written.
    pub bytes_out: u64,
    /// Mean latency.
    pub mean_us: f64,
    /// Median latency.
    pub p50_us: u64,
    /// 90th percentile of the latency.
    pub p90_us: u64,
    /// 95th percentile of the latency.
    pub p95_us: u64,
    /// 99th percentile of the latency.
    pub p99_us: u64,
    /// Largest latency.
    pub max_us: u64,
    /// Corrected latency; `None`: there is no schedule.
    pub corrected: Option<Times>,
    /// Phases of requests, those that there were, in the order of [`squall_metrics::PHASES`].
    pub phases: Vec<PhaseTimes>,
    /// What checks came to.
    pub checks: CheckCounts,
    /// Arrivals that the schedule asked for.
    pub arrivals_due: u64,
    /// Arrivals dropped because no user was free.
    pub arrivals_dropped: u64,
    /// 99th percentile of the receive delay.
    pub receive_delay_p99_us: u64,
    /// 99th percentile of the send delay.
    pub send_delay_p99_us: u64,
    /// 99th percentile of how late timers fired.
    pub timer_delay_p99_us: u64,
    /// 99th percentile of how late new connections were seen.
    pub connect_delay_p99_us: u64,
    /// The longest iteration of an event loop.
    pub loop_iteration_max_us: u64,
    /// The longest time for which an event loop may have stood still: one of its iterations, a timer that was late or,
    /// where no packet was lost, a response that was read late.
    pub longest_stall_us: u64,
    /// Time in which workers were ready to run but had no CPU, in ns.
    pub starved_ns: u64,
    /// CPU time of all workers, in ns.
    pub cpu_ns: u64,
    /// CPU time of the busiest worker in any of the seconds, in ns per second.
    pub busiest_ns: u64,
    /// The scenarios, in the order of [`super::Series::scenarios`].
    pub scenarios: Vec<ScenarioRow>,
}

/// A scenario in a row of the series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ScenarioRow {
    /// Most of its users active in any of the seconds.
    pub users: u64,
    /// Its requests in flight, as of all.
    pub in_flight: Level,
    /// Its iterations started; of an open workload, the arrivals that found a user.
    pub iterations_started: u64,
    /// Its iterations finished.
    pub iterations_done: u64,
    /// Its arrivals dropped because no user was free.
    pub arrivals_dropped: u64,
}

/// A distribution of times, in µs.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Times {
    /// The mean.
    pub mean: f64,
    /// The median.
    pub p50: u64,
    /// The 90th percentile.
    pub p90: u64,
    /// The 95th percentile.
    pub p95: u64,
    /// The 99th percentile.
    pub p99: u64,
    /// The largest one.
    pub max: u64,
}

impl Times {
    /// Those of a histogram; `None`: it is empty.
    pub fn of(histogram: &Histogram) -> Option<Times> {
        (!histogram.is_empty()).then(|| {
            let [p50, p90, p95, p99] = histogram.percentiles([50.0, 90.0, 95.0, 99.0]);
            Times { mean: histogram.mean(), p50, p90, p95, p99, max: histogram.max() }
        })
    }
}

/// The times of a phase, in µs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PhaseTimes {
    /// Its name.
    pub phase: &'static str,
    /// Requests that had it.
    pub count: u64,
    /// The mean.
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
