//! What tests of samples share: a user of a worker, and made-up responses. Nothing is sent, and all times are numbers.

use squall_metrics::{RequestStats, Slice};
use squall_plan::value::Value;
use squall_wire::{Response, Times};

use super::sampled::Moment;
use crate::program::{Op, Place, RequestOp};
use crate::roster::Seat;
use crate::testing::{self, Handed, program};
use crate::user::{Core, User};

/// When samples of tests begin.
pub(crate) const NOW: Moment = Moment { ready: 1_000, seen: 1_000 };

/// A worker of a plan, and a user.
pub(crate) struct Bench {
    base: testing::Bench,
    user: User,
}

impl std::ops::Deref for Bench {
    type Target = testing::Bench;

    fn deref(&self) -> &testing::Bench {
        &self.base
    }
}

impl Bench {
    /// With a user of these steps, in a plan for `http://a.test` with something more at its end.
    pub(crate) fn with(steps: &str, more: &str) -> Bench {
        Bench::one_of(1, "users: 1, for: 1h", steps, more)
    }

    /// One worker of several, with a load of its own.
    pub(crate) fn one_of(workers: u32, load: &str, steps: &str, more: &str) -> Bench {
        let scenario = format!("{{load: {{{load}}}, steps: {steps}}}");
        let plan = format!("target: http://a.test\nscenarios: {{a: {scenario}}}\n{more}\n");
        let base = testing::Bench::one_of(workers, program(&plan), |_, _| {}, None);
        let shared = base.worker.shared_values.clone();
        Bench { base, user: User::new(Seat { number: 0, load: 0, scenario: 0 }, shared) }
    }

    pub(crate) fn core(&self) -> &Core {
        &self.user.core
    }

    /// The first request of the plan.
    pub(crate) fn request(&self) -> &RequestOp {
        let requests = self.worker.program.scenarios[0].ops.iter().find_map(|op| match op {
            Op::Request(op) => Some(&**op),
            _ => None,
        });
        requests.expect("a request")
    }

    /// Gives a variable a text.
    pub(crate) fn set(&self, name: &str, text: &str) {
        let slot = Place::Variable(self.variable_index(name)).slot();
        self.core().set(&self.worker.program, slot, Some(Value::Text(text.into())));
    }

    /// What a variable holds, as a text.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        let (program, index) = (&self.worker.program, self.variable_index(name));
        self.core().variable(program, index).map(|value| value.to_string())
    }

    fn variable_index(&self, name: &str) -> usize {
        let variables = &self.worker.program.variables;
        variables.iter().position(|own| own == name).expect("a variable")
    }
}

impl Handed {
    /// The slice of the last second.
    pub(crate) fn slice(&self) -> &Slice {
        self.slices.last().expect("a slice")
    }

    /// The only row of requests.
    pub(crate) fn only(&self) -> (String, &RequestStats) {
        let mut all = self.slice().requests();
        let (number, stats) = all.next().expect("a row");
        assert!(all.next().is_none(), "one row");
        let name = self.slice().names.iter().find(|(own, _)| *own == number);
        (name.map(|(_, key)| key.name.clone()).expect("a name"), stats)
    }
}

/// A response that came in one read.
pub(crate) fn response<'r>(status: u16, head: &'r str, body: &'r str) -> Response<'r> {
    Response {
        status,
        head: head.as_bytes(),
        body: body.as_bytes(),
        body_bytes: body.len() as u64,
        body_length: body.len() as u64,
        bytes_in: (head.len() + body.len()) as u64,
        bytes_out: 100,
        trailers: b"",
        sets_cookies: head.contains("Set-Cookie"),
        unsolicited_bytes: 0,
    }
}

/// The times of a response that came so long after it was asked for, at 1,100.
pub(crate) fn after(ns: u64) -> Times {
    let end_ns = 1_100 + ns;
    Times { sent_ns: 1_100, first_byte_ns: end_ns, end_ns, ..Times::default() }
}
