//! What squall's numbers are called where totals are kept: in the result as OpenMetrics, and in what is sent to Prometheus and
//! OpenTelemetry while a run goes on. Names of families, tags of series, labels; the numbers come from elsewhere.

use std::collections::BTreeMap;

use squall_metrics::MetricKind;
use squall_plan::feed_target::{TAGS_TAKEN, untaken};

/// Series of one name, of rows or checks.
#[derive(Debug, Clone, Copy)]
pub struct FamilyName {
    /// Its name; that of a sum without `_total`.
    pub name: &'static str,
    /// `s`, `By`, or empty: a number of things.
    pub unit: &'static str,
    /// What it is, in a sentence.
    pub help: &'static str,
}

const fn family(name: &'static str, unit: &'static str, help: &'static str) -> FamilyName {
    FamilyName { name, unit, help }
}

/// Errors, and requests that were not sent, by the tag `error`.
pub const ERRORS_BY_KIND: FamilyName =
    family("squall_errors_by_kind", "", "Errors by kind, and why requests were not sent.");
pub const LATENCY: FamilyName =
    family("squall_latency_seconds", "s", "Latency of complete responses.");
pub const CORRECTED_LATENCY: FamilyName = family(
    "squall_corrected_latency_seconds",
    "s",
    "Latency from when a request should have been sent.",
);
/// Checks by the tag `result`.
pub const CHECKS: FamilyName = family("squall_checks", "", "Results of checks.");

/// What the numbers of a family are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FamilyKind {
    Sum,
    /// How high something is.
    Level,
    Distribution,
}

/// Series of one name, of metrics of the plan and of monitors, in the units in which they are recorded.
#[derive(Debug, Clone, Copy)]
pub struct MetricFamily {
    /// Which number it has of each.
    pub part: MetricPart,
    /// Its name; that of a sum without `_total`.
    pub name: &'static str,
    /// What its numbers are.
    pub kind: FamilyKind,
    /// Of metrics of which kind; `None`: of all.
    pub of: Option<MetricKind>,
    /// What it is, in a sentence.
    pub help: &'static str,
}

impl MetricFamily {
    /// Whether metrics of a kind, by its label, are in it.
    pub fn has(&self, kind: &str) -> bool {
        self.of.is_none_or(|own| own.label() == kind)
    }
}

/// Defines [`MetricPart`] and the families, a row for each.
macro_rules! metric_families {
    ($($part:ident: $name:literal, $kind:ident, $of:expr, $help:literal;)*) => {
        /// Which number of a metric over time.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum MetricPart { $(#[doc = $help] $part,)* }

        /// The families of metrics over time.
        pub const METRIC_FAMILIES: [MetricFamily; 7] = [$(MetricFamily {
            part: MetricPart::$part,
            name: $name,
            kind: FamilyKind::$kind,
            of: $of,
            help: $help,
        },)*];
    };
}

metric_families! {
    Values: "squall_metric_values", Sum, None, "How many values a metric has recorded.";
    Counter: "squall_metric_counter", Sum, Some(MetricKind::Counter), "Of a counter: the sum of the values.";
    Trues: "squall_metric_trues", Sum, Some(MetricKind::Rate), "Of a rate: how many values were true.";
    Gauge: "squall_metric_gauge", Level, Some(MetricKind::Gauge), "Of a gauge: the last value.";
    GaugeMin: "squall_metric_gauge_min", Level, Some(MetricKind::Gauge), "Of a gauge: the smallest value.";
    GaugeMax: "squall_metric_gauge_max", Level, Some(MetricKind::Gauge), "Of a gauge: the largest value.";
    Trend: "squall_metric_trend", Distribution, Some(MetricKind::Trend), "Of a trend: the distribution of the values.";
}

/// Tags with their values. None is empty.
pub type Tags = Vec<(String, String)>;

