//! The result as OpenMetrics (the text format of Prometheus): counters and summaries of each row, in seconds and
//! bytes, and the plan's own metrics in its own units, to be pushed or kept beside others.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::document::{MetricRow, Row, RunDocument, Times};

/// Tags that squall gives itself: no tester's tag may have such a name.
pub const TAGS_TAKEN: [&str; 9] =
    ["kind", "scenario", "group", "name", "error", "status", "result", "le", "quantile"];

/// The result as metrics.
pub fn openmetrics(run: &RunDocument) -> String {
    let mut out = String::new();
    let rows: Vec<&Row> = run.requests.iter().chain(&run.groups).chain(&run.iterations).collect();
    counter(&mut out, "squall_requests", "What has ended, by row.", &rows, |row| row.count);
    counter(&mut out, "squall_errors", "How many of these were errors.", &rows, |row| row.errors);
    let bytes = |out: &mut String, name: &str, help: &str, of: fn(&Row) -> u64| {
        counter(out, name, help, &rows, of);
    };
    bytes(&mut out, "squall_received_bytes", "Bytes received.", |row| row.bytes_in);
    bytes(&mut out, "squall_sent_bytes", "Bytes sent.", |row| row.bytes_out);
    head(&mut out, "squall_errors_by_kind", "counter", "Errors by kind.");
    for row in &rows {
        for (kind, number) in &row.error_kinds {
            let labels = labels(row, &[("error", kind)]);
            let _ = writeln!(out, "squall_errors_by_kind_total{labels} {number}");
        }
    }
    summary(&mut out, "squall_latency_seconds", "Latency of complete responses.", &rows, |row| {
        Some(&row.latency_us)
    });
    let help = "Latency from when a request should have been sent.";
    summary(&mut out, "squall_corrected_latency_seconds", help, &rows, |row| {
        row.corrected_latency_us.as_ref()
    });
    checks(&mut out, run);
    metrics(&mut out, &run.metrics);
    for (name, help, value) in [
        ("squall_run_passed", "Whether the run passed.", f64::from(u8::from(run.outcome.passed))),
        (
            "squall_run_valid",
            "Whether its numbers are valid.",
            f64::from(u8::from(run.validity == "valid")),
        ),
        ("squall_run_seconds", "Length of the run.", run.elapsed_s),
        ("squall_run_start_timestamp_seconds", "When it began.", run.meta.started_unix),
    ] {
        head(&mut out, name, "gauge", help);
        let _ = writeln!(out, "{name} {value}");
    }
    out.push_str("# EOF\n");
    out
}

fn checks(out: &mut String, run: &RunDocument) {
    head(out, "squall_checks", "counter", "What checks came to.");
    for own in &run.checks {
        let row = Row {
            kind: "check".to_owned(),
            scenario: Some(own.scenario.clone()),
            group: own.group.clone(),
            name: own.name.clone(),
            tags: own.tags.clone(),
            ..Row::default()
        };
        for (result, number) in
            [("passed", own.passed), ("failed", own.failed), ("warned", own.warned)]
        {
            let labels = labels(&row, &[("result", result)]);
            let _ = writeln!(out, "squall_checks_total{labels} {number}");
        }
    }
    head(out, "squall_threshold_passed", "gauge", "Whether a threshold passed.");
    for own in &run.thresholds {
        let text = label_value(&own.text);
        let _ = writeln!(
            out,
            "squall_threshold_passed{{threshold=\"{text}\"}} {}",
            u8::from(own.passed)
        );
    }
}

