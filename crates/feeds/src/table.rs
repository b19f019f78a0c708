//! What feeds send: each measurement with its tags and fields, from which both points and the documentation are made.
//! Names are those of `run.json`. Pure.

use std::fmt::Write as _;

use squall_metrics::{
    CheckCounts, Counters, Histogram, MetricKind, MetricStats, ROW_COUNTS, RequestStats, RowKind,
    THOUSANDTHS,
};

use crate::timeline::USERS;

/// The value of a field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// A number of things in a second: those of all seconds add up to the number in `run.json`.
    Sum(u64),
    /// The same of what has fractions.
    Amount(f64),
    /// How high something was in a second. Such numbers do not add up.
    Level(f64),
}

/// A field of a measurement whose numbers are in a `T`.
pub struct Field<T: 'static> {
    pub name: &'static str,
    /// Its unit, in words.
    unit: &'static str,
    about: &'static str,
    /// Its value in a second; `None`: it has none.
    pub of: fn(&T) -> Option<Number>,
}

/// The measurement in which rows of a kind are.
pub fn measurement(kind: RowKind) -> &'static str {
    match kind {
        RowKind::Request | RowKind::Program | RowKind::Resource => "squall_requests",
        RowKind::Group => "squall_groups",
        RowKind::Iteration => "squall_iterations",
        RowKind::Check => CHECKS,
    }
}

pub const CHECKS: &str = "squall_checks";
/// Where errors are by kind, and why requests were not sent.
pub const ERRORS: &str = "squall_errors";
/// Where responses are by status.
pub const RESPONSES: &str = "squall_responses";
/// Where metrics of the plan and of monitors are.
pub const METRICS: &str = "squall_metrics";
/// Where counters of the run are.
pub const LOAD: &str = "squall_load";

/// The field of measurements that only count.
pub const COUNT: &str = "count";

const fn field<T>(
    name: &'static str,
    unit: &'static str,
    about: &'static str,
    of: fn(&T) -> Option<Number>,
) -> Field<T> {
    Field { name, unit, about, of }
}

/// The times of requests, groups and iterations; their other fields are [`ROW_COUNTS`].
pub const ROW_TIMES: [Field<RequestStats>; 10] = [
    field(
        "latency_mean_us",
        "µs",
        "Mean latency of complete responses. The percentiles are of the same responses.",
        |row| mean(&row.latency),
    ),
    field("latency_p50_us", "µs", "Median.", |row| percentile(&row.latency, 50.0)),
    field("latency_p90_us", "µs", "90th percentile.", |row| percentile(&row.latency, 90.0)),
    field("latency_p95_us", "µs", "95th percentile.", |row| percentile(&row.latency, 95.0)),
    field("latency_p99_us", "µs", "99th percentile.", |row| percentile(&row.latency, 99.0)),
    field("latency_max_us", "µs", "Maximum.", |row| percentile(&row.latency, 100.0)),
    field(
        "corrected_latency_p50_us",
        "µs",
        "Median of the corrected latency. Only loads with a schedule have it.",
        |row| percentile(&row.corrected_latency, 50.0),
    ),
    field("corrected_latency_p95_us", "µs", "95th percentile.", |row| {
        percentile(&row.corrected_latency, 95.0)
    }),
    field("corrected_latency_p99_us", "µs", "99th percentile.", |row| {
        percentile(&row.corrected_latency, 99.0)
    }),
    field("corrected_latency_max_us", "µs", "Maximum.", |row| {
        percentile(&row.corrected_latency, 100.0)
    }),
];

/// The fields of checks.
pub const CHECK: [Field<CheckCounts>; 3] = [
    field("passed", "number", "How often it passed.", |own| Some(Number::Sum(own.passed))),
    field("failed", "number", "How often it failed.", |own| Some(Number::Sum(own.failed))),
    field(
        "warned",
        "number",
        "How often it failed although its failure is only a warning.",
        |own| Some(Number::Sum(own.warned)),
    ),
];

/// How many values a metric of any kind has recorded.
const VALUES: Field<MetricStats> =
    field(COUNT, "number", "How many values were recorded.", |own| Some(Number::Sum(own.count)));
/// A metric's values are in the unit in which the plan records them.
const OWN: &str = "the plan's";

