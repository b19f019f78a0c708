//! Which load level to try next: up by a factor until a requirement is violated, back by halving the
//! bracket, then several times near the sustained maximum, because a single run may be chance.

use crate::load_step::{LevelKind, LoadStep, StepOutcome};
use crate::sustained_max::{Bracket, SustainedMax, fitted};

/// A search for the sustained maximum: the highest level that meets all requirements.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Search {
    /// What the load level counts.
    pub by: LevelKind,
    pub from: f64,
    /// The highest level that may be tried.
    pub to: Option<f64>,
    pub max_steps: usize,
}

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Next {
    /// Run a step at this level.
    Try(f64),
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
    /// Above a level that met the requirements, or at the first one, the generator was the bottleneck: the target may
    /// be capable of more.
    Generator,
    /// A level that had met the requirements no longer did: the target got worse and did not recover.
    NotRecovered,
    /// The setup failed: no step was run.
    SetupFailed,
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
            SearchEnd::NotRecovered => "did not recover",
            SearchEnd::SetupFailed => "setup failed",
            SearchEnd::Interrupted => "interrupted",
        }
    }
}

/// Widest bracket that is precise enough, as a share of the level, ...
const MAX_BRACKET_WIDTH: f64 = 0.05;
/// ... and widest half of an interval that is.
const MAX_HALF_INTERVAL: f64 = 0.06;
/// Below this share of its limit the level rises faster.
const FAR_BELOW_LIMIT: f64 = 0.5;
/// ... and while it uses less than so many times what it used at the lowest level.
const RISEN: f64 = 1.25;
/// Steps on both sides of the limit up to this factor are needed before a curve says where to go next, ...
const NEAR_LIMIT: f64 = 3.0;
/// ... and so many near the maximum before its interval is believed.
const MIN_STEPS_NEAR: usize = 6;
/// Lowest level that is tried, as a share of the first, when not even that meets the requirements.
const MIN_LEVEL_SHARE: f64 = 1.0 / 64.0;
/// Where steps are put in turn when there is a curve: at these logarithms of the used share, on both sides of
/// the limit.
const DESIGN: [f64; 4] = [-0.3, 0.3, -0.15, 0.15];
/// Furthest from the edge that they are put, as a factor.
const MAX_DISTANCE: f64 = 1.2;
/// A level that met the requirements, violates them, and uses this many times as much of its limit, is worse
/// than before.
const MUCH_WORSE: f64 = 1.5;
/// A level that is at most this share of one tried just before, and uses more of its limit, is suspicious.
const LOWER: f64 = 0.95;

impl Search {
    /// What to do after these steps. `recovered`: whether the target was well again after the last one, as far as
    /// that was watched.
    pub fn next(&self, steps: &[LoadStep], recovered: bool) -> Next {
        if steps.is_empty() {
            return Next::Try(self.rounded(self.from));
        }
        let bracket = Bracket::of(steps);
        if let Some((level, times)) = worse(steps) {
            let again = times < 2 && steps.len() < self.max_steps;
            return if again { Next::Try(level) } else { Next::Done(SearchEnd::NotRecovered) };
        }
        if steps.len() >= self.max_steps {
            return Next::Done(self.out_of_steps(steps));
        }
        if let Some(held) = bracket.low
            && (!recovered || is_suspicious(steps))
            && steps.last().is_some_and(|last| last.level > held)
        {
            return Next::Try(held);
        }
        match (bracket.low, upper(steps, bracket)) {
            (Some(low), Some(upper)) => self.between(steps, low, upper),
            (Some(_), None) => self.up(steps),
            (None, Some(Upper::Generator(level))) => again(steps, level),
            (None, _) => self.down(steps),
        }
    }

    /// The end of a search that has no more steps.
    fn out_of_steps(&self, steps: &[LoadStep]) -> SearchEnd {
        let bracket = Bracket::of(steps);
        match (bracket.low, upper(steps, bracket)) {
            (_, Some(Upper::Generator(_))) => SearchEnd::Generator,
            (None, _) => SearchEnd::NeverMet,
            (Some(_), None) => SearchEnd::NeverViolated,
            (Some(_), Some(_)) => match SustainedMax::of(steps, self.by) {
                Some(maximum) if maximum.is_known(self.by, 2.0 * MAX_HALF_INTERVAL) => {
                    SearchEnd::Found
                }
                _ => SearchEnd::OutOfSteps,
            },
        }
    }

