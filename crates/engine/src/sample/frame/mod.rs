//! The frame around a sample: what it took and came to, added up over its exchanges, and written into
//! the record when it is over.

mod end;

use std::cell::OnceCell;
use std::rc::Rc;

use squall_extract::{Body, Documents, Limits};
use squall_metrics::{CheckResult, PHASES, Phases};
use squall_plan::expr::Slot;
use squall_plan::value::Value;
use squall_wire::{ConnectTimes, MAY_BE_RETRANSMITTED_NS, Phase, Response, Times};

use crate::found::FoundAhead;
use crate::net::in_flight::InFlight;
use crate::net::origins::KnownOrigin;
use crate::net::pools::Place;
use crate::parts::exec::Output;
use crate::parts::sent::Sent;
use crate::parts::trace_context::TraceId;
use crate::post::{self, AssertionResult, Observation, OnTheWay, Placed};
use crate::program::{self, CheckOp, ExecOp, PostOp, RequestOp};
use crate::record::Outstanding;
use crate::sample::copy::Copy;
use crate::sample::failure::SampleFailure;
use crate::sample::page::{Found, Wanted, content_type};
use crate::sample::sampled::Moment;
use crate::scope::{Reply, Said, UserScope};
use crate::user::{Core, Strand};
use crate::worker::Worker;

/// Places in [`PHASES`].
const POOL: usize = phase("pool");
const DNS: usize = phase("dns");
const CONNECT: usize = phase("connect");
const TLS: usize = phase("tls");
const FIRST_BYTE: usize = phase("first_byte");
const BODY: usize = phase("body");

/// The place of a phase, by its name; one that is not there does not compile.
const fn phase(name: &str) -> usize {
    let mut at = 0;
    loop {
        let (own, wanted) = (PHASES[at].as_bytes(), name.as_bytes());
        let mut same = own.len() == wanted.len();
        let mut byte = 0;
        while same && byte < own.len() {
            same = own[byte] == wanted[byte];
            byte += 1;
        }
        if same {
            return at;
        }
        at += 1;
    }
}

