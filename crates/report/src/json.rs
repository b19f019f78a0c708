//! `run.json`: a run as programs read it. `docs/run.md` documents the keys.

use std::io::{self, Write as _};

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value, json as value};
use squall_analysis::{Bounded, Durations, Interval, Latencies, SeriesRow, ThroughputGap};
use squall_metrics::{
    COARSE, Histogram, HostMetrics, MetricKey, MetricKind, MetricStats, PHASES, RequestStats,
    THOUSANDTHS, TimeAccount, UserState,
};

use crate::run::{Run, SectionResult};

/// Version of the schema.
pub const SCHEMA: u64 = 1;

/// The result as JSON.
pub fn json(run: &Run) -> Value {
    let mut json = head(run);
    json["series"] = run.series.rows().iter().map(series_row).collect();
    json
}

/// Writes the result as JSON with line breaks: as [`json`], in less memory, because the series of a long run
/// is never there as a whole.
///
/// # Errors
/// It cannot be written.
pub fn write_json(run: &Run, to: impl io::Write) -> io::Result<()> {
    let mut to = io::BufWriter::new(to);
    serde_json::to_writer_pretty(&mut to, &Document(run))?;
    to.write_all(b"\n")?;
    to.flush()
}

/// A run that is serialised row by row.
struct Document<'r>(&'r Run);

impl Serialize for Document<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let head = head(self.0);
        let mut map = serializer.serialize_map(None)?;
        for (key, value) in head.as_object().into_iter().flatten() {
            map.serialize_entry(key, value)?;
        }
        map.serialize_entry("series", &Rows(self.0.series.rows()))?;
        map.end()
    }
}

struct Rows<'r>(&'r [SeriesRow]);

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(series_row))
    }
}

/// Everything but the series.
fn head(run: &Run) -> Value {
    let elapsed = run.elapsed_s;
    let rows = |rows: &mut dyn Iterator<Item = (&str, &RequestStats)>| self::rows(rows, elapsed);
    let thresholds = run.threshold_results.iter().map(|result| {
        value!({"text": result.text, "passed": result.passed, "value": result.value, "shown": result.shown})
    });
    let counters: Map<String, Value> = run
        .totals
        .counters()
        .named()
        .map(|(name, number)| (name.to_owned(), value!(number)))
        .collect();
    let account = run.time_account();
    value!({
        "schema": SCHEMA,
        "meta": run.meta,
        "elapsed_s": elapsed,
        "finished": run.finished,
        "interrupted": run.interrupted,
        "stopped_by_plan": run.stopped_by_plan,
        "passed": run.passed(),
        "failures": run.failures(),
        "validity": run.validity().label(),
        "validity_reasons": validity_reasons(run),
        "totals": row(&run.totals.all(), elapsed),
        "requests": rows(&mut run.totals.requests()),
        "programs": rows(&mut run.totals.programs()),
        "groups": rows(&mut run.totals.groups()),
        "metrics": run.totals.metrics().map(|(key, stats)| metric(key, stats)).collect::<Vec<_>>(),
        "counters": counters,
        "steady": steady(run),
        "time_accounting": time_accounting(&account),
        "throughput_gap": ThroughputGap::of(&account).map(|gap| throughput_gap(&gap)),
        "generator": generator(run),
        "host_metrics": host_metrics(&run.host),
        "thresholds": thresholds.collect::<Vec<_>>(),
        "setup": run.setup.as_ref().map(section),
        "teardown": run.teardown.as_ref().map(section),
        "warnings": run.warnings,
        "log": run.log,
    })
}

/// Statistics by name.
fn rows(rows: &mut dyn Iterator<Item = (&str, &RequestStats)>, elapsed_s: f64) -> Value {
    Value::Object(rows.map(|(name, row)| (name.to_owned(), self::row(row, elapsed_s))).collect())
}

/// A setup or a teardown.
fn section(section: &SectionResult) -> Value {
    let (totals, elapsed) = (&section.totals, section.elapsed_s);
    value!({
        "passed": section.passed,
        "elapsed_s": elapsed,
        "requests": rows(&mut totals.requests(), elapsed),
        "programs": rows(&mut totals.programs(), elapsed),
        "log": section.log,
    })
}

/// The steady part, with intervals that hold the true values with 95 % confidence.
fn steady(run: &Run) -> Value {
    let (Some(steady), Some(batches)) = (run.steady, &run.batches) else { return Value::Null };
    let seconds = batches.seconds();
    let rate = interval(batches.rate(), batches.rate_interval(), seconds);
    let mut confidence = intervals(batches.latency(), seconds);
    confidence.insert("rate".to_owned(), rate);
    let mut json = value!({
        "from_s": steady.from, "to_s": steady.to, "found": steady.unsteady.is_none(),
        "count": batches.requests(), "errors": batches.errors(), "rate": batches.rate(),
        "latency_us": latency(batches.latency().all()), "confidence": confidence,
    });
    let corrected = batches.corrected_latency();
    if !corrected.all().is_empty() {
        json["corrected_latency_us"] = latency(corrected.all());
        json["corrected_confidence"] = Value::Object(intervals(corrected, seconds));
    }
    json
}