    /// What to do while no level has met the requirements.
    fn down(&self, steps: &[LoadStep]) -> Next {
        let lowest = steps.iter().map(|step| step.level).fold(f64::INFINITY, f64::min);
        let next = self.rounded(lowest / 2.0);
        let enough = next >= self.from * MIN_LEVEL_SHARE && next < lowest;
        if enough { Next::Try(next) } else { Next::Done(SearchEnd::NeverMet) }
    }

    /// What to do while no level has violated the requirements.
    fn up(&self, steps: &[LoadStep]) -> Next {
        let Some(highest) = steps.iter().max_by(|a, b| a.level.total_cmp(&b.level)) else {
            return Next::Try(self.rounded(self.from));
        };
        // Far below its limit a target gives no hint of where the limit is.
        let lower =
            steps.iter().filter(|step| step.level < highest.level).filter_map(LoadStep::used);
        let least = lower.fold(f64::INFINITY, f64::min);
        let far = highest.used().is_none_or(|used| used < FAR_BELOW_LIMIT || used < RISEN * least);
        let (highest, factor) = (highest.level, if far { 4.0 } else { 2.0 });
        let next = self.rounded(highest * factor);
        if next > highest { Next::Try(next) } else { Next::Done(SearchEnd::NeverViolated) }
    }

    /// What to do between a level that met the requirements and a bound above it.
    fn between(&self, steps: &[LoadStep], low: f64, upper: Upper) -> Next {
        let high = match upper {
            Upper::Violated(level) => level,
            Upper::Generator(level) => match again(steps, level) {
                Next::Try(level) => return Next::Try(level),
                Next::Done(_) => level,
            },
        };
        let end = match upper {
            Upper::Violated(_) => SearchEnd::Found,
            Upper::Generator(_) => SearchEnd::Generator,
        };
        let is_narrow = |low: f64| {
            high - low <= MAX_BRACKET_WIDTH * high || self.rounded((low * high).sqrt()) <= low
        };
        let is_last = steps.len() + 1 >= self.max_steps;
        if let Upper::Generator(_) = upper {
            let low = held(steps, low, high);
            return match is_narrow(low) || is_last {
                true => confirm(steps, low, end),
                false => Next::Try(self.rounded((low * high).sqrt())),
            };
        }
        let maximum = SustainedMax::of(steps, self.by);
        let fit = fitted(steps, low, high).filter(|fit| low < fit.edge && fit.edge < high);
        let known = fit.is_some_and(|fit| fit.points >= MIN_STEPS_NEAR)
            && maximum.is_some_and(|maximum| maximum.is_known(self.by, MAX_HALF_INTERVAL));
        if (is_narrow(low) && fit.is_none()) || known || is_last {
            let least = maximum.map_or(low, |maximum| maximum.low);
            return confirm(steps, held(steps, low, least), end);
        }
        let used: Vec<f64> = steps.iter().filter_map(LoadStep::used).collect();
        let both = used.iter().any(|used| (1.0 / NEAR_LIMIT..=1.0).contains(used))
            && used.iter().any(|used| (1.0..=NEAR_LIMIT).contains(used));
        match fit.filter(|_| both) {
            Some(fit) => {
                let wanted = DESIGN[steps.len() % DESIGN.len()];
                let edge = fit.edge;
                let level = fit.level_at(wanted).clamp(edge / MAX_DISTANCE, edge * MAX_DISTANCE);
                Next::Try(self.rounded(level.clamp(low, high)))
            }
            None => self.bisect(steps, low, high),
        }
    }

    /// The middle of what single steps, certain or not, leave between them.
    fn bisect(&self, steps: &[LoadStep], low: f64, high: f64) -> Next {
        let (low, high) = split(steps, low, high);
        let next = self.rounded((low * high).sqrt());
        if high - low > MAX_BRACKET_WIDTH * high && low < next && next < high {
            return Next::Try(next);
        }
        Next::Try(if steps.len().is_multiple_of(2) { low } else { high })
    }

