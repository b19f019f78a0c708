//! Metrics over time that a plan records itself or a monitor samples: counters, gauges, rates and trends, by name and
//! tags. They merge exactly, in any order, over seconds and workers.

use std::collections::HashMap;

use crate::OTHER;
use crate::codec::{self, DecodeError};
use crate::histogram::{HIGHEST, Histogram};

/// Most metrics that a plan records, and most that monitors sample, each a name with its tags; further ones are recorded
/// as [`OTHER`].
pub const MAX_METRICS: usize = 1_000;
/// The numbers of metrics are below this: those of the plan and of monitors, and one for the rest of each kind.
pub(crate) const MAX_NUMBERS: usize = 2 * MAX_METRICS + MetricKind::NAMES.len();
/// Values of counters and trends are kept in thousandths. So a trend of milliseconds is a histogram in µs,
/// and a sum of decimal fractions does not depend on the order of its additions.
pub const THOUSANDTHS: f64 = 1_000.0;
/// The values of gauges are summed in millionths: shares need more digits than a counter does.
const MILLIONTHS: f64 = 1e6;
/// The version of slices from which on there are sums of gauges in them.
const HAS_SUMS: u64 = 4;
/// The largest value of a gauge in its sum, in millionths, so that no sum of a run overflows.
const MAX_MILLIONTHS: f64 = 1e27;

/// What a metric does with its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MetricKind {
    Counter = 0,
    /// Keeps the last, the smallest, the largest and the mean.
    Gauge = 1,
    /// Counts how many of them are true.
    Rate = 2,
    /// Counts them in a histogram.
    Trend = 3,
}

impl MetricKind {
    /// All, with their names in plans and results.
    pub const NAMES: [(&str, MetricKind); 4] = [
        ("counter", MetricKind::Counter),
        ("gauge", MetricKind::Gauge),
        ("rate", MetricKind::Rate),
        ("trend", MetricKind::Trend),
    ];

    /// Its name in plans and results.
    pub fn label(self) -> &'static str {
        MetricKind::NAMES[self as usize].0
    }

    fn from_number(number: u64) -> Option<MetricKind> {
        MetricKind::NAMES.iter().map(|(_, kind)| *kind).find(|kind| *kind as u64 == number)
    }
}

/// What identifies a metric.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MetricKey {
    /// What it does with its values.
    pub kind: MetricKind,
    /// The scenario that records it; empty: none of them, as of what a monitor samples, or all of them, as of `other`.
    pub scenario: String,
    pub name: String,
    /// Its tags, in the order of their keys.
    pub tags: Vec<(String, String)>,
}

impl MetricKey {
    /// The key of a metric; tags in any order.
    pub fn new(
        kind: MetricKind,
        scenario: &str,
        name: &str,
        mut tags: Vec<(String, String)>,
    ) -> MetricKey {
        tags.sort();
        tags.dedup_by(|later, first| later.0 == first.0);
        MetricKey { kind, scenario: scenario.to_owned(), name: name.to_owned(), tags }
    }

    /// Where metrics of a kind are recorded that are too many.
    fn other(kind: MetricKind) -> MetricKey {
        MetricKey::new(kind, "", OTHER, Vec::new())
    }

    /// Whether a monitor samples it. It takes no place of what the plan records itself.
    pub fn is_of_monitor(&self) -> bool {
        self.scenario.is_empty() && self.name != OTHER
    }

    /// Its name, with its tags as in `bought{country=at,plan=free}`.
    pub fn label(&self) -> String {
        crate::names::with_tags(&self.name, self.tags.iter().map(|(tag, value)| (tag, value)))
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        codec::put(out, self.kind as u64);
        codec::put_text(out, &self.scenario);
        codec::put_text(out, &self.name);
        codec::put(out, self.tags.len() as u64);
        for (key, value) in &self.tags {
            codec::put_text(out, key);
            codec::put_text(out, value);
        }
    }

    pub(crate) fn decode(bytes: &mut &[u8]) -> Result<MetricKey, DecodeError> {
        let kind = MetricKind::from_number(codec::get(bytes)?);
        let kind = kind.ok_or(DecodeError("unknown kind of metric"))?;
        let scenario = codec::get_text(bytes)?;
        let name = codec::get_text(bytes)?;
        let mut tags = Vec::new();
        for _ in 0..codec::get(bytes)? {
            tags.push((codec::get_text(bytes)?, codec::get_text(bytes)?));
        }
        Ok(MetricKey::new(kind, &scenario, &name, tags))
    }
}

