//! What monitors sample of the target, by monitor. Pure.

use squall_metrics::Monitored;

use super::metrics::{MetricPoint, MetricState, MetricStates};

/// What a monitor samples.
#[derive(Debug)]
pub struct TargetState<'a> {
    pub monitor: &'a str,
    /// In the order in which they are documented, without those that are only the bound of another.
    pub metrics: Vec<TargetMetric<'a>>,
}

/// A metric that a monitor samples.
#[derive(Debug)]
pub struct TargetMetric<'a> {
    /// Its place among all metrics.
    pub at: usize,
    pub state: &'a MetricState,
    /// The value at which it is full; `None`: none, or none that is known.
    pub full_at: Option<f64>,
}

impl TargetMetric<'_> {
    /// The last value, and the highest that there was.
    pub fn now_and_highest(&self) -> Option<(f64, f64)> {
        let points = self.state.course.points();
        let now = points.last()?.shown();
        Some((now, points.iter().map(MetricPoint::shown).fold(now, f64::max)))
    }

    /// Whether a value is near the one at which it is full.
    pub fn is_full(&self, value: f64) -> bool {
        Monitored::is_full(value, self.full_at)
    }

    /// A value with its unit.
    pub fn show(&self, value: f64) -> String {
        self.state.key.monitored_unit().map_or_else(String::new, |unit| unit.show(value))
    }
}

impl MetricStates {
    /// Whether a monitor has sampled anything of the target.
    pub fn has_target(&self) -> bool {
        self.all().iter().any(|own| own.monitor.is_some())
    }

    /// What monitors sample of the target.
    pub fn targets(&self) -> Vec<TargetState<'_>> {
        let mut targets: Vec<TargetState<'_>> = Vec::new();
        for (at, state) in self.all().iter().enumerate() {
            let Some(monitor) = state.monitor.as_deref() else { continue };
            let place =
                targets.iter().position(|own| own.monitor == monitor).unwrap_or_else(|| {
                    targets.push(TargetState { monitor, metrics: Vec::new() });
                    targets.len() - 1
                });
            let full_at = self.full_at(state);
            targets[place].metrics.push(TargetMetric { at, state, full_at });
        }
        for own in &mut targets {
            let names: Vec<&str> =
                own.metrics.iter().map(|own| own.state.key.name.as_str()).collect();
            let bounds = Monitored::bounds_among(&names);
            own.metrics.retain(|own| !bounds.contains(&own.state.key.name.as_str()));
            own.metrics.sort_by_key(|own| Monitored::place(&own.state.key.name));
        }
        targets
    }

    /// The value at which a metric is full: the last one of another with the same tags, or a constant.
    fn full_at(&self, state: &MetricState) -> Option<f64> {
        Monitored::full_at(&state.key.name, |bound| {
            let is_bound = |own: &&MetricState| {
                own.key.name == bound && own.key.tags == state.key.tags && own.monitor.is_some()
            };
            let own = self.all().iter().find(is_bound)?;
            own.course.points().last().map(MetricPoint::shown)
        })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::Arc;

    use squall_metrics::{MetricKey, MetricKind, MetricStats};

    use super::*;

    /// What two monitors sample in a second: a server whose CPU is full in the end, and a pool of which only the target knows more.
    pub fn sampled(second: u32) -> Vec<(Arc<MetricKey>, MetricStats)> {
        let busy = f64::from(second.min(20)) / 10.0;
        let all = [
            ("server", "threads", 40.0),
            ("server", "cpu_limit", 2.0),
            ("server", "cpu", busy),
            ("server", "rss", 3e8 + 1e7 * busy),
            ("app\x1b", "pool_waiting", f64::from(second % 5)),
        ];
        let recorded = all.map(|(monitor, name, value)| {
            let mut stats = MetricStats::default();
            stats.record(MetricKind::Gauge, value, 0).expect("a value");
            let tags = vec![("monitor".to_owned(), monitor.to_owned())];
            (Arc::new(MetricKey::new(MetricKind::Gauge, "", name, tags)), stats)
        });
        recorded.into()
    }

    #[test]
    fn metrics_stand_under_their_monitor_in_the_order_of_the_documentation() {
        let mut states = MetricStates::default();
        (0..30).for_each(|second| states.add(second, &sampled(second)));
        let targets = states.targets();
        let names: Vec<(&str, Vec<&str>)> = targets
            .iter()
            .map(|own| (own.monitor, own.metrics.iter().map(|own| &*own.state.label).collect()))
            .collect();
        let server = vec!["cpu", "rss", "threads"];
        assert_eq!(names, [("server", server), ("app\\x1b", vec!["pool_waiting"])]);
        let cpu = &targets[0].metrics[0];
        let (now, highest) = cpu.now_and_highest().expect("values");
        assert_eq!((cpu.show(now), cpu.full_at, highest), ("200%".to_owned(), Some(2.0), 2.0));
        assert!(cpu.is_full(now) && !targets[0].metrics[1].is_full(1e12));
    }
}
