//! The run second by second, from what was evaluated.

use std::collections::BTreeMap;

use squall_analysis::{PhaseTimes, ScenarioRow, Series, SeriesRow};
use squall_metrics::{HostMetrics, MetricKey, Quantities, Times};

use crate::planned::PlannedLoads;
use crate::run::Run;
use crate::series::{
    CheckTrack, HostTrack, MetricTrack, RowTrack, SeriesDocument, SeriesPhase, SeriesScenario,
    SeriesTimes,
};

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

/// Metrics over time by second.
pub(crate) fn metric_tracks(series: &Series) -> Vec<MetricTrack> {
    let tracks = series.metrics().iter().map(|track| {
        let MetricKey { kind, scenario, name, tags } = &track.key;
        let points = &track.points;
        MetricTrack {
            scenario: scenario.clone(),
            name: name.clone(),
            kind: kind.label().to_owned(),
            tags: tags.iter().cloned().collect(),
            unit: track.key.monitored_unit().map(|unit| unit.label().to_owned()),
            second: points.iter().map(|(second, _)| *second).collect(),
            count: points.iter().map(|(_, own)| own.count).collect(),
            value: points.iter().map(|(_, own)| own.value).collect(),
            p95: points.iter().filter_map(|(_, own)| own.p95).collect(),
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
