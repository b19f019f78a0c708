//! What feeds that keep running totals send (Prometheus, OpenTelemetry): everything since the start of the load, in families of
//! series whose names are those of the result as OpenMetrics. Pure.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use squall_metrics::{
    ErrorKind, Histogram, MetricKind, MetricStats, RequestStats, RowKey, THOUSANDTHS,
};

use squall_report::label_name;

use crate::points::{Tags, metric_tags, tags};
use crate::timeline::{SentSecond, USERS};

/// Series of one name.
#[derive(Debug)]
pub struct Family<'a> {
    /// Its name; that of a sum without `_total`.
    pub name: String,
    /// What its numbers are.
    pub kind: FamilyKind,
    /// `s`, `By`, or empty: a number of things, or the unit of the plan's own metrics.
    pub unit: &'static str,
    /// What it is, in a sentence.
    pub help: &'static str,
    /// Its series. No two have the same tags.
    pub series: Vec<(Tags, Value<'a>)>,
}

impl Family<'_> {
    /// Its name as Prometheus has it: sums end with `_total`.
    pub fn full_name(&self) -> String {
        match self.kind {
            FamilyKind::Sum => format!("{}_total", self.name),
            FamilyKind::Level | FamilyKind::Distribution => self.name.clone(),
        }
    }
}

/// What the numbers of a family are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FamilyKind {
    /// They only grow.
    Sum,
    /// How high something is.
    Level,
    /// Distributions of values.
    Distribution,
}

/// What one step of a histogram is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// A microsecond, of a family in seconds.
    Microsecond,
    /// A thousandth of the family's unit.
    Thousandth,
}

impl Step {
    /// How many make one of the family's unit.
    pub fn per_unit(self) -> f64 {
        match self {
            Step::Microsecond => 1e6,
            Step::Thousandth => THOUSANDTHS,
        }
    }
}

/// The value of a series.
#[derive(Debug, Clone, Copy)]
pub enum Value<'a> {
    /// A number of things.
    Number(u64),
    /// A number with fractions.
    Amount(f64),
    /// A distribution of values that are counted in such steps.
    Distribution(&'a Histogram, Step),
}

/// A family of rows: its name, unit and help, and the value of a row; `None`: it has none.
type OfRow = (&'static str, &'static str, &'static str, fn(&RequestStats) -> Option<Value<'_>>);

/// What is counted of rows.
const SUMS: [OfRow; 4] = [
    ("squall_requests", "", "What has ended, by row.", |row| Some(Value::Number(row.count))),
    ("squall_errors", "", "How many of these were errors.", |row| Some(Value::Number(row.errors))),
    ("squall_received_bytes", "By", "Bytes received.", |row| Some(Value::Number(row.bytes_in))),
    ("squall_sent_bytes", "By", "Bytes sent.", |row| Some(Value::Number(row.bytes_out))),
];

/// How long it took.
const TIMES: [OfRow; 2] = [
    ("squall_latency_seconds", "s", "Latency of complete responses.", |row| some(&row.latency)),
    (
        "squall_corrected_latency_seconds",
        "s",
        "Latency from when a request should have been sent.",
        |row| some(&row.corrected_latency),
    ),
];

/// What is counted by one more tag: name, tag, help.
const ERRORS: Counted = ("squall_errors_by_kind", "error", "Errors by kind.");
const RESPONSES: Counted = ("squall_responses", "status", "Responses by status.");
const CHECKS: Counted = ("squall_checks", "result", "What checks came to.");

type Counted = (&'static str, &'static str, &'static str);

fn some(histogram: &Histogram) -> Option<Value<'_>> {
    (!histogram.is_empty()).then_some(Value::Distribution(histogram, Step::Microsecond))
}

/// A family of the plan's own metrics, which has the values of one kind, or of all: name, what its numbers are, the kind,
/// help, and the value of a metric.
type OfMetric = (
    &'static str,
    FamilyKind,
    Option<MetricKind>,
    &'static str,
    fn(&MetricStats) -> Option<Value<'_>>,
);

/// The plan's own metrics, in the units in which the plan records them.
const METRICS: [OfMetric; 7] = [
    (
        "squall_metric_values",
        FamilyKind::Sum,
        None,
        "How many values a metric of the plan has recorded.",
        |own| Some(Value::Number(own.count)),
    ),
    (
        "squall_metric_counter",
        FamilyKind::Sum,
        Some(MetricKind::Counter),
        "Of a counter: their sum.",
        |own| Some(Value::Amount(own.sum())),
    ),
    (
        "squall_metric_trues",
        FamilyKind::Sum,
        Some(MetricKind::Rate),
        "Of a rate: how many were true.",
        |own| Some(Value::Number(own.trues)),
    ),
    (
        "squall_metric_gauge",
        FamilyKind::Level,
        Some(MetricKind::Gauge),
        "Of a gauge: the last one.",
        |own| Some(Value::Amount(own.gauge()?.last)),
    ),
    (
        "squall_metric_gauge_min",
        FamilyKind::Level,
        Some(MetricKind::Gauge),
        "Of a gauge: the smallest one.",
        |own| Some(Value::Amount(own.gauge()?.min)),
    ),
    (
        "squall_metric_gauge_max",
        FamilyKind::Level,
        Some(MetricKind::Gauge),
        "Of a gauge: the largest one.",
        |own| Some(Value::Amount(own.gauge()?.max)),
    ),
    (
        "squall_metric_trend",
        FamilyKind::Distribution,
        Some(MetricKind::Trend),
        "Of a trend: their distribution.",
        |own| Some(Value::Distribution(&own.trend, Step::Thousandth)),
    ),
];

