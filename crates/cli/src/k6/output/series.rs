//! Everything measured so far, by metric and tags, for receivers that keep totals: as series under the names that k6 gives them
//! there. Pure.

use std::collections::BTreeMap;

use squall_feeds::{Family, Resolution, SeriesValue};
use squall_k6::output::{Point, TrendStat};
use squall_k6::summary::Contains;
use squall_metrics::{MetricKind, THOUSANDTHS};
use squall_report::families::{FamilyKind, Tags};

use crate::k6::metric_kinds::of_k6;
use crate::k6::stats::Stats;

/// Most series: a script whose names or tags never end would fill the memory.
const MAX_SERIES: usize = 20_000;
/// The value that says to Prometheus that a series has ended (`StaleNaN` of its `model/value/value.go`).
const STALE: u64 = 0x7ff0_0000_0000_0002;

/// Everything measured so far.
#[derive(Debug, Default)]
pub struct Series {
    metrics: BTreeMap<String, Metric>,
    count: usize,
    /// Values that found no room for one more series.
    left_out: u64,
}

#[derive(Debug)]
struct Metric {
    kind: MetricKind,
    contains: Contains,
    series: BTreeMap<Tags, OneSeries>,
}

#[derive(Debug, Default)]
struct OneSeries {
    stats: Stats,
    /// Whether a value has come since it was sent.
    is_news: bool,
}

impl Series {
    /// Adds a value.
    pub fn add(&mut self, point: &Point<'_>) {
        let kind = of_k6(point.metric.kind);
        let metric = match self.metrics.get_mut(point.metric.name) {
            Some(metric) => metric,
            None => {
                let contains = point.metric.contains;
                let metric = Metric { kind, contains, series: BTreeMap::new() };
                self.metrics.entry(point.metric.name.to_owned()).or_insert(metric)
            }
        };
        let given = point.tags.iter().filter(|(_, value)| !value.is_empty());
        let mut tags: Tags =
            given.map(|(name, value)| ((*name).to_owned(), value.clone().into_owned())).collect();
        tags.sort_unstable();
        let series = match metric.series.get_mut(&tags) {
            Some(series) => series,
            None if self.count >= MAX_SERIES => return self.left_out += 1,
            None => {
                self.count += 1;
                metric.series.entry(tags).or_default()
            }
        };
        series.is_news = true;
        // The engine has recorded the value before: it is one that the metric can take.
        let _recorded = series.stats.record(metric.kind, point.value, point.unix_us);
    }

    /// Values that were left out since the last time, because there were too many series.
    pub fn take_left_out(&mut self) -> u64 {
        std::mem::take(&mut self.left_out)
    }

    /// Everything is sent.
    pub fn sent(&mut self) {
        let all = self.metrics.values_mut().flat_map(|metric| metric.series.values_mut());
        all.for_each(|series| series.is_news = false);
    }

