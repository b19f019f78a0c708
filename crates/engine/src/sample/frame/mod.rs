//! The frame around a sample: what it took and came to, added up over its exchanges, and written into
//! the record when it is over. It knows of no protocol.

mod end;
#[cfg(test)]
mod tests;
mod timing;

use std::rc::Rc;

use squall_metrics::{CheckResult, Phases};
use squall_plan::expr::Slot;
use squall_wire::{ConnectTimes, Phase, Response, Times};

use self::timing::Timing;
use crate::found::FoundAhead;
use crate::net::in_flight::InFlight;
use crate::net::origins::KnownOrigin;
use crate::net::pools::Place;
use crate::parts::trace_context::TraceId;
use crate::post::{self, AssertionResult, Observation, OnTheWay, Placed};
use crate::program::{CheckOp, PostOp};
use crate::record::Outstanding;
use crate::sample::copy::Copy;
use crate::sample::failure::SampleFailure;
use crate::sample::sampled::Moment;
use crate::scope::Reply;
use crate::user::{Core, Strand};
use crate::worker::Worker;

/// A sample that is being taken.
pub(crate) struct Frame<'w> {
    pub worker: &'w Worker,
    pub user: &'w Core,
    pub in_flight: &'w InFlight,
    /// The name under which it is counted.
    pub name: Option<u32>,
    /// The trace that it belongs to.
    pub trace: Option<TraceId>,
    timing: Timing,
    /// Whether its user may do something else at the same time.
    is_branch: bool,
    bytes_in: u64,
    bytes_out: u64,
    /// How often it was sent again.
    retries: u64,
    code: i64,
    body_bytes: u64,
    result: AssertionResult,
    /// What extracts found in responses that led on; of a resource, in what it is.
    on_the_way: OnTheWay,
    /// Method and URL of the last exchange, or the command, of an error that is written down.
    place: String,
    /// The beginning of the body of a reply that is an error and will be written down.
    excerpt: String,
    copy: Option<Box<Copy>>,
    /// Its entry among the requests in flight, from when it has what it needs to be one.
    outstanding: Option<Outstanding<'w>>,
}

impl<'w> Frame<'w> {
    /// A frame for what a user can begin at a moment.
    pub(in crate::sample) fn new(
        worker: &'w Worker,
        user: &'w Core,
        in_flight: &'w InFlight,
        strand: &mut Strand,
        now: Moment,
    ) -> Self {
        Frame {
            worker,
            user,
            in_flight,
            name: None,
            trace: None,
            timing: Timing::new(now, strand.due, std::mem::take(&mut strand.waited)),
            is_branch: strand.is_branch,
            bytes_in: 0,
            bytes_out: 0,
            retries: 0,
            code: 0,
            body_bytes: 0,
            result: AssertionResult::default(),
            on_the_way: OnTheWay::new(),
            place: String::new(),
            excerpt: String::new(),
            copy: worker.copy(),
            outstanding: None,
        }
    }

    /// All of it must be over within so many nanoseconds.
    pub(in crate::sample) fn bound(&mut self, all: u64) {
        self.timing.bound(all);
    }

    /// Who watches, if anybody does.
    pub(in crate::sample) fn copy(&mut self) -> Option<&mut Copy> {
        self.copy.as_deref_mut()
    }

    /// How much of a body is kept of which the plan wants so much: who watches, and examples of errors, may want more.
    pub(in crate::sample) fn kept(&self, wanted: u64) -> u64 {
        let copied = self.copy.as_ref().map_or(0, |copy| copy.body_bytes());
        wanted.max(copied).max(self.worker.recorder.example_bytes(self.name))
    }

    /// It is in flight from now on, until it is over.
    pub(in crate::sample) fn enter(&mut self) {
        let levels = &self.worker.recorder.levels;
        self.outstanding.get_or_insert_with(|| levels.request(self.user.scenario()));
    }

    /// An exchange is tried once more, because the target had closed the connection. `sent`: whether the first attempt
    /// was sent all the same.
    pub(in crate::sample) fn begin_again(&mut self, sent: bool) {
        self.worker.recorder.count(|counters| counters.stale_retries += 1);
        self.retries += 1;
        self.timing.begin_again(sent, &self.worker.bursts);
    }

    /// Waits for the right to have a connection to an origin, or for a stream of one that is shared. That
    /// is the plan's doing, and nobody else's: it is a phase of its own, no part of the latency, and its
    /// time limit is its own.
    pub(in crate::sample) async fn place(
        &mut self,
        origin: &Rc<KnownOrigin>,
        limit: u64,
    ) -> Result<Place, SampleFailure> {
        if let Some(place) = self.worker.place_of_own(self.user, origin) {
            return Ok(place);
        }
        self.set_deadlines(limit, u64::MAX);
        let place = self.worker.place(self.user, origin, self.in_flight).await;
        self.timing.waited_for_pool(self.worker.clock.now());
        place.map_err(|cancel| SampleFailure::in_pool(cancel, self.worker.pool()))
    }

    /// Sets the deadlines of a phase that begins with the exchange.
    pub(in crate::sample) fn set_deadlines(&self, phase: u64, total: u64) {
        let (phase, total) = self.timing.deadlines(phase, total);
        self.worker.set_deadlines(self.in_flight, phase, total);
    }