/// The mean and percentiles of latencies, each with what is known about its true value.
fn intervals(latencies: &Latencies, seconds: u64) -> Map<String, Value> {
    let all = latencies.all();
    let percentiles = [("p50", 50.0), ("p90", 90.0), ("p95", 95.0), ("p99", 99.0), ("p999", 99.9)];
    let percentiles = percentiles.map(|(name, p)| {
        let value = all.percentile(p) as f64;
        (name.to_owned(), interval(value, latencies.percentile(p), seconds))
    });
    let mean = interval(all.mean(), latencies.mean(), seconds);
    [("mean".to_owned(), mean)].into_iter().chain(percentiles).collect()
}

/// A value with what is known about its true value: both ends of its interval, or why one is missing.
fn interval(value: f64, known: Interval, seconds: u64) -> Value {
    let mut json = Map::new();
    json.insert("value".to_owned(), value!(value));
    for (end, at) in [("low", known.low()), ("high", known.high())] {
        if let Some(at) = at {
            json.insert(end.to_owned(), value!(at));
        }
    }
    if let Some(why) = known.why() {
        json.insert("why".to_owned(), value!(why.text()));
    }
    if let Some(longer_s) = known.longer_s(value, seconds) {
        json.insert("longer_s".to_owned(), value!(longer_s));
    }
    Value::Object(json)
}

fn validity_reasons(run: &Run) -> Vec<Value> {
    let reasons = run.reasons.iter().map(|reason| {
        let effect =
            reason.effect.map(|own| value!({"rate": own.rate, "mean": own.mean, "p99": own.p99}));
        value!({
            "rule": reason.rule, "validity": reason.validity().label(), "effect": effect,
            "observed": reason.observed, "advice": reason.advice,
        })
    });
    reasons.collect()
}

/// Gauges at their highest, and what was counted during the run.
fn host_metrics(host: &HostMetrics) -> Value {
    let (peak, run) = (host.peak(), host.during_run());
    let values = peak.gauges().chain(run.counters());
    Value::Object(values.map(|(name, number)| (name.to_owned(), value!(number))).collect())
}

fn generator(run: &Run) -> Value {
    let own = run.totals.self_metrics();
    value!({
        "cpu_user_s": run.generator.cpu_user_s,
        "cpu_sys_s": run.generator.cpu_sys_s,
        "peak_rss_bytes": run.generator.peak_rss_bytes,
        "requests_logged": run.generator.requests_logged,
        "requests_not_logged": run.generator.requests_not_logged,
        "workers_cpu_s": own.cpu_ns as f64 / 1e9,
        "starved_s": own.starved_ns as f64 / 1e9,
        "preempted": own.preempted,
        "receive_delay_us": phase(&own.receive_delay),
        "send_delay_us": phase(&own.send_delay),
        "loop_iteration_us": phase(&own.loop_iteration),
        "timer_delay_us": phase(&own.timer_delay),
        "connect_delay_us": phase(&own.connect_delay),
    })
}

fn row(row: &RequestStats, elapsed_s: f64) -> Value {
    let rate = if elapsed_s > 0.0 { row.count as f64 / elapsed_s } else { 0.0 };
    let kinds: Map<String, Value> = row
        .error_kinds
        .iter()
        .map(|(kind, count)| (kind.label().to_owned(), value!(count)))
        .collect();
    let status: Map<String, Value> =
        row.status.iter().map(|(status, count)| (status.to_string(), value!(count))).collect();
    let phases: Map<String, Value> = PHASES
        .iter()
        .zip(&row.phases)
        .filter(|(_, histogram)| !histogram.is_empty())
        .map(|(name, histogram)| ((*name).to_owned(), phase(histogram)))
        .collect();
    let mut object = value!({
        "count": row.count,
        "errors": row.errors,
        "error_rate": if row.count > 0 { row.errors as f64 / row.count as f64 } else { 0.0 },
        "error_kinds": kinds,
        "status": status,
        "rate": rate,
        "bytes_in": row.bytes_in,
        "bytes_out": row.bytes_out,
        "latency_us": latency(&row.latency),
    });
    if row.cut_off > 0 {
        object["cut_off"] = value!(row.cut_off);
    }
    if !row.waited.is_empty() {
        object["latency_with_timeouts_us"] = latency_with_timeouts(Durations::of(row));
    }
    if !row.corrected_latency.is_empty() {
        object["corrected_latency_us"] = latency(&row.corrected_latency);
    }
    if !row.corrected_waited.is_empty() {
        let corrected = latency_with_timeouts(Durations::corrected(row));
        object["corrected_latency_with_timeouts_us"] = corrected;
    }
    object["phases"] = Value::Object(phases);
    object
}

