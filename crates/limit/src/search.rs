//! Which load level to try next: up by a factor until a requirement is violated, back by halving the
//! bracket, then several times near the sustained maximum, because a single run may be chance.

use crate::load_step::{LevelKind, LoadStep, StepOutcome};
use crate::sustained_max::{SustainedMax, bracket};

/// A search for the sustained maximum: the highest level that meets all requirements.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Search {
    /// What the load level counts.
    pub by: LevelKind,
    /// The first level.
    pub from: f64,
    /// The highest level that may be tried.
    pub to: Option<f64>,
    /// Most steps.
    pub max_steps: usize,
}

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Next {
    /// Run a step at this level.
    Try(f64),
    /// End the search.
    Done(SearchEnd),
}

/// How a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchEnd {
    /// The sustained maximum is known precisely enough.
    Found,
    /// The steps ran out before it was.
    OutOfSteps,
    /// Not even the lowest level met the requirements.
    NeverMet,
    /// No level up to the highest allowed one violated a requirement.
    NeverViolated,
    /// The generator was the bottleneck: the target may be capable of more.
    Generator,
    /// The tester interrupted it.
    Interrupted,
}

impl SearchEnd {
    /// Its name in results.
    pub fn label(self) -> &'static str {
        match self {
            SearchEnd::Found => "found",
            SearchEnd::OutOfSteps => "out of steps",
            SearchEnd::NeverMet => "never met",
            SearchEnd::NeverViolated => "never violated",
            SearchEnd::Generator => "generator was the bottleneck",
            SearchEnd::Interrupted => "interrupted",
        }
    }
}

/// Widest bracket that is precise enough, as a share of the level, ...
const MAX_BRACKET_WIDTH: f64 = 0.05;
/// ... and widest half of an interval that is.
const MAX_HALF_INTERVAL: f64 = 0.1;
/// Fewest steps near the sustained maximum: a single one may be chance.
const MIN_STEPS_NEAR: usize = 4;
/// Below this share of its limit the level rises faster.
const FAR_BELOW_LIMIT: f64 = 0.5;
/// Lowest level that is tried, as a share of the first, when not even that meets the requirements.
const MIN_LEVEL_SHARE: f64 = 1.0 / 64.0;
/// Levels that are tried in turn near the sustained maximum, as shares of it.
const LEVELS_NEAR: [f64; 4] = [0.97, 1.03, 0.94, 1.0];

impl Search {
    /// What to do after these steps.
    pub fn next(&self, steps: &[LoadStep]) -> Next {
        if steps.is_empty() {
            return Next::Try(self.rounded(self.from));
        }
        if steps.len() >= self.max_steps {
            return Next::Done(self.out_of_steps(steps));
        }
        match bracket(steps) {
            Some((low, high)) => self.between(steps, low, high),
            None => self.beyond(steps),
        }
    }

    /// The end of a search that has no more steps.
    fn out_of_steps(&self, steps: &[LoadStep]) -> SearchEnd {
        let any = |outcome| steps.iter().any(|step| step.outcome() == outcome);
        match (any(StepOutcome::Met), any(StepOutcome::Violated), any(StepOutcome::Generator)) {
            (true, true, _) => match SustainedMax::of(steps, self.by) {
                Some(maximum) if maximum.is_known(self.by, MAX_HALF_INTERVAL) => SearchEnd::Found,
                _ => SearchEnd::OutOfSteps,
            },
            (_, _, true) => SearchEnd::Generator,
            (true, false, false) => SearchEnd::NeverViolated,
            (false, _, _) => SearchEnd::NeverMet,
        }
    }

    /// What to do while no level has violated, or none has met, the requirements.
    fn beyond(&self, steps: &[LoadStep]) -> Next {
        let levels = |outcome| {
            let of = move |step: &&LoadStep| step.outcome() == outcome;
            steps.iter().filter(of).map(|step| step.level)
        };
        let lowest_violated = levels(StepOutcome::Violated).min_by(f64::total_cmp);
        if let Some(lowest) = lowest_violated {
            let next = self.rounded(lowest / 2.0);
            let enough = next >= self.from * MIN_LEVEL_SHARE && next < lowest;
            return if enough { Next::Try(next) } else { Next::Done(SearchEnd::NeverMet) };
        }
        if let Some(level) = levels(StepOutcome::Generator).next() {
            // A single time, another process on the machine may have been the cause.
            let again = levels(StepOutcome::Generator).count() < 2;
            return if again { Next::Try(level) } else { Next::Done(SearchEnd::Generator) };
        }
        let met = steps.iter().filter(|step| step.outcome() == StepOutcome::Met);
        let Some(highest) = met.max_by(|a, b| a.level.total_cmp(&b.level)) else {
            return Next::Try(self.rounded(self.from));
        };
        // Far below its limit a target gives no hint of where the limit is.
        let far = highest.used().is_none_or(|used| used < FAR_BELOW_LIMIT);
        let (highest, factor) = (highest.level, if far { 4.0 } else { 2.0 });
        let next = self.rounded(highest * factor);
        if next > highest { Next::Try(next) } else { Next::Done(SearchEnd::NeverViolated) }
    }

