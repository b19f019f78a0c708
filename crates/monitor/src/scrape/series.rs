//! What becomes of a text of series: those that are chosen, counters as rates, histograms as percentiles. Pure.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use squall_base::units::{count, counted};
use squall_plan::SeriesSelector;

use super::histogram::{Buckets, Histograms, QUANTILES};
use super::text::{Line, Sample, SeriesKind, labels, line};
use crate::rates::Rates;
use crate::samples::Samples;

/// Most values of a sample.
pub(super) const MAX_VALUES: usize = 900;
/// Most series that are remembered; beyond them all are forgotten, and looked at anew.
const MAX_KNOWN: usize = 50_000;
/// Longest part of a broken line that is shown.
const MAX_SHOWN: usize = 60;

type Labels = Vec<(String, String)>;

/// Takes what is chosen from texts that come one after another.
#[derive(Debug, Default)]
pub(crate) struct SeriesReader {
    /// None: all are chosen.
    selectors: Vec<SeriesSelector>,
    /// Series that were seen, as they are written; `None`: it is not chosen, or its labels are broken.
    known: HashMap<String, Option<Role>>,
    rates: Rates<String>,
    histograms: Histograms,
    broken: u64,
    /// The first broken line.
    first_broken: String,
    /// How many values the last text had that were too many.
    left_out: usize,
}

/// What is made of a series.
#[derive(Debug, Clone)]
enum Role {
    /// Its value as it is.
    Value(Labels),
    /// How fast it grows.
    Rate(Labels),
    /// A part of a histogram, with the labels of that, and its upper bound.
    Bucket { histogram: String, bound: f64 },
}

impl SeriesReader {
    /// Takes those that any of these selects; all, if there are none.
    pub(crate) fn new(selectors: Vec<SeriesSelector>) -> SeriesReader {
        SeriesReader { selectors, ..SeriesReader::default() }
    }

    /// The names that are chosen; none if all are.
    pub(crate) fn chosen(&self) -> Vec<String> {
        self.selectors.iter().map(|own| own.name().to_owned()).collect()
    }

    /// Puts what is chosen of a text.
    pub(crate) fn put(&mut self, text: &str, now: Duration, into: &mut Samples) {
        if self.known.len() > MAX_KNOWN {
            self.known.clear();
        }
        let mut types: HashMap<&str, SeriesKind> = HashMap::new();
        let mut histograms: HashMap<String, Buckets> = HashMap::new();
        let mut bounded = Bounded { into, values: 0, left_out: 0 };
        for text in text.lines() {
            let sample = match line(text) {
                Line::Type { family, kind } => {
                    types.insert(family, kind);
                    continue;
                }
                Line::Nothing => continue,
                Line::Broken => {
                    self.note_broken(text);
                    continue;
                }
                Line::Sample(sample) => sample,
            };
            if !self.known.contains_key(sample.series) {
                if labels(sample.labels).is_none() {
                    self.note_broken(text);
                }
                let role = self.role(&sample, &types);
                self.known.insert(sample.series.to_owned(), role);
            }
            let Some(Some(role)) = self.known.get(sample.series) else { continue };
            let (labels, value) = match role {
                Role::Value(labels) => (labels, Some(sample.value)),
                Role::Rate(labels) => {
                    (labels, self.rates.of(sample.series.to_owned(), sample.value, now))
                }
                Role::Bucket { histogram, bound } => {
                    histograms.entry(histogram.clone()).or_default().push((*bound, sample.value));
                    continue;
                }
            };
            if let Some(value) = value {
                bounded.put(sample.name, labels.clone(), value);
            }
        }
        self.rates.forget_all_but(now);
        for (histogram, percentiles) in self.histograms.percentiles(histograms) {
            put_percentiles(&histogram, percentiles, &mut bounded);
        }
        self.left_out = bounded.left_out;
    }

