//! What a sample is: plain data.

use std::borrow::Cow;

use squall_metrics::{ErrorKind, Phases};

/// A request, a resource of a page or a program, and what came of it. Its texts hold no secrets any more.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RequestSample<'s> {
    /// When it began, in µs since 1970 (UTC).
    pub unix_us: u64,
    /// `setup`, `load` or `teardown`.
    pub run_phase: &'static str,
    /// Its scenario; `setup` and `teardown` in those.
    pub scenario: &'s str,
    /// The number of its step.
    pub step: &'s str,
    /// The worker that made it.
    pub worker: u32,
    /// Its user's number, from 0.
    pub user: u64,
    /// The user's iteration, from 0.
    pub iteration: u64,
    /// The trace that it belongs to; empty: it carries no trace context.
    pub trace_id: String,
    /// The name under which it is counted.
    pub name: Cow<'s, str>,
    /// Where the last request of it went; empty for a program, and where nothing was sent.
    pub url: String,
    /// Requests before that, which redirects and challenges took.
    pub redirects: u64,
    /// Status code, a program's exit code; 0: no response came.
    pub status: i64,
    /// What the plan itself says beside that; only JTL has it.
    pub reason: Option<Cow<'s, str>>,
    /// The kind of error, if it is one, and the detail.
    pub error: Option<(ErrorKind, Cow<'s, str>)>,
    /// From its start to the last byte, in ns.
    pub latency_ns: u64,
    /// Where that time went, and its wait for the plan's own pool before.
    pub phases: Phases,
    pub bytes_in: u64,
    pub bytes_out: u64,
    /// Whether its connection had been used before.
    pub reused: bool,
    /// Users that were active in the last whole second: of its scenario, and of all.
    pub users: (u64, u64),
    /// The number of its scenario, from 1.
    pub scenario_number: u64,
    /// The requests that it took, if redirects took several: only JTL has them.
    pub parts: Vec<SamplePart>,
    /// What it loaded besides, if it is a page that names something: only JTL has that.
    pub page: Option<LoadedPage<'s>>,
}

impl RequestSample<'_> {
    /// Whether it failed, or something of what it loaded did.
    pub(super) fn has_failed(&self) -> bool {
        let mut loaded = self.page.iter().flat_map(|page| &page.resources);
        self.error.is_some() || loaded.any(RequestSample::has_failed)
    }

    /// Whether nothing came, or what says that it is not there. What came and is not as it should be, is not lost.
    pub(super) fn is_lost(&self) -> bool {
        let is_judged =
            |(kind, _): &(ErrorKind, _)| matches!(kind, ErrorKind::Check | ErrorKind::Extract);
        self.error.as_ref().is_some_and(|error| !is_judged(error)) || self.status >= 400
    }
}

/// What a page loaded besides itself.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LoadedPage<'s> {
    /// From the start of the page to the end of the last, in ns.
    pub duration_ns: u64,
    /// What was loaded, in order.
    pub resources: Vec<RequestSample<'s>>,
}

/// One of the requests of a sample.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SamplePart {
    /// When it was sent, in µs since 1970 (UTC).
    pub unix_us: u64,
    /// From then to the first byte of its response, in µs, and to the last.
    pub first_byte_us: u64,
    /// From then to the last byte of its response, in µs.
    pub latency_us: u64,
    pub url: String,
    /// Status code; 0: no response came.
    pub status: u16,
    pub bytes_in: u64,
    pub bytes_out: u64,
}

/// A group that a user has gone through. Its texts hold no secrets any more.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GroupSample<'s> {
    /// When it began, in µs since 1970 (UTC).
    pub unix_us: u64,
    /// How long it took, in ns.
    pub duration_ns: u64,
    pub scenario: &'s str,
    /// The number of that, from 1.
    pub scenario_number: u64,
    /// Its user's number, from 0.
    pub user: u64,
    pub name: Cow<'s, str>,
    /// Whether something in it failed.
    pub failed: bool,
    /// How many samples were in it, and how many of those failed.
    pub samples: (u64, u64),
    pub bytes_in: u64,
    pub bytes_out: u64,
    /// Users that were active in the last whole second: of its scenario, and of all.
    pub users: (u64, u64),
    /// Whether its user left it before its end.
    pub is_left: bool,
    /// What the plan says that it came to, if it is a sample that sent nothing. Of one sample with its parts, what it says of
    /// its failure counts alone.
    pub answer: Option<PlanAnswer<'s>>,
    /// What is in it, in order, if it is one sample.
    pub parts: Option<Vec<GroupPart<'s>>>,
}

/// What a plan says that a sample of its own came to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PlanAnswer<'s> {
    /// Its status: a number, or another text.
    pub status: Cow<'s, str>,
    /// What is said beside that.
    pub reason: Cow<'s, str>,
    /// What is said of what it failed; empty: it failed nothing.
    pub failure: Cow<'s, str>,
}

/// A part of a group that is one sample.
#[derive(Debug, Clone, PartialEq)]
pub enum GroupPart<'s> {
    /// A request or a program.
    Request(Box<RequestSample<'s>>),
    Group(Box<GroupSample<'s>>),
}

impl GroupPart<'_> {
    pub fn has_failed(&self) -> bool {
        match self {
            GroupPart::Request(sample) => sample.has_failed(),
            GroupPart::Group(group) => group.failed,
        }
    }
}
