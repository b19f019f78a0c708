//! Which level to try next: up by a factor until something breaks, back by halving the bracket, and
//! then again near the edge, because one run of chance is none.

use crate::edge::{Edge, bracket};
use crate::step::{By, Outcome, Step};

/// A search for the highest level that holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Search {
    /// What the level is of.
    pub by: By,
    /// The level to begin with.
    pub from: f64,
    /// The highest that may be tried.
    pub to: Option<f64>,
    /// Most steps.
    pub most: usize,
}

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Next {
    /// A step at this level.
    Try(f64),
    /// The search is over.
    Done(End),
}

/// How a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The edge is known as well as was wanted.
    Found,
    /// The steps ran out before it was.
    OutOfSteps,
    /// Nothing held, not even the least.
    NeverHeld,
    /// Nothing broke, up to the highest level that was allowed.
    NeverBroke,
    /// The generator was the limit: the target may be able to do more.
    Generator,
    /// Somebody ended it.
    Interrupted,
}

impl End {
    /// Its name in results.
    pub fn label(self) -> &'static str {
        match self {
            End::Found => "found",
            End::OutOfSteps => "out of steps",
            End::NeverHeld => "never held",
            End::NeverBroke => "never broke",
            End::Generator => "generator was the limit",
            End::Interrupted => "interrupted",
        }
    }
}

/// So narrow, as a part of the level, must a bracket be, ...
const PRECISION: f64 = 0.05;
/// ... and so well must the edge be known.
const KNOWN: f64 = 0.1;
/// So many steps must lie near the edge: one has chance in it.
const REPEATS: usize = 4;
/// Below this part of what is allowed the level rises faster.
const FAR: f64 = 0.5;
/// Lowest part of the first level that is tried when even that does not hold.
const LEAST: f64 = 1.0 / 64.0;
/// Levels that are tried again and again near the edge, as parts of it.
const AROUND: [f64; 4] = [0.97, 1.03, 0.94, 1.0];

impl Search {
    /// What comes after these steps.
    pub fn next(&self, steps: &[Step]) -> Next {
        if steps.is_empty() {
            return Next::Try(self.rounded(self.from));
        }
        if steps.len() >= self.most {
            return Next::Done(self.without_more(steps));
        }
        match bracket(steps) {
            Some((low, high)) => self.between(steps, low, high),
            None => self.beyond(steps),
        }
    }

    /// The steps have run out.
    fn without_more(&self, steps: &[Step]) -> End {
        let any = |outcome| steps.iter().any(|step| step.outcome() == outcome);
        match (any(Outcome::Held), any(Outcome::Broken), any(Outcome::Generator)) {
            (true, true, _) => match Edge::of(steps, self.by) {
                Some(edge) if edge.is_known(self.by, KNOWN) => End::Found,
                _ => End::OutOfSteps,
            },
            (_, _, true) => End::Generator,
            (true, false, false) => End::NeverBroke,
            (false, _, _) => End::NeverHeld,
        }
    }

    /// Nothing has broken yet, or nothing has held.
    fn beyond(&self, steps: &[Step]) -> Next {
        let levels = |outcome| {
            let of = move |step: &&Step| step.outcome() == outcome;
            steps.iter().filter(of).map(|step| step.level)
        };
        let lowest_broken = levels(Outcome::Broken).min_by(f64::total_cmp);
        if let Some(lowest) = lowest_broken {
            let next = self.rounded(lowest / 2.0);
            let enough = next >= self.from * LEAST && next < lowest;
            return if enough { Next::Try(next) } else { Next::Done(End::NeverHeld) };
        }
        if let Some(level) = levels(Outcome::Generator).next() {
            // Once may be the fault of whoever else uses the machine.
            let again = levels(Outcome::Generator).count() < 2;
            return if again { Next::Try(level) } else { Next::Done(End::Generator) };
        }
        let held = steps.iter().filter(|step| step.outcome() == Outcome::Held);
        let Some(highest) = held.max_by(|a, b| a.level.total_cmp(&b.level)) else {
            return Next::Try(self.rounded(self.from));
        };
        // Far from its limit a target gives no hint of where it is.
        let far = highest.used().is_none_or(|used| used < FAR);
        let (highest, factor) = (highest.level, if far { 4.0 } else { 2.0 });
        let next = self.rounded(highest * factor);
        if next > highest { Next::Try(next) } else { Next::Done(End::NeverBroke) }
    }