/// The number of a metric, within one worker or within the totals of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MetricId(pub u32);

/// Metrics by number, at most [`MAX_METRICS`] of the plan and of monitors, and one [`OTHER`] for each kind.
#[derive(Debug, Clone, Default)]
pub struct Metrics {
    keys: Vec<MetricKey>,
    numbers: HashMap<MetricKey, MetricId>,
    /// How many there are of the plan, and of monitors.
    taken: [usize; 2],
}

impl Metrics {
    /// The number of a metric, assigned now if it is new; that of `other` if there are too many.
    pub fn intern(&mut self, key: &MetricKey) -> MetricId {
        if let Some(id) = self.numbers.get(key) {
            return *id;
        }
        let other = MetricKey::other(key.kind);
        if *key != other {
            let taken = &mut self.taken[usize::from(key.is_of_monitor())];
            if *taken >= MAX_METRICS {
                return self.intern(&other);
            }
            *taken += 1;
        }
        let id = MetricId(self.keys.len() as u32);
        self.keys.push(key.clone());
        self.numbers.insert(key.clone(), id);
        id
    }

    /// The key of a number.
    pub fn get(&self, MetricId(id): MetricId) -> Option<&MetricKey> {
        self.keys.get(id as usize)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Whether there were too many, and some are recorded as `other`.
    pub fn overflowed(&self) -> bool {
        let is_rest = |key: &MetricKey| *key == MetricKey::other(key.kind);
        self.taken.contains(&MAX_METRICS) && self.keys.iter().any(is_rest)
    }
}

/// What a metric has recorded. Which of its fields mean something depends on its kind.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MetricStats {
    /// How many values were recorded.
    pub count: u64,
    /// Of a counter: the sum of the values, in thousandths.
    sum: u64,
    /// Of a rate: how many values were true.
    pub trues: u64,
    gauge: Option<Gauge>,
    /// Of a trend: its values, in thousandths.
    pub trend: Histogram,
}

/// The values of a gauge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gauge {
    /// When the last value was recorded, in ns after the start of the run.
    at: u64,
    pub last: f64,
    pub min: f64,
    pub max: f64,
    /// How many values are in the sum.
    count: u64,
    /// Their sum, in millionths: whole numbers, so that it does not depend on the order of its additions.
    sum: i128,
}

impl Gauge {
    /// A single value.
    fn of(value: f64, at: u64) -> Gauge {
        let sum = (value * MILLIONTHS).clamp(-MAX_MILLIONTHS, MAX_MILLIONTHS).round() as i128;
        Gauge { at, last: value, min: value, max: value, count: 1, sum }
    }

    /// The mean of the values, to a millionth. `None`: they were recorded by a version that kept no sum.
    pub fn mean(&self) -> Option<f64> {
        let mean = self.sum as f64 / MILLIONTHS / self.count as f64;
        // What a file says of its sum need not agree with the rest.
        (self.count > 0).then(|| mean.max(self.min).min(self.max))
    }

    /// Adds what was recorded elsewhere or later. Of values of the same moment the larger one is the last.
    pub fn merge(self, other: Gauge) -> Gauge {
        let later = self.at.cmp(&other.at).then(self.last.total_cmp(&other.last)).is_lt();
        let (at, last) = if later { (other.at, other.last) } else { (self.at, self.last) };
        Gauge {
            at,
            last,
            min: self.min.min(other.min),
            max: self.max.max(other.max),
            count: self.count.saturating_add(other.count),
            sum: self.sum.saturating_add(other.sum),
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        codec::put(out, self.at);
        for value in [self.last, self.min, self.max] {
            out.extend_from_slice(&value.to_le_bytes());
        }
        codec::put(out, self.count);
        // A single value is its own sum.
        if self.count > 1 {
            out.extend_from_slice(&self.sum.to_le_bytes());
        }
    }

    fn decode(bytes: &mut &[u8], version: u64) -> Result<Gauge, DecodeError> {
        let at = codec::get(bytes)?;
        let mut value = || codec::take(bytes).map(f64::from_le_bytes);
        let (last, min, max) = (value()?, value()?, value()?);
        if ![last, min, max].iter().all(|value| value.is_finite()) {
            return Err(DecodeError("the value of a gauge is not a number"));
        }
        let count = if version < HAS_SUMS { 0 } else { codec::get(bytes)? };
        let sum = match count {
            0 => 0,
            1 => Gauge::of(last, at).sum,
            _ => i128::from_le_bytes(codec::take(bytes)?),
        };
        Ok(Gauge { at, last, min, max, count, sum })
    }
}

/// A value for a metric that cannot take it: counters and trends take numbers from 0, and nothing takes NaN
/// or infinity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrongValue;

impl MetricStats {
    /// Records a value at a time in ns after the start of the run. For a rate, any value but 0 is true.
    ///
    /// # Errors
    /// The kind takes no such value.
    pub fn record(&mut self, kind: MetricKind, value: f64, at: u64) -> Result<(), WrongValue> {
        let negative = matches!(kind, MetricKind::Counter | MetricKind::Trend) && value < 0.0;
        if !value.is_finite() || negative {
            return Err(WrongValue);
        }
        self.count += 1;
        // Too large numbers become the largest one.
        let thousandths = (value * THOUSANDTHS).round() as u64;
        match kind {
            MetricKind::Counter => self.sum = self.sum.saturating_add(thousandths),
            MetricKind::Gauge => {
                let new = Gauge::of(value, at);
                // In one worker, what comes later is later.
                self.gauge = Some(match self.gauge {
                    Some(own) => Gauge { at, last: value, ..own.merge(new) },
                    None => new,
                });
            }
            MetricKind::Rate => self.trues += u64::from(value != 0.0),
            MetricKind::Trend => self.trend.record(thousandths.min(HIGHEST)),
        }
        Ok(())
    }

