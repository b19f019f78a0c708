//! From a [`Run`] to its [`RunDocument`], which is `run.json`.

use std::collections::BTreeMap;
use std::io;

use squall_analysis::{
    Abort, Bounded, Durations, Interval, Latencies, ThresholdResult, ThroughputGap, Totals,
};
use squall_base::escape_json;
use squall_metrics::{
    Gauge, Histogram, MetricKey, MetricKind, MetricStats, PHASES, RequestStats, RowKey, RowKind,
    THOUSANDTHS, TimeAccount, UserState,
};

use crate::document::*;
use crate::generator::{Generator, GeneratorDocument, PhaseTimes};
use crate::node_report::{NodeReport, NodeTimes};
use crate::profile::Profile;
use crate::run::Run;
use crate::tracks;

/// Writes the result as JSON with line breaks, in which nothing is left that a terminal would obey.
///
/// # Errors
/// It cannot be written.
pub fn write_json(run: &RunDocument, mut to: impl io::Write) -> io::Result<()> {
    let json = serde_json::to_string_pretty(run)?;
    to.write_all(escape_json(&json).as_bytes())?;
    to.write_all(b"\n")?;
    to.flush()
}

/// The result as a document.
pub fn document(run: &Run) -> RunDocument {
    let (totals, elapsed) = (&run.totals, run.elapsed_s);
    let of = |kinds: &[RowKind]| {
        let rows = totals.rows().filter(|(key, _)| kinds.contains(&key.place.kind));
        rows.map(|(key, row)| keyed(key, row, elapsed)).collect::<Vec<_>>()
    };
    let account = run.time_account();
    let validity = run.validity();
    let outcome = run.outcome();
    let generator = GeneratorDocument::of(totals.self_metrics(), used(run));
    RunDocument {
        schema: SCHEMA,
        meta: run.meta.clone(),
        elapsed_s: elapsed,
        run_phases: run.phases.clone(),
        finished: run.finished,
        interrupted: run.interrupted,
        aborted: run.aborted.clone().map(|Abort { threshold, at_s, shown }| AbortDocument {
            threshold,
            at_s,
            shown,
        }),
        stopped_by_plan: run.stopped_by_plan,
        marks: run.marks.clone(),
        outcome: OutcomeDocument {
            passed: outcome.passed(),
            exit_code: u64::from(outcome.exit_code(run.interrupted, run.meta.strict, validity)),
            caveats: outcome.caveats,
            reasons: outcome
                .reasons
                .into_iter()
                .map(|own| FailureDocument {
                    kind: own.kind.label().to_owned(),
                    name: own.name,
                    count: own.count,
                    text: own.text,
                })
                .collect(),
        },
        validity: if run.has_numbers() { validity.label() } else { NONE }.to_owned(),
        validity_reasons: if run.has_numbers() { validity_reasons(run) } else { Vec::new() },
        totals: row(&totals.all(), elapsed),
        requests: request_rows(totals, elapsed),
        names: names(run),
        groups: groups(run),
        iterations: of(&[RowKind::Iteration]),
        checks: checks(run),
        metrics: metrics(totals),
        thresholds: run.threshold_results.iter().map(threshold).collect(),
        counters: totals
            .counters()
            .named()
            .map(|(name, number)| (name.to_owned(), number))
            .collect(),
        steady: steady(run),
        time_accounting: time_accounting(&account),
        throughput_gap: ThroughputGap::of(&account).map(|gap| throughput_gap(&gap)),
        nodes: nodes(run, &generator),
        generator,
        fleet: run.fleet.clone(),
        warnings: run.warnings.clone(),
        feeds: run.feeds.clone(),
        profile: run.profile.as_deref().map(Profile::document),
        log: run.log.clone(),
        series: tracks::rows(run),
        series_rows: tracks::row_tracks(&run.series),
        series_checks: tracks::check_tracks(&run.series),
        series_metrics: tracks::metric_tracks(&run.series),
        series_host: tracks::host_track(&run.host),
    }
}

/// The rows of names that several scenarios or groups have, together.
fn names(run: &Run) -> Vec<Row> {
    let kinds = RowKind::ALL.iter().map(|(kind, _)| *kind).filter(|kind| kind.is_request());
    let all = kinds.flat_map(|kind| {
        let names = run.totals.by_name(kind).into_iter().filter(|(_, rows)| rows.len() > 1);
        names.map(move |(name, rows)| {
            let mut sum = RequestStats::default();
            rows.into_iter().for_each(|row| sum.merge(row));
            Row { kind: kind.label().to_owned(), name: name.to_owned(), ..row(&sum, run.elapsed_s) }
        })
    });
    all.collect()
}

