//! The search for a target's sustained maximum: whether a step met the requirements, which load level to try next,
//! and what follows from the levels tried so far. Pure: no clock, no sockets, no runs; those are the caller's part.

pub mod failures;
mod fit;
mod load_step;
mod measured;
mod recovery;
mod sampled;
mod saturation;
mod scaling;
mod search;
mod sustained_max;

pub use load_step::{
    Arrivals, LevelKind, LoadStep, Recovery, RequirementResult, StepOutcome, level_text,
};
pub use measured::Records;
pub use recovery::RecoveryDetector;
pub use sampled::StepMetric;
pub use saturation::curves::{LevelCurve, LevelPoint};
pub use saturation::{Finding, Saturation};
pub use scaling::Scaling;
pub use search::{Next, Search, SearchEnd};
use sustained_max::Bracket;
pub use sustained_max::SustainedMax;

/// The result of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// Name of the plan.
    pub plan: String,
    /// What the load level counts.
    pub by: LevelKind,
    /// The steps, in the order in which they were run.
    pub steps: Vec<LoadStep>,
    /// How long the target took to recover after steps that violated a requirement.
    pub recoveries: Vec<Recovery>,
    pub end: SearchEnd,
    /// The sustained maximum, if there is one.
    pub sustained_max: Option<SustainedMax>,
    /// The highest level that met the requirements, where what lies above it is unknown: squall itself was the limit
    /// there, or nothing higher was allowed.
    pub at_least: Option<f64>,
    /// Whether a level that met the requirements was measured again after the last that did not, and still met them.
    pub confirmed: bool,
    /// How throughput scales with concurrency.
    pub scaling: Option<Scaling>,
    /// What of the target was full when it broke; `None`: it did not, or there are no monitors.
    pub saturation: Option<Saturation>,
}

impl Limit {
    /// Draws the conclusions from steps.
    pub fn new(plan: String, by: LevelKind, steps: Vec<LoadStep>, end: SearchEnd) -> Limit {
        let scaling = Scaling::fit(&steps);
        let saturation = Saturation::of(&steps, by);
        let at_least = match end {
            SearchEnd::Generator => {
                let by_generator = |step: &&LoadStep| step.outcome() == StepOutcome::Generator;
                let levels = steps.iter().filter(by_generator).map(|step| step.level);
                let lowest = levels.fold(f64::INFINITY, f64::min);
                Bracket::of(&steps).low.map(|low| search::held(&steps, low, lowest))
            }
            SearchEnd::NeverViolated => Bracket::of(&steps).low,
            _ => None,
        };
        let confirmed = is_confirmed(&steps);
        let sustained_max = match end {
            SearchEnd::Found | SearchEnd::OutOfSteps => SustainedMax::of(&steps, by),
            SearchEnd::NeverMet
            | SearchEnd::NotRecovered
            | SearchEnd::NeverViolated
            | SearchEnd::Generator
            | SearchEnd::SetupFailed
            | SearchEnd::Interrupted => None,
        };
        Limit {
            plan,
            by,
            steps,
            recoveries: Vec::new(),
            end,
            sustained_max,
            at_least,
            confirmed,
            scaling,
            saturation,
        }
    }

    /// The lowest level at which throughput no longer keeps up with the load: where it falls behind an
    /// arrival rate, or where the line of a single user meets the highest throughput of the fit.
    pub fn knee(&self) -> Option<f64> {
        let behind = |step: &&LoadStep| !step.keeps_up && step.outcome() == StepOutcome::Violated;
        let mut levels: Vec<f64> =
            self.steps.iter().filter(behind).map(|step| step.level).collect();
        levels.sort_by(f64::total_cmp);
        match self.by {
            LevelKind::Rate => levels.first().copied(),
            LevelKind::Users | LevelKind::Factor => self.scaling.and_then(|scaling| scaling.knee()),
        }
    }

    /// What was violated at the lowest level that violated anything, in words.
    pub fn violated_first(&self) -> Option<String> {
        let violated = self.steps.iter().filter(|step| step.outcome() == StepOutcome::Violated);
        let first = violated.min_by(|a, b| a.level.total_cmp(&b.level))?;
        let mut words: Vec<String> = first
            .requirements
            .iter()
            .filter(|result| !result.met)
            .map(|result| format!("{} ({})", result.text, result.shown))
            .collect();
        words.extend(first.behind());
        Some(words.join(", "))
    }
}

/// Whether the last step met the requirements at a level that had met them before, in a search that went beyond it.
fn is_confirmed(steps: &[LoadStep]) -> bool {
    let Some((last, before)) = steps.split_last() else { return false };
    let met_before = before.iter().any(|step| step.level == last.level && step.met());
    last.met() && met_before && before.iter().any(|step| !step.met())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load_step::tests::step;

    /// Whatever the level counts, what is behind is said in what the load is made of.
    #[test]
    fn what_fell_behind_is_said_in_arrivals() {
        let first = |by, level, arrivals, throughput| {
            let behind = LoadStep { keeps_up: false, arrivals, throughput, ..step(level, 0.5) };
            let steps = vec![step(level / 2.0, 0.5), behind];
            Limit::new("a".to_owned(), by, steps, SearchEnd::OutOfSteps)
                .violated_first()
                .unwrap_or_default()
        };
        let mixed = Arrivals { rate: None, due: 4_000, dropped: 1_200 };
        let words = "1,200 of 4,000 arrivals were dropped";
        assert_eq!(first(LevelKind::Factor, 2.0, mixed, 20.0), words);
        assert_eq!(first(LevelKind::Users, 60.0, mixed, 20.0), words);
        let open = Arrivals { rate: Some(80.0), due: 800, dropped: 0 };
        let words = "throughput fell behind: 20.0/s of 80.0/s";
        assert_eq!(first(LevelKind::Factor, 2.0, open, 20.0), words);
        assert_eq!(first(LevelKind::Rate, 80.0, open, 20.0), words);
    }
}