    /// Those of a trend whose values are a histogram's, which counts their thousandths.
    pub fn of_trend(trend: Histogram) -> MetricStats {
        MetricStats { count: trend.count(), trend, ..MetricStats::default() }
    }

    /// Of a counter: the sum of its values.
    pub fn sum(&self) -> f64 {
        self.sum as f64 / THOUSANDTHS
    }

    /// Of a rate: the share of values that were true; 0 if there is none.
    pub fn share(&self) -> f64 {
        self.trues as f64 / self.count.max(1) as f64
    }

    /// The one number that says most: the sum of a counter, the last value of a gauge, the share of a rate, the mean
    /// of a trend.
    pub fn value(&self, kind: MetricKind) -> f64 {
        match kind {
            MetricKind::Counter => self.sum(),
            MetricKind::Gauge => self.gauge.map_or(0.0, |gauge| gauge.last),
            MetricKind::Rate => self.share(),
            MetricKind::Trend => self.trend.mean() / THOUSANDTHS,
        }
    }

    /// Of a gauge: its values.
    pub fn gauge(&self) -> Option<Gauge> {
        self.gauge
    }

    /// Adds what was recorded elsewhere. Saturates: a file may contain anything.
    pub fn merge(&mut self, other: &MetricStats) {
        self.merge_later(other, 0);
    }

    /// Adds what was recorded in a run that began so many ns later.
    pub fn merge_later(&mut self, other: &MetricStats, by: u64) {
        self.count = self.count.saturating_add(other.count);
        self.sum = self.sum.saturating_add(other.sum);
        self.trues = self.trues.saturating_add(other.trues);
        let theirs = other.gauge.map(|own| Gauge { at: own.at.saturating_add(by), ..own });
        self.gauge = match (self.gauge, theirs) {
            (Some(own), Some(theirs)) => Some(own.merge(theirs)),
            (own, theirs) => own.or(theirs),
        };
        self.trend.merge(&other.trend);
    }

    pub(crate) fn clear(&mut self) {
        (self.count, self.sum, self.trues, self.gauge) = (0, 0, 0, None);
        self.trend.clear();
    }

    /// Heap memory, in bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.trend.heap_bytes()
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        [self.count, self.sum, self.trues].into_iter().for_each(|number| codec::put(out, number));
        codec::put(out, u64::from(self.gauge.is_some()));
        if let Some(gauge) = self.gauge {
            gauge.encode(out);
        }
        self.trend.encode(out);
    }