    /// A level that can be tried: users are whole, and none exceeds the highest allowed level.
    fn rounded(&self, level: f64) -> f64 {
        let level = level.min(self.to.unwrap_or(f64::INFINITY));
        match self.by {
            LevelKind::Users => level.round().max(1.0),
            LevelKind::Rate | LevelKind::Factor => level,
        }
    }
}

/// The two neighbouring levels from `low` to `high` between which the steps contradict a maximum least: the fewest did not
/// meet the requirements below it, or met them above. A single step at a low level has few requests, and may not
/// meet them by chance. Of several such places the lowest counts: short steps miss the longest queues.
fn split(steps: &[LoadStep], low: f64, high: f64) -> (f64, f64) {
    let within = |level: &f64| (low..=high).contains(level);
    let mut levels: Vec<f64> = steps.iter().map(|step| step.level).filter(within).collect();
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    let contradict = |upper: f64| {
        let against = |step: &&LoadStep| within(&step.level) && step.met() == (step.level >= upper);
        steps.iter().filter(against).count()
    };
    let pairs = levels.windows(2).map(|pair| (pair[0], pair[1]));
    pairs.min_by_key(|(_, upper)| contradict(*upper)).unwrap_or((low, high))
}

/// What bounds a search from above.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Upper {
    /// The lowest level that violated the requirements.
    Violated(f64),
    /// A lower one at which squall itself was the limit.
    Generator(f64),
}

/// What bounds the search from above.
fn upper(steps: &[LoadStep], bracket: Bracket) -> Option<Upper> {
    let by_generator = |step: &&LoadStep| step.outcome() == StepOutcome::Generator;
    let levels = steps.iter().filter(by_generator).map(|step| step.level);
    let above = levels.filter(|level| bracket.low.is_none_or(|low| *level > low));
    let generator = above.min_by(f64::total_cmp);
    match (bracket.high, generator) {
        (Some(high), Some(generator)) if generator >= high => Some(Upper::Violated(high)),
        (_, Some(generator)) => Some(Upper::Generator(generator)),
        (high, None) => high.map(Upper::Violated),
    }
}

/// A level at which squall itself was the limit, a second time: another process on the machine may have been
/// the cause of the first.
fn again(steps: &[LoadStep], level: f64) -> Next {
    let times = steps.iter().filter(|step| step.outcome() == StepOutcome::Generator).count();
    if times < 2 { Next::Try(level) } else { Next::Done(SearchEnd::Generator) }
}

/// A level that met the requirements and later violated them for certain, and how often it did since it last
/// met them.
fn worse(steps: &[LoadStep]) -> Option<(f64, usize)> {
    let last = steps.last().filter(|last| last.outcome() == StepOutcome::Violated)?;
    let mut same = steps.iter().rev().filter(|step| step.level == last.level);
    let times = same.by_ref().take_while(|step| step.outcome() == StepOutcome::Violated).count();
    let met = steps
        .iter()
        .any(|step| step.level == last.level && step.met() && used(last) > MUCH_WORSE * used(step));
    met.then_some((last.level, times))
}

/// How much of its limit a step used: more than any other if it was violated and there was nothing to measure, since
/// no response came.
fn used(step: &LoadStep) -> f64 {
    step.used().unwrap_or(if step.met() { 0.0 } else { f64::INFINITY })
}

/// Whether the target does worse at a lower level than just before at a higher one.
fn is_suspicious(steps: &[LoadStep]) -> bool {
    let [.., before, last] = steps else { return false };
    let violated = [before, last].iter().all(|step| step.outcome() == StepOutcome::Violated);
    violated && last.level <= LOWER * before.level && used(last) > used(before)
}

/// The highest level up to `least` at which most steps met the requirements; `low` if there is none.
pub(crate) fn held(steps: &[LoadStep], low: f64, least: f64) -> f64 {
    let mostly_met = |level: f64| {
        let same = steps.iter().filter(|step| step.level == level);
        let (met, violated): (Vec<&LoadStep>, Vec<&LoadStep>) = same.partition(|step| step.met());
        met.len() > violated.len()
    };
    let levels = steps.iter().map(|step| step.level);
    levels.filter(|level| (low..=least).contains(level) && mostly_met(*level)).fold(low, f64::max)
}

