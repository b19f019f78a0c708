//! What monitors sampled, by level of the load.

use squall_metrics::Monitored;

use crate::load_step::{LoadStep, StepOutcome};
use crate::sampled::StepMetric;

/// A load level, with all steps that were run at it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Level {
    /// The load.
    pub load: f64,
    /// Seconds that were measured at it.
    pub seconds: f64,
    /// Whether most of its steps violated a requirement, or met all of them; `None`: neither.
    pub violated: Option<bool>,
    metrics: Vec<StepMetric>,
}

/// The levels at which the target was measured, from the lowest on. Those at which squall was the limit say nothing of it.
pub(super) fn levels(steps: &[LoadStep]) -> Vec<Level> {
    let mut steps: Vec<&LoadStep> =
        steps.iter().filter(|own| own.outcome() != StepOutcome::Generator).collect();
    steps.sort_by(|a, b| a.level.total_cmp(&b.level));
    let of_level = |steps: &[&LoadStep]| {
        let number = |outcome| steps.iter().filter(|own| own.outcome() == outcome).count();
        let (violated, met) = (number(StepOutcome::Violated), number(StepOutcome::Met));
        Level {
            load: steps[0].level,
            seconds: steps.iter().map(|own| own.seconds).sum(),
            violated: (violated != met).then_some(violated > met),
            metrics: merged(steps),
        }
    };
    // No part is empty.
    steps.chunk_by(|a, b| a.level == b.level).map(of_level).collect()
}

/// The metrics of all steps of a level.
fn merged(steps: &[&LoadStep]) -> Vec<StepMetric> {
    let mut all: Vec<StepMetric> = Vec::new();
    for own in steps.iter().flat_map(|step| &step.monitored) {
        match all.iter_mut().find(|other| is_same(other, own)) {
            None => all.push(own.clone()),
            Some(other) => {
                let count = other.count + own.count;
                let sum = other.mean * other.count as f64 + own.mean * own.count as f64;
                other.mean = sum / count.max(1) as f64;
                other.count = count;
                other.max = other.max.max(own.max);
            }
        }
    }
    all
}

fn is_same(a: &StepMetric, b: &StepMetric) -> bool {
    a.monitor == b.monitor && a.name == b.name && a.tags == b.tags
}

/// What identifies a metric of a monitor.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MetricName {
    pub monitor: String,
    pub name: String,
    pub tags: Vec<(String, String)>,
}

impl MetricName {
    /// Such as `disk_busy{vda} of host`.
    pub fn label(&self) -> String {
        let tags: Vec<&str> = self.tags.iter().map(|(_, value)| value.as_str()).collect();
        match tags.is_empty() {
            true => format!("{} of {}", self.name, self.monitor),
            false => format!("{}{{{}}} of {}", self.name, tags.join(", "), self.monitor),
        }
    }
}

/// A metric at a level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Point {
    pub load: f64,
    pub seconds: f64,
    pub violated: Option<bool>,
    pub count: u64,
    pub mean: f64,
    pub max: f64,
    /// The value at which it is full, if that is known.
    pub bound: Option<f64>,
}

/// A metric over the levels.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Series {
    pub of: MetricName,
    /// From the lowest level on.
    pub points: Vec<Point>,
}

/// All metrics over the levels.
pub(super) fn series(levels: &[Level]) -> Vec<Series> {
    let mut names: Vec<MetricName> = levels.iter().flat_map(|own| &own.metrics).map(name).collect();
    names.sort();
    names.dedup();
    let points = |of: &MetricName| levels.iter().filter_map(|level| point(level, of)).collect();
    names.into_iter().map(|of| Series { points: points(&of), of }).collect()
}

fn name(own: &StepMetric) -> MetricName {
    MetricName { monitor: own.monitor.clone(), name: own.name.clone(), tags: own.tags.clone() }
}

fn point(level: &Level, of: &MetricName) -> Option<Point> {
    let find = |wanted: &str| {
        level
            .metrics
            .iter()
            .find(|own| own.name == wanted && own.monitor == of.monitor && own.tags == of.tags)
    };
    let own = find(&of.name)?;
    let value = |name: &str| find(name).map(|own| own.mean);
    let known = Monitored::named(&of.name).next().is_some();
    let bound = match known {
        true => Monitored::full_at(&of.name, value),
        false => limit_names(&of.name).iter().find_map(|name| value(name)),
    };
    Some(Point {
        load: level.load,
        seconds: level.seconds,
        violated: level.violated,
        count: own.count,
        mean: own.mean,
        max: own.max,
        bound: bound.filter(|bound| *bound > 0.0),
    })
}