/// The tags of a series: those that squall gives, the plan's, and the tester's own. Where two have one name the first
/// holds; those of the plan that have a name which squall gives itself become `tag_NAME`, so that no two rows are one
/// series.
pub fn series_tags<'t>(
    known: &[(&str, &str)],
    of_plan: impl IntoIterator<Item = (&'t String, &'t String)>,
    own: &Tags,
) -> Tags {
    let known = known.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let of_plan: Vec<(&String, &String)> = of_plan.into_iter().collect();
    let is_another = |own: &str, name: &str| {
        own != name && of_plan.iter().any(|(other, _)| other.as_str() == own)
    };
    let of_plan = of_plan.iter().map(|(name, value)| {
        let is_taken = |own: &str| TAGS_TAKEN.contains(&own) || is_another(own, name);
        (untaken(name, is_taken), (*value).clone())
    });
    let mut tags = Tags::new();
    for (name, value) in known.chain(of_plan).chain(own.iter().cloned()) {
        if !value.is_empty() && !tags.iter().any(|(other, _)| *other == name) {
            tags.push((name, value));
        }
    }
    tags
}

/// Tags as Prometheus has labels, in the order of their names. Where two have one name then, the first holds.
pub fn labels(tags: &Tags) -> BTreeMap<String, String> {
    let mut labels = BTreeMap::new();
    for (name, value) in tags {
        labels.entry(label_name(name)).or_insert_with(|| value.clone());
    }
    labels
}

/// Labels as they stand behind a name in OpenMetrics and in the older text format of Prometheus, with more of them that
/// squall gives.
pub fn braced(labels: &BTreeMap<String, String>, more: &[(&str, &str)]) -> String {
    let own = labels.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let all = own.chain(more.iter().copied());
    let parts: Vec<String> =
        all.map(|(name, value)| format!("{name}=\"{}\"", label_value(value))).collect();
    if parts.is_empty() { String::new() } else { format!("{{{}}}", parts.join(",")) }
}

/// The name of a label as Prometheus allows it: letters, digits and underscores, and no two underscores in front.
fn label_name(name: &str) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = name.chars().map(allowed).collect();
    match name.starts_with("__") || name.starts_with(|c: char| c.is_ascii_digit()) {
        true => format!("tag_{}", name.trim_start_matches('_')),
        false => name,
    }
}

/// The value of a label, as it stands between quotes.
fn label_value(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(tags: &[(&str, &str)]) -> Tags {
        tags.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn labels_are_what_prometheus_takes() {
        let tags = pairs(&[("b-c", "1"), ("b_c", "2"), ("1a", "3"), ("__x", "4"), ("ä", "5")]);
        let labels: Vec<String> =
            labels(&tags).into_iter().map(|(name, value)| name + "=" + &value).collect();
        assert_eq!(labels, ["_=5", "b_c=1", "tag_1a=3", "tag_x=4"]);
    }

    #[test]
    fn labels_are_one_line() {
        let own = labels(&pairs(&[("name", "a \"b\"\n\\"), ("kind", "request")]));
        assert_eq!(
            braced(&own, &[("le", "1")]),
            "{kind=\"request\",name=\"a \\\"b\\\"\\n\\\\\",le=\"1\"}"
        );
        assert_eq!(braced(&BTreeMap::new(), &[]), "");
    }

    #[test]
    fn a_tag_has_one_value_and_none_is_squalls_own() {
        let of_plan: BTreeMap<String, String> =
            pairs(&[("status", "gold"), ("team", "x")]).into_iter().collect();
        let own = pairs(&[("team", "y"), ("env", "ci")]);
        let tags = series_tags(&[("name", "a"), ("group", "")], &of_plan, &own);
        let wanted = [("name", "a"), ("tag_status", "gold"), ("team", "x"), ("env", "ci")];
        assert_eq!(tags, pairs(&wanted), "what is empty is left out");
        let both: BTreeMap<String, String> =
            pairs(&[("status", "gold"), ("tag_status", "new")]).into_iter().collect();
        let tags = series_tags(&[], &both, &Tags::new());
        assert_eq!(tags, pairs(&[("tag_tag_status", "gold"), ("tag_status", "new")]));
    }
}
