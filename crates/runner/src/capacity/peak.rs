//! What a user needs at most at one moment, read off the steps of its scenario.

use squall_plan::model::{
    Body, FormPartContent, Plan, Request, Resources, ResponseBody, Scenario, Step, StepKind,
};

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
        Peak {
            requests: requests(&scenario.steps),
            at_once: at_once(&scenario.steps, &|own| connections(own, inherited), 1),
            files: at_once(&scenario.steps, &files, 0),
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
    let in_one = |step: &Step| match &step.kind {
        StepKind::Request(_) | StepKind::Tcp(_) => 1,
        _ => requests(step.inner().collect::<Vec<_>>()),
    };
    steps.into_iter().map(in_one).sum()
}

/// The most that steps need at one moment, of something of which a request needs `of`, and bytes over TCP `of_tcp`.
fn at_once<'s>(
    steps: impl IntoIterator<Item = &'s Step>,
    of: &dyn Fn(&Request) -> u64,
    of_tcp: u64,
) -> u64 {
    let in_one = |step: &Step| match &step.kind {
        StepKind::Parallel { limit, steps } => {
            let mut branches: Vec<u64> =
                steps.iter().map(|step| at_once([step], of, of_tcp)).collect();
            branches.sort_unstable_by(|a, b| b.cmp(a));
            branches.into_iter().take(*limit as usize).sum()
        }
        StepKind::Request(request) => of(request),
        StepKind::Tcp(_) => of_tcp,
        _ => at_once(step.inner().collect::<Vec<_>>(), of, of_tcp),
    };
    steps.into_iter().map(in_one).max().unwrap_or(0)
}

/// Connections of a request: those of the resources that its page loads, `inherited` unless it says otherwise.
fn connections(request: &Request, inherited: Option<&Resources>) -> u64 {
    let resources = request.http.resources.as_ref().or(inherited);
    resources.filter(|own| own.load).map_or(1, |own| u64::from(own.limit))
}

/// Files that are open while a request is made.
fn files(request: &Request) -> u64 {
    let is_file = |content: &FormPartContent| matches!(content, FormPartContent::File { .. });
    let sent = match &request.body {
        Body::File { .. } => 1,
        Body::Multipart(parts) => parts.iter().filter(|part| is_file(&part.content)).count() as u64,
        Body::None | Body::Text(_) | Body::Json(_) | Body::Form(_) => 0,
    };
    sent + u64::from(matches!(request.response_body, Some(ResponseBody::File(_))))
}
