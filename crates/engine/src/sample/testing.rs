//! What tests of samples share: a worker whose event loop does not run, a user of it, and made-up responses. Nothing is
//! sent, and all times are numbers.

use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::time::Instant;

use squall_load::Share;
use squall_metrics::{RequestStats, Slice};
use squall_plan::value::Value;
use squall_wire::{Clock, Io, LoopWaker, Response, Settings, Shared, Times};
use tokio::runtime::Runtime;
use tokio::sync::watch;

use super::sampled::Moment;
use crate::messages::{LogLine, Message, Orders};
use crate::program::{CompileOptions, Op, Place, Program, RequestOp, compile};
use crate::record::NameRegistry;
use crate::roster::Seat;
use crate::shared_values::SharedValues;
use crate::together::Together;
use crate::user::{Core, User};
use crate::worker::{Assignment, Worker};

/// When samples of tests begin.
pub(crate) const NOW: Moment = Moment { ready: 1_000, seen: 1_000 };

/// A worker of a plan, and a user.
pub(crate) struct Bench {
    pub worker: Rc<Worker>,
    pub user: User,
    inbox: Receiver<Message>,
    pub runtime: Runtime,
}

/// What a worker has recorded.
pub(crate) struct Recorded {
    pub slice: Box<Slice>,
    pub log: Vec<LogLine>,
    program: Arc<Program>,
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
        let loaded = squall_plan::yaml::load_str("plan", &plan, Path::new(""), &Default::default());
        let plan = loaded.expect("a good plan").plan;
        let program = compile(&plan, &CompileOptions::default()).expect("a good plan");
        Bench::of(Arc::new(program), workers)
    }

    fn of(program: Arc<Program>, of: u32) -> Bench {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.expect("a runtime");
        let (messages, inbox) = mpsc::channel();
        let settings = Settings { io: Io::Epoll, ..Settings::default() };
        let shared_values = Arc::new(SharedValues::new(program.initial_shared.clone()));
        let assignment = Assignment {
            shared: Shared::new(settings, program.destinations()).expect("a network"),
            clock: Clock::new(Instant::now()),
            index: 0,
            of,
            share: Share::all(),
            own_files: false,
            start: 0,
            messages,
            names: Arc::new(NameRegistry::new(&program)),
            together: Arc::new(Together::new(&program, &Share::all())),
            shared_values: shared_values.clone(),
            orders: watch::Sender::new(Orders::default()).subscribe(),
            trace: None,
            variables: None,
            start_user: |_, _| {},
            program,
        };
        let worker = {
            let _within = runtime.enter();
            Worker::new(assignment, &LoopWaker::new().expect("a waker")).expect("a worker")
        };
        let user = User::new(Seat { number: 0, load: 0, scenario: 0 }, shared_values);
        Bench { worker: Rc::new(worker), user, inbox, runtime }
    }

    pub(crate) fn core(&self) -> &Core {
        &self.user.core
    }

    /// The first request of the plan.
    pub(crate) fn request(&self) -> &RequestOp {
        let requests = self.worker.program.scenarios[0].ops.iter().filter_map(|op| match op {
            Op::Request(op) => Some(&**op),
            _ => None,
        });
        requests.into_iter().next().expect("a request")
    }

    /// Gives a variable a text.
    pub(crate) fn set(&self, name: &str, text: &str) {
        let slot = Place::Variable(self.variable_index(name)).slot();
        self.core().set(&self.worker.program, slot, Some(Value::Text(text.into())));
    }

    fn variable_index(&self, name: &str) -> usize {
        let variables = &self.worker.program.variables;
        variables.iter().position(|own| own == name).expect("a variable")
    }

    /// What a variable holds, as a text.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        let (program, index) = (&self.worker.program, self.variable_index(name));
        self.core().variable(program, index).map(|value| value.to_string())
    }

    /// What was recorded until now.
    pub(crate) fn recorded(&self) -> Recorded {
        self.worker.recorder.finish(self.worker.recorder.second_ends());
        let (mut log, mut last) = (Vec::new(), None);
        for message in self.inbox.try_iter() {
            match message {
                Message::Slice { slice, .. } => last = Some(slice),
                Message::Log(lines) => log.extend(lines),
                _ => {}
            }
        }
        let program = self.worker.program.clone();
        Recorded { slice: last.expect("a slice"), log, program }
    }
}

impl Recorded {
    /// The statistics of the only row.
    pub(crate) fn only(&self) -> (String, &RequestStats) {
        let mut all = self.slice.requests();
        let (number, stats) = all.next().expect("a row");
        assert!(all.next().is_none(), "one row");
        let made = self.slice.names.iter().find(|(own, _)| *own == number);
        let made = made.map(|(_, key)| key.name.clone());
        let known = || self.program.row_name(number.0).to_owned();
        (made.unwrap_or_else(known), stats)
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
