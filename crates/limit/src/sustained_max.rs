//! The sustained maximum: the level at which the requirements are only just met, from the steps around it.

use crate::fit::{self, Fit, Point};
use crate::load_step::{LevelKind, LoadStep, StepOutcome};
use crate::measured::{TOO_FEW, logarithm};

/// The highest level that meets the requirements, and how precisely it is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SustainedMax {
    pub level: f64,
    /// It lies between `low` and `high` with 95% confidence; where no curve could be fitted, these are the
    /// highest level that met the requirements and the lowest that did not. Where a curve says that the first of them
    /// was met by chance, `low` is the curve's.
    pub low: f64,
    /// See `low`.
    pub high: f64,
    /// Whether it follows from a curve through the steps near it, rather than from a bracket alone.
    pub fitted: bool,
}

/// Steps that use less of their limit, or more, are no part of a fit: above, a queue just grows and says nothing.
const FITTED_USE: std::ops::Range<f64> = 0.1..4.0;

/// Standard error of the logarithm of a used share of which nothing is known.
const UNKNOWN_ERROR: f64 = 0.1;

impl SustainedMax {
    /// Finds it. The answer lies within the bracket, and its interval ends within it; a curve whose edge does not is
    /// refused. `None`: no level met
    /// the requirements, or none violated them.
    pub fn of(steps: &[LoadStep], by: LevelKind) -> Option<SustainedMax> {
        let Bracket { low: Some(low), high: Some(high) } = Bracket::of(steps) else { return None };
        let between = SustainedMax { level: low, low, high, fitted: false };
        if by == LevelKind::Users && high - low <= 1.0 {
            return Some(between);
        }
        let Some(fit) = fitted(steps, low, high) else { return Some(between) };
        let wider = fit.low <= low && fit.high >= high;
        if fit.edge <= low || (wider && scatters(steps, low, high)) {
            // Chance made the bracket as narrow, or put it as high, as it is: its lower end is not certain.
            return Some(SustainedMax { low: low.min(fit.low / fit.margin), ..between });
        }
        if wider || fit.edge >= high {
            return Some(between);
        }
        // That a level was met once is chance more often than that one was violated: short steps miss the longest
        // queues. So the interval may begin below it, but never ends above a level that was violated.
        let (low, high) = (fit.low / fit.margin, (fit.high * fit.margin).min(high));
        Some(SustainedMax { level: fit.edge, low, high, fitted: true })
    }

    /// Whether half its interval is at most this share of it, or, as users are whole, one user wide.
    pub(crate) fn is_known(&self, by: LevelKind, precision: f64) -> bool {
        let width = self.high - self.low;
        width / 2.0 <= precision * self.level || (by == LevelKind::Users && width <= 1.0)
    }
}

/// Whether chance decides what a step near the bracket says: one below it did not meet the requirements for certain, or
/// one above it did.
fn scatters(steps: &[LoadStep], low: f64, high: f64) -> bool {
    let by_chance = |step: &LoadStep| match step.met() {
        true => step.level >= high,
        false => step.level <= low,
    };
    steps.iter().any(by_chance)
}

/// The curve through the steps near a bracket.
pub(crate) fn fitted(steps: &[LoadStep], low: f64, high: f64) -> Option<Fit> {
    let fits = |step: &&LoadStep| step.keeps_up && step.outcome() != StepOutcome::Generator;
    let point = |step: &LoadStep| {
        let closest = step.closest()?;
        let used = closest.used.filter(|used| FITTED_USE.contains(used))?;
        let error = closest.error.unwrap_or(UNKNOWN_ERROR);
        let (level, seconds) = (step.level, step.seconds);
        (error < TOO_FEW).then_some(Point { level, seconds, y: logarithm(used), error })
    };
    let points: Vec<Point> = steps.iter().filter(fits).filter_map(point).collect();
    fit::fit(&points, low, high)
}

/// Steps at levels that differ by at most this share are taken together, to tell whether one is an exception.
const NEIGHBOUR_DISTANCE: f64 = 0.05;

/// What the steps say for certain: the maximum lies between two levels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bracket {
    /// The highest level that met the requirements, as most steps near it did, and lies below all that violated them;
    /// where none did for certain, the lowest of those that did.
    pub low: Option<f64>,
    /// The lowest level that violated the requirements.
    pub high: Option<f64>,
}