/// A family of the plan's own metrics: name, type, help, and the value of those that have one.
type OfMetric = (&'static str, &'static str, &'static str, fn(&MetricRow) -> Option<f64>);

const OF_METRICS: [OfMetric; 6] = [
    (
        "squall_metric_values",
        "counter",
        "How many values a metric of the plan has recorded.",
        |own| Some(own.count as f64),
    ),
    ("squall_metric_counter", "counter", "Of a counter: their sum.", |own| own.sum),
    ("squall_metric_trues", "counter", "Of a rate: how many were true.", |own| {
        own.trues.map(|trues| trues as f64)
    }),
    ("squall_metric_gauge", "gauge", "Of a gauge: the last one.", |own| own.last),
    ("squall_metric_gauge_min", "gauge", "Of a gauge: the smallest one.", |own| {
        own.last.and(own.min)
    }),
    ("squall_metric_gauge_max", "gauge", "Of a gauge: the largest one.", |own| {
        own.last.and(own.max)
    }),
];

/// The plan's own metrics.
fn metrics(out: &mut String, metrics: &[MetricRow]) {
    let labels_of = |own: &MetricRow, more: &[(&str, &str)]| {
        let known = [("kind", own.kind.as_str()), ("scenario", &own.scenario), ("name", &own.name)];
        braced(&[&known[..], more].concat(), &own.tags)
    };
    for (name, kind, help, of) in OF_METRICS {
        let ending = if kind == "counter" { "_total" } else { "" };
        let mut values = metrics.iter().filter_map(|own| Some((own, of(own)?))).peekable();
        if values.peek().is_some() {
            head(out, name, kind, help);
        }
        for (own, value) in values {
            let _ = writeln!(out, "{name}{ending}{} {value}", labels_of(own, &[]));
        }
    }
    let name = "squall_metric_trend";
    let mean = |own: &MetricRow| own.mean.filter(|_| own.count > 0);
    let mut trends = metrics.iter().filter_map(|own| Some((own, mean(own)?))).peekable();
    if trends.peek().is_some() {
        head(out, name, "summary", "Of a trend: their distribution.");
    }
    for (own, mean) in trends {
        let quantiles = [
            ("0.5", own.p50),
            ("0.9", own.p90),
            ("0.95", own.p95),
            ("0.99", own.p99),
            ("0.999", own.p999),
        ];
        for (quantile, value) in quantiles.iter().filter_map(|(own, value)| Some((own, (*value)?)))
        {
            let _ = writeln!(out, "{name}{} {value}", labels_of(own, &[("quantile", quantile)]));
        }
        let (labels, sum) = (labels_of(own, &[]), mean * own.count as f64);
        let _ = writeln!(out, "{name}_sum{labels} {sum}\n{name}_count{labels} {}", own.count);
    }
}

fn head(out: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(out, "# TYPE {name} {kind}\n# HELP {name} {help}");
}

fn counter(out: &mut String, name: &str, help: &str, rows: &[&Row], of: fn(&Row) -> u64) {
    head(out, name, "counter", help);
    for row in rows {
        let _ = writeln!(out, "{name}_total{} {}", labels(row, &[]), of(row));
    }
}

fn summary(
    out: &mut String,
    name: &str,
    help: &str,
    rows: &[&Row],
    of: fn(&Row) -> Option<&Times>,
) {
    head(out, name, "summary", help);
    for row in rows {
        let Some(own) = of(row).filter(|own| own.count > 0) else { continue };
        for (quantile, us) in [
            ("0.5", own.p50),
            ("0.9", own.p90),
            ("0.95", own.p95),
            ("0.99", own.p99),
            ("0.999", own.p999),
        ] {
            let labels = labels(row, &[("quantile", quantile)]);
            let _ = writeln!(out, "{name}{labels} {}", us / 1e6);
        }
        let sum = own.mean * own.count as f64 / 1e6;
        let _ =
            writeln!(out, "{name}_sum{0} {sum}\n{name}_count{0} {1}", labels(row, &[]), own.count);
    }
}

fn labels(row: &Row, more: &[(&str, &str)]) -> String {
    let group = row.group.join(" / ");
    let scenario = row.scenario.as_deref().unwrap_or_default();
    let known = [
        ("kind", row.kind.as_str()),
        ("scenario", scenario),
        ("group", &group),
        ("name", &row.name),
    ];
    braced(&[&known[..], more].concat(), &row.tags)
}

/// Labels that squall gives, and the plan's tags: those with a name that squall gives itself as `tag_NAME`, so that no two rows
/// are one series.
fn braced(known: &[(&str, &str)], tags: &BTreeMap<String, String>) -> String {
    let known = known.iter().map(|(name, value)| ((*name).to_owned(), *value));
    let tags = tags.iter().map(|(name, value)| match TAGS_TAKEN.contains(&name.as_str()) {
        true => (format!("tag_{}", label_name(name)), value.as_str()),
        false => (label_name(name), value.as_str()),
    });
    let mut labels: Vec<(String, &str)> = Vec::new();
    for (name, value) in known.chain(tags) {
        if !labels.iter().any(|(other, _)| *other == name) {
            labels.push((name, value));
        }
    }
    let parts: Vec<String> =
        labels.iter().map(|(name, value)| format!("{name}=\"{}\"", label_value(value))).collect();
    format!("{{{}}}", parts.join(","))
}

/// The name of a label as Prometheus allows it: letters, digits and underscores, and no two underscores in front.
pub fn label_name(name: &str) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = name.chars().map(allowed).collect();
    match name.starts_with("__") || name.starts_with(|c: char| c.is_ascii_digit()) {
        true => format!("tag_{}", name.trim_start_matches('_')),
        false => name,
    }
}

