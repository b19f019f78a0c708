//! What monitors sampled in a step. Pure.

use std::collections::{BTreeMap, HashMap};

use squall_metrics::{MONITOR_TAG, MetricId, MetricKey, Slice, Source};

/// A metric that a monitor sampled in a step.
#[derive(Debug, Clone, PartialEq)]
pub struct StepMetric {
    /// The monitor's name.
    pub monitor: String,
    pub name: String,
    /// Its other tags, in the order of their keys.
    pub tags: Vec<(String, String)>,
    /// How many samples there are.
    pub count: u64,
    /// Their mean, in the metric's unit.
    pub mean: f64,
    /// The largest of them.
    pub max: f64,
}

impl StepMetric {
    fn new(key: &MetricKey, values: Values) -> StepMetric {
        let (own, tags): (Vec<_>, Vec<_>) =
            key.tags.iter().cloned().partition(|(tag, _)| tag == MONITOR_TAG);
        let monitor = own.into_iter().next().map(|(_, name)| name).unwrap_or_default();
        let Values { count, sum, max } = values;
        let mean = sum / count.max(1) as f64;
        StepMetric { monitor, name: key.name.clone(), tags, count, mean, max }
    }
}

#[derive(Debug, Clone, Copy)]
struct Values {
    count: u64,
    sum: f64,
    max: f64,
}

/// Collects them from slices.
#[derive(Debug, Default)]
pub(crate) struct StepMetrics {
    /// What each monitor calls them.
    keys: HashMap<(Source, MetricId), MetricKey>,
    values: BTreeMap<MetricKey, Values>,
}

impl StepMetrics {
    /// Adds a slice, whose second lies in the step or does not: then it only says what is called how.
    pub(crate) fn add(&mut self, slice: &Slice, is_in_step: bool) {
        if slice.source.is_worker() {
            return;
        }
        for (id, key) in &slice.metric_keys {
            self.keys.insert((slice.source, *id), key.clone());
        }
        if !is_in_step {
            return;
        }
        for (id, stats) in slice.metrics() {
            let (Some(gauge), Some(key)) = (stats.gauge(), self.keys.get(&(slice.source, id)))
            else {
                continue;
            };
            let none = Values { count: 0, sum: 0.0, max: f64::NEG_INFINITY };
            let own = self.values.entry(key.clone()).or_insert(none);
            own.count += 1;
            own.sum += gauge.last;
            own.max = own.max.max(gauge.max);
        }
    }

    /// What was sampled, in the order of names and tags.
    pub(crate) fn all(&self) -> Vec<StepMetric> {
        self.values.iter().map(|(key, values)| StepMetric::new(key, *values)).collect()
    }
}

#[cfg(test)]
mod tests {
    use squall_metrics::MetricKind;

    use super::*;

    fn slice(second: u32, announced: bool, value: f64) -> Slice {
        let tags = vec![(MONITOR_TAG.to_owned(), "server".to_owned())];
        let key = MetricKey::new(MetricKind::Gauge, "", "cpu", tags);
        let mut slice = Slice::new(Source::Monitor(1), second);
        if announced {
            slice.announce_metric(MetricId(0), &key);
        }
        slice.record_metric(MetricId(0), MetricKind::Gauge, value, 0).expect("a number");
        slice
    }

    /// What is announced before the step is known in it.
    #[test]
    fn samples_of_the_step_are_averaged() {
        let mut metrics = StepMetrics::default();
        metrics.add(&slice(0, true, 9.0), false);
        metrics.add(&slice(1, false, 1.0), true);
        metrics.add(&slice(2, false, 2.0), true);
        metrics.add(&slice(3, false, 9.0), false);
        let all = metrics.all();
        assert_eq!(all.len(), 1);
        let own = &all[0];
        assert_eq!((own.monitor.as_str(), own.name.as_str()), ("server", "cpu"));
        assert_eq!((own.count, own.mean, own.max, own.tags.len()), (2, 1.5, 2.0, 0));
    }
}
