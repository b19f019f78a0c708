//! The result as OpenMetrics (the text format of Prometheus): counters and summaries of each row, in seconds and
//! bytes, and metrics of the plan and of monitors in the units in which they are recorded, to be pushed or kept beside others.

use std::fmt::Write as _;

use squall_metrics::ROW_COUNTS;

use crate::document::{MetricRow, Row, RunDocument, Times};
use crate::families::{
    CHECKS, CORRECTED_LATENCY, ERRORS_BY_KIND, FamilyKind, FamilyName, LATENCY, METRIC_FAMILIES,
    MetricFamily, MetricPart, Tags, braced, labels, series_tags,
};
use crate::group_path::group_path;

/// The result as metrics.
pub fn openmetrics(run: &RunDocument) -> String {
    let mut out = String::new();
    let rows: Vec<&Row> = run.requests.iter().chain(&run.groups).chain(&run.iterations).collect();
    for (at, own) in ROW_COUNTS.iter().enumerate() {
        head(&mut out, own.family, "counter", own.about);
        for row in &rows {
            let _ =
                writeln!(out, "{}_total{} {}", own.family, labels_of(row, &[]), counts(row)[at]);
        }
    }
    head(&mut out, ERRORS_BY_KIND.name, "counter", ERRORS_BY_KIND.help);
    for row in &rows {
        for (kind, number) in &row.error_kinds {
            let labels = labels_of(row, &[("error", kind)]);
            let _ = writeln!(out, "{}_total{labels} {number}", ERRORS_BY_KIND.name);
        }
    }
    summary(&mut out, LATENCY, &rows, |row| Some(&row.latency_us));
    summary(&mut out, CORRECTED_LATENCY, &rows, |row| row.corrected_latency_us.as_ref());
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
    head(out, CHECKS.name, "counter", CHECKS.help);
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
            let labels = labels_of(&row, &[("result", result)]);
            let _ = writeln!(out, "{}_total{labels} {number}", CHECKS.name);
        }
    }
    head(out, "squall_threshold_passed", "gauge", "Whether a threshold passed.");
    for own in &run.thresholds {
        let labels = braced(&Default::default(), &[("threshold", &own.text)]);
        let _ = writeln!(out, "squall_threshold_passed{labels} {}", u8::from(own.passed));
    }
}

/// The metrics of the plan and of monitors.
fn metrics(out: &mut String, metrics: &[MetricRow]) {
    for family in METRIC_FAMILIES {
        let rows: Vec<&MetricRow> = metrics.iter().filter(|own| family.has(&own.kind)).collect();
        match family.kind {
            FamilyKind::Sum => numbers(out, &family, "counter", "_total", &rows),
            FamilyKind::Level => numbers(out, &family, "gauge", "", &rows),
            FamilyKind::Distribution => trends(out, &family, &rows),
        }
    }
}

/// A family of metrics that are one number each.
fn numbers(
    out: &mut String,
    family: &MetricFamily,
    kind: &str,
    ending: &str,
    metrics: &[&MetricRow],
) {
    let value = |own: &MetricRow| match family.part {
        MetricPart::Values => Some(own.count as f64),
        MetricPart::Counter => own.sum,
        MetricPart::Trues => own.trues.map(|trues| trues as f64),
        MetricPart::Gauge => own.last,
        MetricPart::GaugeMin => own.min,
        MetricPart::GaugeMax => own.max,
        MetricPart::Trend => own.mean,
    };
    let mut values = metrics.iter().filter_map(|own| Some((own, value(own)?))).peekable();
    if values.peek().is_some() {
        head(out, family.name, kind, family.help);
    }
    for (own, value) in values {
        let _ = writeln!(out, "{}{ending}{} {value}", family.name, labels_of_metric(own, &[]));
    }
}

/// The family of metrics that have a distribution.
fn trends(out: &mut String, family: &MetricFamily, metrics: &[&MetricRow]) {
    let mean = |own: &MetricRow| own.mean.filter(|_| own.count > 0);
    let mut trends = metrics.iter().filter_map(|own| Some((own, mean(own)?))).peekable();
    if trends.peek().is_some() {
        head(out, family.name, "summary", family.help);
    }
    for (own, mean) in trends {
        let quantiles = [
            ("0.5", own.p50),
            ("0.9", own.p90),
            ("0.95", own.p95),
            ("0.99", own.p99),
            ("0.999", own.p999),
        ];
        let known = quantiles.iter().filter_map(|(own, value)| Some((own, (*value)?)));
        for (quantile, value) in known {
            let labels = labels_of_metric(own, &[("quantile", quantile)]);
            let _ = writeln!(out, "{}{labels} {value}", family.name);
        }
        let (labels, sum) = (labels_of_metric(own, &[]), mean * own.count as f64);
        let _ =
            writeln!(out, "{0}_sum{labels} {sum}\n{0}_count{labels} {1}", family.name, own.count);
    }
}

fn head(out: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(out, "# TYPE {name} {kind}\n# HELP {name} {help}");
}

/// What is counted of a row, in the order of [`ROW_COUNTS`].
fn counts(row: &Row) -> [u64; ROW_COUNTS.len()] {
    let Row { count, errors, not_sent, cut_off, retries, bytes_in, bytes_out, .. } = *row;
    [count, errors, not_sent, cut_off, retries, bytes_in, bytes_out]
}

fn summary(out: &mut String, family: FamilyName, rows: &[&Row], of: fn(&Row) -> Option<&Times>) {
    let FamilyName { name, help, .. } = family;
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
            let labels = labels_of(row, &[("quantile", quantile)]);
            let _ = writeln!(out, "{name}{labels} {}", us / 1e6);
        }
        let (labels, sum) = (labels_of(row, &[]), own.mean * own.count as f64 / 1e6);
        let _ = writeln!(out, "{name}_sum{labels} {sum}\n{name}_count{labels} {}", own.count);
    }
}

fn labels_of(row: &Row, more: &[(&str, &str)]) -> String {
    let group = group_path(&row.group);
    let scenario = row.scenario.as_deref().unwrap_or_default();
    let known = [
        ("kind", row.kind.as_str()),
        ("scenario", scenario),
        ("group", &group),
        ("name", &row.name),
    ];
    braced(&labels(&series_tags(&known, &row.tags, &Tags::new())), more)
}

fn labels_of_metric(own: &MetricRow, more: &[(&str, &str)]) -> String {
    let known = [("kind", own.kind.as_str()), ("scenario", &own.scenario), ("name", &own.name)];
    braced(&labels(&series_tags(&known, &own.tags, &Tags::new())), more)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_differ_by_tags_alone_are_series_of_their_own() {
        let row = |value: &str| {
            let tags = [("team-x", value), ("status", "gold")];
            let tags = tags.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
            labels_of(&Row { tags, ..Row::default() }, &[("status", "200")])
        };
        assert!(
            row("a").ends_with("tag_status=\"gold\",team_x=\"a\",status=\"200\"}"),
            "{}",
            row("a")
        );
        assert_ne!(row("a"), row("b"));
    }

    #[test]
    fn a_group_whose_name_looks_like_a_path_is_a_series_of_its_own() {
        let row = |groups: &[&str]| {
            let group = groups.iter().map(|group| (*group).to_owned()).collect();
            labels_of(&Row { group, ..Row::default() }, &[])
        };
        assert_ne!(row(&["g / h"]), row(&["g", "h"]));
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
            format!("squall_metric_{name}{{kind=\"{kind}\",name=\"paid\"{more}}} {value}")
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