/// The value of a label, as it stands between quotes in OpenMetrics and in the older text format of Prometheus.
pub fn label_value(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_one_line() {
        let row =
            Row { kind: "request".to_owned(), name: "a \"b\"\n\\".to_owned(), ..Row::default() };
        assert_eq!(
            labels(&row, &[]),
            "{kind=\"request\",scenario=\"\",group=\"\",name=\"a \\\"b\\\"\\n\\\\\"}"
        );
    }
    #[test]
    fn rows_that_differ_by_tags_alone_are_series_of_their_own() {
        let row = |value: &str| {
            let tags = [("team-x", value), ("status", "gold")];
            let tags = tags.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
            labels(&Row { tags, ..Row::default() }, &[("status", "200")])
        };
        assert!(
            row("a").ends_with("status=\"200\",tag_status=\"gold\",team_x=\"a\"}"),
            "{}",
            row("a")
        );
        assert_ne!(row("a"), row("b"));
    }

    #[test]
    fn metrics_of_the_plan_have_the_families_of_their_kind() {
        let of = |kind: &str| MetricRow {
            kind: kind.to_owned(),
            name: "paid".to_owned(),
            count: 2,
            ..MetricRow::default()
        };
        let rows = [
            MetricRow { sum: Some(0.3), ..of("counter") },
            MetricRow { last: Some(-1.0), min: Some(-2.0), max: Some(3.5), ..of("gauge") },
            MetricRow { trues: Some(1), ..of("rate") },
            MetricRow {
                mean: Some(1.5),
                p50: Some(1.0),
                min: Some(1.0),
                max: Some(2.0),
                ..of("trend")
            },
        ];
        let mut out = String::new();
        metrics(&mut out, &rows);
        let values: Vec<&str> = out.lines().filter(|line| !line.starts_with('#')).collect();
        let line = |name: &str, kind: &str, more: &str, value: &str| {
            format!(
                "squall_metric_{name}{{kind=\"{kind}\",scenario=\"\",name=\"paid\"{more}}} {value}"
            )
        };
        let wanted = [
            line("values_total", "counter", "", "2"),
            line("values_total", "gauge", "", "2"),
            line("values_total", "rate", "", "2"),
            line("values_total", "trend", "", "2"),
            line("counter_total", "counter", "", "0.3"),
            line("trues_total", "rate", "", "1"),
            line("gauge", "gauge", "", "-1"),
            line("gauge_min", "gauge", "", "-2"),
            line("gauge_max", "gauge", "", "3.5"),
            line("trend", "trend", ",quantile=\"0.5\"", "1"),
            line("trend_sum", "trend", "", "3"),
            line("trend_count", "trend", "", "2"),
        ];
        assert_eq!(values, wanted);
        let mut none = String::new();
        metrics(&mut none, &[]);
        assert_eq!(none, "", "no family is empty");
    }
}