    /// What is made of a series that is new.
    fn role(&self, sample: &Sample<'_>, types: &HashMap<&str, SeriesKind>) -> Option<Role> {
        let is_named = |family: &str| {
            self.selectors.is_empty()
                || self
                    .selectors
                    .iter()
                    .any(|own| own.name() == sample.name || own.name() == family)
        };
        let (family, kind) = family(sample.name, types);
        if !is_named(family) {
            return None;
        }
        let mut labels = labels(sample.labels)?;
        let takes = |own: &SeriesSelector| {
            (own.name() == sample.name || own.name() == family) && own.takes(&labels)
        };
        if !self.selectors.is_empty() && !self.selectors.iter().any(takes) {
            return None;
        }
        Some(match kind {
            SeriesKind::Histogram => {
                let at = labels.iter().position(|(name, _)| name == "le")?;
                let (_, bound) = labels.remove(at);
                labels.sort();
                let histogram = format!("{family}{{{}", written(&labels));
                Role::Bucket { histogram, bound: bound.parse().ok()? }
            }
            SeriesKind::Counter => Role::Rate(labels),
            SeriesKind::Gauge | SeriesKind::Summary | SeriesKind::Untyped => Role::Value(labels),
        })
    }

    fn note_broken(&mut self, text: &str) {
        if self.broken == 0 {
            self.first_broken = text.trim().chars().take(MAX_SHOWN).collect();
        }
        self.broken += 1;
    }

    /// What was left out.
    pub(crate) fn remark(&self) -> Option<String> {
        if self.left_out > 0 {
            let more = count(self.left_out as u64);
            return Some(format!(
                "{more} values beyond the first {MAX_VALUES} were left out: choose with `metrics`"
            ));
        }
        (self.broken > 0).then(|| {
            let lines = counted(self.broken, "broken line");
            format!("{lines} left out, the first: `{}`", self.first_broken)
        })
    }
}

/// As many values as there may be.
struct Bounded<'s> {
    into: &'s mut Samples,
    values: usize,
    /// How many there were beyond.
    left_out: usize,
}

impl Bounded<'_> {
    fn put(&mut self, name: &str, labels: Labels, value: f64) {
        if self.values == MAX_VALUES {
            self.left_out += 1;
            return;
        }
        self.values += 1;
        self.into.put_tagged(name, labels, value);
    }
}

/// Puts the percentiles of a histogram, which is its family and its labels as [`SeriesReader::role`] writes them.
fn put_percentiles(histogram: &str, percentiles: [Option<f64>; 3], into: &mut Bounded<'_>) {
    let (name, text) = histogram.split_once('{').unwrap_or((histogram, ""));
    let Some(labels) = labels(text) else { return };
    for ((_, quantile), value) in QUANTILES.into_iter().zip(percentiles) {
        if let Some(value) = value {
            let mut labels = labels.clone();
            labels.push(("quantile".to_owned(), quantile.to_owned()));
            into.put(name, labels, value);
        }
    }
}

/// The names in a text, as they are sampled.
pub(crate) fn names_in(text: &str) -> Vec<String> {
    let mut types: HashMap<&str, SeriesKind> = HashMap::new();
    let mut names: BTreeSet<&str> = BTreeSet::new();
    for text in text.lines() {
        match line(text) {
            Line::Type { family, kind } => {
                types.insert(family, kind);
            }
            Line::Sample(Sample { name, .. }) => {
                let (family, kind) = family(name, &types);
                names.insert(if kind == SeriesKind::Histogram { family } else { name });
            }
            Line::Nothing | Line::Broken => {}
        }
    }
    names.into_iter().take(MAX_VALUES).map(str::to_owned).collect()
}

/// The family of a series, and what its values are: only buckets count as a histogram, what they count together is a counter.
fn family<'t>(name: &'t str, types: &HashMap<&str, SeriesKind>) -> (&'t str, SeriesKind) {
    use SeriesKind::{Counter, Gauge, Histogram, Summary};
    if let Some(kind) = types.get(name).filter(|kind| **kind != Histogram) {
        return (name, *kind);
    }
    let of = |suffix: &str, kinds: &[SeriesKind]| {
        let family = name.strip_suffix(suffix)?;
        types.get(family).is_some_and(|kind| kinds.contains(kind)).then_some(family)
    };
    if let Some(family) = of("_bucket", &[Histogram]) {
        return (family, Histogram);
    }
    for suffix in ["_count", "_sum"] {
        if let Some(family) = of(suffix, &[Histogram, Summary]) {
            return (family, Counter);
        }
    }
    match of("_total", &[Counter]) {
        Some(family) => (family, Counter),
        None if name.ends_with("_total") => (name, Counter),
        None => (name, Gauge),
    }
}