fn groups(run: &Run) -> Vec<Row> {
    let rows = run.totals.of_kind(RowKind::Group).map(|(key, own)| {
        let within = run.totals.within(key);
        Row {
            error_kinds: error_kinds(&within),
            status: status(&within),
            ..keyed(key, own, run.elapsed_s)
        }
    });
    rows.collect()
}

fn checks(run: &Run) -> Vec<CheckRow> {
    let rows = run.totals.checks().map(|(key, counts)| CheckRow {
        scenario: key.place.scenario.clone(),
        group: key.place.group.clone(),
        tags: key.place.tags.iter().cloned().collect(),
        name: key.name.clone(),
        passed: counts.passed,
        failed: counts.failed,
        warned: counts.warned,
    });
    rows.collect()
}

fn threshold(own: &ThresholdResult) -> ThresholdRow {
    ThresholdRow {
        text: own.text.clone(),
        name: own.name.clone(),
        subject: own.subject.clone(),
        metric: own.metric.clone(),
        op: own.op.clone(),
        limit: own.limit,
        value: own.value,
        at_least: own.at_least,
        unit: own.unit.clone(),
        passed: own.passed,
        shown: own.shown.clone(),
        over_s: own.over_s.map(u64::from),
        worst_from_s: own.worst_from_s.map(u64::from),
    }
}

/// Requests, resources and programs, a row for each kind, scenario, group and name; rates are over
/// `elapsed_s`.
pub fn request_rows(totals: &Totals, elapsed_s: f64) -> Vec<Row> {
    let rows = totals.rows().filter(|(key, _)| key.place.kind.is_request());
    rows.map(|(key, row)| keyed(key, row, elapsed_s)).collect()
}

/// The steady part, with intervals that hold the true values with 95 % confidence.
fn steady(run: &Run) -> Option<SteadyPart> {
    let (steady, batches) = (run.steady?, run.batches.as_ref()?);
    let seconds = batches.seconds();
    let mut confidence = intervals(batches.latency(), seconds);
    let rate = known(batches.rate(), batches.rate_interval(), seconds);
    confidence.insert("rate".to_owned(), rate);
    let corrected = batches.corrected_latency();
    let has_schedule = !corrected.all().is_empty();
    Some(SteadyPart {
        from_s: u64::from(steady.from),
        to_s: u64::from(steady.to),
        found: steady.unsteady.is_none(),
        count: batches.requests(),
        errors: batches.errors(),
        rate: batches.rate(),
        latency_us: times(batches.latency().all()),
        confidence,
        corrected_latency_us: has_schedule.then(|| times(corrected.all())),
        corrected_confidence: match has_schedule {
            true => intervals(corrected, seconds),
            false => BTreeMap::new(),
        },
    })
}

/// The mean and percentiles of latencies, each with what is known about its true value.
fn intervals(latencies: &Latencies, seconds: u64) -> BTreeMap<String, Known> {
    let all = latencies.all();
    let percentiles = [("p50", 50.0), ("p90", 90.0), ("p95", 95.0), ("p99", 99.0), ("p999", 99.9)];
    let percentiles = percentiles.map(|(name, p)| {
        let value = all.percentile(p) as f64;
        (name.to_owned(), known(value, latencies.percentile(p), seconds))
    });
    let mean = known(all.mean(), latencies.mean(), seconds);
    [("mean".to_owned(), mean)].into_iter().chain(percentiles).collect()
}

/// A value with what is known about its true value: both ends of its interval, or why one is missing.
fn known(value: f64, interval: Interval, seconds: u64) -> Known {
    Known {
        value,
        low: interval.low(),
        high: interval.high(),
        why: interval.why().map(|why| why.text().to_owned()),
        longer_s: interval.longer_s(value, seconds),
    }
}

fn validity_reasons(run: &Run) -> Vec<ValidityReason> {
    let reasons = run.reasons.iter().map(|reason| ValidityReason {
        rule: reason.rule.to_owned(),
        validity: reason.validity().label().to_owned(),
        effect: reason.effect.map(|own| EffectDocument {
            rate: own.rate,
            mean: own.mean,
            p99: own.p99,
        }),
        effect_text: reason.effect_text(),
        observed: reason.observed.clone(),
        advice: reason.advice.clone(),
        nodes: reason.nodes.clone(),
    });
    reasons.collect()
}

