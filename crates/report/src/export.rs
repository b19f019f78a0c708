//! What was recorded, as other programs read it: a row for each second and name, as CSV, as lines of JSON,
//! or as an HdrHistogram log. Computed from the recording in memory that does not grow with the run.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_json::{Map, Value, json};
use squall_metrics::{
    CheckCounts, Counters, Histogram, MetricId, MetricKey, MetricKind, MetricStats, NameId, PHASES,
    RequestStats, RowKey, SelfMetrics, Slice, SliceSet,
};

use crate::hlog;
use crate::recording::Recording;

/// Seconds that are open at a time: workers hand over the same second within moments of each other.
const OPEN_SECONDS: usize = 8;
/// The columns of CSV, keys of a JSON line each.
const COLUMNS: [&str; 23] = [
    "second",
    "kind",
    "scenario",
    "group",
    "name",
    "count",
    "errors",
    "cut_off",
    "bytes_in",
    "bytes_out",
    "mean_us",
    "p50_us",
    "p90_us",
    "p95_us",
    "p99_us",
    "max_us",
    "corrected_p50_us",
    "corrected_p99_us",
    "passed",
    "failed",
    "warned",
    "users_active",
    "value",
];

/// A format of exports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated values with a head.
    Csv,
    /// A JSON object a line, with statuses, errors, phases and counters besides.
    Jsonl,
    /// HdrHistogram's interval log of the latencies.
    Hlog,
}

/// Writes what was recorded. `started_unix` is when the run began, in seconds since 1970.
///
/// # Errors
/// The recording cannot be read, or the export cannot be written.
pub fn export(
    recording: &mut Recording,
    started_unix: f64,
    format: Format,
    to: &mut dyn Write,
) -> io::Result<()> {
    match format {
        Format::Csv => writeln!(to, "{}", COLUMNS.join(","))?,
        Format::Hlog => to.write_all(hlog::header(started_unix).as_bytes())?,
        Format::Jsonl => {}
    }
    let (mut known, mut written) = (Known::default(), Ok(()));
    let left_out = recording.replay(|slice| {
        if written.is_ok() && known.seen.insert(slice.worker, slice.second) {
            known.add(slice);
            while written.is_ok() && known.open.len() > OPEN_SECONDS {
                written = known.close(format, to);
            }
        }
    })?;
    while written.is_ok() && !known.open.is_empty() {
        written = known.close(format, to);
    }
    written?;
    match left_out {
        Some(reason) => Err(io::Error::other(format!("{reason}; what follows it is left out"))),
        None => Ok(()),
    }
}

/// What is known while the slices are read.
#[derive(Default)]
struct Known {
    seen: SliceSet,
    keys: BTreeMap<(u32, NameId), RowKey>,
    metrics: BTreeMap<(u32, MetricId), MetricKey>,
    open: BTreeMap<u32, Second>,
}

/// A second of all workers.
#[derive(Default)]
struct Second {
    rows: BTreeMap<RowKey, RequestStats>,
    checks: BTreeMap<RowKey, CheckCounts>,
    metrics: BTreeMap<MetricKey, MetricStats>,
    counters: Counters,
    own: SelfMetrics,
}

impl Known {
    fn add(&mut self, slice: &Slice) {
        for (id, key) in &slice.names {
            self.keys.insert((slice.worker, *id), key.clone());
        }
        for (id, key) in &slice.metric_keys {
            self.metrics.insert((slice.worker, *id), key.clone());
        }
        let second = self.open.entry(slice.second).or_default();
        let key = |id| self.keys.get(&(slice.worker, id));
        for (id, row) in slice.rows() {
            if let Some(key) = key(id) {
                second.rows.entry(key.clone()).or_default().merge(row);
            }
        }
        for (id, counts) in slice.checks() {
            if let Some(key) = key(id) {
                second.checks.entry(key.clone()).or_default().merge(&counts);
            }
        }
        for (id, stats) in slice.metrics() {
            if let Some(key) = self.metrics.get(&(slice.worker, id)) {
                second.metrics.entry(key.clone()).or_default().merge(stats);
            }
        }
        second.counters.merge(&slice.counters);
        second.own.merge(&slice.self_metrics);
    }

    /// Writes the earliest open second.
    fn close(&mut self, format: Format, to: &mut dyn Write) -> io::Result<()> {
        let Some((at, second)) = self.open.pop_first() else { return Ok(()) };
        match format {
            Format::Hlog => second.hlog(at, to),
            Format::Jsonl => second.lines(at).try_for_each(|line| writeln!(to, "{line}")),
            Format::Csv => second.lines(at).try_for_each(|line| {
                let cells = COLUMNS.iter().map(|name| cell(line.get(name))).collect::<Vec<_>>();
                writeln!(to, "{}", cells.join(","))
            }),
        }
    }
}

impl Second {
    fn hlog(&self, at: u32, to: &mut dyn Write) -> io::Result<()> {
        let mut text = String::new();
        for (key, row) in self.rows.iter().filter(|(_, row)| !row.latency.is_empty()) {
            let group = key.place.group.iter().map(String::as_str);
            let parts = [key.place.kind.label(), &key.place.scenario].into_iter().chain(group);
            let name = key.label();
            let tag = parts.chain([name.as_str()]).collect::<Vec<_>>().join("/");
            hlog::line(&tag, f64::from(at), 1.0, &row.latency, &mut text);
        }
        to.write_all(text.as_bytes())
    }

