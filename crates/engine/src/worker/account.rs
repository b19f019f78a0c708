//! What a request took and came to, added up over its exchanges, and written into the record when
//! it is over.

use squall_measure::{ErrorKind, NameKind, Phases, Sample};
use squall_plan::expr::EvalError;
use squall_wire::{ConnectTimes, Error, Phase, Progress};

use super::Worker;
use super::flight::Cut;
use super::perform::Exchanged;
use super::watched::Watched;
use crate::judge::Judgement;
use crate::program::{NameOp, RequestOp};
use crate::user::User;

/// Places in [`squall_measure::PHASES`].
const FIRST_BYTE: usize = 3;
const BODY: usize = 4;

/// What became of a request, for the user.
pub(super) struct Done {
    pub failed: bool,
    /// When it was over, on the run's clock.
    pub end: u64,
}

/// Why a request failed, and how to say it.
#[derive(Debug)]
pub(super) struct Failure {
    pub kind: ErrorKind,
    pub detail: String,
}

impl Failure {
    pub(super) fn new(kind: ErrorKind, detail: impl Into<String>) -> Self {
        Failure { kind, detail: detail.into() }
    }

    /// A request that was cut, by what it was doing.
    pub(super) fn cut(cut: Cut, progress: &Progress) -> Self {
        let kind = match (cut, progress.phase()) {
            (Cut::Abort, _) => ErrorKind::Interrupted,
            (Cut::Timeout, Phase::Dns | Phase::Connect) => ErrorKind::ConnectTimeout,
            (Cut::Timeout, Phase::Tls) => ErrorKind::TlsTimeout,
            (Cut::Timeout, Phase::Send) => ErrorKind::TimeoutSend,
            (Cut::Timeout, Phase::Idle | Phase::FirstByte) => ErrorKind::TimeoutFirstByte,
            (Cut::Timeout, Phase::Body) => ErrorKind::TimeoutBody,
        };
        Failure::new(kind, "")
    }
}

impl From<EvalError> for Failure {
    fn from(error: EvalError) -> Self {
        Failure::new(ErrorKind::Render, error.to_string())
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        use squall_wire::ErrorKind as Wire;
        let kind = match error.kind() {
            Wire::Dns => ErrorKind::Dns,
            Wire::ConnectRefused => ErrorKind::ConnectRefused,
            Wire::ConnectTimeout => ErrorKind::ConnectTimeout,
            Wire::ConnectFailed => ErrorKind::ConnectFailed,
            Wire::NoFreePort => ErrorKind::NoFreePort,
            Wire::TooManyOpenFiles => ErrorKind::TooManyOpenFiles,
            Wire::Tls => ErrorKind::Tls,
            Wire::Proxy => ErrorKind::Proxy,
            Wire::Reset => ErrorKind::Reset,
            Wire::ClosedEarly => ErrorKind::ClosedEarly,
            Wire::Malformed => ErrorKind::MalformedResponse,
            Wire::BodyTooLarge => ErrorKind::BodyTooLarge,
            Wire::Decode => ErrorKind::Decode,
            Wire::BodySource => ErrorKind::BodyFile,
            Wire::Io => ErrorKind::Io,
        };
        Failure::new(kind, error.to_string())
    }
}

impl Worker {
    /// Accounts for the time of a request or program that a user could begin at `ready`, and that was
    /// begun at `start`.
    pub(super) fn settle(&self, user: &mut User, phases: &Phases, ready: u64, start: u64) {
        if std::mem::take(&mut user.waited) {
            let late = start.saturating_sub(user.due);
            self.recorder.own(|own| own.send_delay.record(late / 1_000));
        }
        if user.state.is_some() {
            self.recorder.of_user(phases, start.saturating_sub(ready));
        }
    }
}