/// The families of everything since the start of the load, each series with the tester's own tags.
pub fn families<'a>(totals: &'a SentSecond, own: &Tags) -> Vec<Family<'a>> {
    let rows: Vec<(Tags, &RowKey, &RequestStats)> =
        totals.rows.iter().map(|(key, stats)| (tags(key, own), &**key, stats)).collect();
    let of_rows = |kind, (name, unit, help, of): OfRow| {
        let series = rows.iter().filter_map(|(tags, _, stats)| Some((tags.clone(), of(stats)?)));
        Family { name: name.to_owned(), kind, unit, help, series: series.collect() }
    };
    let mut families: Vec<Family> =
        SUMS.into_iter().map(|own| of_rows(FamilyKind::Sum, own)).collect();
    // Errors and statuses of a group or an iteration are those of the requests within it.
    let requests = || rows.iter().filter(|(_, key, _)| key.place.kind.is_request());
    let errors = requests().flat_map(|(tags, _, stats)| {
        let with = |(kind, count): &(ErrorKind, u64)| (kind.label().to_owned(), *count);
        counts(tags, ERRORS.1, stats.error_kinds.iter().map(with).collect())
    });
    families.push(sum(ERRORS, errors.collect()));
    let responses = requests().flat_map(|(tags, _, stats)| {
        let with = |(status, count): &(u16, u64)| (status.to_string(), *count);
        counts(tags, RESPONSES.1, stats.status.iter().map(with).collect())
    });
    families.push(sum(RESPONSES, responses.collect()));
    families.extend(TIMES.map(|own| of_rows(FamilyKind::Distribution, own)));
    let checks = totals.checks.iter().flat_map(|(key, own_counts)| {
        let results = [
            ("passed", own_counts.passed),
            ("failed", own_counts.failed),
            ("warned", own_counts.warned),
        ];
        let results = results.map(|(result, count)| (result.to_owned(), count));
        counts(&tags(key, own), CHECKS.1, results.into())
    });
    families.push(sum(CHECKS, checks.collect()));
    families.extend(metrics(totals, own));
    families.extend(load(totals, own));
    families.retain(|family| !family.series.is_empty());
    families
}

/// What the plan records itself.
fn metrics<'a>(totals: &'a SentSecond, own: &Tags) -> Vec<Family<'a>> {
    let recorded: Vec<(Tags, MetricKind, &MetricStats)> = totals
        .metrics
        .iter()
        .map(|(key, stats)| (metric_tags(key, own), key.kind, stats))
        .collect();
    let family = |(name, kind, of_kind, help, of): OfMetric| {
        let series = recorded
            .iter()
            .filter(|(_, own, _)| of_kind.is_none_or(|wanted| wanted == *own))
            .filter_map(|(tags, _, stats)| Some((tags.clone(), of(stats)?)));
        Family { name: name.to_owned(), kind, unit: "", help, series: series.collect() }
    };
    METRICS.map(family).into()
}

/// The counters of the run.
fn load<'a>(totals: &SentSecond, own: &Tags) -> Vec<Family<'a>> {
    let family = |(name, count): (&str, u64)| {
        let kind = if name == USERS { FamilyKind::Level } else { FamilyKind::Sum };
        let series = vec![(own.clone(), Value::Number(count))];
        Family {
            name: format!("squall_{name}"),
            kind,
            unit: "",
            help: "A counter of run.json.",
            series,
        }
    };
    totals.counters.named().map(family).collect()
}

fn sum<'a>((name, _, help): Counted, series: Vec<(Tags, Value<'a>)>) -> Family<'a> {
    Family { name: name.to_owned(), kind: FamilyKind::Sum, unit: "", help, series }
}

/// A series for each value of one more tag.
fn counts<'a>(tags: &Tags, tag: &str, counts: Vec<(String, u64)>) -> Vec<(Tags, Value<'a>)> {
    let with = |(value, count)| {
        let mut tags = tags.clone();
        tags.push((tag.to_owned(), value));
        (tags, Value::Number(count))
    };
    counts.into_iter().map(with).collect()
}

