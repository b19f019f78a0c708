//! The result as OpenMetrics (the text format of Prometheus): counters and summaries of each row, in seconds and
//! bytes, to be pushed or kept beside others.

use std::fmt::Write as _;

use crate::document::{Row, RunDocument, Times};

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
    let own = [
        ("kind", row.kind.as_str()),
        ("scenario", scenario),
        ("group", &group),
        ("name", &row.name),
    ];
    let all = own.into_iter().chain(more.iter().copied());
    let parts: Vec<String> =
        all.map(|(key, value)| format!("{key}=\"{}\"", label_value(value))).collect();
    format!("{{{}}}", parts.join(","))
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
}