/// A sample that is being taken.
pub(crate) struct Frame<'w> {
    pub worker: &'w Worker,
    pub user: &'w Core,
    pub in_flight: &'w InFlight,
    /// The name under which it is counted.
    pub name: Option<u32>,
    /// The trace that it belongs to.
    pub trace: Option<TraceId>,
    /// The beginning of the body of a reply that is an error and will be written down.
    excerpt: String,
    /// When the user could go on, on the run's clock.
    ready: u64,
    /// When its first connection was begun or its first byte sent; until then as `ready`. What lies
    /// between the two, and is not spent waiting for a pool, is the generator's own time.
    start: u64,
    begun: bool,
    /// When it should have been sent.
    due: u64,
    /// Whether it came from a wait or is an arrival: then it has a moment at which it was due.
    waited: bool,
    /// When the first of those was begun that were due at the same moment.
    burst_start: u64,
    /// Whether its user may do something else at the same time.
    is_branch: bool,
    /// From when on the deadlines of the present exchange count: squall cannot have begun it before.
    exchange_from: u64,
    /// When all of its exchanges must be over.
    until: u64,
    phases: Phases,
    bytes_in: u64,
    bytes_out: u64,
    /// How often it was sent again.
    retries: u64,
    code: i64,
    body_bytes: u64,
    /// Method and URL of the last exchange, or the command, of an error that is written down.
    place: String,
    end: u64,
    /// Time within it that was squall's own: connections that were there before squall saw them, and from
    /// then until it sent the request.
    own_delay: u64,
    /// Since when squall could have sent the request on a new connection; `None`: it is none, or it was used.
    connected: Option<u64>,
    /// From the arrival of the last byte until it was read, in ns, where the kernel said so.
    receive_delay: Option<u64>,
    result: AssertionResult,
    /// What extracts found in responses that led on; of a resource, in what it is.
    on_the_way: OnTheWay,
    copy: Option<Box<Copy>>,
    /// What was sent last, where something looks at that.
    pub sent: Option<Box<Sent>>,
    /// The number of the jar that its request's cookies are in.
    pub jar: u16,
    /// The origin that its last response came from.
    pub origin: Option<Rc<KnownOrigin>>,
    /// The bounds of a request whose user decides some of them.
    limits: Option<Box<program::Limits>>,
    /// What is looked for in the reply.
    pub wanted: Wanted<'w>,
    /// What the reply names besides.
    pub found: Option<Box<Found>>,
    /// That it is in flight, from when it has what it needs for that.
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
            excerpt: String::new(),
            ready: now.ready,
            start: now.ready,
            begun: false,
            due: strand.due,
            waited: std::mem::take(&mut strand.waited),
            burst_start: now.ready,
            is_branch: strand.is_branch,
            exchange_from: now.seen,
            until: u64::MAX,
            phases: Phases::default(),
            bytes_in: 0,
            bytes_out: 0,
            retries: 0,
            code: 0,
            body_bytes: 0,
            place: String::new(),
            end: 0,
            own_delay: 0,
            connected: None,
            receive_delay: None,
            result: AssertionResult::default(),
            on_the_way: OnTheWay::new(),
            copy: worker.copy(),
            sent: None,
            jar: 0,
            origin: None,
            limits: None,
            wanted: Wanted::default(),
            found: None,
            outstanding: None,
        }
    }

    /// Looks at what the user's variables say of a request's bounds.
    ///
    /// # Errors
    /// One of them is no time.
    pub(in crate::sample) fn take_limits(&mut self, op: &RequestOp) -> Result<(), SampleFailure> {
        if let Some(timeouts) = &op.timeouts {
            let scope = UserScope::new(&self.worker.program, self.user);
            self.limits = Some(Box::new(timeouts.of(op.limits, &scope)?));
        }
        self.bound(self.limits(op).all);
        Ok(())
    }

    /// All of it must be over within so many nanoseconds.
    pub(in crate::sample) fn bound(&mut self, all: u64) {
        self.until = self.exchange_from.saturating_add(all);
    }

    /// The bounds of a request.
    pub(in crate::sample) fn limits<'l>(&'l self, op: &'l RequestOp) -> &'l program::Limits {
        self.limits.as_deref().unwrap_or(&op.limits)
    }

    /// Who watches, if anybody does.
    pub(in crate::sample) fn copy(&mut self) -> Option<&mut Copy> {
        self.copy.as_deref_mut()
    }

    /// How much of a body those who watch want to see.
    pub(in crate::sample) fn copied_body(&self) -> u64 {
        self.copy.as_ref().map_or(0, |copy| copy.body_bytes())
    }

    /// It is in flight from now on, until it is over.
    pub(in crate::sample) fn enter(&mut self) {
        let levels = &self.worker.recorder.levels;
        self.outstanding.get_or_insert_with(|| levels.request(self.user.scenario()));
    }

    /// What the target has to answer for begins now; only the first call counts.
    pub(in crate::sample) fn begin(&mut self, at: u64) {
        if !self.begun {
            (self.begun, self.start) = (true, at);
            if self.waited {
                self.burst_start = self.worker.bursts.begin(self.due, at);
            }
        }
    }

    /// An exchange is tried once more. If the first attempt was sent, what the target may have seen of it
    /// is its to answer for: then its time begins with that one.
    pub(in crate::sample) fn begin_again(&mut self, sent: bool) {
        self.connected = None;
        self.retries += 1;
        if sent {
            self.begin(self.exchange_from);
        }
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
        let from = self.exchange_from;
        self.worker.set_deadlines(self.in_flight, from.saturating_add(limit), self.until);
        let place = self.worker.place(self.user, origin, self.in_flight).await;
        let now = self.worker.clock.now();
        self.phases.add(POOL, now.saturating_sub(from));
        self.exchange_from = now;
        place.map_err(|cancel| SampleFailure::in_pool(cancel, self.worker.pool()))
    }

    /// Sets the deadlines of a phase that begins with the exchange.
    pub(in crate::sample) fn set_deadlines(&self, phase: u64, total: u64) {
        let from = self.exchange_from;
        let (phase, total) =
            (from.saturating_add(phase), from.saturating_add(total).min(self.until));
        self.worker.set_deadlines(self.in_flight, phase, total);
    }

    /// Sets the deadlines of a phase that begins now, in an exchange that began before.
    pub(in crate::sample) fn set_deadlines_from(&self, now: u64, phase: u64, total: u64) {
        let total = self.exchange_from.saturating_add(total).min(self.until);
        self.worker.set_deadlines(self.in_flight, now.saturating_add(phase), total);
    }

    /// squall has worked on a reply for a while: what comes next begins now.
    pub(in crate::sample) fn catch_up(&mut self) {
        self.exchange_from = self.worker.clock.now();
    }

    /// A connection was made, and squall sees it now. What passed since it was begun and is in no phase
    /// was squall's own.
    pub(in crate::sample) fn connected(&mut self, times: &ConnectTimes, now: u64) {
        self.begin(times.begin_ns);
        self.connected = Some(now);
        if times.connect_ns.is_some() {
            let recorder = &self.worker.recorder;
            recorder.self_metrics(|own| own.connect_delay.record_ns(times.delay_ns));
        }
        let mut own = now.saturating_sub(times.begin_ns);
        let parts = [(DNS, times.dns_ns), (CONNECT, times.connect_ns), (TLS, times.tls_ns)];
        for (phase, time) in parts {
            if let Some(time) = time {
                self.phases.add(phase, time);
                own = own.saturating_sub(time);
            }
        }
        self.own_delay += own;
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
        self.begin(times.sent_ns);
        if let Some(connected) = self.connected.take() {
            self.own_delay += times.sent_ns.saturating_sub(connected);
        }
        self.code = i64::from(response.status);
        self.body_bytes = response.body_bytes;
        self.bytes_in += response.bytes_in;
        self.bytes_out += response.bytes_out;
        let first_byte = times.first_byte_ns.saturating_sub(times.sent_ns);
        self.phases.add(FIRST_BYTE, first_byte);
        self.phases.add(BODY, times.end_ns.saturating_sub(times.first_byte_ns));
        self.end = times.end_ns;
        self.receive_delay = times.delay_ns;
        self.exchange_from = times.end_ns + times.delay_ns.unwrap_or(0) + times.decompress_ns;
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

    /// Whether it took so long that a segment may have been sent again.
    pub(in crate::sample) fn was_slow(&self) -> bool {
        self.end.saturating_sub(self.start) >= MAY_BE_RETRANSMITTED_NS
    }

    /// An HTTP response is the reply of the sample. Of its body `kept` bytes are the plan's to see.
    pub(in crate::sample) fn reply(
        &mut self,
        response: &Response<'_>,
        kept: u64,
        captured: &str,
        post: &[PostOp],
        ahead: FoundAhead,
    ) {
        if post.is_empty() {
            return;
        }
        if self.wanted.is_of_page {
            let mut ahead = ahead.into_iter();
            let all = post.iter().enumerate();
            let all = all.map(|(place, op)| (place, op, ahead.next().flatten()));
            return self.look(response, kept, captured, all);
        }
        let before = std::mem::take(&mut self.on_the_way);
        self.with_reply(response, kept, captured, |frame, reply| {
            let sought = frame.process(reply, post, ahead, before);
            if let Some(found) = &mut frame.found {
                found.sought = sought;
            }
        });
    }

    /// An HTTP response leads on: it is looked at by what looks at such responses.
    pub(in crate::sample) fn led_on(
        &mut self,
        response: &Response<'_>,
        kept: u64,
        post: &[PostOp],
    ) {
        if post::looks_on_the_way(post) {
            self.look(response, kept, "", post::of_redirects(post));
        }
    }

    /// Looks at a response that is not the reply of the user's own request.
    fn look<'p>(
        &mut self,
        response: &Response<'_>,
        kept: u64,
        captured: &str,
        post: impl Iterator<Item = Placed<'p>>,
    ) {
        self.with_reply(response, kept, captured, |frame, reply| {
            let Frame { worker, user, copy, result, on_the_way, .. } = frame;
            post::on_the_way(&worker.program, user, reply, post, on_the_way, result, |seen| {
                observe(worker, copy, seen);
            });
        });
    }

    /// Shows an HTTP response as a reply, of whose body `kept` bytes are the plan's to see.
    fn with_reply(
        &mut self,
        response: &Response<'_>,
        kept: u64,
        captured: &str,
        look: impl FnOnce(&mut Self, &Reply<'_, '_>),
    ) {
        let kept = usize::try_from(kept).unwrap_or(usize::MAX).min(response.body.len());
        let body = Body::new(&response.body[..kept], content_type(response));
        let documents = Documents::of(&body, Limits::default());
        let sent = self.sent.take();
        let origin = self.origin.clone();
        let reply = Reply {
            code: self.code,
            body_bytes: response.body_bytes,
            duration_ms: self.duration_ms(),
            captured,
            response: Some(response),
            documents: &documents,
            sent: sent.as_deref(),
            jar: self.jar,
            host: origin.as_ref().map(|known| &*known.origin.host),
            said: None,
            head: OnceCell::new(),
        };
        look(self, &reply);
        self.sent = sent;
    }

    /// The output of a program, which ended now, is the reply of the sample.
    ///
    /// # Errors
    /// What is said of it cannot be evaluated.
    pub(in crate::sample) fn output(
        &mut self,
        op: &ExecOp,
        output: &Output,
    ) -> Result<(), SampleFailure> {
        self.code = i64::from(output.code);
        self.body_bytes = output.stdout.len() as u64;
        self.end = self.worker.clock.now();
        let documents = Documents::new(&output.stdout, Limits::default());
        let reply = Reply {
            code: self.code,
            body_bytes: self.body_bytes,
            duration_ms: self.duration_ms(),
            captured: "",
            response: None,
            documents: &documents,
            sent: None,
            jar: self.jar,
            host: None,
            said: None,
            head: OnceCell::new(),
        };
        let (mut reason, mut sent) = (Vec::new(), Vec::new());
        for (own, room) in [(&op.reason, &mut reason), (&op.sent, &mut sent)] {
            if let Some(own) = own {
                own.render(&UserScope::of_reply(&self.worker.program, self.user, &reply), room)?;
            }
        }
        let reason = String::from_utf8_lossy(&reason);
        if let Some(copy) = self.copy.as_mut().filter(|_| op.reason.is_some()) {
            copy.said(&reason);
        }
        let said = Said { status: &Value::Int(self.code), reason: &reason, sent: &sent };
        let reply = Reply { said: Some(&said), ..reply };
        self.process(&reply, &op.post, FoundAhead::new(), OnTheWay::new());
        Ok(())
    }

    /// Extracts and checks look at the reply.
    fn process(
        &mut self,
        reply: &Reply<'_, '_>,
        post: &[PostOp],
        ahead: FoundAhead,
        before: OnTheWay,
    ) -> Vec<Slot> {
        let Frame { worker, user, copy, result, .. } = self;
        post::process(&worker.program, user, reply, post, (ahead, before), result, |seen| {
            observe(worker, copy, seen);
        })
    }

    /// Latency up to now, in ms.
    fn duration_ms(&self) -> f64 {
        self.end.saturating_sub(self.start + self.own_delay) as f64 / 1e6
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