    /// Something has held, and something above it has not.
    fn between(&self, steps: &[Step], low: f64, high: f64) -> Next {
        let edge = Edge::of(steps, self.by);
        let width = high - low;
        if width > PRECISION * high && self.rounded(low + width / 2.0) > low {
            // The middle, or where a line through the steps says that it is, well within.
            let guess =
                edge.filter(|edge| edge.fitted).map_or((low * high).sqrt(), |edge| edge.level);
            let next = self.rounded(guess.clamp(low + width / 4.0, high - width / 4.0));
            if low < next && next < high {
                return Next::Try(next);
            }
        }
        let Some(edge) = edge else { return Next::Done(End::OutOfSteps) };
        let near = |step: &&Step| {
            (edge.low..=edge.high).contains(&step.level)
                || (step.level / edge.level - 1.0).abs() <= 2.0 * PRECISION
        };
        let near = steps.iter().filter(near).count();
        if near >= REPEATS && edge.is_known(self.by, KNOWN) {
            return Next::Done(End::Found);
        }
        if !edge.fitted {
            return Next::Try(if near.is_multiple_of(2) { low } else { high });
        }
        Next::Try(self.rounded(edge.level * AROUND[near % AROUND.len()]))
    }

    /// Users are whole, and nothing is above the highest that may be tried.
    fn rounded(&self, level: f64) -> f64 {
        let level = level.min(self.to.unwrap_or(f64::INFINITY));
        match self.by {
            By::Users => level.round().max(1.0),
            By::Rate => level,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::step::tests::step;

    /// Searches a target of which a rule says how much of what is allowed a level uses.
    fn search(search: Search, mut used: impl FnMut(f64) -> f64) -> (End, Vec<Step>) {
        let mut steps = Vec::new();
        loop {
            match search.next(&steps) {
                Next::Try(level) => steps.push(step(level, used(level))),
                Next::Done(end) => return (end, steps),
            }
            assert!(steps.len() <= search.most);
        }
    }

    fn by_rate(from: f64, to: Option<f64>) -> Search {
        Search { by: By::Rate, from, to, most: 15 }
    }

    #[test]
    fn the_ends_of_a_search() {
        let (end, steps) = search(by_rate(10.0, Some(100.0)), |_| 0.5);
        assert_eq!((end, steps.last().map(|step| step.level)), (End::NeverBroke, Some(100.0)));
        let (end, _) = search(by_rate(10.0, None), |_| 2.0);
        assert_eq!(end, End::NeverHeld);
        let own = Step { generator: vec!["cpu".to_owned()], ..step(20.0, 3.0) };
        let next = by_rate(10.0, None).next(&[step(10.0, 0.5), own.clone()]);
        assert_eq!(next, Next::Try(20.0), "it may have been chance");
        let next = by_rate(10.0, None).next(&[step(10.0, 0.5), own.clone(), own]);
        assert_eq!(next, Next::Done(End::Generator));
    }

    #[test]
    fn users_are_whole() {
        let users = Search { by: By::Users, from: 1.0, to: None, most: 15 };
        let (end, steps) = search(users, |level| level / 6.5);
        assert!(steps.iter().all(|step| step.level.fract() == 0.0), "{steps:?}");
        let edge = Edge::of(&steps, By::Users).expect("an edge");
        assert!((6.0..7.0).contains(&edge.level), "{end:?} {edge:?}");
    }

    proptest! {
        /// A queue, seen through noise of up to 20 %, is found within 5 % nearly always, and a jump
        /// within what its bracket says.
        #[test]
        fn edges_are_found(capacity in 20.0..5_000.0f64, from in 1.0..50.0f64, seed in 0u64..1_000) {
            let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
            let mut noise = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                0.9 + 0.2 * ((state >> 11) as f64 / (1u64 << 53) as f64)
            };
            // What a queue takes: at its limit at 80 % of its capacity.
            let used = |level: f64| if level < capacity { 0.2 * capacity / (capacity - level) } else { 100.0 };
            let (_, steps) = search(by_rate(from, None), |level| used(level) * noise());
            let edge = Edge::of(&steps, By::Rate).expect("an edge");
            prop_assert!((edge.level / (0.8 * capacity) - 1.0).abs() < 0.05, "{edge:?} of {}", 0.8 * capacity);
            let (_, steps) = search(by_rate(from, None), |level| if level < capacity { 0.0 } else { 9.0 });
            let edge = Edge::of(&steps, By::Rate).expect("an edge");
            prop_assert!(edge.low <= capacity && capacity <= edge.high && edge.high < edge.low * 1.06);
        }
    }
}
