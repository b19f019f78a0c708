//! Metrics of monitors as people read them: of which monitor, in which unit, under which name.

use squall_base::units::{bytes, count, percent, rate, time};

use crate::metrics::{MetricKey, THOUSANDTHS};
use crate::monitored::{Bound, MONITOR_TAG, MONITORED, Monitored, MonitoredUnit};
use crate::names::with_tags;

impl MonitoredUnit {
    /// A value with its unit: `78%`, `1.2 GiB`, `3.5 MiB/s`, `120/s`, `12.5`, `40.1 ms`.
    pub fn show(self, value: f64) -> String {
        // Numbers of bytes are not negative.
        let size = || bytes(value as u64);
        match self {
            MonitoredUnit::Share => percent(value),
            MonitoredUnit::Bytes => size(),
            MonitoredUnit::BytesPerSecond => format!("{}/s", size()),
            MonitoredUnit::PerSecond => rate(value),
            MonitoredUnit::Seconds => time(value * 1e6),
            MonitoredUnit::Number => plain(value),
        }
    }
}

/// A number with at most three digits behind the point, and none that say nothing.
fn plain(value: f64) -> String {
    if value >= 0.0 && value.fract() == 0.0 {
        return count(value as u64);
    }
    ((value * THOUSANDTHS).round() / THOUSANDTHS).to_string()
}

/// The share of its bound from which on something counts as full: samples are a second apart.
const FULL: f64 = 0.95;

impl Monitored {
    /// Whether a value is near the one at which its metric is full.
    pub fn is_full(value: f64, full_at: Option<f64>) -> bool {
        full_at.is_some_and(|full| full > 0.0 && value >= FULL * full)
    }

    /// Of these names those that are only there as the bound of another of them.
    pub fn bounds_among(names: &[&str]) -> Vec<&'static str> {
        let bound = |own: &Monitored| match own.bound {
            Bound::Metric(bound) if names.contains(&own.name) => Some(bound),
            Bound::Metric(_) | Bound::Value(_) | Bound::No => None,
        };
        MONITORED.iter().filter_map(bound).collect()
    }

    /// The place of a name among those that are documented; what only the target knows comes after them.
    pub fn place(name: &str) -> usize {
        MONITORED.iter().position(|own| own.name == name).unwrap_or(MONITORED.len())
    }
}

impl MetricKey {
    /// The name of the monitor of the target that samples it; `None`: none does.
    pub fn monitor(&self) -> Option<&str> {
        let of_monitor = self.is_of_monitor().then_some(&self.tags)?;
        let (_, name) = of_monitor.iter().find(|(tag, _)| tag == MONITOR_TAG)?;
        Some(name)
    }

    /// The unit in which a monitor of the target samples it; a number where only the target knows more.
    pub fn monitored_unit(&self) -> Option<MonitoredUnit> {
        self.monitor()?;
        Some(Monitored::unit_of(&self.name).unwrap_or(MonitoredUnit::Number))
    }

    /// Its name with its tags, without that of its monitor: `disk_busy{disk=sda}`.
    pub fn label_within_monitor(&self) -> String {
        let tags = self.tags.iter().filter(|(tag, _)| tag != MONITOR_TAG);
        with_tags(&self.name, tags.map(|(tag, value)| (tag, value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MetricKind;

    #[test]
    fn values_have_their_units() {
        for (name, value, shown) in [
            ("cpu", 1.5, "150%"),
            ("rss", 1_610_612_736.0, "1.5 GiB"),
            ("read_bytes", 2_048.0, "2.0 KiB/s"),
            ("context_switches", 1_200.0, "1,200/s"),
            ("threads", 12.0, "12"),
            ("descriptors", 20_000.0, "20,000"),
            ("listen_queue", 1.25, "1.25"),
            ("run_queue_wait", 0.25, "250 ms"),
        ] {
            let unit = Monitored::unit_of(name).expect(name);
            assert_eq!(unit.show(value), shown, "{name}");
        }
    }

    #[test]
    fn what_is_full_is_near_its_bound() {
        assert!(Monitored::is_full(0.96, Some(1.0)) && !Monitored::is_full(0.9, Some(1.0)));
        assert!(!Monitored::is_full(0.0, Some(0.0)) && !Monitored::is_full(5.0, None));
        assert_eq!(Monitored::bounds_among(&["cpu", "rss"]), ["cpu_limit", "memory_limit"]);
        assert!(Monitored::place("cpu") < Monitored::place("rss"));
        assert!(Monitored::place("anything") > Monitored::place("temp_bytes"));
    }

    #[test]
    fn a_metric_knows_its_monitor() {
        let tag = |tag: &str, value: &str| (tag.to_owned(), value.to_owned());
        let key =
            |scenario: &str, tags| MetricKey::new(MetricKind::Gauge, scenario, "disk_busy", tags);
        let own = key("", vec![tag("monitor", "db"), tag("disk", "sda")]);
        assert_eq!(own.monitor(), Some("db"));
        assert_eq!(own.label_within_monitor(), "disk_busy{disk=sda}");
        assert_eq!(own.monitored_unit(), Some(MonitoredUnit::Share));
        // What the plan records itself, and what squall samples of itself.
        assert_eq!(key("buyer", vec![tag("monitor", "db")]).monitor(), None);
        assert_eq!(key("", Vec::new()).monitored_unit(), None);
    }
}
