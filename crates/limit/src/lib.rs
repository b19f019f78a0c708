//! The search for a target's sustained maximum: whether a step met the requirements, which load level to try next,
//! and what follows from the levels tried so far. Pure: no clock, no sockets, no runs; those are the caller's part.

pub mod failures;
mod fit;
mod load_step;
mod measured;
mod recovery;
mod scaling;
mod search;
mod sustained_max;

pub use load_step::{LevelKind, LoadStep, Recovery, RequirementResult, StepOutcome};
pub use measured::Records;
pub use recovery::RecoveryDetector;
pub use scaling::Scaling;
pub use search::{Next, Search, SearchEnd};
use squall_base::units::rate;
use sustained_max::Bracket;
pub use sustained_max::SustainedMax;

/// The result of a search, or of a test in steps.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// Name of the plan.
    pub plan: String,
    /// What the load level counts.
    pub by: LevelKind,
    /// `search`, `soak`, `spike` or `stress`.
    pub mode: &'static str,
    /// The steps, in the order in which they were run.
    pub steps: Vec<LoadStep>,
    /// How long the target took to recover after steps that violated a requirement.
    pub recoveries: Vec<Recovery>,
    /// How it ended.
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
}

impl Limit {
    /// Draws the conclusions from steps.
    pub fn new(
        plan: String,
        by: LevelKind,
        mode: &'static str,
        steps: Vec<LoadStep>,
        end: SearchEnd,
    ) -> Limit {
        let scaling = Scaling::fit(&steps);
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
            | SearchEnd::Interrupted => None,
        };
        Limit {
            plan,
            by,
            mode,
            steps,
            recoveries: Vec::new(),
            end,
            sustained_max,
            at_least,
            confirmed,
            scaling,
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
        if !first.keeps_up {
            words.push(format!(
                "throughput fell behind: {} of {}",
                rate(first.throughput),
                rate(first.level)
            ));
        }
        Some(words.join(", "))
    }
}

/// Whether the last step met the requirements at a level that had met them before, in a search that went beyond it.
fn is_confirmed(steps: &[LoadStep]) -> bool {
    let Some((last, before)) = steps.split_last() else { return false };
    let met_before = before.iter().any(|step| step.level == last.level && step.met());
    last.met() && met_before && before.iter().any(|step| !step.met())
}
