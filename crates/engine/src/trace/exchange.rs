//! A copy of a sample, for one who watches a run.

use std::sync::Arc;

use squall_metrics::{ErrorKind, Phases};
use squall_plan::secrets::Secrets;
use squall_plan::value::Value;

use crate::parts::trace_context::TraceId;
use crate::program::Section;

/// A sample, or a program that was run, as it was.
#[derive(Debug, Clone, Default)]
pub struct Exchange {
    /// When it was begun, in µs after the start of the run.
    pub at_us: u64,
    /// The worker that made it.
    pub worker: u32,
    /// The section of the plan.
    pub section: Section,
    /// The user's scenario; `setup` and `teardown` in those.
    pub scenario: String,
    /// The number of its step; within a step that has others, their numbers behind dots: `3.1`,
    /// `4.else.2`.
    pub step: String,
    pub user: u64,
    /// The user's iteration, from 0.
    pub iteration: u64,
    /// The trace that it belongs to, if it carries a trace context.
    pub trace: Option<TraceId>,
    /// The number of the group that is one sample and has it as a part; that group is told of later, if it comes to an end.
    pub part_of: Option<u64>,
    /// Whether it is a resource, which a page names.
    pub is_of_page: bool,
    /// Name under which it is counted.
    pub name: String,
    /// What no output may show of it, as far as it is known by then: who shows it has to mask those.
    pub secrets: Arc<Secrets>,
    /// What was sent and received, in order: redirects and challenges, and what these led to. The last request is
    /// empty if there was no connection to send it on; empty: it did not come to that.
    pub hops: Vec<ExchangeCopy>,
    /// Status code, 0 where none came; a program's exit code.
    pub status: i64,
    /// What the plan itself says beside that.
    pub reason: Option<String>,
    /// All bytes read.
    pub bytes_in: u64,
    /// All bytes written.
    pub bytes_out: u64,
    /// From the start to the last byte, in ns.
    pub latency_ns: u64,
    pub phases: Phases,
    /// What made it an error, and the detail.
    pub error: Option<(ErrorKind, String)>,
    /// Extracted values, in order, if they are wanted.
    pub extracted: Vec<Extracted>,
    /// Checks, in order, if they are wanted: the text, whether it is only a warning, and whether it held or why it
    /// could not be told.
    pub checks: Vec<(String, bool, Result<bool, String>)>,
}

/// What an extract came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extracted {
    pub variable: String,
    pub value: Option<String>,
    /// Why nothing was found; a value is then the default.
    pub missing: Option<String>,
}

impl Extracted {
    pub(crate) fn of(variable: &str, value: Option<&Value>, missing: Option<&str>) -> Self {
        Extracted {
            variable: variable.to_owned(),
            value: value.map(Value::to_string),
            missing: missing.map(str::to_owned),
        }
    }
}

/// One request and its response.
#[derive(Debug, Clone, Default)]
pub struct ExchangeCopy {
    /// Where it went; empty for a program.
    pub url: String,
    /// The request's head and body, a program's command.
    pub request: Vec<u8>,
    /// Bytes of all that, of which the end may be cut off above.
    pub request_bytes: u64,
    /// Whether the connection had been used before.
    pub reused: bool,
    /// Whether a response came.
    pub is_answered: bool,
    /// Its status code; 0: it has none.
    pub status: u16,
    /// When it was sent, when the first byte of the response came, and when the last, in µs after the start of the run.
    pub times_us: [u64; 3],
    /// All bytes read, and all bytes written.
    pub bytes: (u64, u64),
    /// The response's head as it came.
    pub head: Vec<u8>,
    /// The beginning of the response's body, decompressed; a program's output.
    pub body: Vec<u8>,
    /// Bytes of the whole body, decompressed.
    pub body_bytes: u64,
}

impl Exchange {
    /// Empties what not every exchange has; what each of them has is written over.
    pub(crate) fn clear(&mut self) {
        (self.trace, self.part_of, self.reason, self.error) = (None, None, None, None);
        self.hops.clear();
        self.extracted.clear();
        self.checks.clear();
    }

    /// The last request, which the sample's status and checks are about.
    pub fn last(&self) -> Option<&ExchangeCopy> {
        self.hops.last()
    }

    /// Bytes of all that was copied of messages.
    pub fn copied_bytes(&self) -> usize {
        self.hops.iter().map(|hop| hop.request.len() + hop.head.len() + hop.body.len()).sum()
    }
}