/// What each node did. Of a fleet that has not ended nothing is known yet.
fn nodes(run: &Run, generator: &GeneratorDocument) -> Vec<NodeReport> {
    match run.meta.nodes.as_slice() {
        [_] if run.fleet.is_none() => vec![process(run, generator.clone())],
        _ => run.nodes.clone(),
    }
}

/// What the process did that ran all of a load.
fn process(run: &Run, generator: GeneratorDocument) -> NodeReport {
    let all = run.totals.all();
    let used_s = generator.cpu_user_s + generator.cpu_sys_s;
    let (peak, during) = (run.host.peak(), run.host.during_run());
    let metrics = peak.gauges().chain(during.counters());
    NodeReport {
        end: if run.finished { "done" } else { "" }.to_owned(),
        shards: 1,
        seconds: u64::from(run.totals.seconds()),
        requests: all.count,
        errors: all.errors,
        latency_us: NodeTimes::of(&all.latency),
        cpu_cores: if run.elapsed_s > 0.0 { used_s / run.elapsed_s } else { 0.0 },
        host_busy: during.cpu_shares().map_or(0.0, |shares| shares.busy),
        generator,
        host_metrics: metrics.map(|(name, number)| (name.to_owned(), number)).collect(),
        ..NodeReport::default()
    }
}

/// What squall used; of several nodes the memory of the one with the most.
fn used(run: &Run) -> Generator {
    let peak = run.nodes.iter().map(|node| node.generator.peak_rss_bytes).max().unwrap_or(0);
    Generator { peak_rss_bytes: run.generator.peak_rss_bytes.max(peak), ..run.generator }
}

/// A row with what identifies it.
fn keyed(key: &RowKey, own: &RequestStats, elapsed_s: f64) -> Row {
    Row {
        kind: key.place.kind.label().to_owned(),
        scenario: (!key.place.scenario.is_empty()).then(|| key.place.scenario.clone()),
        group: key.place.group.clone(),
        tags: key.place.tags.iter().cloned().collect(),
        name: key.name.clone(),
        ..row(own, elapsed_s)
    }
}

fn error_kinds(row: &RequestStats) -> BTreeMap<String, u64> {
    row.error_kinds.iter().map(|(kind, count)| (kind.label().to_owned(), *count)).collect()
}

fn status(row: &RequestStats) -> BTreeMap<String, u64> {
    row.status.iter().map(|(status, count)| (status.to_string(), *count)).collect()
}

/// What was recorded, of no name.
fn row(row: &RequestStats, elapsed_s: f64) -> Row {
    let phases = PHASES.iter().zip(&row.phases).filter(|(_, histogram)| !histogram.is_empty());
    let corrected = (!row.corrected_latency.is_empty()).then(|| times(&row.corrected_latency));
    let bounded = |durations: Durations<'_>| {
        (!durations.waited.is_empty()).then(|| bounded_times(&durations))
    };
    Row {
        count: row.count,
        errors: row.errors,
        error_rate: if row.count > 0 { row.errors as f64 / row.count as f64 } else { 0.0 },
        error_kinds: error_kinds(row),
        status: status(row),
        rate: if elapsed_s > 0.0 { row.count as f64 / elapsed_s } else { 0.0 },
        bytes_in: row.bytes_in,
        bytes_out: row.bytes_out,
        cut_off: row.cut_off,
        not_sent: row.not_sent,
        retries: row.retries,
        latency_us: times(&row.latency),
        latency_with_timeouts_us: bounded(Durations::of(row)),
        corrected_latency_us: corrected,
        corrected_latency_with_timeouts_us: bounded(Durations::corrected(row)),
        phases: phases.map(|(name, own)| ((*name).to_owned(), PhaseTimes::of(own))).collect(),
        ..Row::default()
    }
}

/// All metrics, those that the plan recorded itself first.
fn metrics(totals: &Totals) -> Vec<MetricRow> {
    let rows = totals.metrics().map(|(key, stats)| metric(key, stats));
    let mut rows: Vec<MetricRow> = rows.collect();
    rows.sort_by_key(|row| row.scenario.is_empty());
    rows
}