/// Labels as they are read again.
fn written(labels: &Labels) -> String {
    let escaped = |text: &str| text.replace('\\', "\\\\").replace('\n', "\\n").replace('"', "\\\"");
    let labels = labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value)));
    labels.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An endpoint after so many seconds.
    fn text(second: u64) -> String {
        format!(
            "# HELP requests_total Requests.\n# TYPE requests_total counter\n\
             requests_total{{code=\"200\"}} {}\nrequests_total{{code=\"500\"}} {second}\n\
             # TYPE pool_active gauge\npool_active 7\n\
             # TYPE wait histogram\nwait_bucket{{db=\"a\",le=\"0.1\"}} {}\nwait_bucket{{db=\"a\",le=\"+Inf\"}} {}\nwait_count{{db=\"a\"}} {}\nwait_sum{{db=\"a\"}} 1\n\
             # TYPE rpc summary\nrpc{{quantile=\"0.5\"}} 0.25\nrpc{{quantile=\"0.9\"}} NaN\nbroken line here\n",
            second * 100,
            second * 10,
            second * 10,
            second * 10,
        )
    }

    fn shown(metrics: &[&str]) -> (SeriesReader, String) {
        let selectors =
            metrics.iter().map(|own| SeriesSelector::parse(own).expect("one")).collect();
        let (mut own, mut samples) = (SeriesReader::new(selectors), Samples::new("m"));
        own.put(&text(1), Duration::from_secs(1), &mut samples);
        samples.shown();
        own.put(&text(3), Duration::from_secs(3), &mut samples);
        let shown = samples.shown().into_iter().map(|(name, value)| format!("{name}={value}"));
        (own, shown.collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn counters_are_rates_and_histograms_percentiles() {
        let (own, all) = shown(&[]);
        let expected = "pool_active=7 requests_total{code=200}=100 requests_total{code=500}=1 \
                        rpc{quantile=0.5}=0.25 wait_count{db=a}=10 wait_sum{db=a}=0 \
                        wait{db=a,quantile=0.5}=0.05 wait{db=a,quantile=0.95}=0.095 wait{db=a,quantile=0.99}=0.099";
        assert_eq!(all, expected);
        let expected = "2 broken lines left out, the first: `broken line here`";
        assert_eq!(own.remark().as_deref(), Some(expected));
    }

    #[test]
    fn only_what_is_chosen_is_sampled() {
        let (_, chosen) = shown(&[r#"requests_total{code=~"5.."}"#, "pool_active"]);
        assert_eq!(chosen, "pool_active=7 requests_total{code=500}=1");
        let (own, chosen) = shown(&["wait_count"]);
        assert_eq!(chosen, "wait_count{db=a}=10");
        assert_eq!(own.chosen(), ["wait_count"]);
    }

    #[test]
    fn names_are_those_that_are_sampled() {
        let expected = ["pool_active", "requests_total", "rpc", "wait", "wait_count", "wait_sum"];
        assert_eq!(names_in(&text(1)), expected);
    }

    #[test]
    fn broken_labels_are_counted() {
        let (mut own, mut samples) = (SeriesReader::default(), Samples::new("m"));
        own.put("up{a=b} 1\nup 1\n", Duration::from_secs(1), &mut samples);
        assert_eq!(samples.take().len(), 1);
        let expected = "1 broken line left out, the first: `up{a=b} 1`";
        assert_eq!(own.remark().as_deref(), Some(expected));
    }

    #[test]
    fn too_many_are_left_out_and_counted() {
        let text: String = (0..1_000).map(|n| format!("a{{n=\"{n}\"}} 1\n")).collect();
        let (mut own, mut samples) = (SeriesReader::default(), Samples::new("m"));
        own.put(&text, Duration::from_secs(1), &mut samples);
        assert_eq!(samples.take().len(), MAX_VALUES);
        let remark = own.remark().expect("a remark");
        assert!(remark.starts_with("100 values beyond the first 900"), "{remark}");
    }
}