/// The families of rows and of the plan's own metrics as a table in Markdown, which `docs/feeds.md` holds.
pub fn totals_reference() -> String {
    let mut out =
        "| name | kind | tags besides those of the row | what it is |\n| --- | --- | --- | --- |\n"
            .to_owned();
    let mut line = |name: &str, kind: &str, tag: &str, help: &str| {
        let tag = if tag.is_empty() { String::new() } else { format!("`{tag}`") };
        let _ = writeln!(out, "| `{name}` | {kind} | {tag} | {help} |");
    };
    for (name, _, help, _) in SUMS {
        line(&format!("{name}_total"), "counter", "", help);
    }
    for (name, tag, help) in [ERRORS, RESPONSES, CHECKS] {
        line(&format!("{name}_total"), "counter", tag, help);
    }
    for (name, _, help, _) in TIMES {
        line(name, "histogram", "", help);
    }
    for (name, kind, _, help, _) in METRICS {
        match kind {
            FamilyKind::Sum => line(&format!("{name}_total"), "counter", "", help),
            FamilyKind::Level => line(name, "gauge", "", help),
            FamilyKind::Distribution => line(name, "histogram", "", help),
        }
    }
    out
}

/// Tags as Prometheus has labels, in the order of their names. Where two have one name then, the first holds.
pub fn labels(tags: &Tags) -> BTreeMap<String, String> {
    let mut labels = BTreeMap::new();
    for (name, value) in tags {
        labels.entry(label_name(name)).or_insert_with(|| value.clone());
    }
    labels
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::tests::{example, recorded};

    #[test]
    fn a_metric_of_the_plan_has_the_families_of_its_kind() {
        let mut totals = SentSecond::default();
        totals.go_on(&recorded());
        totals.go_on(&recorded());
        let all = families(&totals, &vec![("env".to_owned(), "test".to_owned())]);
        let of = |name: &str| {
            let family = all.iter().find(|family| family.name == name).expect(name);
            let one = |(tags, value): &(Tags, Value)| {
                assert_eq!(
                    tags[2..5].iter().map(|(_, value)| value.as_str()).collect::<Vec<_>>(),
                    ["paid", "x", "free"]
                );
                let number = match value {
                    Value::Number(number) => *number as f64,
                    Value::Amount(number) => *number,
                    Value::Distribution(own, step) => own.sum() / step.per_unit(),
                };
                (tags[0].1.clone(), number)
            };
            let series: Vec<(String, f64)> = family.series.iter().map(one).collect();
            (family.full_name(), series)
        };
        let wanted = |name: &str, of: &[(&str, f64)]| {
            let of = of.iter().map(|(kind, number)| ((*kind).to_owned(), *number));
            (name.to_owned(), of.collect::<Vec<_>>())
        };
        let counted = [("counter", 6.0), ("gauge", 6.0), ("rate", 6.0), ("trend", 6.0)];
        assert_eq!(of("squall_metric_values"), wanted("squall_metric_values_total", &counted));
        let sum = wanted("squall_metric_counter_total", &[("counter", 11.0)]);
        assert_eq!(of("squall_metric_counter"), sum);
        assert_eq!(
            of("squall_metric_trues"),
            wanted("squall_metric_trues_total", &[("rate", 4.0)])
        );
        for (name, level) in [("", 4.0), ("_min", 0.0), ("_max", 4.0)] {
            let name = format!("squall_metric_gauge{name}");
            assert_eq!(of(&name), wanted(&name, &[("gauge", level)]));
        }
        assert_eq!(of("squall_metric_trend"), wanted("squall_metric_trend", &[("trend", 11.0)]));
    }

    #[test]
    fn totals_are_families_with_the_names_of_the_result_as_openmetrics() {
        let mut totals = SentSecond::default();
        totals.go_on(&example());
        totals.go_on(&example());
        let all = families(&totals, &vec![("env".to_owned(), "a".to_owned())]);
        let sums = |name: &str| -> Vec<(String, u64)> {
            let family = all.iter().find(|family| family.name == name).expect(name);
            let last = |(tags, value): &(Tags, Value)| match value {
                Value::Number(number) => (tags.last().expect("a tag").1.clone(), *number),
                Value::Distribution(own, _) => (tags.last().expect("a tag").1.clone(), own.count()),
                Value::Amount(_) => panic!("{name} counts"),
            };
            family.series.iter().map(last).collect()
        };
        let one = |value: &str, number| (value.to_owned(), number);
        assert_eq!(sums("squall_requests"), [one("a", 6)]);
        assert_eq!(sums("squall_received_bytes"), [one("a", 140)]);
        assert_eq!(sums("squall_errors_by_kind"), [one("status", 2)]);
        assert_eq!(sums("squall_responses"), [one("200", 4), one("500", 2)]);
        assert_eq!(sums("squall_latency_seconds"), [one("a", 6)]);
        assert_eq!(sums("squall_checks"), [one("passed", 4), one("failed", 2), one("warned", 0)]);
        assert_eq!(sums("squall_users_active"), [one("a", 6)], "a level does not add up");
        assert!(
            !all.iter().any(|family| family.name.contains("corrected")),
            "there is no schedule"
        );
    }

    #[test]
    fn labels_are_what_prometheus_takes() {
        let tags = [("b-c", "1"), ("b_c", "2"), ("1a", "3"), ("__x", "4"), ("ä", "5")];
        let tags = tags.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let labels: Vec<String> =
            labels(&tags).into_iter().map(|(name, value)| name + "=" + &value).collect();
        assert_eq!(labels, ["_=5", "b_c=1", "tag_1a=3", "tag_x=4"]);
    }
}