/// A request under way.
pub(super) struct Account {
    /// When the user could go on, on the run's clock.
    pub ready: u64,
    /// When its first connection was begun or its first byte sent, on the run's clock; until then as
    /// `ready`. What lies between the two is the generator's own time.
    pub start: u64,
    begun: bool,
    due: u64,
    pub name: Option<u32>,
    /// Whether a digest challenge has been answered.
    pub challenged: bool,
    phases: Phases,
    bytes_in: u64,
    bytes_out: u64,
    status: u16,
    end: u64,
    /// From the arrival of the last byte until it was read, in ns, where the kernel said so.
    delay: Option<u64>,
    pub trace: Option<Box<Watched>>,
}

impl Account {
    pub(super) fn new(ready: u64, due: u64, trace: Option<Box<Watched>>) -> Self {
        Account {
            ready,
            start: ready,
            begun: false,
            due,
            name: None,
            challenged: false,
            phases: Phases::default(),
            bytes_in: 0,
            bytes_out: 0,
            status: 0,
            end: 0,
            delay: None,
            trace,
        }
    }

    /// What the target has to answer for begins now; only the first call counts.
    pub(super) fn begin(&mut self, at: u64) {
        if !self.begun {
            (self.begun, self.start) = (true, at);
        }
    }

    /// A connection was made.
    pub(super) fn made(&mut self, times: &ConnectTimes) {
        self.begin(times.begin_ns);
        for (phase, time) in [times.dns_ns, times.connect_ns, times.tls_ns].into_iter().enumerate()
        {
            if let Some(time) = time {
                self.phases.add(phase, time);
            }
        }
    }

    /// An exchange is over.
    pub(super) fn add(&mut self, exchanged: &Exchanged) {
        let times = &exchanged.times;
        self.phases.add(FIRST_BYTE, times.first_byte_ns.saturating_sub(times.sent_ns));
        self.phases.add(BODY, times.end_ns.saturating_sub(times.first_byte_ns));
        self.bytes_in += exchanged.bytes_in;
        self.bytes_out += exchanged.bytes_out;
        self.status = exchanged.status;
        self.end = times.end_ns;
        self.delay = times.delay_ns;
    }

    /// Writes the request into the record.
    pub(super) fn close(
        mut self,
        worker: &Worker,
        user: &mut User,
        op: &RequestOp,
        result: Result<Judgement, Failure>,
    ) -> Done {
        let name = self.name.unwrap_or_else(|| match &op.name {
            NameOp::Static(name) => *name,
            _ => worker.recorder.name(NameKind::Request, &format!("{} (no URL)", op.method)),
        });
        let (judgement, answered) = match result {
            Ok(judgement) => (judgement, true),
            Err(failure) => {
                self.end = worker.clock.now();
                let (error, detail) = (Some(failure.kind), failure.detail);
                (Judgement { error, detail, ..Judgement::default() }, false)
            }
        };
        let scheduled = worker.program.units[user.unit as usize].has_schedule();
        let sample = Sample {
            latency_us: self.end.saturating_sub(self.start) / 1_000,
            due_latency_us: scheduled.then(|| self.end.saturating_sub(self.due) / 1_000),
            answered,
            status: self.status,
            error: judgement.error,
            bytes_in: self.bytes_in,
            bytes_out: self.bytes_out,
            phases: self.phases,
        };
        worker.recorder.request(name, &sample, self.end);
        worker.settle(user, &sample.phases, self.ready, self.start);
        if let Some(delay) = self.delay {
            worker.recorder.own(|own| own.receive_delay.record(delay / 1_000));
        }
        if judgement.checks_ok + judgement.checks_failed + judgement.warnings > 0 {
            worker.recorder.count(|counters| {
                counters.checks_ok += u64::from(judgement.checks_ok);
                counters.checks_failed += u64::from(judgement.checks_failed);
                counters.warnings += u64::from(judgement.warnings);
            });
        }
        if let Some(kind) = judgement.error {
            worker.recorder.detail(name, kind, || judgement.detail.clone());
        }
        if let Some(trace) = self.trace {
            trace.tell(worker, user, name, self.start, &sample, judgement);
        }
        user.due = self.end;
        Done { failed: sample.error.is_some(), end: self.end }
    }
}
