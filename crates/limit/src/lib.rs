//! Where does it break: which load to try next, and what follows from what was seen. Pure: no clock, no
//! sockets, no runs; those are the caller's.

mod edge;
mod scaling;
mod search;
mod step;

pub use edge::Edge;
pub use scaling::Scaling;
pub use search::{End, Next, Search};
pub use step::{By, Kept, Outcome, Recovery, Step};

/// What a search, or a test in steps, came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// Name of the plan.
    pub plan: String,
    /// What the level is of.
    pub by: By,
    /// `search`, `soak`, `spike` or `stress`.
    pub mode: &'static str,
    /// What was tried, in the order in which it was.
    pub steps: Vec<Step>,
    /// How long it took the target to be as before, after steps that broke something.
    pub recoveries: Vec<Recovery>,
    /// How it ended.
    pub end: End,
    /// The highest level that holds, if there is one.
    pub edge: Option<Edge>,
    /// How throughput grows with what is under way.
    pub scaling: Option<Scaling>,
}

impl Limit {
    /// What follows from steps.
    pub fn new(plan: String, by: By, mode: &'static str, steps: Vec<Step>, end: End) -> Limit {
        let scaling = Scaling::fit(&steps);
        let edge = match end {
            End::Found | End::OutOfSteps => Edge::of(&steps, by),
            End::NeverHeld | End::NeverBroke | End::Generator | End::Interrupted => None,
        };
        Limit { plan, by, mode, steps, recoveries: Vec::new(), end, edge, scaling }
    }

    /// The lowest level at which throughput no longer follows the load: where it stays behind an
    /// arrival rate, or where the line of a single user meets the highest throughput of the fit.
    pub fn knee(&self) -> Option<f64> {
        let behind = |step: &&Step| !step.follows && step.outcome() == Outcome::Broken;
        let mut levels: Vec<f64> =
            self.steps.iter().filter(behind).map(|step| step.level).collect();
        levels.sort_by(f64::total_cmp);
        match self.by {
            By::Rate => levels.first().copied(),
            By::Users => self.scaling.and_then(|scaling| scaling.knee()),
        }
    }

    /// What broke at the lowest level at which anything did, in words.
    pub fn broke_first(&self) -> Option<String> {
        let broken = self.steps.iter().filter(|step| step.outcome() == Outcome::Broken);
        let first = broken.min_by(|a, b| a.level.total_cmp(&b.level))?;
        let mut words: Vec<String> = first
            .kept
            .iter()
            .filter(|kept| !kept.held)
            .map(|kept| format!("{} ({})", kept.text, kept.shown))
            .collect();
        if !first.follows {
            words.push(format!(
                "throughput stayed behind: {:.1} of {:.1} a second",
                first.throughput, first.level
            ));
        }
        Some(words.join(", "))
    }
}
