//! What monitors sampled, as curves over the levels of the load.

use super::Saturation;
use super::rules::amount;
use super::series::{Series, levels, series};
use crate::load_step::LoadStep;

/// A value at a level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LevelPoint {
    /// The load level.
    pub level: f64,
    /// The value there, in its own unit.
    pub value: f64,
    /// Whether a requirement was violated there.
    pub is_violated: bool,
}

/// A value over the levels.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelCurve {
    /// What it is, and of what.
    pub name: String,
    /// From the lowest level on.
    pub points: Vec<LevelPoint>,
    /// The value at which it is full, if that is the same at all levels.
    pub bound: Option<f64>,
    /// Whether it is among what was full, or looks like it.
    pub is_full: bool,
}

impl LevelCurve {
    /// The means of all metrics that monitors sampled in a search, and that changed from level to level; `full`: what was full.
    pub fn of(steps: &[LoadStep], full: Option<&Saturation>) -> Vec<LevelCurve> {
        let all = series(&levels(steps));
        let is_found = |own: &Series| {
            let mut findings = full.iter().flat_map(|own| &own.findings);
            findings.any(|one| {
                one.monitor == own.of.monitor
                    && one.metric == own.of.name
                    && one.tags == own.of.tags
            })
        };
        let curve = |own: &Series| {
            let first = own.points.first()?;
            let changes = own.points.iter().any(|point| point.mean != first.mean);
            let is_same = own.points.iter().all(|point| point.bound == first.bound);
            changes.then(|| LevelCurve {
                name: own.of.label(),
                points: own
                    .points
                    .iter()
                    .map(|point| LevelPoint {
                        level: point.load,
                        value: point.mean,
                        is_violated: point.violated == Some(true),
                    })
                    .collect(),
                bound: first.bound.filter(|_| is_same),
                is_full: is_found(own),
            })
        };
        all.iter().filter_map(curve).collect()
    }

    /// A value as a person reads it.
    pub fn shown(&self, value: f64) -> String {
        let name = self.name.split(['{', ' ']).next().unwrap_or_default();
        let in_cores = name == "cpu" && self.points.iter().any(|own| own.value > 1.0);
        amount(name, value, None, in_cores)
    }
}
