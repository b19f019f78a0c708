//! What a user needs at most at one moment, read off the steps of its scenario.

use squall_plan::model::{Needs, Plan, Scenario, Step, StepKind};

/// The most of an iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Peak {
    /// Requests in all, not counting repetitions by loops.
    pub requests: u64,
    /// Requests at the same time.
    at_once: u64,
    /// Files that requests send, or write their response to, at the same time.
    pub files: u64,
}

impl Peak {
    /// The peak of a scenario.
    pub fn of(scenario: &Scenario, plan: &Plan) -> Peak {
        let inherited =
            scenario.defaults.http.resources.as_ref().or(plan.defaults.http.resources.as_ref());
        let peak =
            |of: fn(&Needs) -> u64| at_once(&scenario.steps, &|step| of(&step.needs(inherited)));
        Peak {
            requests: requests(&scenario.steps),
            at_once: peak(|needs| needs.connections),
            files: peak(|needs| needs.files),
        }
    }

    /// The larger of each.
    pub fn or(self, other: Peak) -> Peak {
        Peak {
            requests: self.requests.max(other.requests),
            at_once: self.at_once.max(other.at_once),
            files: self.files.max(other.files),
        }
    }

    /// Connections to each host; at least 1.
    pub fn connections(&self) -> u64 {
        self.at_once.max(1)
    }
}

/// Most requests of an iteration, not counting repetitions by loops.
pub fn requests<'s>(steps: impl IntoIterator<Item = &'s Step>) -> u64 {
    let in_one =
        |step: &Step| step.needs(None).exchanges + requests(step.inner().collect::<Vec<_>>());
    steps.into_iter().map(in_one).sum()
}

/// The most that steps need at one moment, of something of which a step itself needs `own`.
fn at_once<'s>(steps: impl IntoIterator<Item = &'s Step>, own: &dyn Fn(&Step) -> u64) -> u64 {
    let in_one = |step: &Step| match &step.kind {
        StepKind::Parallel(parallel) => {
            let branches = parallel.steps.iter().map(|step| at_once([step], own));
            let mut branches: Vec<u64> = branches.collect();
            branches.sort_unstable_by(|a, b| b.cmp(a));
            branches.into_iter().take(parallel.limit as usize).sum()
        }
        _ => own(step).max(at_once(step.inner().collect::<Vec<_>>(), own)),
    };
    steps.into_iter().map(in_one).max().unwrap_or(0)
}
