//! What feeds that keep running totals send (Prometheus, OpenTelemetry): everything since the start of the load, in families of
//! series whose names are those of the result as OpenMetrics. Pure.

use std::fmt::Write as _;

use squall_metrics::{
    ErrorKind, Histogram, MetricStats, ROW_COUNTS, RequestStats, RowCount, RowKey, THOUSANDTHS,
    Unit,
};
use squall_report::families::{
    CHECKS, CORRECTED_LATENCY, ERRORS_BY_KIND, FamilyKind, FamilyName, LATENCY, METRIC_FAMILIES,
    MetricFamily, MetricPart, Tags,
};

use crate::points::{metric_tags, tags};
use crate::timeline::{SentSecond, USERS};

/// Series of one name.
#[derive(Debug)]
pub struct Family<'a> {
    /// Its name; that of a sum without `_total`.
    pub name: String,
    /// What its numbers are.
    pub kind: FamilyKind,
    /// `s`, `By`, or empty: a number of things, or the unit in which a metric is recorded.
    pub unit: &'static str,
    /// What it is, in a sentence.
    pub help: &'static str,
    /// Its series. No two have the same tags.
    pub series: Vec<(Tags, SeriesValue<'a>)>,
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

/// What one step of a histogram is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resolution {
    /// A microsecond, of a family in seconds.
    Microsecond,
    /// A thousandth of the family's unit.
    Thousandth,
}

impl Resolution {
    /// How many make one of the family's unit.
    pub fn per_unit(self) -> f64 {
        match self {
            Resolution::Microsecond => 1e6,
            Resolution::Thousandth => THOUSANDTHS,
        }
    }
}

/// The value of a series.
#[derive(Debug, Clone, Copy)]
pub enum SeriesValue<'a> {
    /// A number of things.
    Number(u64),
    /// A number with fractions.
    Amount(f64),
    /// A distribution of values that are counted in such steps.
    Distribution(&'a Histogram, Resolution),
}

/// A family of rows, and the value of a row; `None`: it has none.
type OfRow = (FamilyName, fn(&RequestStats) -> Option<SeriesValue<'_>>);

/// How long it took.
const TIMES: [OfRow; 2] = [
    (LATENCY, |row| distribution(&row.latency)),
    (CORRECTED_LATENCY, |row| distribution(&row.corrected_latency)),
];

/// Responses by the tag `status`, which the result has by row.
const RESPONSES: FamilyName =
    FamilyName { name: "squall_responses", unit: "", help: "Responses by status." };

/// What is counted by one more tag.
const COUNTED: [(FamilyName, &str); 3] =
    [(ERRORS_BY_KIND, "error"), (RESPONSES, "status"), (CHECKS, "result")];

fn of_count(own: &RowCount) -> FamilyName {
    let unit = if own.unit == Unit::Bytes { "By" } else { "" };
    FamilyName { name: own.family, unit, help: own.about }
}

fn distribution(histogram: &Histogram) -> Option<SeriesValue<'_>> {
    (!histogram.is_empty()).then_some(SeriesValue::Distribution(histogram, Resolution::Microsecond))
}

/// The families of everything since the start of the load, each series with the tester's own tags.
pub fn families<'a>(totals: &'a SentSecond, own: &Tags) -> Vec<Family<'a>> {
    let rows: Vec<(Tags, &RowKey, &RequestStats)> =
        totals.rows.iter().map(|(key, stats)| (tags(key, own), &**key, stats)).collect();
    let of_rows = |kind, (name, of): OfRow| {
        let series = rows.iter().filter_map(|(tags, _, stats)| Some((tags.clone(), of(stats)?)));
        family(name, kind, series.collect())
    };
    let sums = ROW_COUNTS.iter().map(|own| {
        let value = |stats| SeriesValue::Number((own.of)(stats));
        let series = rows.iter().map(|(tags, _, stats)| (tags.clone(), value(stats)));
        family(of_count(own), FamilyKind::Sum, series.collect())
    });
    let mut families: Vec<Family> = sums.collect();
    // Errors and statuses of a group or an iteration are those of the requests within it.
    let requests = || rows.iter().filter(|(_, key, _)| key.place.kind.is_request());
    let errors = requests().flat_map(|(tags, _, stats)| {
        let with = |(kind, count): &(ErrorKind, u64)| (kind.label().to_owned(), *count);
        counts(tags, "error", stats.error_kinds.iter().map(with).collect())
    });
    families.push(family(ERRORS_BY_KIND, FamilyKind::Sum, errors.collect()));
    let responses = requests().flat_map(|(tags, _, stats)| {
        let with = |(status, count): &(u16, u64)| (status.to_string(), *count);
        counts(tags, "status", stats.status.iter().map(with).collect())
    });
    families.push(family(RESPONSES, FamilyKind::Sum, responses.collect()));
    families.extend(TIMES.map(|own| of_rows(FamilyKind::Distribution, own)));
    let checks = totals.checks.iter().flat_map(|(key, own_counts)| {
        let results = [
            ("passed", own_counts.passed),
            ("failed", own_counts.failed),
            ("warned", own_counts.warned),
        ];
        let results = results.map(|(result, count)| (result.to_owned(), count));
        counts(&tags(key, own), "result", results.into())
    });
    families.push(family(CHECKS, FamilyKind::Sum, checks.collect()));
    families.extend(metrics(totals, own));
    families.extend(load(totals, own));
    families.retain(|family| !family.series.is_empty());
    families
}