    /// The families for Prometheus of series to which something came. `stats`: the statistics of trends with the ends of their
    /// names; `is_native`: trends are histograms.
    pub fn of_prometheus(&self, stats: &[(String, TrendStat)], is_native: bool) -> Vec<Family<'_>> {
        let mut families = Vec::new();
        for (name, metric) in &self.metrics {
            let name = format!("k6_{name}");
            let mut add = |name: String, kind, value: &dyn Fn(&OneSeries) -> Option<f64>| {
                let amount = |own| value(own).map(SeriesValue::Amount);
                families.push(metric.family(name, kind, "", true, amount));
            };
            match metric.kind {
                MetricKind::Counter => add(name, FamilyKind::Sum, &|own| Some(own.stats.sum())),
                MetricKind::Gauge => add(name, FamilyKind::Level, &last),
                MetricKind::Rate => add(format!("{name}_rate"), FamilyKind::Level, &rate),
                MetricKind::Trend if is_native => {
                    let (name, step) = match metric.contains {
                        Contains::Time => (format!("{name}_seconds"), Resolution::Microsecond),
                        Contains::Data => (format!("{name}_bytes"), Resolution::Thousandth),
                        Contains::Default => (name, Resolution::Thousandth),
                    };
                    families.push(metric.family(name, FamilyKind::Distribution, "", true, |own| {
                        Some(SeriesValue::Distribution(&own.stats.trend, step))
                    }));
                }
                MetricKind::Trend => {
                    for (end, stat) in stats {
                        let (stat, contains) = (*stat, metric.contains);
                        add(format!("{name}_{end}"), FamilyKind::Level, &|own| {
                            Some(trend(&own.stats, stat, contains))
                        });
                    }
                }
            }
        }
        families.retain(|family| !family.series.is_empty());
        families
    }

    /// The families for Prometheus that end all series.
    pub fn stale(&self, stats: &[(String, TrendStat)], is_native: bool) -> Vec<Family<'_>> {
        let mut families = self.of_prometheus(stats, is_native);
        let all = families.iter_mut().flat_map(|family| &mut family.series);
        all.for_each(|(_, value)| *value = SeriesValue::Amount(f64::from_bits(STALE)));
        families
    }

    /// Something has come to all series, so that all of them are sent.
    pub fn renew(&mut self) {
        let all = self.metrics.values_mut().flat_map(|metric| metric.series.values_mut());
        all.for_each(|series| series.is_news = true);
    }

    /// The families for OpenTelemetry, of all series.
    pub fn of_opentelemetry(&self, prefix: &str) -> Vec<Family<'_>> {
        let mut families = Vec::new();
        for (name, metric) in &self.metrics {
            let name = format!("{prefix}{name}");
            let unit = match metric.contains {
                Contains::Time => "ms",
                Contains::Data => "By",
                Contains::Default => "",
            };
            families.push(match metric.kind {
                MetricKind::Counter => metric.family(name, FamilyKind::Sum, unit, false, |own| {
                    Some(SeriesValue::Amount(own.stats.sum()))
                }),
                MetricKind::Gauge => metric.family(name, FamilyKind::Level, unit, false, |own| {
                    last(own).map(SeriesValue::Amount)
                }),
                MetricKind::Rate => metric.conditions(name),
                MetricKind::Trend => {
                    metric.family(name, FamilyKind::Distribution, unit, false, |own| {
                        Some(SeriesValue::Distribution(&own.stats.trend, Resolution::Thousandth))
                    })
                }
            });
        }
        families
    }
}

impl Metric {
    /// Its series, or those to which something came.
    fn family<'m>(
        &'m self,
        name: String,
        kind: FamilyKind,
        unit: &'static str,
        is_of_news: bool,
        value: impl Fn(&'m OneSeries) -> Option<SeriesValue<'m>>,
    ) -> Family<'m> {
        let own = self.series.iter().filter(|(_, own)| own.is_news || !is_of_news);
        let series = own.filter_map(|(tags, own)| Some((tags.clone(), value(own)?))).collect();
        Family { name, kind, unit, help: "", series }
    }

    /// A rate as k6 gives it to OpenTelemetry: a counter of values that are 0, and of those that are not.
    fn conditions(&self, name: String) -> Family<'_> {
        let series = self.series.iter().flat_map(|(tags, own)| {
            let zeros = own.stats.count.saturating_sub(own.stats.trues);
            [("nonzero", own.stats.trues), ("zero", zeros)].map(|(condition, count)| {
                let mut tags = tags.clone();
                tags.push(("condition".to_owned(), condition.to_owned()));
                (tags, SeriesValue::Number(count))
            })
        });
        Family { name, kind: FamilyKind::Sum, unit: "", help: "", series: series.collect() }
    }
}

fn last(own: &OneSeries) -> Option<f64> {
    own.stats.gauge().map(|own| own.last)
}

fn rate(own: &OneSeries) -> Option<f64> {
    (own.stats.count > 0).then(|| own.stats.trues as f64 / own.stats.count as f64)
}

