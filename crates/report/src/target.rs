//! What monitors sampled of the target, as reports show it: by monitor, in the order in which squall documents it, with its
//! unit and the value at which it is full.

use squall_metrics::{MONITOR_TAG, Monitored, MonitoredUnit, with_tags};

use crate::document::{MetricRow, RunDocument};

/// Most metrics of a monitor in a short table, but for those that were full.
const MAIN: usize = 5;
/// What a tester asks first.
const MAIN_NAMES: [&str; 14] = [
    "cpu",
    "rss",
    "memory_used",
    "heap_used",
    "gc_share",
    "threads",
    "disk_busy",
    "listen_overflows",
    "requests",
    "connections",
    "active",
    "waiting",
    "longest_query",
    "cache_hits",
];

/// What a monitor sampled.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SampledTarget<'a> {
    pub monitor: &'a str,
    pub metrics: Vec<SampledMetric<'a>>,
}

/// A metric that a monitor sampled.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SampledMetric<'a> {
    pub row: &'a MetricRow,
    /// Its name with its tags, but for that of the monitor.
    pub label: String,
    pub unit: MonitoredUnit,
    /// The value at which it is full; `None`: none, or none that is known.
    pub full_at: Option<f64>,
    /// Whether it is such a value of another metric.
    pub is_bound: bool,
}

impl SampledMetric<'_> {
    /// Whether it came near the value at which it is full.
    pub fn was_full(&self) -> bool {
        Monitored::is_full(self.row.max.unwrap_or(0.0), self.full_at)
    }

    /// A value of it with its unit; `-`: there is none.
    pub fn show(&self, value: Option<f64>) -> String {
        value.map_or("-".to_owned(), |value| self.unit.show(value))
    }
}

impl<'a> SampledTarget<'a> {
    /// What a tester asks of it first: what was full, and the most usual, or if there is nothing such, the first.
    pub fn main(&self) -> Vec<&SampledMetric<'a>> {
        let all = || self.metrics.iter().filter(|own| !own.is_bound);
        let place =
            |own: &SampledMetric<'_>| MAIN_NAMES.iter().position(|name| *name == own.row.name);
        // What never was above 0 tells a tester nothing at first.
        let is_usual = |own: &&SampledMetric<'a>| place(own).is_some() && own.row.max > Some(0.0);
        let mut usual: Vec<&SampledMetric<'a>> = all().filter(is_usual).collect();
        usual.sort_by_key(|own| place(own));
        if usual.is_empty() {
            usual = all().collect();
        }
        usual.truncate(MAIN);
        let is_there =
            |own: &&SampledMetric<'_>| usual.iter().any(|other| std::ptr::eq(*other, *own));
        let full: Vec<&SampledMetric<'a>> =
            all().filter(|own| own.was_full() && !is_there(own)).take(MAIN).collect();
        usual.extend(full);
        usual
    }
}

/// The monitor that sampled a metric; `None`: none did.
pub(crate) fn monitor_of(row: &MetricRow) -> Option<&str> {
    let name = row.tags.get(MONITOR_TAG).filter(|_| row.scenario.is_empty())?;
    Some(name)
}

/// What the monitors of a run sampled, each in the order of its first metric.
pub(crate) fn sampled(run: &RunDocument) -> Vec<SampledTarget<'_>> {
    let mut all: Vec<SampledTarget<'_>> = Vec::new();
    for row in &run.metrics {
        let Some(monitor) = monitor_of(row) else { continue };
        let place = all.iter().position(|own| own.monitor == monitor).unwrap_or_else(|| {
            all.push(SampledTarget { monitor, metrics: Vec::new() });
            all.len() - 1
        });
        let unit = Monitored::unit_of(&row.name).unwrap_or(MonitoredUnit::Number);
        let tags = row.tags.iter().filter(|(tag, _)| *tag != MONITOR_TAG);
        let label = with_tags(&row.name, tags);
        let full_at = full_at(run, row);
        all[place].metrics.push(SampledMetric { row, label, unit, full_at, is_bound: false });
    }
    for own in &mut all {
        let names: Vec<&str> = own.metrics.iter().map(|own| own.row.name.as_str()).collect();
        let bounds = Monitored::bounds_among(&names);
        let is_bound = |own: &SampledMetric<'_>| bounds.contains(&own.row.name.as_str());
        own.metrics.iter_mut().for_each(|own| own.is_bound = is_bound(own));
        own.metrics.sort_by(|one, other| {
            let place = |own: &SampledMetric<'_>| Monitored::place(&own.row.name);
            place(one).cmp(&place(other)).then_with(|| one.label.cmp(&other.label))
        });
    }
    all
}

/// The value at which a metric is full: the last one of another metric of the same monitor with the same tags, or a constant.
fn full_at(run: &RunDocument, row: &MetricRow) -> Option<f64> {
    Monitored::full_at(&row.name, |bound| {
        let is_bound = |own: &&MetricRow| {
            own.name == bound && own.tags == row.tags && own.scenario == row.scenario
        };
        run.metrics.iter().find(is_bound)?.last
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(monitor: &str, name: &str, max: f64) -> MetricRow {
        MetricRow {
            name: name.to_owned(),
            kind: "gauge".to_owned(),
            tags: [(MONITOR_TAG.to_owned(), monitor.to_owned())].into_iter().collect(),
            count: 10,
            last: Some(max),
            mean: Some(max / 2.0),
            min: Some(0.0),
            max: Some(max),
            ..MetricRow::default()
        }
    }

    #[test]
    fn what_was_full_is_known_by_its_bound() {
        let metrics = vec![
            row("server", "threads", 40.0),
            row("server", "cpu_limit", 2.0),
            row("server", "cpu", 1.95),
            row("server", "descriptors", 10.0),
            row("server", "descriptors_limit", 1_024.0),
            row("app", "pool_active", 20.0),
            row("server", "cpu_thread", 0.99),
            MetricRow { scenario: "buyer".to_owned(), ..row("server", "cpu", 1.0) },
        ];
        let run = RunDocument { metrics, ..RunDocument::default() };
        let found = sampled(&run);
        let names: Vec<&str> = found.iter().map(|own| own.monitor).collect();
        assert_eq!(names, ["server", "app"]);
        let labels = |all: &[&SampledMetric<'_>]| -> Vec<String> {
            all.iter().map(|own| own.label.clone()).collect()
        };
        // In the order of the table of what is known, and what is full before it is left out.
        let all: Vec<&SampledMetric<'_>> = found[0].metrics.iter().collect();
        assert_eq!(labels(&all)[..3], ["cpu", "cpu_limit", "cpu_thread"]);
        assert_eq!(labels(&found[0].main()), ["cpu", "threads", "cpu_thread"]);
        assert_eq!(labels(&found[1].main()), ["pool_active"]);
        let full: Vec<bool> = found[0].main().iter().map(|own| own.was_full()).collect();
        assert_eq!(full, [true, false, true]);
        assert_eq!(found[0].main()[0].show(found[0].main()[0].full_at), "200%");
        assert!(!found[1].metrics[0].was_full(), "nobody knows what it may be");
    }
}
