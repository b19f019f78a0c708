//! Metrics over time: those that the plan records and what monitors sample. Pure.

use std::collections::HashMap;
use std::sync::Arc;

use squall_base::escape_control;
use squall_metrics::{MetricKey, MetricKind, MetricStats};

use super::course::{Course, Span};
use super::nodes::is_of_node;

/// Most metrics of the plan that are shown, most of a monitor, and most of nodes of a fleet.
pub const MAX_SHOWN: usize = 100;

/// A metric in a second of the load, or in several.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MetricPoint {
    pub second: u32,
    pub seconds: u32,
    pub kind: MetricKind,
    /// How many values were recorded.
    pub count: u64,
    /// See [`MetricStats::value`].
    pub value: f64,
}

impl MetricPoint {
    /// What a chart shows: of a counter its sum a second.
    pub fn shown(&self) -> f64 {
        match self.kind {
            MetricKind::Counter => self.value / self.length_s(),
            MetricKind::Gauge | MetricKind::Rate | MetricKind::Trend => self.value,
        }
    }
}

impl Span for MetricPoint {
    fn second(&self) -> u32 {
        self.second
    }

    fn seconds(&self) -> u32 {
        self.seconds
    }

    fn with(self, next: MetricPoint) -> MetricPoint {
        let count = self.count.saturating_add(next.count);
        let value = match self.kind {
            MetricKind::Counter => self.value + next.value,
            MetricKind::Gauge => next.value,
            MetricKind::Rate | MetricKind::Trend => {
                let sum = self.value * self.count as f64 + next.value * next.count as f64;
                sum / count.max(1) as f64
            }
        };
        let end = (self.second + self.seconds).max(next.second + next.seconds);
        MetricPoint { seconds: end - self.second, count, value, ..self }
    }
}

/// A metric over time.
#[derive(Debug)]
pub struct MetricState {
    /// Its name with its tags, but that of its monitor, without control characters.
    pub label: String,
    /// The monitor of the target that samples it.
    pub monitor: Option<String>,
    pub key: Arc<MetricKey>,
    pub course: Course<MetricPoint>,
}

impl MetricState {
    /// Without points.
    fn of(key: &Arc<MetricKey>) -> MetricState {
        let monitor = key.monitor().map(|name| escape_control(name).into_owned());
        let label = escape_control(&key.label_within_monitor()).into_owned();
        MetricState { label, monitor, key: key.clone(), course: Course::default() }
    }
}

/// All metrics, in the order in which they came.
#[derive(Debug, Default)]
pub struct MetricStates {
    all: Vec<MetricState>,
    places: HashMap<Arc<MetricKey>, usize>,
}

impl MetricStates {
    /// Notes what was recorded in a second; of further metrics than are shown, nothing.
    pub fn add(&mut self, second: u32, recorded: &[(Arc<MetricKey>, MetricStats)]) {
        for (key, stats) in recorded {
            let place = match self.places.get(key) {
                Some(place) => *place,
                None if self.has_enough(key) => continue,
                None => {
                    self.all.push(MetricState::of(key));
                    self.places.insert(key.clone(), self.all.len() - 1);
                    self.all.len() - 1
                }
            };
            let (count, value) = (stats.count, stats.value(key.kind));
            let point = MetricPoint { second, seconds: 1, kind: key.kind, count, value };
            self.all[place].course.add(point);
        }
    }

    /// Whether as many as are shown are there of what the plan records, of what a monitor samples, or of what nodes of a
    /// fleet say, as is this one.
    fn has_enough(&self, key: &MetricKey) -> bool {
        let alike = |own: &&MetricState| {
            let kind = |own: &MetricKey| (own.is_of_monitor(), is_of_node(own));
            kind(&own.key) == kind(key) && own.key.monitor() == key.monitor()
        };
        self.all.iter().filter(alike).count() >= MAX_SHOWN
    }

    pub fn all(&self) -> &[MetricState] {
        &self.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn monitors_take_no_places_of_the_plan() {
        let mut states = MetricStates::default();
        for scenario in ["", "buyer"] {
            let key = |number: usize| {
                MetricKey::new(MetricKind::Gauge, scenario, &number.to_string(), Vec::new())
            };
            let numbered = (0..=MAX_SHOWN).map(|number| (Arc::new(key(number)), value()));
            states.add(0, &numbered.collect::<Vec<_>>());
        }
        let of_plan = states.all().iter().filter(|own| own.key.scenario == "buyer").count();
        assert_eq!((of_plan, states.all().len()), (MAX_SHOWN, 2 * MAX_SHOWN));
    }

    fn value() -> MetricStats {
        let mut stats = MetricStats::default();
        stats.record(MetricKind::Gauge, 1.0, 0).expect("a value");
        stats
    }

    /// What a long run comes to is what each kind is for, also of a worker that was late.
    #[test]
    fn points_of_several_seconds_keep_to_the_kind() {
        let mut states = MetricStates::default();
        let key = |kind| Arc::new(MetricKey::new(kind, "buyer", "paid", Vec::new()));
        for second in (0..2_000).chain([1_999]) {
            let recorded = MetricKind::NAMES.map(|(_, kind)| {
                let mut stats = MetricStats::default();
                stats.record(kind, f64::from(second % 2), 0).expect("a value");
                (key(kind), stats)
            });
            states.add(second, &recorded);
        }
        for own in states.all() {
            let points = own.course.points();
            assert_eq!(points.len(), 1_000, "{}", own.label);
            assert!(points.iter().all(|point| point.seconds == 2), "{points:?}");
            let wanted = match own.key.kind {
                MetricKind::Gauge => 1.0,
                MetricKind::Counter | MetricKind::Rate | MetricKind::Trend => 0.5,
            };
            assert_eq!((points[0].count, points[0].shown()), (2, wanted), "{}", own.label);
            assert_eq!(points[999].count, 3, "the late one");
        }
    }
}