/// A metric that the plan recorded itself.
fn metric(key: &MetricKey, stats: &MetricStats) -> Value {
    let tags: Map<String, Value> =
        key.tags.iter().map(|(name, text)| (name.clone(), value!(text))).collect();
    let mut object =
        value!({"name": key.name, "kind": key.kind.label(), "tags": tags, "count": stats.count});
    let values = match key.kind {
        MetricKind::Counter => value!({"sum": stats.sum()}),
        MetricKind::Gauge => stats.gauge().map_or(
            Value::Null,
            |gauge| value!({"last": gauge.last, "min": gauge.min, "max": gauge.max}),
        ),
        MetricKind::Rate => value!({"trues": stats.trues, "share": stats.share()}),
        MetricKind::Trend => {
            let h = &stats.trend;
            let p = |p: f64| h.percentile(p) as f64 / THOUSANDTHS;
            value!({
                "mean": h.mean() / THOUSANDTHS, "sd": h.sd() / THOUSANDTHS, "min": h.min() as f64 / THOUSANDTHS,
                "p50": p(50.0), "p75": p(75.0), "p90": p(90.0), "p95": p(95.0), "p99": p(99.0), "p999": p(99.9),
                "max": h.max() as f64 / THOUSANDTHS,
            })
        }
    };
    if let (Value::Object(object), Value::Object(values)) = (&mut object, values) {
        object.extend(values);
    }
    object
}

/// Time accounting, in user-seconds.
fn time_accounting(account: &TimeAccount) -> Value {
    let seconds = |ns: i64| ns as f64 / 1e9;
    let requests = account.time(UserState::Request);
    let phases = PHASES.iter().zip(account.phases()).map(|(name, time)| (*name, time as i64));
    // Saturates: a file may contain anything.
    let other =
        account.phases().iter().fold(requests, |rest, time| rest.saturating_sub_unsigned(*time));
    let phases: Map<String, Value> = phases
        .chain([("other", other)])
        .map(|(name, time)| (name.to_owned(), value!(seconds(time))))
        .collect();
    let mut object = value!({"users": account.users, "users_s": seconds(account.total())});
    for state in UserState::ALL {
        object[state.label()] = value!(seconds(account.time(state)));
    }
    object["requests_by_phase"] = Value::Object(phases);
    object
}

fn throughput_gap(gap: &ThroughputGap) -> Value {
    let causes = gap.causes.iter().map(
        |cause| value!({"state": cause.state.label(), "share": cause.share, "text": cause.text}),
    );
    value!({
        "measured": gap.measured,
        "littles_law": gap.littles_law,
        "gap": gap.gap,
        "causes": causes.collect::<Vec<_>>(),
    })
}

fn latency(h: &Histogram) -> Value {
    value!({
        "count": h.count(), "mean": h.mean(), "sd": h.sd(), "min": h.min(),
        "p50": h.percentile(50.0), "p75": h.percentile(75.0), "p90": h.percentile(90.0), "p95": h.percentile(95.0),
        "p99": h.percentile(99.0), "p999": h.percentile(99.9), "max": h.max(),
    })
}

/// Latencies in which what was given up counts with the time that it had waited; `at_least` names those
/// that are lower bounds.
fn latency_with_timeouts(durations: Durations<'_>) -> Value {
    let p = |p: f64| durations.percentile(p);
    let values: [(&str, Option<Bounded>); 9] = [
        ("mean", durations.mean()),
        ("min", durations.min()),
        ("p50", p(50.0)),
        ("p75", p(75.0)),
        ("p90", p(90.0)),
        ("p95", p(95.0)),
        ("p99", p(99.0)),
        ("p999", p(99.9)),
        ("max", durations.max()),
    ];
    let bounds = values.iter().filter(|(_, value)| value.is_some_and(|value| value.at_least));
    let bounds: Vec<&str> = bounds.map(|(name, _)| *name).collect();
    let mut object = value!({
        "count": durations.count(), "given_up": durations.waited.count(), "at_least": bounds,
    });
    for (name, value) in values {
        object[name] = value!(value.map(|value| value.value));
    }
    object
}

fn phase(h: &Histogram<COARSE>) -> Value {
    value!({
        "count": h.count(), "mean": h.mean(), "p50": h.percentile(50.0), "p90": h.percentile(90.0),
        "p99": h.percentile(99.0), "max": h.max(),
    })
}

fn series_row(row: &SeriesRow) -> Value {
    value!({
        "second": row.second, "seconds": row.seconds, "users": row.users,
        "requests": row.requests, "errors": row.errors, "bytes_in": row.bytes_in, "bytes_out": row.bytes_out,
        "mean_us": row.mean_us, "p50_us": row.p50_us, "p90_us": row.p90_us, "p99_us": row.p99_us,
        "max_us": row.max_us, "arrivals_dropped": row.arrivals_dropped,
        "receive_delay_p99_us": row.receive_delay_p99_us, "send_delay_p99_us": row.send_delay_p99_us,
        "loop_iteration_max_us": row.loop_iteration_max_us, "starved_us": row.starved_ns / 1_000,
        "busiest_worker": row.busiest_ns as f64 / 1e9,
    })
}
