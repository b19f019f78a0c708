//! What a monitor has sampled in one second, as it is collected.

use squall_metrics::{MONITOR_TAG, MetricKey, MetricKind};
use squall_plan::feed_target::untaken;
use squall_runner::MonitorSample;

/// Values of one monitor: gauges with its name as a tag.
#[derive(Debug)]
pub(crate) struct Samples {
    monitor: String,
    values: MonitorSample,
}

impl Samples {
    pub(crate) fn new(monitor: &str) -> Samples {
        Samples { monitor: monitor.to_owned(), values: Vec::new() }
    }

    /// A value without further tags.
    pub(crate) fn put(&mut self, name: &str, value: f64) {
        self.put_tagged(name, Vec::new(), value);
    }

    /// A value that may not be known.
    pub(crate) fn put_known(&mut self, name: &str, value: Option<f64>) {
        if let Some(value) = value {
            self.put(name, value);
        }
    }

    /// A value of one of several things, such as a disk.
    pub(crate) fn put_of(&mut self, name: &str, (tag, which): (&str, &str), value: f64) {
        self.put_tagged(name, vec![(tag.to_owned(), which.to_owned())], value);
    }

    /// A value with further tags; one that is called as that with the monitor's name is becomes `tag_monitor`. What is not finite is
    /// left out.
    pub(crate) fn put_tagged(&mut self, name: &str, mut tags: Vec<(String, String)>, value: f64) {
        if !value.is_finite() {
            return;
        }
        if let Some(at) = tags.iter().position(|(tag, _)| tag == MONITOR_TAG) {
            let is_taken = |name: &str| tags.iter().any(|(tag, _)| tag == name);
            tags[at].0 = untaken(MONITOR_TAG, is_taken);
        }
        tags.push((MONITOR_TAG.to_owned(), self.monitor.clone()));
        self.values.push((MetricKey::new(MetricKind::Gauge, "", name, tags), value));
    }

    /// All of them; then there are none.
    pub(crate) fn take(&mut self) -> MonitorSample {
        std::mem::take(&mut self.values)
    }
}

#[cfg(test)]
impl Samples {
    /// Each value behind its name and its further tags, as in `disk_busy{disk=sda}`.
    pub(crate) fn shown(&mut self) -> std::collections::BTreeMap<String, f64> {
        let shown = |(mut key, value): (MetricKey, f64)| {
            key.tags.retain(|(tag, _)| tag != MONITOR_TAG);
            (key.label(), value)
        };
        self.take().into_iter().map(shown).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_has_the_tag_of_its_monitor() {
        let mut samples = Samples::new("db");
        for of in ["one", "other"] {
            let tags = vec![("monitor".to_owned(), of.to_owned())];
            samples.put_tagged("a", tags, 1.0);
        }
        samples.put("not_finite", f64::NAN);
        samples.put_known("unknown", None);
        let taken = samples.take();
        let labels: Vec<String> = taken.iter().map(|(key, _)| key.label()).collect();
        let of = |other: &str| format!("a{{monitor=db,tag_monitor={other}}}");
        assert_eq!(labels, [of("one"), of("other")], "both are there");
        assert!(samples.take().is_empty());
    }
}