/// Measures the level that held once more, if that is not what the last step was.
fn confirm(steps: &[LoadStep], held: f64, end: SearchEnd) -> Next {
    let times = steps.iter().filter(|step| step.level == held).count();
    let is_last = steps.last().is_some_and(|last| last.level == held);
    if is_last && times > 1 { Next::Done(end) } else { Next::Try(held) }
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
            match search.next(&steps, true) {
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
        let next = by_rate(10.0, None).next(&[step(10.0, 0.5), disturbed.clone()], true);
        assert_eq!(next, Next::Try(20.0), "it may have been chance");
        let next = by_rate(10.0, None).next(&[disturbed.clone(), disturbed], true);
        assert_eq!(next, Next::Done(SearchEnd::Generator));
    }

    /// Squall is the limit from 100 on: the search says up to where the target met the requirements.
    #[test]
    fn it_bisects_below_the_generators_limit() {
        let mut steps = Vec::new();
        let end = loop {
            match by_rate(10.0, None).next(&steps, true) {
                Next::Try(level) if level > 100.0 => {
                    steps.push(LoadStep { generator: vec!["cpu".to_owned()], ..step(level, 3.0) })
                }
                Next::Try(level) => steps.push(step(level, 0.3)),
                Next::Done(end) => break end,
            }
        };
        assert_eq!(end, SearchEnd::Generator);
        let limit = crate::Limit::new("a".to_owned(), LevelKind::Rate, steps, end);
        let least = limit.at_least.expect("a level");
        assert!((94.0..=100.0).contains(&least) && limit.confirmed, "{least}");
    }

    /// From the first level above 100 on the target only gets worse, whatever is asked of it.
    #[test]
    fn a_target_that_does_not_recover_is_called_that() {
        for growth in [1.0, 1.3] {
            let mut worse = 1.0;
            let (end, steps) = search(by_rate(10.0, None), |level| {
                worse *= if level > 100.0 || worse > 1.0 { growth * 1.01 } else { 1.0 };
                if worse > 1.0 { 4.0 * worse } else { 0.3 }
            });
            assert_eq!(end, SearchEnd::NotRecovered, "{steps:?}");
            assert!(steps.len() < 9, "{}", steps.len());
        }
        let steps = [step(10.0, 0.3), step(40.0, 9.0)];
        assert_eq!(by_rate(10.0, None).next(&steps, false), Next::Try(10.0), "it is looked at");
        // It does not respond at all any more.
        let mut silent = step(10.0, 9.0);
        silent.requirements[0].used = None;
        let steps = [&steps[..], &[silent.clone(), silent]].concat();
        let end = by_rate(10.0, None).next(&steps, false);
        assert_eq!(end, Next::Done(SearchEnd::NotRecovered));
    }

    #[test]
    fn what_held_is_measured_again() {
        let (end, steps) =
            search(by_rate(10.0, None), |level| if level < 300.0 { 0.3 } else { 9.0 });
        assert_eq!(end, SearchEnd::Found);
        let limit = crate::Limit::new("a".to_owned(), LevelKind::Rate, steps, end);
        assert!(limit.confirmed, "{limit:?}");
    }

    /// At low levels steps have too few requests to be certain of a percentile, and at the first of all one request
    /// is slow by chance. The maximum is far above.
    #[test]
    fn chance_at_a_low_level_does_not_keep_it_there() {
        let mut steps: Vec<LoadStep> = Vec::new();
        while let Next::Try(level) = by_rate(10.0, None).next(&steps, true) {
            let used = if level < 350.0 { 0.8 } else { 3.0 };
            let mut next = step(level, if steps.is_empty() { 2.4 } else { used });
            next.requirements[0].certain &= level > 50.0;
            steps.push(next);
        }
        let maximum = SustainedMax::of(&steps, LevelKind::Rate).expect("a maximum");
        assert!((330.0..350.0).contains(&maximum.level), "{maximum:?} {steps:?}");
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
