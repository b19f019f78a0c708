//! The lines of an export: what was recorded in a second, each line an object of named values.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use squall_metrics::{
    CheckCounts, Counters, Histogram, HostSample, Level, MetricKey, MetricKind, MetricStats,
    PHASES, ROW_COUNTS, RequestStats, RowKey, RowKind, ScenarioLoad, SelfMetrics, THOUSANDTHS,
};

use crate::group_path::group_path;
use crate::planned::PlannedLoads;

/// A second of all workers and monitors.
#[derive(Default)]
pub(super) struct Second {
    /// Whether any worker recorded anything in it.
    pub has_workers: bool,
    pub rows: BTreeMap<RowKey, RequestStats>,
    pub checks: BTreeMap<RowKey, CheckCounts>,
    pub metrics: BTreeMap<MetricKey, MetricStats>,
    pub counters: Counters,
    pub in_flight: Level,
    pub scenarios: BTreeMap<String, ScenarioLoad>,
    pub own: SelfMetrics,
}

impl Second {
    /// The run itself in that second, then each scenario, row, check and metric.
    pub fn lines(&self, at: u32, planned: &PlannedLoads) -> Vec<Value> {
        let mut lines = Vec::new();
        if self.has_workers {
            lines.push(self.run_line(at, planned));
            lines.extend(self.scenario_lines(at, planned));
        }
        lines.extend(self.rows.iter().map(|(key, row)| row_line(at, key, row)));
        lines.extend(self.checks.iter().map(|(key, counts)| check_line(at, key, *counts)));
        lines.extend(self.metrics.iter().map(|(key, stats)| metric_line(at, key, stats)));
        lines
    }

    /// What is counted besides requests, and squall's own delays.
    fn run_line(&self, at: u32, planned: &PlannedLoads) -> Value {
        let mut line = json!({"second": at, "kind": "run"});
        for (name, value) in self.counters.named() {
            line[name] = json!(value);
        }
        let (mut users, mut arrivals) = (0.0, 0.0);
        for (_, own_users, own_arrivals) in planned.in_seconds(at, 1) {
            users += own_users;
            arrivals += own_arrivals;
        }
        line["planned_users"] = json!(users);
        line["planned_arrivals"] = json!(arrivals);
        in_flight(&mut line, self.in_flight);
        line["workers_cpu_us"] = json!(self.own.cpu_ns / 1_000);
        line["starved_us"] = json!(self.own.starved_ns / 1_000);
        for (name, own) in self.own.delays() {
            line[format!("{name}_p99_us")] = json!(own.percentile(99.0));
            line[format!("{name}_max_us")] = json!(own.max());
        }
        line
    }

    /// The load of each scenario that the plan has or that was recorded.
    fn scenario_lines(&self, at: u32, planned: &PlannedLoads) -> Vec<Value> {
        let mut planned: BTreeMap<&str, (f64, f64)> = planned
            .in_seconds(at, 1)
            .map(|(name, users, arrivals)| (name, (users, arrivals)))
            .collect();
        self.scenarios.keys().for_each(|name| {
            planned.entry(name).or_default();
        });
        let lines = planned.into_iter().map(|(name, (users, arrivals))| {
            let own = self.scenarios.get(name).copied().unwrap_or_default();
            let of_iterations =
                |key: &RowKey| key.place.kind == RowKind::Iteration && key.place.scenario == name;
            let done = self.rows.iter().filter(|(key, _)| of_iterations(key));
            let done: u64 = done.map(|(_, row)| row.count).sum();
            let mut line = json!({
                "second": at, "kind": "scenario", "scenario": name, "group": "", "name": name,
                "planned_users": users, "planned_arrivals": arrivals, "users_active": own.users,
            });
            in_flight(&mut line, own.in_flight);
            line["iterations_started"] = json!(own.iterations_started);
            line["iterations_done"] = json!(done);
            line["arrivals_dropped"] = json!(own.arrivals_dropped);
            line
        });
        lines.collect()
    }
}

fn in_flight(line: &mut Value, own: Level) {
    line["in_flight"] = json!(own.most);
    line["in_flight_at_end"] = json!(own.at_end);
}

/// The host in a second, or in several: gauges at their highest, and what counters counted.
pub(super) fn host_line(at: u32, sample: &HostSample) -> Value {
    let mut line = json!({"second": at, "kind": "host"});
    for (name, value) in sample.gauges().chain(sample.counters()) {
        line[name] = json!(value);
    }
    line
}

fn tags(tags: &[(String, String)]) -> Value {
    tags.iter().map(|(name, text)| (name.clone(), json!(text))).collect::<Map<_, _>>().into()
}

/// What identifies a row.
fn head(at: u32, key: &RowKey) -> Value {
    json!({
        "second": at, "kind": key.place.kind.label(), "scenario": key.place.scenario,
        "group": group_path(&key.place.group), "name": key.label(), "tags": tags(&key.place.tags),
    })
}

fn check_line(at: u32, key: &RowKey, counts: CheckCounts) -> Value {
    let mut line = head(at, key);
    line["count"] = json!(counts.count());
    line["passed"] = json!(counts.passed);
    line["failed"] = json!(counts.failed);
    line["warned"] = json!(counts.warned);
    line
}

fn row_line(at: u32, key: &RowKey, row: &RequestStats) -> Value {
    let mut line = head(at, key);
    for own in &ROW_COUNTS {
        line[own.name] = json!((own.of)(row));
    }
    times(&mut line, "", &row.latency);
    times(&mut line, "corrected_", &row.corrected_latency);
    line["error_kinds"] = row.error_kinds.iter().map(|(kind, n)| (kind.label(), *n)).collect();
    line["status"] = row.status.iter().map(|(status, n)| (status.to_string(), *n)).collect();
    let phases = PHASES.iter().zip(&row.phases).filter(|(_, own)| !own.is_empty());
    let phases: Map<String, Value> = phases
        .map(|(name, own)| {
            let value = json!({"count": own.count(), "mean_us": own.mean(), "p99_us": own.percentile(99.0)});
            ((*name).to_owned(), value)
        })
        .collect();
    line["phases"] = Value::Object(phases);
    line
}

fn times(line: &mut Value, prefix: &str, own: &Histogram) {
    if own.is_empty() {
        return;
    }
    line[format!("{prefix}mean_us")] = json!(own.mean());
    for (name, p) in [("p50", 50.0), ("p90", 90.0), ("p95", 95.0), ("p99", 99.0)] {
        line[format!("{prefix}{name}_us")] = json!(own.percentile(p));
    }
    line[format!("{prefix}max_us")] = json!(own.max());
}

fn metric_line(at: u32, key: &MetricKey, stats: &MetricStats) -> Value {
    let mut line = json!({
        "second": at, "kind": key.kind.label(), "scenario": key.scenario, "group": "", "name": key.label(),
        "tags": tags(&key.tags), "count": stats.count, "value": stats.value(key.kind),
    });
    if let (MetricKind::Gauge, Some(gauge)) = (key.kind, stats.gauge()) {
        (line["min"], line["max"]) = (json!(gauge.min), json!(gauge.max));
    }
    if key.kind == MetricKind::Trend {
        for (name, p) in [
            ("min", 0.0),
            ("p50", 50.0),
            ("p90", 90.0),
            ("p95", 95.0),
            ("p99", 99.0),
            ("max", 100.0),
        ] {
            line[name] = json!(stats.trend.percentile(p) as f64 / THOUSANDTHS);
        }
    }
    line
}