/// What the plan records itself.
fn metrics<'a>(totals: &'a SentSecond, own: &Tags) -> Vec<Family<'a>> {
    let recorded: Vec<(Tags, &str, &MetricStats)> = totals
        .metrics
        .iter()
        .map(|(key, stats)| (metric_tags(key, own), key.kind.label(), stats))
        .collect();
    let family = |family: MetricFamily| {
        let series = recorded
            .iter()
            .filter(|(_, kind, _)| family.has(kind))
            .filter_map(|(tags, _, stats)| Some((tags.clone(), value(family.part, stats)?)));
        let MetricFamily { name, kind, help, .. } = family;
        Family { name: name.to_owned(), kind, unit: "", help, series: series.collect() }
    };
    METRIC_FAMILIES.map(family).into()
}

/// A number of a metric of the plan or of a monitor; `None`: it has none.
fn value(part: MetricPart, of: &MetricStats) -> Option<SeriesValue<'_>> {
    Some(match part {
        MetricPart::Values => SeriesValue::Number(of.count),
        MetricPart::Counter => SeriesValue::Amount(of.sum()),
        MetricPart::Trues => SeriesValue::Number(of.trues),
        MetricPart::Gauge => SeriesValue::Amount(of.gauge()?.last),
        MetricPart::GaugeMin => SeriesValue::Amount(of.gauge()?.min),
        MetricPart::GaugeMax => SeriesValue::Amount(of.gauge()?.max),
        MetricPart::Trend => SeriesValue::Distribution(&of.trend, Resolution::Thousandth),
    })
}

/// The counters of the run.
fn load<'a>(totals: &SentSecond, own: &Tags) -> Vec<Family<'a>> {
    let family = |(name, count): (&str, u64)| {
        let kind = if name == USERS { FamilyKind::Level } else { FamilyKind::Sum };
        let series = vec![(own.clone(), SeriesValue::Number(count))];
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

fn family(
    FamilyName { name, unit, help }: FamilyName,
    kind: FamilyKind,
    series: Vec<(Tags, SeriesValue<'_>)>,
) -> Family<'_> {
    Family { name: name.to_owned(), kind, unit, help, series }
}

/// A series for each value of one more tag.
fn counts<'a>(tags: &Tags, tag: &str, counts: Vec<(String, u64)>) -> Vec<(Tags, SeriesValue<'a>)> {
    let with = |(value, count)| {
        let mut tags = tags.clone();
        tags.push((tag.to_owned(), value));
        (tags, SeriesValue::Number(count))
    };
    counts.into_iter().map(with).collect()
}

/// The families of rows and metrics as a table in Markdown, which `docs/feeds.md` holds.
pub fn totals_reference() -> String {
    let mut out =
        "| name | kind | tags besides those of the row | what it is |\n| --- | --- | --- | --- |\n"
            .to_owned();
    let mut line = |name: &str, kind: &str, tag: &str, help: &str| {
        let tag = if tag.is_empty() { String::new() } else { format!("`{tag}`") };
        let _ = writeln!(out, "| `{name}` | {kind} | {tag} | {help} |");
    };
    for own in &ROW_COUNTS {
        line(&format!("{}_total", own.family), "counter", "", own.about);
    }
    for (FamilyName { name, help, .. }, tag) in COUNTED {
        line(&format!("{name}_total"), "counter", tag, help);
    }
    for (FamilyName { name, help, .. }, _) in TIMES {
        line(name, "histogram", "", help);
    }
    for MetricFamily { name, kind, help, .. } in METRIC_FAMILIES {
        match kind {
            FamilyKind::Sum => line(&format!("{name}_total"), "counter", "", help),
            FamilyKind::Level => line(name, "gauge", "", help),
            FamilyKind::Distribution => line(name, "histogram", "", help),
        }
    }
    out
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
            let one = |(tags, value): &(Tags, SeriesValue)| {
                assert_eq!(
                    tags[2..5].iter().map(|(_, value)| value.as_str()).collect::<Vec<_>>(),
                    ["paid", "x", "free"]
                );
                let number = match value {
                    SeriesValue::Number(number) => *number as f64,
                    SeriesValue::Amount(number) => *number,
                    SeriesValue::Distribution(own, step) => own.sum() / step.per_unit(),
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
            let last = |(tags, value): &(Tags, SeriesValue)| match value {
                SeriesValue::Number(number) => (tags.last().expect("a tag").1.clone(), *number),
                SeriesValue::Distribution(own, _) => {
                    (tags.last().expect("a tag").1.clone(), own.count())
                }
                SeriesValue::Amount(_) => panic!("{name} counts"),
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
}
