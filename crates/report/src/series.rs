//! The run second by second, as `run.json` has it.

use std::collections::BTreeMap;

use squall_analysis::{PhaseTimes, ScenarioRow, Series, SeriesRow};
use squall_load::{Curve, Presence};
use squall_metrics::{HostMetrics, MetricKey, Quantities, Times, second_quantities};

use crate::run::Run;
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
                $($(#[doc = $about])+ $name: $type,)*
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
            fn new(second: u32, seconds: u32, own: &Quantities) -> SeriesDocument {
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

    /// A metric of the plan by second, likewise.
    MetricTrack {
        /// The scenario; empty for `other`, which counts for all of them.
        scenario: String,
        /// Its name.
        name: String,
        /// `counter`, `gauge`, `rate` or `trend`.
        kind: String,
        /// Its tags.
        tags: BTreeMap<String, String>,
        /// The first second.
        second: Vec<u32>,
        /// How many values were recorded.
        count: Vec<u64>,
        /// The sum of a counter, the last value of a gauge, the share of a rate, the mean of a trend.
        value: Vec<f64>,
    }

    /// Metrics of the host by second, likewise.
    HostTrack {
        /// The first second.
        second: Vec<u32>,
        /// By name: gauges at their highest, and what counters counted.
        values: BTreeMap<String, Vec<u64>>,
    }
}

/// What the plan asks for of each scenario.
pub(crate) struct PlannedLoads(Vec<PlannedScenario>);

struct PlannedScenario {
    name: String,
    is_open: bool,
    /// Counted from its begin.
    curve: Curve,
    presence: Presence,
}

impl PlannedLoads {
    pub(crate) fn of(run: &Run) -> PlannedLoads {
        let scenarios = run.meta.scenarios.iter().map(|own| {
            let planned = &own.planned;
            let from_s = planned.after.is_empty().then_some(0.0);
            let mut presence = Presence::new(from_s, planned.until_done);
            let place = run.series.scenarios().iter().position(|name| *name == own.name);
            for row in run.series.rows() {
                let is_there = place
                    .and_then(|place| row.scenarios.get(place))
                    .is_some_and(|seen| seen.load.users > 0 || seen.load.iterations_started > 0);
                let from_s = f64::from(row.second);
                presence.note(from_s, from_s + f64::from(row.seconds), is_there);
            }
            PlannedScenario {
                name: own.name.clone(),
                is_open: planned.unit == "arrivals",
                curve: Curve::new(planned.points.iter().copied()),
                presence,
            }
        });
        PlannedLoads(scenarios.collect())
    }

    /// Most users, and the arrivals, of each scenario in some seconds.
    pub(crate) fn in_seconds(
        &self,
        second: u32,
        seconds: u32,
    ) -> impl Iterator<Item = (&str, f64, f64)> {
        let (from, to) = (f64::from(second), f64::from(second) + f64::from(seconds));
        self.0.iter().map(move |own| {
            let (users, arrivals) = match (own.presence.within(from, to), own.is_open) {
                (None, _) => (0.0, 0.0),
                (Some((from, to)), true) => (0.0, own.curve.sum(from, to)),
                (Some((from, to)), false) => (own.curve.most(from, to), 0.0),
            };
            (own.name.as_str(), users, arrivals)
        })
    }
}

/// The rows of a run.
pub(crate) fn rows(run: &Run) -> Vec<SeriesDocument> {
    let planned = PlannedLoads::of(run);
    let names = run.series.scenarios();
    run.series.rows().iter().map(|row| series_row(row, names, &planned)).collect()
}

fn series_row(row: &SeriesRow, names: &[String], planned: &PlannedLoads) -> SeriesDocument {
    let mut scenarios: BTreeMap<String, SeriesScenario> =
        names.iter().cloned().zip(row.scenarios.iter().map(scenario)).collect();
    let (mut planned_users, mut planned_arrivals) = (0.0, 0.0);
    for (name, users, arrivals) in planned.in_seconds(row.second, row.seconds) {
        planned_users += users;
        planned_arrivals += arrivals;
        let own = scenarios.entry(name.to_owned()).or_default();
        (own.planned_users, own.planned_arrivals) = (users, arrivals);
    }
    let planned = Quantities { planned_users, planned_arrivals, ..row.quantities };
    let error_kinds = row.error_kinds.iter().map(|(kind, count)| (kind.label().to_owned(), *count));
    let status = row.status.iter().map(|(status, count)| (status.to_string(), *count));
    SeriesDocument {
        error_kinds: error_kinds.collect(),
        status: status.collect(),
        corrected_us: row.corrected.as_ref().map(times),
        phases: row.phases.iter().map(phase).collect(),
        scenarios,
        ..SeriesDocument::new(row.second, row.seconds, &planned)
    }
}

fn scenario(ScenarioRow { load, iterations_done }: &ScenarioRow) -> SeriesScenario {
    SeriesScenario {
        users: load.users,
        in_flight: load.in_flight.most,
        in_flight_at_end: load.in_flight.at_end,
        iterations_started: load.iterations_started,
        iterations_done: *iterations_done,
        arrivals_dropped: load.arrivals_dropped,
        ..SeriesScenario::default()
    }
}

fn times(&Times { mean, p50, p90, p95, p99, max }: &Times) -> SeriesTimes {
    SeriesTimes { mean, p50, p90, p95, p99, max }
}

fn phase(own: &PhaseTimes) -> (String, SeriesPhase) {
    let phase = SeriesPhase { count: own.count, mean: own.mean, p99: own.p99 as f64 };
    (own.phase.to_owned(), phase)
}

/// Requests, groups and iterations by second.
pub(crate) fn row_tracks(series: &Series) -> Vec<RowTrack> {
    let tracks = series.requests().iter().map(|track| {
        let place = &track.key.place;
        let mut own = RowTrack {
            kind: place.kind.label().to_owned(),
            scenario: (!place.scenario.is_empty()).then(|| place.scenario.clone()),
            group: place.group.clone(),
            tags: place.tags.iter().cloned().collect(),
            name: track.key.name.clone(),
            ..RowTrack::default()
        };
        for (second, point) in &track.points {
            own.second.push(*second);
            own.count.push(point.count);
            own.errors.push(point.errors);
            let latency = point.latency;
            own.mean_us.push(latency.map(|times| times.mean));
            own.p50_us.push(latency.map(|times| times.p50));
            own.p95_us.push(latency.map(|times| times.p95));
            own.p99_us.push(latency.map(|times| times.p99));
            own.max_us.push(latency.map(|times| times.max));
        }
        own
    });
    tracks.collect()
}

/// Checks by second.
pub(crate) fn check_tracks(series: &Series) -> Vec<CheckTrack> {
    let tracks = series.checks().iter().map(|track| {
        let points = &track.points;
        CheckTrack {
            scenario: track.key.place.scenario.clone(),
            group: track.key.place.group.clone(),
            tags: track.key.place.tags.iter().cloned().collect(),
            name: track.key.name.clone(),
            second: points.iter().map(|(second, _)| *second).collect(),
            passed: points.iter().map(|(_, own)| own.passed).collect(),
            failed: points.iter().map(|(_, own)| own.failed).collect(),
            warned: points.iter().map(|(_, own)| own.warned).collect(),
        }
    });
    tracks.collect()
}

/// Metrics of the plan by second.
pub(crate) fn metric_tracks(series: &Series) -> Vec<MetricTrack> {
    let tracks = series.metrics().iter().map(|track| {
        let MetricKey { kind, scenario, name, tags } = &track.key;
        let points = &track.points;
        MetricTrack {
            scenario: scenario.clone(),
            name: name.clone(),
            kind: kind.label().to_owned(),
            tags: tags.iter().cloned().collect(),
            second: points.iter().map(|(second, _)| *second).collect(),
            count: points.iter().map(|(_, own)| own.count).collect(),
            value: points.iter().map(|(_, own)| own.value).collect(),
        }
    });
    tracks.collect()
}

/// The host by second.
pub(crate) fn host_track(host: &HostMetrics) -> HostTrack {
    let mut track = HostTrack::default();
    for (second, sample) in host.series() {
        track.second.push(*second);
        for (name, value) in sample.gauges().chain(sample.counters()) {
            track.values.entry(name.to_owned()).or_default().push(value);
        }
    }
    track
}