/// Words at the end of names of what is in use, of what it is limited to, and of what waits for it, as libraries of pools
/// and exporters have them.
const IN_USE: [&str; 7] =
    ["active", "in_use", "used", "busy", "acquired", "borrowed", "checked_out"];
const LIMITS: [&str; 5] = ["limit", "max", "size", "capacity", "total"];
const WAITING: [&str; 6] = ["waiting", "waiters", "pending", "queued", "awaiting", "blocked"];

/// What comes before one of these words at the end of a name.
fn before<'a>(name: &'a str, words: &[&str]) -> Option<&'a str> {
    words.iter().find_map(|word| name.strip_suffix(word))
}

/// The names of metrics that may be the limit of one that counts what is in use.
fn limit_names(name: &str) -> Vec<String> {
    let Some(prefix) = before(name, &IN_USE) else { return Vec::new() };
    LIMITS.iter().map(|word| format!("{prefix}{word}")).collect()
}

impl Series {
    /// Where it counts what waits: the name of what it waits for, which is a part of its own.
    pub fn waits_for(&self) -> Option<&str> {
        let is_ours = Monitored::named(&self.of.name).next().is_some();
        if is_ours { None } else { before(&self.of.name, &WAITING) }
    }

    /// Of these, the one that counts what is in use of what it waits for.
    pub fn in_use<'a>(&self, all: &'a [Series]) -> Option<&'a Series> {
        let prefix = self.waits_for()?;
        let is_in_use = |own: &&Series| {
            own.of.monitor == self.of.monitor
                && own.of.tags == self.of.tags
                && before(&own.of.name, &IN_USE) == Some(prefix)
        };
        all.iter().find(is_in_use)
    }

    /// At a level.
    pub fn at(&self, load: f64) -> Option<&Point> {
        self.points.iter().find(|own| own.load == load)
    }

    /// At the lowest level.
    pub fn lowest(&self) -> Option<&Point> {
        self.points.first()
    }

    /// At the levels that violated a requirement, from the lowest on.
    pub fn broken(&self) -> impl Iterator<Item = &Point> {
        self.points.iter().filter(|own| own.violated == Some(true))
    }

    /// At the highest level below this load that met the requirements.
    pub fn met_below(&self, load: f64) -> Option<&Point> {
        self.points.iter().rev().find(|own| own.load < load && own.violated == Some(false))
    }

    /// Spearman's rank correlation of a value with the load, over the levels up to this one; `None`: there are fewer than four.
    pub fn correlation(&self, value: impl Fn(&Point) -> f64, up_to: f64) -> Option<f64> {
        let points: Vec<&Point> = self.points.iter().filter(|own| own.load <= up_to).collect();
        if points.len() < 4 {
            return None;
        }
        let values: Vec<f64> = points.iter().map(|own| value(own)).collect();
        let loads: Vec<f64> = points.iter().map(|own| own.load).collect();
        Some(pearson(&ranks(&loads), &ranks(&values)))
    }
}

/// The rank of each value; equal ones share the mean of theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let rank = |value: &f64| {
        let less = values.iter().filter(|own| *own < value).count() as f64;
        let same = values.iter().filter(|own| *own == value).count() as f64;
        less + (same - 1.0) / 2.0
    };
    values.iter().map(rank).collect()
}

/// Pearson's correlation; 0 where one of both never changes.
fn pearson(a: &[f64], b: &[f64]) -> f64 {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let (mean_a, mean_b) = (mean(a), mean(b));
    let products = a.iter().zip(b).map(|(a, b)| (a - mean_a) * (b - mean_b));
    let squares =
        |values: &[f64], mean: f64| values.iter().map(|v| (v - mean).powi(2)).sum::<f64>();
    let spread = (squares(a, mean_a) * squares(b, mean_b)).sqrt();
    if spread > 0.0 { products.sum::<f64>() / spread } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_correlate() {
        assert_eq!(ranks(&[10.0, 30.0, 20.0, 30.0]), [0.0, 2.5, 1.0, 2.5]);
        assert!((pearson(&[1.0, 2.0, 3.0], &[2.0, 4.0, 6.0]) - 1.0).abs() < 1e-12);
        assert!((pearson(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]) + 1.0).abs() < 1e-12);
        assert_eq!(pearson(&[1.0, 2.0], &[5.0, 5.0]), 0.0);
    }

    #[test]
    fn names_of_pools_are_understood() {
        assert!(
            limit_names("hikaricp_connections_active")
                .contains(&"hikaricp_connections_max".to_owned())
        );
        assert!(limit_names("requests").is_empty());
        assert_eq!(before("pool_waiting", &WAITING), Some("pool_"));
    }
}
