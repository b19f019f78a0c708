//! The run second by second, as `run.json` has it.

use std::collections::BTreeMap;

use squall_analysis::{PhaseTimes, ScenarioRow, Series, SeriesRow, Times};
use squall_load::{Curve, Presence};
use squall_metrics::{HostMetrics, MetricKey};

use crate::run::Run;
use crate::schema::document;

document! {
    /// A second of a run, or several.
    SeriesDocument {
        /// The first second, from 0.
        second: u32,
        /// How many it covers.
        seconds: u32,
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
        /// Iterations started.
        iterations_started: u64,
        /// Iterations finished.
        iterations_done: u64,
        /// Requests that have ended.
        requests: u64,
        /// Those of them that were errors.
        errors: u64,
        /// Errors by kind.
        error_kinds: BTreeMap<String, u64>,
        /// Responses by status.
        status: BTreeMap<String, u64>,
        /// Bytes received.
        bytes_in: u64,
        /// Bytes sent.
        bytes_out: u64,
        /// Mean latency, in µs.
        mean_us: f64,
        /// Median latency, in µs.
        p50_us: f64,
        /// 90th percentile, in µs.
        p90_us: f64,
        /// 95th percentile, in µs.
        p95_us: f64,
        /// 99th percentile, in µs.
        p99_us: f64,
        /// Largest latency, in µs.
        max_us: f64,
        /// Corrected latency, in µs; null: there is no schedule.
        corrected_us: Option<SeriesTimes>,
        /// Phases of requests, by name, in µs.
        phases: BTreeMap<String, SeriesPhase>,
        /// Checks that passed.
        checks_passed: u64,
        /// Checks that failed.
        checks_failed: u64,
        /// Checks that failed and were only to warn.
        checks_warned: u64,
        /// Arrivals that were due.
        arrivals_due: u64,
        /// Arrivals dropped.
        arrivals_dropped: u64,
        /// 99th percentile of the receive delay, in µs.
        receive_delay_p99_us: u64,
        /// 99th percentile of the send delay, in µs.
        send_delay_p99_us: u64,
        /// 99th percentile of how late timers fired, in µs.
        timer_delay_p99_us: u64,
        /// 99th percentile of how late new connections were seen, in µs.
        connect_delay_p99_us: u64,
        /// The longest iteration of an event loop, in µs.
        loop_iteration_max_us: u64,
        /// Time in which workers had no CPU, in µs.
        starved_us: u64,
        /// CPU time of the workers, in µs.
        workers_cpu_us: u64,
        /// CPU time of the busiest worker in a second, in seconds.
        busiest_worker: f64,
        /// The load of each scenario, by its name.
        scenarios: BTreeMap<String, SeriesScenario>,
    }

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
                    .is_some_and(|seen| seen.users > 0 || seen.iterations_started > 0);
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
    let error_kinds = row.error_kinds.iter().map(|(kind, count)| (kind.label().to_owned(), *count));
    let status = row.status.iter().map(|(status, count)| (status.to_string(), *count));
    SeriesDocument {
        second: row.second,
        seconds: row.seconds,
        planned_users,
        planned_arrivals,
        users: row.users,
        in_flight: row.in_flight.most,
        in_flight_at_end: row.in_flight.at_end,
        iterations_started: row.iterations_started,
        iterations_done: row.iterations_done,
        requests: row.requests,
        errors: row.errors,
        error_kinds: error_kinds.collect(),
        status: status.collect(),
        bytes_in: row.bytes_in,
        bytes_out: row.bytes_out,
        mean_us: row.mean_us,
        p50_us: row.p50_us as f64,
        p90_us: row.p90_us as f64,
        p95_us: row.p95_us as f64,
        p99_us: row.p99_us as f64,
        max_us: row.max_us as f64,
        corrected_us: row.corrected.as_ref().map(times),
        phases: row.phases.iter().map(phase).collect(),
        checks_passed: row.checks.passed,
        checks_failed: row.checks.failed,
        checks_warned: row.checks.warned,
        arrivals_due: row.arrivals_due,
        arrivals_dropped: row.arrivals_dropped,
        receive_delay_p99_us: row.receive_delay_p99_us,
        send_delay_p99_us: row.send_delay_p99_us,
        timer_delay_p99_us: row.timer_delay_p99_us,
        connect_delay_p99_us: row.connect_delay_p99_us,
        loop_iteration_max_us: row.loop_iteration_max_us,
        starved_us: row.starved_ns / 1_000,
        workers_cpu_us: row.cpu_ns / 1_000,
        busiest_worker: row.busiest_ns as f64 / 1e9,
        scenarios,
    }
}

fn scenario(own: &ScenarioRow) -> SeriesScenario {
    SeriesScenario {
        users: own.users,
        in_flight: own.in_flight.most,
        in_flight_at_end: own.in_flight.at_end,
        iterations_started: own.iterations_started,
        iterations_done: own.iterations_done,
        arrivals_dropped: own.arrivals_dropped,
        ..SeriesScenario::default()
    }
}

fn times(own: &Times) -> SeriesTimes {
    SeriesTimes {
        mean: own.mean,
        p50: own.p50 as f64,
        p90: own.p90 as f64,
        p95: own.p95 as f64,
        p99: own.p99 as f64,
        max: own.max as f64,
    }
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
            own.p50_us.push(latency.map(|times| times.p50 as f64));
            own.p95_us.push(latency.map(|times| times.p95 as f64));
            own.p99_us.push(latency.map(|times| times.p99 as f64));
            own.max_us.push(latency.map(|times| times.max as f64));
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