impl Bracket {
    /// A level with both outcomes counts as the more frequent one, and as violated in a tie.
    pub(crate) fn of(steps: &[LoadStep]) -> Bracket {
        let mut levels: Vec<f64> = steps.iter().map(|step| step.level).collect();
        levels.sort_by(f64::total_cmp);
        levels.dedup();
        let verdict = |level: f64| {
            let of = |outcome| {
                let same = |step: &&LoadStep| step.level == level && step.outcome() == outcome;
                steps.iter().filter(same).count()
            };
            let (met, violated) = (of(StepOutcome::Met), of(StepOutcome::Violated));
            (met + violated > 0).then_some(violated >= met)
        };
        let high = levels.iter().copied().find(|level| verdict(*level) == Some(true));
        let below = |level: &f64| high.is_none_or(|high| *level < high);
        // Of many steps around the maximum one meets the requirements for certain by chance.
        let mostly_met = |level: f64| {
            let near = |step: &&LoadStep| (step.level / level).ln().abs() <= NEIGHBOUR_DISTANCE;
            let near: Vec<bool> = steps.iter().filter(near).map(LoadStep::met).collect();
            2 * near.iter().filter(|met| **met).count() >= near.len()
        };
        let low = levels
            .iter()
            .copied()
            .rfind(|level| below(level) && verdict(*level) == Some(false) && mostly_met(*level));
        let mut met = steps.iter().filter(|step| step.met()).map(|step| step.level).filter(below);
        let first = met.next().map(|first| met.fold(first, f64::min));
        Bracket { low: low.or(first), high }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load_step::tests::step;

    fn bracket(steps: &[LoadStep]) -> (Option<f64>, Option<f64>) {
        let Bracket { low, high } = Bracket::of(steps);
        (low, high)
    }

    #[test]
    fn a_bracket_lies_between_met_and_violated() {
        let steps = [step(10.0, 0.2), step(40.0, 2.0), step(20.0, 0.5), step(30.0, 1.5)];
        assert_eq!(bracket(&steps), (Some(20.0), Some(30.0)));
        // A level that is met above the lowest violated one does not count, nor does what is not certain.
        let mut steps = steps.to_vec();
        steps.extend([step(35.0, 0.5), step(25.0, 0.9), step(22.0, 1.1)]);
        assert_eq!(bracket(&steps), (Some(20.0), Some(30.0)));
        // Met twice and violated once counts as met.
        steps.extend([step(30.0, 0.5), step(30.0, 0.6)]);
        assert_eq!(bracket(&steps), (Some(35.0), Some(40.0)));
        assert_eq!(bracket(&[step(10.0, 0.2)]), (Some(10.0), None));
        assert_eq!(bracket(&[step(10.0, 1.5)]), (None, Some(10.0)));
        // Where nothing is certain, the lowest that met them is.
        let close = [step(10.0, 0.9), step(20.0, 0.92), step(40.0, 1.5)];
        assert_eq!(bracket(&close), (Some(10.0), Some(40.0)));
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
        assert!(maximum.low < 80.0 && 80.0 < maximum.high, "{maximum:?}");
        assert!(maximum.low >= 70.0 && maximum.high <= 85.0, "not above what broke: {maximum:?}");
    }

    /// A level beyond the edge at 80 was met by chance, and the lowest that was violated lies just above it.
    #[test]
    fn a_level_that_was_met_by_chance_is_no_lower_end() {
        let noise = [1.0, 1.05, 1.05, 0.65, 1.1, 1.12, 1.0, 1.0];
        let steps: Vec<LoadStep> = [50.0, 60.0, 70.0, 83.0, 76.0, 78.0, 84.0, 88.0]
            .iter()
            .zip(noise)
            .map(|(level, noise)| step(*level, 20.0 / (100.0 - level) * noise))
            .collect();
        let maximum = SustainedMax::of(&steps, LevelKind::Rate).expect("a maximum");
        assert_eq!((maximum.level, maximum.high, maximum.fitted), (83.0, 84.0, false));
        assert!((50.0..80.0).contains(&maximum.low), "{maximum:?}");
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
    fn what_is_no_curve_is_a_bracket() {
        let steps = [step(10.0, 0.0), step(20.0, 0.0), step(30.0, 5.0), step(25.0, 0.0)];
        let maximum = SustainedMax::of(&steps, LevelKind::Rate).expect("a maximum");
        assert_eq!(maximum, SustainedMax { level: 25.0, low: 25.0, high: 30.0, fitted: false });
    }

    /// A target that breaks with its 300th connection: whatever a curve says, no answer is above 304.
    #[test]
    fn no_answer_is_beyond_the_bracket() {
        for broken in [1.5, 2.0, 3.5, 50.0] {
            let steps: Vec<LoadStep> = [1.0, 4.0, 16.0, 64.0, 256.0, 512.0, 362.0, 304.0, 298.0]
                .map(|level| step(level, if level < 300.0 { 0.3 } else { broken }))
                .into();
            let maximum = SustainedMax::of(&steps, LevelKind::Users).expect("a maximum");
            assert!(maximum.low >= 298.0 && maximum.high <= 304.0, "{maximum:?}");
            assert!((maximum.low..=maximum.high).contains(&maximum.level), "{maximum:?}");
        }
    }
}