    /// What to do between a level that met the requirements and a higher one that did not.
    fn between(&self, steps: &[LoadStep], low: f64, high: f64) -> Next {
        let maximum = SustainedMax::of(steps, self.by);
        let width = high - low;
        if width > MAX_BRACKET_WIDTH * high && self.rounded(low + width / 2.0) > low {
            // The middle, or where a line through the steps puts the maximum, but well within the bracket.
            let guess = maximum
                .filter(|maximum| maximum.fitted)
                .map_or((low * high).sqrt(), |maximum| maximum.level);
            let next = self.rounded(guess.clamp(low + width / 4.0, high - width / 4.0));
            if low < next && next < high {
                return Next::Try(next);
            }
        }
        let Some(maximum) = maximum else { return Next::Done(SearchEnd::OutOfSteps) };
        let near = |step: &&LoadStep| {
            (maximum.low..=maximum.high).contains(&step.level)
                || (step.level / maximum.level - 1.0).abs() <= 2.0 * MAX_BRACKET_WIDTH
        };
        let near = steps.iter().filter(near).count();
        if near >= MIN_STEPS_NEAR && maximum.is_known(self.by, MAX_HALF_INTERVAL) {
            return Next::Done(SearchEnd::Found);
        }
        if !maximum.fitted {
            return Next::Try(if near.is_multiple_of(2) { low } else { high });
        }
        Next::Try(self.rounded(maximum.level * LEVELS_NEAR[near % LEVELS_NEAR.len()]))
    }

    /// A level that can be tried: users are whole, and none exceeds the highest allowed level.
    fn rounded(&self, level: f64) -> f64 {
        let level = level.min(self.to.unwrap_or(f64::INFINITY));
        match self.by {
            LevelKind::Users => level.round().max(1.0),
            LevelKind::Rate => level,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::load_step::tests::step;

    /// Searches a simulated target: `used` says how much of the limit a level uses.
    fn search(search: Search, mut used: impl FnMut(f64) -> f64) -> (SearchEnd, Vec<LoadStep>) {
        let mut steps = Vec::new();
        loop {
            match search.next(&steps) {
                Next::Try(level) => steps.push(step(level, used(level))),
                Next::Done(end) => return (end, steps),
            }
            assert!(steps.len() <= search.max_steps);
        }
    }

    fn by_rate(from: f64, to: Option<f64>) -> Search {
        Search { by: LevelKind::Rate, from, to, max_steps: 15 }
    }

    #[test]
    fn the_ends_of_a_search() {
        let (end, steps) = search(by_rate(10.0, Some(100.0)), |_| 0.5);
        assert_eq!(
            (end, steps.last().map(|step| step.level)),
            (SearchEnd::NeverViolated, Some(100.0))
        );
        let (end, _) = search(by_rate(10.0, None), |_| 2.0);
        assert_eq!(end, SearchEnd::NeverMet);
        let disturbed = LoadStep { generator: vec!["cpu".to_owned()], ..step(20.0, 3.0) };
        let next = by_rate(10.0, None).next(&[step(10.0, 0.5), disturbed.clone()]);
        assert_eq!(next, Next::Try(20.0), "it may have been chance");
        let next = by_rate(10.0, None).next(&[step(10.0, 0.5), disturbed.clone(), disturbed]);
        assert_eq!(next, Next::Done(SearchEnd::Generator));
    }

    #[test]
    fn users_are_whole() {
        let users = Search { by: LevelKind::Users, from: 1.0, to: None, max_steps: 15 };
        let (end, steps) = search(users, |level| level / 6.5);
        assert!(steps.iter().all(|step| step.level.fract() == 0.0), "{steps:?}");
        let maximum = SustainedMax::of(&steps, LevelKind::Users).expect("a maximum");
        assert!((6.0..7.0).contains(&maximum.level), "{end:?} {maximum:?}");
    }

    proptest! {
        /// A queue, seen through noise of up to 20 %, is found within 5 % nearly always, and a jump
        /// within what its bracket says.
        #[test]
        fn sustained_maxima_are_found(capacity in 20.0..5_000.0f64, from in 1.0..50.0f64, seed in 0u64..1_000) {
            let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
            let mut noise = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                0.9 + 0.2 * ((state >> 11) as f64 / (1u64 << 53) as f64)
            };
            // What a queue takes: at its limit at 80 % of its capacity.
            let used = |level: f64| if level < capacity { 0.2 * capacity / (capacity - level) } else { 100.0 };
            let (_, steps) = search(by_rate(from, None), |level| used(level) * noise());
            let maximum = SustainedMax::of(&steps, LevelKind::Rate).expect("a maximum");
            prop_assert!((maximum.level / (0.8 * capacity) - 1.0).abs() < 0.05, "{maximum:?} of {}", 0.8 * capacity);
            let (_, steps) = search(by_rate(from, None), |level| if level < capacity { 0.0 } else { 9.0 });
            let maximum = SustainedMax::of(&steps, LevelKind::Rate).expect("a maximum");
            prop_assert!(maximum.low <= capacity && capacity <= maximum.high && maximum.high < maximum.low * 1.06);
        }
    }
}
