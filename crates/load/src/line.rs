//! A level over time that goes straight from point to point: the common ground of all shapes.

use crate::{Nanos, ShapeError};

/// Straight lines from point to point; before the first point and after the last one the level
/// stays.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Line {
    /// Time and level; times ascend, two at the same time are a jump.
    points: Vec<(Nanos, f64)>,
}

/// Levels above this have no exact place among doubles.
const MAX_LEVEL: f64 = 1e12;

impl Line {
    /// From `start` through stages of (level at the end, length).
    pub(crate) fn through(start: f64, stages: &[(f64, Nanos)]) -> Result<Line, ShapeError> {
        let mut points = vec![(0, check(start)?)];
        let mut at: Nanos = 0;
        for (level, over) in stages {
            let too_long = || ShapeError("the stages are longer than 500 years".to_owned());
            at = at.checked_add(*over).ok_or_else(too_long)?;
            points.push((at, check(*level)?));
        }
        Ok(Line { points })
    }

    pub(crate) fn points(&self) -> &[(Nanos, f64)] {
        &self.points
    }

    /// The level at a time; at a jump, the level after it.
    pub(crate) fn at(&self, time: Nanos) -> f64 {
        let after = self.points.partition_point(|(at, _)| *at <= time);
        let (from, level) = self.points[after.saturating_sub(1)];
        match self.points.get(after) {
            Some((to, next)) if after > 0 => {
                level + (next - level) * ((time - from) as f64 / (to - from) as f64)
            }
            _ => level,
        }
    }

    /// The highest level.
    pub(crate) fn most(&self) -> f64 {
        self.points.iter().map(|(_, level)| *level).fold(0.0, f64::max)
    }
}

fn check(level: f64) -> Result<f64, ShapeError> {
    if level.is_finite() && (0.0..=MAX_LEVEL).contains(&level) {
        Ok(level)
    } else {
        Err(ShapeError(format!("{level} is no number of users or arrivals: 0 to {MAX_LEVEL}")))
    }
}
