//! The sustained maximum: the level at which the requirements are only just met, from the steps around it.

use squall_measure::student;

use crate::load_step::{LevelKind, LoadStep, StepOutcome};

/// The highest level that meets the requirements, and how precisely it is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SustainedMax {
    /// The best estimate.
    pub level: f64,
    /// It lies between `low` and `high` with 95% confidence; where no line could be fitted, these are the
    /// highest level that met the requirements and the lowest that did not.
    pub low: f64,
    /// See `low`.
    pub high: f64,
    /// Whether it follows from a line through the steps near it, rather than from a bracket alone.
    pub fitted: bool,
}

/// Ranges of levels to which a line is fitted, as shares of the maximum; the narrowest that has enough
/// steps counts. Latency is a line only near the maximum, and with many servers only very near (they
/// respond alike until nearly all are busy).
const FITTED_RANGES: [(f64, f64); 2] = [(0.85, 1.12), (0.5, 1.25)];
/// Fewest steps for a line.
const MIN_STEPS: usize = 4;
/// Range of the used share of the limit in which steps are fitted: above it a queue just grows and says
/// nothing.
const FITTED_USE: std::ops::Range<f64> = 0.01..4.0;

impl SustainedMax {
    /// Finds it. `None`: no level met the requirements, or none violated them.
    pub fn of(steps: &[LoadStep], by: LevelKind) -> Option<SustainedMax> {
        let (low, high) = bracket(steps)?;
        let between = SustainedMax { level: low, low, high, fitted: false };
        if by == LevelKind::Users && high - low <= 1.0 {
            return Some(between);
        }
        Some(fit(steps, by, (low * high).sqrt()).unwrap_or(between))
    }

    /// Whether half its interval is at most this share of it, or, as users are whole, one user wide.
    pub(crate) fn is_known(&self, by: LevelKind, precision: f64) -> bool {
        let width = self.high - self.low;
        width / 2.0 <= precision * self.level || (by == LevelKind::Users && width <= 1.0)
    }
}

/// The highest level below all that violated the requirements, and the lowest that did. A level with both
/// outcomes counts as the more frequent one, and as violated in a tie.
pub(crate) fn bracket(steps: &[LoadStep]) -> Option<(f64, f64)> {
    let mut levels: Vec<f64> = steps.iter().map(|step| step.level).collect();
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    let violated = |level: f64| {
        let of = |outcome| {
            let same = |step: &&LoadStep| step.level == level && step.outcome() == outcome;
            steps.iter().filter(same).count()
        };
        (of(StepOutcome::Violated) + of(StepOutcome::Met) > 0)
            .then(|| of(StepOutcome::Violated) >= of(StepOutcome::Met).max(1))
    };
    let high = levels.iter().copied().find(|level| violated(*level) == Some(true))?;
    let low =
        levels.iter().copied().rfind(|level| *level < high && violated(*level) == Some(false))?;
    Some((low, high))
}