    /// The run itself in that second, then each row, check and metric.
    fn lines(&self, at: u32) -> impl Iterator<Item = Value> {
        let rows = self.rows.iter().map(move |(key, row)| row_line(at, key, row));
        let checks = self.checks.iter().map(move |(key, counts)| {
            let mut line = head(at, key);
            line["count"] = json!(counts.count());
            line["passed"] = json!(counts.passed);
            line["failed"] = json!(counts.failed);
            line["warned"] = json!(counts.warned);
            line
        });
        let metrics = self.metrics.iter().map(move |(key, stats)| metric_line(at, key, stats));
        [self.line(at)].into_iter().chain(rows).chain(checks).chain(metrics)
    }

    /// What is counted besides requests, and squall's own delays.
    fn line(&self, at: u32) -> Value {
        let mut line = json!({"second": at, "kind": "run"});
        for (name, value) in self.counters.named() {
            line[name] = json!(value);
        }
        line["workers_cpu_us"] = json!(self.own.cpu_ns / 1_000);
        line["starved_us"] = json!(self.own.starved_ns / 1_000);
        for (name, own) in [
            ("receive_delay", &self.own.receive_delay),
            ("send_delay", &self.own.send_delay),
            ("loop_iteration", &self.own.loop_iteration),
        ] {
            line[format!("{name}_p99_us")] = json!(own.percentile(99.0));
            line[format!("{name}_max_us")] = json!(own.max());
        }
        line
    }
}

fn tags(tags: &[(String, String)]) -> Value {
    tags.iter().map(|(name, text)| (name.clone(), json!(text))).collect::<Map<_, _>>().into()
}

/// What identifies a row.
fn head(at: u32, key: &RowKey) -> Value {
    json!({
        "second": at, "kind": key.place.kind.label(), "scenario": key.place.scenario,
        "group": key.place.group.join(" / "), "name": key.label(), "tags": tags(&key.place.tags),
    })
}

fn row_line(at: u32, key: &RowKey, row: &RequestStats) -> Value {
    let mut line = head(at, key);
    for (name, value) in [
        ("count", row.count),
        ("errors", row.errors),
        ("cut_off", row.cut_off),
        ("bytes_in", row.bytes_in),
        ("bytes_out", row.bytes_out),
    ] {
        line[name] = json!(value);
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
    let value = match key.kind {
        MetricKind::Counter => json!(stats.sum()),
        MetricKind::Gauge => json!(stats.gauge().map(|gauge| gauge.last)),
        MetricKind::Rate => json!(stats.share()),
        MetricKind::Trend => json!(stats.trend.mean() / squall_metrics::THOUSANDTHS),
    };
    json!({
        "second": at, "kind": key.kind.label(), "scenario": key.scenario, "group": "", "name": key.label(),
        "tags": tags(&key.tags), "count": stats.count, "value": value,
    })
}

/// A value as a cell of CSV (RFC 4180).
fn cell(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) if text.contains(['"', ',', '\n', '\r']) => {
            format!("\"{}\"", text.replace('"', "\"\""))
        }
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use squall_metrics::{RowKind, Sample, Verdict};

    fn recording() -> Recording {
        let mut recording = Recording::unnamed().expect("a file");
        for (worker, second) in [(0, 0), (1, 0), (0, 1)] {
            let mut slice = Slice::new(worker, second);
            if second == 0 {
                let mut key = RowKey::new(RowKind::Request, "buyer", "a, \"b\"");
                key.place.group.push("checkout".to_owned());
                slice.announce(NameId(0), key);
                slice.announce(NameId(1), RowKey::new(RowKind::Check, "buyer", "ok"));
            }
            slice.record(NameId(0), &Sample::ok(100));
            slice.record_check(NameId(1), Verdict::Failed);
            slice.counters.users_active = 3;
            recording.append(&slice);
        }
        recording
    }

    fn exported(format: Format) -> String {
        let mut out = Vec::new();
        export(&mut recording(), 0.0, format, &mut out).expect("written");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn a_row_for_each_second_and_name() {
        let lines = exported(Format::Jsonl);
        let lines: Vec<Value> =
            lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let of = |kind: &str| -> Vec<&Value> {
            lines.iter().filter(|line| line["kind"] == kind).collect()
        };
        assert_eq!(
            of("request").iter().map(|line| line["count"].as_u64()).collect::<Vec<_>>(),
            [Some(2), Some(1)]
        );
        assert_eq!(of("request")[0]["status"], json!({"200": 2}));
        assert_eq!(
            (&of("check")[0]["failed"], &of("run")[0]["users_active"]),
            (&json!(2), &json!(6))
        );
    }

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        let text = exported(Format::Csv);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 1 + 2 * 3);
        assert!(
            lines[2].starts_with("0,request,buyer,checkout,\"a, \"\"b\"\"\",2,0,0,"),
            "{}",
            lines[2]
        );
    }

    #[test]
    fn latencies_as_hdrhistogram_has_them() {
        let text = exported(Format::Hlog);
        let tags = text.lines().filter(|line| line.starts_with("Tag=")).count();
        assert_eq!(tags, 2, "{text}");
    }
}