/// A statistic of a trend; of times in seconds, as Prometheus has them, but for their number.
fn trend(stats: &Stats, stat: TrendStat, contains: Contains) -> f64 {
    let value = match stat {
        TrendStat::Sum => stats.trend.sum() / THOUSANDTHS,
        TrendStat::Of(own) => own.of(stats),
    };
    // k6 divides the number of values, too.
    if contains == Contains::Time { value / 1_000.0 } else { value }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use squall_k6::output::PointMetric;
    use squall_k6::summary::Statistic;

    use super::*;

    fn series() -> Series {
        let mut series = Series::default();
        for (name, value) in [
            ("http_reqs", 1.0),
            ("http_reqs", 1.0),
            ("http_req_duration", 100.0),
            ("http_req_duration", 300.0),
            ("http_req_failed", 1.0),
            ("http_req_failed", 0.0),
            ("vus", 4.0),
        ] {
            let metric = PointMetric::built_in(name).expect("one of k6's");
            let tags = [("name", Cow::Borrowed("a")), ("group", Cow::Borrowed(""))];
            series.add(&Point { metric, unix_us: 7, value, tags: &tags, metadata: &[] });
        }
        series
    }

    /// Families in lines: name, tags and value.
    fn lines(families: &[Family<'_>]) -> Vec<String> {
        let line = |family: &Family<'_>| {
            let one = |(tags, value): &(Tags, SeriesValue<'_>)| {
                let tags = tags.iter().map(|(name, value)| format!("{name}={value} "));
                let value = match value {
                    SeriesValue::Number(number) => number.to_string(),
                    SeriesValue::Amount(number) => number.to_string(),
                    SeriesValue::Distribution(own, step) => {
                        format!("{} of {}", own.sum() / step.per_unit(), own.count())
                    }
                };
                format!("{} {}{value}", family.full_name(), tags.collect::<String>())
            };
            family.series.iter().map(one).collect::<Vec<_>>()
        };
        families.iter().flat_map(line).collect()
    }

    #[test]
    fn prometheus_has_the_names_of_k6() {
        let mut series = series();
        let stats = [
            ("p99".to_owned(), TrendStat::Of(Statistic::Percentile(99.0))),
            ("sum".to_owned(), TrendStat::Sum),
        ];
        let expected = [
            "k6_http_req_duration_p99 name=a 0.3",
            "k6_http_req_duration_sum name=a 0.4",
            "k6_http_req_failed_rate name=a 0.5",
            "k6_http_reqs_total name=a 2",
            "k6_vus name=a 4",
        ];
        assert_eq!(lines(&series.of_prometheus(&stats, false)), expected);
        let native = lines(&series.of_prometheus(&stats, true));
        assert_eq!(native[0], "k6_http_req_duration_seconds name=a 0.4 of 2");
        series.sent();
        assert_eq!(lines(&series.of_prometheus(&stats, false)), [""; 0], "nothing is new");
        series.renew();
        let stale = series.stale(&stats, false);
        let is_stale = |(_, value): &(Tags, SeriesValue<'_>)| matches!(value, SeriesValue::Amount(own) if own.to_bits() == STALE);
        assert_eq!(stale.len(), 5);
        assert!(stale.iter().all(|family| family.series.iter().all(is_stale)));
    }

    #[test]
    fn opentelemetry_has_the_names_of_k6() {
        let series = series();
        let families = series.of_opentelemetry("k6.");
        assert_eq!(
            lines(&families),
            [
                "k6.http_req_duration name=a 400 of 2",
                "k6.http_req_failed_total name=a condition=nonzero 1",
                "k6.http_req_failed_total name=a condition=zero 1",
                "k6.http_reqs_total name=a 2",
                "k6.vus name=a 4",
            ]
        );
        assert_eq!(families[0].unit, "ms");
    }

    #[test]
    fn series_are_bounded() {
        let mut series = Series::default();
        for number in 0..MAX_SERIES + 3 {
            let metric = PointMetric::built_in("http_reqs").expect("one of k6's");
            let tags = [("name", Cow::Owned(number.to_string()))];
            series.add(&Point { metric, unix_us: 7, value: 1.0, tags: &tags, metadata: &[] });
        }
        assert_eq!((series.take_left_out(), series.take_left_out()), (3, 0));
    }
}