    /// Sets the deadlines of a phase that begins now, in an exchange that began before.
    pub(in crate::sample) fn set_deadlines_from(&self, now: u64, phase: u64, total: u64) {
        let (phase, total) = self.timing.deadlines_from(now, phase, total);
        self.worker.set_deadlines(self.in_flight, phase, total);
    }

    /// squall has worked on a reply for a while: what comes next begins now.
    pub(in crate::sample) fn catch_up(&mut self) {
        self.timing.catch_up(self.worker.clock.now());
    }

    /// A connection was made, and squall sees it now.
    pub(in crate::sample) fn connected(&mut self, times: &ConnectTimes, now: u64) {
        self.timing.connected(times, now, &self.worker.bursts);
        if times.connect_ns.is_some() {
            let recorder = &self.worker.recorder;
            recorder.self_metrics(|own| own.connect_delay.record_ns(times.delay_ns));
        }
    }

    /// An exchange came to nothing; what it had sent and received counts all the same.
    pub(in crate::sample) fn came_to_nothing(&mut self) {
        let (sent, received) = self.in_flight.progress.take_bytes();
        self.bytes_out += sent;
        self.bytes_in += received;
    }

    /// The head of a response has come, with this status, before the exchange failed.
    pub(in crate::sample) fn answered(&mut self, status: u16) {
        self.code = i64::from(status);
    }

    /// A response has arrived. `Err`: later than it was allowed to, and squall has only now got round
    /// to see it.
    pub(in crate::sample) fn received(
        &mut self,
        response: &Response<'_>,
        times: &Times,
    ) -> Result<(), Phase> {
        self.timing.received(times, &self.worker.bursts);
        self.code = i64::from(response.status);
        self.body_bytes = response.body_bytes;
        self.bytes_in += response.bytes_in;
        self.bytes_out += response.bytes_out;
        if response.unsolicited_bytes > 0 {
            self.worker.recorder.count(|counters| counters.unsolicited_responses += 1);
        }
        let began = self.worker.recorder.start();
        if let Some(copy) = self.copy() {
            copy.received(response, times, began);
        }
        // Without the kernel's stamp nobody knows when it arrived.
        match times.delay_ns.and(self.in_flight.missed(times.first_byte_ns, times.end_ns)) {
            Some(phase) => Err(phase),
            None => Ok(()),
        }
    }

    /// It is over now, by itself, and came to a code and so many bytes.
    pub(in crate::sample) fn ended(&mut self, code: i64, body_bytes: u64) {
        (self.code, self.body_bytes) = (code, body_bytes);
        self.timing.ended(self.worker.clock.now());
    }

    /// Whether it took so long that a segment may have been sent again.
    pub(in crate::sample) fn was_slow(&self) -> bool {
        self.timing.was_slow()
    }

    /// Its status, or what stands for that.
    pub(in crate::sample) fn code(&self) -> i64 {
        self.code
    }

    /// Latency up to now, in ms.
    pub(in crate::sample) fn duration_ms(&self) -> f64 {
        self.timing.latency() as f64 / 1e6
    }

    /// How long its phases took.
    pub(in crate::sample) fn phases(&self) -> Phases {
        self.timing.phases
    }

    /// How long its sending took, in ns, where one write did not take it all.
    pub(in crate::sample) fn sending(&self) -> u64 {
        self.timing.sending
    }

    /// Bytes received and sent up to now.
    pub(in crate::sample) fn bytes(&self) -> (u64, u64) {
        (self.bytes_in, self.bytes_out)
    }

    /// Extracts and checks look at the reply. Gives what was not found, of that which is also sought in resources.
    pub(in crate::sample) fn process(
        &mut self,
        reply: &Reply<'_, '_>,
        post: &[PostOp],
        ahead: FoundAhead,
    ) -> Vec<Slot> {
        let before = std::mem::take(&mut self.on_the_way);
        let Frame { worker, user, copy, result, .. } = self;
        post::process(&worker.program, user, reply, post, (ahead, before), result, |seen| {
            observe(worker, copy, seen);
        })
    }

    /// Some of them look at a response that is not the reply of the user's own request.
    pub(in crate::sample) fn look<'p>(
        &mut self,
        reply: &Reply<'_, '_>,
        post: impl Iterator<Item = Placed<'p>>,
    ) {
        let Frame { worker, user, copy, result, on_the_way, .. } = self;
        post::on_the_way(&worker.program, user, reply, post, on_the_way, result, |seen| {
            observe(worker, copy, seen);
        });
    }
}

/// Notes what happened in post-processing, and tells who watches.
fn observe(worker: &Worker, copy: &mut Option<Box<Copy>>, observation: Observation<'_>) {
    note(worker, &observation);
    if let Some(copy) = copy {
        copy.observed(observation);
    }
}

/// Notes what happened in post-processing.
pub(crate) fn note(worker: &Worker, observation: &Observation<'_>) {
    match observation {
        Observation::Checked(check, passed) => {
            worker.recorder.check(check.row, check_result(check, passed));
        }
        Observation::Extracted(name, value) | Observation::Defaulted(name, value, _) => {
            worker.learn(name, value);
        }
        Observation::NotExtracted(..) => {}
    }
}

/// How a check went: what cannot be evaluated has not passed.
fn check_result(check: &CheckOp, passed: &Result<bool, String>) -> CheckResult {
    match passed {
        Ok(true) => CheckResult::Passed,
        _ if check.warn => CheckResult::Warned,
        _ => CheckResult::Failed,
    }
}