/// A line through the steps near the maximum, by weighted least squares. Near its limit the response time
/// of a queue is proportional to 1 / (capacity - rate), so its inverse is a line in the rate. In a closed
/// workload the response time itself grows linearly (asymptotic bounds; Lazowska et al.,
/// "Quantitative System Performance", 1984, chapter 5). The noise of both is proportional to
/// their size.
fn fit(steps: &[LoadStep], by: LevelKind, middle: f64) -> Option<SustainedMax> {
    let points = |near: (f64, f64)| -> Vec<(f64, f64)> {
        let fits = |step: &&LoadStep| {
            (middle * near.0..=middle * near.1).contains(&step.level)
                && step.keeps_up
                && step.outcome() != StepOutcome::Generator
        };
        let used = |step: &LoadStep| step.used().filter(|used| FITTED_USE.contains(used));
        let points = steps.iter().filter(fits).filter_map(|step| Some((step.level, used(step)?)));
        points
            .map(|(level, used)| (level, if by == LevelKind::Rate { 1.0 / used } else { used }))
            .collect()
    };
    let points = FITTED_RANGES.into_iter().map(points).find(|points| points.len() >= MIN_STEPS)?;
    let weight = |value: f64| 1.0 / (value * value);
    let sum = |of: &dyn Fn(f64, f64) -> f64| -> f64 {
        points.iter().map(|(x, z)| weight(*z) * of(*x, *z)).sum()
    };
    let all = sum(&|_, _| 1.0);
    let (x, z) = (sum(&|x, _| x) / all, sum(&|_, z| z) / all);
    let spread = sum(&|at, _| (at - x).powi(2));
    let slope = sum(&|at, value| (at - x) * (value - z)) / spread;
    let falls = if by == LevelKind::Rate { slope < 0.0 } else { slope > 0.0 };
    if spread <= 0.0 || !falls {
        return None;
    }
    let level = x + (1.0 - z) / slope;
    let squares = sum(&|at, value| (value - z - slope * (at - x)).powi(2));
    let freedom = points.len() - 2;
    let variance = squares / freedom as f64;
    // The noise at the maximum itself, where the value is 1 and its weight too.
    let error = (variance * (1.0 / all + (level - x).powi(2) / spread)).sqrt() / slope.abs();
    let half = student(freedom) * error;
    let [_, (least, most)] = FITTED_RANGES;
    let within = (middle * least..=middle * most).contains(&level);
    within.then_some(SustainedMax {
        level,
        low: (level - half).max(0.0),
        high: level + half,
        fitted: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load_step::tests::step;

    #[test]
    fn a_bracket_lies_between_met_and_violated() {
        let steps = [step(10.0, 0.2), step(40.0, 2.0), step(20.0, 0.5), step(30.0, 1.1)];
        assert_eq!(bracket(&steps), Some((20.0, 30.0)));
        // A level that is met above the lowest violated one does not count.
        let mut steps = steps.to_vec();
        steps.push(step(35.0, 0.9));
        assert_eq!(bracket(&steps), Some((20.0, 30.0)));
        // Met twice and violated once counts as met.
        steps.extend([step(30.0, 0.9), step(30.0, 0.95)]);
        assert_eq!(bracket(&steps), Some((35.0, 40.0)));
        assert_eq!(bracket(&[step(10.0, 0.2)]), None);
        assert_eq!(bracket(&[step(10.0, 1.2)]), None);
    }

    #[test]
    fn a_queue_is_found_through_noise() {
        // M/M/1 with a capacity of 100: 1 / (100 - level), at its limit at 80; noise of 20 %.
        let noise = [1.2, 0.85, 1.1, 0.9, 1.15, 0.8, 1.0, 0.95];
        let steps: Vec<LoadStep> = [50.0, 60.0, 70.0, 75.0, 78.0, 82.0, 85.0, 88.0]
            .iter()
            .zip(noise)
            .map(|(level, noise)| step(*level, 20.0 / (100.0 - level) * noise))
            .collect();
        let maximum = SustainedMax::of(&steps, LevelKind::Rate).expect("a maximum");
        assert!(maximum.fitted && (76.0..=84.0).contains(&maximum.level), "{maximum:?}");
        assert!(maximum.low < 80.0 && 80.0 < maximum.high && maximum.low > 60.0, "{maximum:?}");
    }

    /// M/M/16 with 32 ms each and p99 < 200 ms: three quarters of it up to 85% of the maximum at
    /// 468, all of it there, and two and a half times as much at 105%.
    #[test]
    fn many_servers_bend_late() {
        let steps: Vec<LoadStep> = [
            (160.0, 0.74),
            (640.0, 9.0),
            (320.0, 0.74),
            (450.0, 0.84),
            (480.0, 1.36),
            (460.0, 0.91),
            (470.0, 1.04),
            (475.0, 1.16),
        ]
        .map(|(level, used)| step(level, used))
        .into();
        let maximum = SustainedMax::of(&steps, LevelKind::Rate).expect("a maximum");
        assert!(maximum.fitted && (454.0..=482.0).contains(&maximum.level), "{maximum:?}");
        assert!(maximum.low < 468.0 && 468.0 < maximum.high, "{maximum:?}");
    }

    #[test]
    fn what_is_no_line_is_a_bracket() {
        let steps = [step(10.0, 0.0), step(20.0, 0.0), step(30.0, 5.0), step(25.0, 0.0)];
        let maximum = SustainedMax::of(&steps, LevelKind::Rate).expect("a maximum");
        assert_eq!(maximum, SustainedMax { level: 25.0, low: 25.0, high: 30.0, fitted: false });
    }
}
