//! The level at which what must be kept is just kept, from steps around it.

use squall_measure::student;

use crate::step::{By, Outcome, Step};

/// The highest level that holds, and how well it is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Edge {
    /// The best estimate.
    pub level: f64,
    /// It lies between these with 95 % confidence; or, where nothing could be fitted, between the
    /// highest level that held and the lowest that did not.
    pub low: f64,
    /// See `low`.
    pub high: f64,
    /// Whether it follows from a line through the steps near it, or from a bracket alone.
    pub fitted: bool,
}

/// Steps so near to the edge, as parts of it, are fitted, from the nearest range that has enough of them:
/// a line holds only near it, and with many servers very near (they answer all alike until nearly all
/// are busy).
const NEAR: [(f64, f64); 2] = [(0.85, 1.12), (0.5, 1.25)];
/// Fewest steps for a line.
const LEAST: usize = 4;
/// Steps are fitted that use so much of what is allowed: above, a queue only grows, and says nothing.
const USED: std::ops::Range<f64> = 0.01..4.0;

impl Edge {
    /// Finds it. `None`: nothing held, or nothing broke.
    pub fn of(steps: &[Step], by: By) -> Option<Edge> {
        let (low, high) = bracket(steps)?;
        let between = Edge { level: low, low, high, fitted: false };
        if by == By::Users && high - low <= 1.0 {
            return Some(between);
        }
        Some(fit(steps, by, (low * high).sqrt()).unwrap_or(between))
    }

    /// Whether it is known to such a part of itself; users are whole.
    pub(crate) fn is_known(&self, by: By, precision: f64) -> bool {
        let width = self.high - self.low;
        width / 2.0 <= precision * self.level || (by == By::Users && width <= 1.0)
    }
}

/// The highest level below all that broke, and the lowest that broke. A level that both held and broke
/// counts as what it did more often, and as broken if that is even.
pub(crate) fn bracket(steps: &[Step]) -> Option<(f64, f64)> {
    let mut levels: Vec<f64> = steps.iter().map(|step| step.level).collect();
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    let broke = |level: f64| {
        let of = |outcome| {
            let same = |step: &&Step| step.level == level && step.outcome() == outcome;
            steps.iter().filter(same).count()
        };
        (of(Outcome::Broken) + of(Outcome::Held) > 0)
            .then(|| of(Outcome::Broken) >= of(Outcome::Held).max(1))
    };
    let high = levels.iter().copied().find(|level| broke(*level) == Some(true))?;
    let low =
        levels.iter().copied().rfind(|level| *level < high && broke(*level) == Some(false))?;
    Some((low, high))
}

/// A line through the steps near the edge, weighted least squares. Near its limit the time that a
/// queue takes goes like 1 / (capacity - rate): one over it is a line in the rate. With users that wait
/// for their answers it is the time itself that grows evenly (asymptotic bounds; Lazowska et al.,
/// "Quantitative System Performance", 1984, chapter 5). The noise of both is a part of their size.
fn fit(steps: &[Step], by: By, middle: f64) -> Option<Edge> {
    let points = |near: (f64, f64)| -> Vec<(f64, f64)> {
        let fits = |step: &&Step| {
            (middle * near.0..=middle * near.1).contains(&step.level)
                && step.follows
                && step.outcome() != Outcome::Generator
        };
        let used = |step: &Step| step.used().filter(|used| USED.contains(used));
        let points = steps.iter().filter(fits).filter_map(|step| Some((step.level, used(step)?)));
        points
            .map(|(level, used)| (level, if by == By::Rate { 1.0 / used } else { used }))
            .collect()
    };
    let points = NEAR.into_iter().map(points).find(|points| points.len() >= LEAST)?;
    let weight = |value: f64| 1.0 / (value * value);
    let sum = |of: &dyn Fn(f64, f64) -> f64| -> f64 {
        points.iter().map(|(x, z)| weight(*z) * of(*x, *z)).sum()
    };
    let all = sum(&|_, _| 1.0);
    let (x, z) = (sum(&|x, _| x) / all, sum(&|_, z| z) / all);
    let spread = sum(&|at, _| (at - x).powi(2));
    let slope = sum(&|at, value| (at - x) * (value - z)) / spread;
    let falls = if by == By::Rate { slope < 0.0 } else { slope > 0.0 };
    if spread <= 0.0 || !falls {
        return None;
    }
    let level = x + (1.0 - z) / slope;
    let squares = sum(&|at, value| (value - z - slope * (at - x)).powi(2));
    let freedom = points.len() - 2;
    let variance = squares / freedom as f64;
    // The noise at the edge itself, where the value is 1 and its weight too.
    let error = (variance * (1.0 / all + (level - x).powi(2) / spread)).sqrt() / slope.abs();
    let half = student(freedom) * error;
    let [_, (least, most)] = NEAR;
    let within = (middle * least..=middle * most).contains(&level);
    within.then_some(Edge { level, low: (level - half).max(0.0), high: level + half, fitted: true })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::tests::step;

    #[test]
    fn a_bracket_lies_between_what_held_and_what_broke() {
        let steps = [step(10.0, 0.2), step(40.0, 2.0), step(20.0, 0.5), step(30.0, 1.1)];
        assert_eq!(bracket(&steps), Some((20.0, 30.0)));
        // What held above the lowest level that broke counts for nothing.
        let mut steps = steps.to_vec();
        steps.push(step(35.0, 0.9));
        assert_eq!(bracket(&steps), Some((20.0, 30.0)));
        // Twice held and once broken is held.
        steps.extend([step(30.0, 0.9), step(30.0, 0.95)]);
        assert_eq!(bracket(&steps), Some((35.0, 40.0)));
        assert_eq!(bracket(&[step(10.0, 0.2)]), None);
        assert_eq!(bracket(&[step(10.0, 1.2)]), None);
    }

    #[test]
    fn a_queue_is_found_through_noise() {
        // M/M/1 with a capacity of 100: 1 / (100 - level), at its limit at 80; noise of 20 %.
        let noise = [1.2, 0.85, 1.1, 0.9, 1.15, 0.8, 1.0, 0.95];
        let steps: Vec<Step> = [50.0, 60.0, 70.0, 75.0, 78.0, 82.0, 85.0, 88.0]
            .iter()
            .zip(noise)
            .map(|(level, noise)| step(*level, 20.0 / (100.0 - level) * noise))
            .collect();
        let edge = Edge::of(&steps, By::Rate).expect("an edge");
        assert!(edge.fitted && (76.0..=84.0).contains(&edge.level), "{edge:?}");
        assert!(edge.low < 80.0 && 80.0 < edge.high && edge.low > 60.0, "{edge:?}");
    }

    /// M/M/16 with 32 ms each and p99 < 200 ms: three quarters of it up to 85 % of the edge at 468, all of
    /// it there, and two and a half times as much at 105 %.
    #[test]
    fn many_servers_bend_late() {
        let steps: Vec<Step> = [
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
        let edge = Edge::of(&steps, By::Rate).expect("an edge");
        assert!(edge.fitted && (454.0..=482.0).contains(&edge.level), "{edge:?}");
        assert!(edge.low < 468.0 && 468.0 < edge.high, "{edge:?}");
    }

    #[test]
    fn what_is_no_line_is_a_bracket() {
        let steps = [step(10.0, 0.0), step(20.0, 0.0), step(30.0, 5.0), step(25.0, 0.0)];
        let edge = Edge::of(&steps, By::Rate).expect("an edge");
        assert_eq!(edge, Edge { level: 25.0, low: 25.0, high: 30.0, fitted: false });
    }
}
