//! The run second by second, as `run.json` has it.

use std::collections::BTreeMap;

use squall_metrics::{Quantities, Unit, second_quantities};

use crate::schema::document;

/// The quantities of a second, and what is recorded by name.
macro_rules! series_document {
    ($($(#[doc = $about:literal])+ $name:ident: $type:ty, $unit:ident, $merge:ident, $of:expr;)*) => {
        document! {
            /// A second of a run, or several.
            SeriesDocument {
                /// The first second, from 0.
                second: u32,
                /// How many it covers.
                seconds: u32,
                $($(#[doc = $about])+ $name: $type => Unit::$unit,)*
                /// Errors by kind.
                error_kinds: BTreeMap<String, u64>,
                /// Responses by status.
                status: BTreeMap<String, u64>,
                /// Corrected latency, in µs; null: there is no schedule.
                corrected_us: Option<SeriesTimes>,
                /// Phases of requests, by name, in µs.
                phases: BTreeMap<String, SeriesPhase>,
                /// The load of each scenario, by its name.
                scenarios: BTreeMap<String, SeriesScenario>,
            }
        }

        impl SeriesDocument {
            pub(crate) fn new(second: u32, seconds: u32, own: &Quantities) -> SeriesDocument {
                SeriesDocument { second, seconds, $($name: own.$name,)* ..Default::default() }
            }

            pub(crate) fn quantities(&self) -> Quantities {
                Quantities { $($name: self.$name,)* }
            }
        }
    };
}
second_quantities!(series_document!);

document! {
    /// A distribution of times in a row of the series, in µs.
    SeriesTimes {
        /// The mean.
        mean: f64,
        /// The median.
        p50: f64,
        /// The 90th percentile.
        p90: f64,
        /// The 95th percentile.
        p95: f64,
        /// The 99th percentile.
        p99: f64,
        /// The largest one.
        max: f64,
    }

    /// A phase of requests in a row of the series, in µs.
    SeriesPhase {
        /// How many requests had it.
        count: u64,
        /// The mean.
        mean: f64,
        /// The 99th percentile.
        p99: f64,
    }

    /// The load of a scenario in a row of the series.
    SeriesScenario {
        /// Most virtual users that the plan asks for at once.
        planned_users: f64,
        /// Arrivals that the plan asks for.
        planned_arrivals: f64,
        /// Most virtual users at once.
        users: u64,
        /// Most requests in flight at once.
        in_flight: u64,
        /// Requests in flight at its end.
        in_flight_at_end: u64,
        /// Iterations started; of an open workload, the arrivals that found a user.
        iterations_started: u64,
        /// Iterations finished.
        iterations_done: u64,
        /// Arrivals dropped.
        arrivals_dropped: u64,
    }

    /// A row of the results by second: lists of the same length, with an entry for each row of the series in
    /// which it had something to count.
    RowTrack {
        /// `request`, `program`, `resource`, `group` or `iteration`.
        kind: String,
        /// The scenario; null: all of them.
        scenario: Option<String>,
        /// The groups around it, the outermost first.
        group: Vec<String>,
        /// Its tags, with those of the groups and the scenario around it.
        tags: BTreeMap<String, String>,
        /// The name.
        name: String,
        /// The first second.
        second: Vec<u32>,
        /// How many have ended.
        count: Vec<u64>,
        /// How many of them were errors.
        errors: Vec<u64>,
        /// Mean latency, in µs; null: no complete response.
        mean_us: Vec<Option<f64>>,
        /// Median latency, in µs.
        p50_us: Vec<Option<f64>>,
        /// 95th percentile, in µs.
        p95_us: Vec<Option<f64>>,
        /// 99th percentile, in µs.
        p99_us: Vec<Option<f64>>,
        /// Largest latency, in µs.
        max_us: Vec<Option<f64>>,
    }

    /// A check by second, likewise.
    CheckTrack {
        /// The scenario.
        scenario: String,
        /// The groups around it, the outermost first.
        group: Vec<String>,
        /// Its tags, with those of the groups and the scenario around it.
        tags: BTreeMap<String, String>,
        /// Its name, or its expression.
        name: String,
        /// The first second.
        second: Vec<u32>,
        /// How often it passed.
        passed: Vec<u64>,
        /// How often it failed.
        failed: Vec<u64>,
        /// How often it failed and was only to warn.
        warned: Vec<u64>,
    }

    /// A metric of the plan, or of a monitor, by second, likewise.
    MetricTrack {
        /// The scenario; empty for a monitor's, and for `other`, which counts for all of them.
        scenario: String,
        /// Its name.
        name: String,
        /// `counter`, `gauge`, `rate` or `trend`.
        kind: String,
        /// Its tags; that of the target's monitor is `monitor`.
        tags: BTreeMap<String, String>,
        /// Of what a monitor samples of the target: its unit, as in `metrics`.
        unit: Option<String>,
        /// The first second.
        second: Vec<u32>,
        /// How many values were recorded.
        count: Vec<u64>,
        /// The sum of a counter, the last value of a gauge, the share of a rate, the mean of a trend.
        value: Vec<f64>,
        /// Of a trend: the 95th percentile; otherwise empty.
        p95: Vec<f64>,
    }

    /// Metrics of the host by second, likewise.
    HostTrack {
        /// The first second.
        second: Vec<u32>,
        /// By name: gauges at their highest, and what counters counted.
        values: BTreeMap<String, Vec<u64>>,
    }
}