const COUNTER: [Field<MetricStats>; 2] = [
    VALUES,
    field("sum", OWN, "Of a counter: the sum of the values.", |own| {
        Some(Number::Amount(own.sum()))
    }),
];
const GAUGE: [Field<MetricStats>; 4] = [
    VALUES,
    field("last", OWN, "Of a gauge: the last value.", |own| Some(Number::Level(own.gauge()?.last))),
    field("min", OWN, "Of a gauge: the smallest value.", |own| {
        Some(Number::Level(own.gauge()?.min))
    }),
    field("max", OWN, "Of a gauge or a trend: the largest value.", |own| {
        Some(Number::Level(own.gauge()?.max))
    }),
];
const RATE: [Field<MetricStats>; 2] = [
    VALUES,
    field("trues", "number", "Of a rate: how many values were true.", |own| {
        Some(Number::Sum(own.trues))
    }),
];
const TREND: [Field<MetricStats>; 7] = [
    VALUES,
    field("mean", OWN, "Of a trend: the mean.", |own| thousandths(mean(&own.trend))),
    field("p50", OWN, "Median.", |own| thousandths(percentile(&own.trend, 50.0))),
    field("p90", OWN, "90th percentile.", |own| thousandths(percentile(&own.trend, 90.0))),
    field("p95", OWN, "95th percentile.", |own| thousandths(percentile(&own.trend, 95.0))),
    field("p99", OWN, "99th percentile.", |own| thousandths(percentile(&own.trend, 99.0))),
    field("max", OWN, "Maximum.", |own| thousandths(percentile(&own.trend, 100.0))),
];

/// The fields of a metric of the plan or of a monitor.
pub fn metric(kind: MetricKind) -> &'static [Field<MetricStats>] {
    match kind {
        MetricKind::Counter => &COUNTER,
        MetricKind::Gauge => &GAUGE,
        MetricKind::Rate => &RATE,
        MetricKind::Trend => &TREND,
    }
}

/// A level that is kept in thousandths.
fn thousandths(level: Option<Number>) -> Option<Number> {
    level.map(|number| match number {
        Number::Level(level) => Number::Level(level / THOUSANDTHS),
        other => other,
    })
}

/// The fields of the run's counters, by name.
pub fn load(counters: &Counters) -> Vec<(&'static str, Number)> {
    let number = |(name, count): (&'static str, u64)| match name {
        USERS => (name, Number::Level(count as f64)),
        _ => (name, Number::Sum(count)),
    };
    counters.named().map(number).collect()
}

fn mean(latency: &Histogram) -> Option<Number> {
    (!latency.is_empty()).then(|| Number::Level(latency.mean()))
}

fn percentile(latency: &Histogram, p: f64) -> Option<Number> {
    (!latency.is_empty()).then(|| Number::Level(latency.percentile(p) as f64))
}

/// What feeds send as tables in Markdown, which `docs/feeds.md` holds.
pub fn reference() -> String {
    let mut out = String::new();
    let rows = "`kind`, `scenario`, `group`, `name`, and the tags of the row";
    let names = [RowKind::Request, RowKind::Group, RowKind::Iteration].map(measurement);
    let about = "Requests, resources and programs; passes of groups; iterations";
    head(&mut out, &names.join("`, `"), about, rows);
    let counts = ROW_COUNTS.iter().map(|own| (own.name, own.unit.label(), own.about));
    table(&mut out, counts.chain(said(&ROW_TIMES)));
    head(&mut out, CHECKS, "Results of checks", rows);
    table(&mut out, said(&CHECK));
    let more = [
        (
            ERRORS,
            "Errors by kind, and why requests were not sent",
            "`error`, the kind",
            "Errors of this kind, or requests that were not sent because of it.",
        ),
        (RESPONSES, "Responses by status", "`status`, the code", "Responses with this status."),
    ];
    for (name, about, tag, counted) in more {
        head(&mut out, name, about, &format!("{rows}; {tag}"));
        table(&mut out, [(COUNT, "number", counted)]);
    }
    let about =
        "Metrics over time of the plan and of monitors, in seconds in which something was recorded";
    let tags =
        "`kind` (`counter`, `gauge`, `rate`, `trend`), `scenario`, `name`, and those of the metric";
    head(&mut out, METRICS, about, tags);
    // Fields that several kinds have are said once.
    let mut fields: Vec<&Field<MetricStats>> = Vec::new();
    for own in MetricKind::NAMES.iter().flat_map(|(_, kind)| metric(*kind)) {
        if !fields.iter().any(|other| other.name == own.name) {
            fields.push(own);
        }
    }
    table(&mut out, said(fields));
    let about = "Counters of the run. The fields are those of `counters` in run.json";
    head(&mut out, LOAD, about, "only your own");
    let names: Vec<String> =
        load(&Counters::default()).iter().map(|(name, _)| format!("`{name}`")).collect();
    let _ = writeln!(out, "{}", names.join(", "));
    out
}

fn head(out: &mut String, name: &str, about: &str, tags: &str) {
    let gap = if out.is_empty() { "" } else { "\n" };
    let _ = writeln!(out, "{gap}**`{name}`**: {about}. Tags: {tags}.\n");
}

/// What is said of fields: name, unit, and what it is.
type Said = (&'static str, &'static str, &'static str);

fn said<'f, T: 'static>(
    fields: impl IntoIterator<Item = &'f Field<T>>,
) -> impl Iterator<Item = Said> {
    fields.into_iter().map(|own| (own.name, own.unit, own.about))
}

fn table(out: &mut String, fields: impl IntoIterator<Item = Said>) {
    out.push_str("| field | unit | what it is |\n| --- | --- | --- |\n");
    for (name, unit, about) in fields {
        let _ = writeln!(out, "| `{name}` | {unit} | {about} |");
    }
}