    pub(crate) fn decode(bytes: &mut &[u8], version: u64) -> Result<MetricStats, DecodeError> {
        let (count, sum, trues) = (codec::get(bytes)?, codec::get(bytes)?, codec::get(bytes)?);
        let gauge = match codec::get(bytes)? {
            0 => None,
            _ => Some(Gauge::decode(bytes, version)?),
        };
        let mut stats = MetricStats { count, sum, trues, gauge, ..MetricStats::default() };
        stats.trend.read(bytes, version)?;
        Ok(stats)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::VERSION;
    use proptest::prelude::*;

    const KINDS: [MetricKind; 4] =
        [MetricKind::Counter, MetricKind::Gauge, MetricKind::Rate, MetricKind::Trend];

    #[test]
    fn each_kind_keeps_what_it_is_for() {
        let stats = |kind, values: &[f64]| {
            let mut stats = MetricStats::default();
            for (at, value) in values.iter().enumerate() {
                assert_eq!(stats.record(kind, *value, at as u64), Ok(()));
            }
            stats
        };
        assert_eq!(stats(MetricKind::Counter, &[0.1; 10]).sum(), 1.0);
        let gauge = stats(MetricKind::Gauge, &[5.0, -1.0, 3.0]).gauge().expect("a value");
        assert_eq!((gauge.last, gauge.min, gauge.max), (3.0, -1.0, 5.0));
        let mean = |values: &[f64]| stats(MetricKind::Gauge, values).gauge()?.mean();
        assert_eq!(mean(&[5.0, -1.0, 3.5]), Some(2.5));
        assert_eq!(mean(&[1e18; 3]), Some(1e18));
        assert_eq!(mean(&[0.000_4, 0.000_6]), Some(0.000_5));
        assert_eq!(stats(MetricKind::Rate, &[1.0, 0.0, 1.0, 1.0]).share(), 0.75);
        assert_eq!(stats(MetricKind::Trend, &[1.5, 2.5]).trend.mean(), 2_000.0);
        for (kind, value) in
            [(MetricKind::Counter, -1.0), (MetricKind::Trend, -0.1), (MetricKind::Gauge, f64::NAN)]
        {
            assert_eq!(MetricStats::default().record(kind, value, 0), Err(WrongValue));
        }
    }

    #[test]
    fn metrics_stay_few() {
        let mut metrics = Metrics::default();
        for number in 0..3_000 {
            let tags = vec![("n".to_owned(), number.to_string())];
            metrics.intern(&MetricKey::new(MetricKind::Counter, "buyer", "bought", tags.clone()));
            metrics.intern(&MetricKey::new(MetricKind::Trend, "buyer", OTHER, tags.clone()));
            metrics.intern(&MetricKey::new(MetricKind::Gauge, "", "cpu", tags));
        }
        assert!(metrics.len() <= MAX_NUMBERS && metrics.overflowed());
    }

    /// And the other way around.
    #[test]
    fn metrics_of_monitors_take_no_places_of_the_plan() {
        let mut metrics = Metrics::default();
        for scenario in ["", "buyer"] {
            for number in 0..MAX_METRICS {
                let name = format!("m{number}");
                let key = MetricKey::new(MetricKind::Gauge, scenario, &name, Vec::new());
                let id = metrics.intern(&key);
                assert_eq!(metrics.get(id), Some(&key));
            }
        }
        assert!(!metrics.overflowed());
        let further = MetricKey::new(MetricKind::Gauge, "buyer", "further", Vec::new());
        let id = metrics.intern(&further);
        assert_eq!(metrics.get(id), Some(&MetricKey::other(MetricKind::Gauge)));
        assert!(metrics.overflowed());
    }

    #[test]
    fn tags_have_no_order() {
        let tag = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let key = |tags| MetricKey::new(MetricKind::Rate, "buyer", "ok", tags);
        assert_eq!(
            key(vec![tag("b", "2"), tag("a", "1")]),
            key(vec![tag("a", "1"), tag("b", "2")])
        );
        assert_eq!(key(vec![tag("b", "2"), tag("a", "1")]).label(), "ok{a=1,b=2}");
    }

    proptest! {
        /// However values are divided among workers and seconds, the sum is the same.
        #[test]
        fn merging_is_exact_in_any_order(
            kind in 0usize..4,
            values in prop::collection::vec((0f64..1e6, 0u64..50, 0usize..4), 1..60),
        ) {
            let mut parts = vec![MetricStats::default(); 4];
            let mut values = values;
            values.sort_by_key(|(_, at, _)| *at);
            for (value, at, part) in values {
                prop_assert_eq!(parts[part].record(KINDS[kind], value, at), Ok(()));
            }
            let merged = |order: [usize; 4]| order.iter().fold(MetricStats::default(), |mut sum, at| {
                sum.merge(&parts[*at]);
                sum
            });
            let all = merged([0, 1, 2, 3]);
            prop_assert_eq!(&merged([3, 1, 0, 2]), &all);
            let mut bytes = Vec::new();
            all.encode(&mut bytes);
            prop_assert_eq!(MetricStats::decode(&mut bytes.as_slice(), VERSION), Ok(all));
        }
    }
}