/// A metric that the plan recorded itself, or a monitor.
fn metric(key: &MetricKey, stats: &MetricStats) -> MetricRow {
    let own = MetricRow {
        scenario: key.scenario.clone(),
        name: key.name.clone(),
        kind: key.kind.label().to_owned(),
        tags: key.tags.iter().cloned().collect(),
        unit: key.monitored_unit().map(|unit| unit.label().to_owned()),
        count: stats.count,
        ..MetricRow::default()
    };
    match (key.kind, stats.gauge()) {
        (MetricKind::Counter, _) => MetricRow { sum: Some(stats.sum()), ..own },
        (MetricKind::Gauge, Some(gauge)) => {
            let Gauge { last, min, max, .. } = gauge;
            let all = MetricRow { last: Some(last), min: Some(min), max: Some(max), ..own };
            MetricRow { mean: gauge.mean(), ..all }
        }
        (MetricKind::Gauge, None) => own,
        (MetricKind::Rate, _) => {
            MetricRow { trues: Some(stats.trues), share: Some(stats.share()), ..own }
        }
        (MetricKind::Trend, _) => {
            let h = &stats.trend;
            let p = |p: f64| Some(h.percentile(p) as f64 / THOUSANDTHS);
            MetricRow {
                mean: Some(h.mean() / THOUSANDTHS),
                sd: Some(h.sd() / THOUSANDTHS),
                min: Some(h.min() as f64 / THOUSANDTHS),
                p50: p(50.0),
                p75: p(75.0),
                p90: p(90.0),
                p95: p(95.0),
                p99: p(99.0),
                p999: p(99.9),
                max: Some(h.max() as f64 / THOUSANDTHS),
                ..own
            }
        }
    }
}

/// Time accounting, in user-seconds.
fn time_accounting(account: &TimeAccount) -> TimeAccounting {
    let seconds = |ns: i64| ns as f64 / 1e9;
    let requests = account.time(UserState::Request);
    let phases = PHASES.iter().zip(account.phases()).map(|(name, time)| (*name, time as i64));
    // Saturates: a file may contain anything.
    let other =
        account.phases().iter().fold(requests, |rest, time| rest.saturating_sub_unsigned(*time));
    let of = |state| seconds(account.time(state));
    TimeAccounting {
        users: account.users,
        users_s: seconds(account.total()),
        requests: of(UserState::Request),
        think: of(UserState::Think),
        pacing: of(UserState::Pacing),
        waiting: of(UserState::Waiting),
        not_started: of(UserState::NotStarted),
        generator: of(UserState::Ready),
        finished: of(UserState::Finished),
        requests_by_phase: phases
            .chain([("other", other)])
            .map(|(name, time)| (name.to_owned(), seconds(time)))
            .collect(),
    }
}

fn throughput_gap(gap: &ThroughputGap) -> Gap {
    let causes = gap.causes.iter().map(|cause| GapCauseDocument {
        state: cause.state.label().to_owned(),
        share: cause.share,
        text: cause.text.clone(),
    });
    Gap {
        measured: gap.measured,
        littles_law: gap.littles_law,
        gap: gap.gap,
        causes: causes.collect(),
        text: gap.text(),
    }
}

fn times(h: &Histogram) -> Times {
    let p = |p: f64| h.percentile(p) as f64;
    Times {
        count: h.count(),
        mean: h.mean(),
        sd: h.sd(),
        min: h.min() as f64,
        p50: p(50.0),
        p75: p(75.0),
        p90: p(90.0),
        p95: p(95.0),
        p99: p(99.0),
        p999: p(99.9),
        max: h.max() as f64,
    }
}

/// Latencies in which what was given up counts with the time that it had waited; `at_least` names those
/// that are lower bounds.
fn bounded_times(durations: &Durations<'_>) -> BoundedTimes {
    let mut at_least = Vec::new();
    let mut value = |name: &str, bounded: Option<Bounded>| {
        if bounded.is_some_and(|bounded| bounded.is_lower_bound()) {
            at_least.push(name.to_owned());
        }
        bounded.map(|bounded| bounded.value)
    };
    let p = |p: f64| durations.percentile(p);
    let own = BoundedTimes {
        count: durations.count(),
        given_up: durations.waited.count(),
        at_least: Vec::new(),
        mean: value("mean", durations.mean()),
        min: value("min", durations.min()),
        p50: value("p50", p(50.0)),
        p75: value("p75", p(75.0)),
        p90: value("p90", p(90.0)),
        p95: value("p95", p(95.0)),
        p99: value("p99", p(99.0)),
        p999: value("p999", p(99.9)),
        max: value("max", durations.max()),
    };
    BoundedTimes { at_least, ..own }
}
