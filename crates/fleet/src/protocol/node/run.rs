//! A node in a run.

mod reading;
mod records;

use std::collections::VecDeque;
use std::sync::Arc;

use squall_engine::Progress;

use crate::protocol::codec::{self, Stored};
use crate::protocol::io::{Answer, LoadCommand, LoadEvent, Output, REFUSES};
use crate::protocol::keys;
use crate::protocol::messages::{Assignment, Change, Order, Phase, Sign};
use crate::protocol::units::{Bytes, MS, Nanos, SECOND, Shards};

use super::clock::NodeClock;
use super::desk::{Cx, Polled};
use super::lease::Lease;
use super::outbox::{Kind, Outbox};
use super::parts::{Parts, second_at};

/// How long a node waits for a controller that is silent, before the load and after it.
pub const WITHOUT_CONTROLLER: Nanos = 600 * SECOND;
/// Over how long the nodes' messages of a second are spread.
const SPREAD: Nanos = 100 * MS;
/// How often a key is read while the node waits for it, and how soon a sign is tried again.
const SOON: Nanos = 500 * MS;
/// A lease until the order says its length.
const FIRST_LEASE: Nanos = 15 * SECOND;

/// A key that is read from time to time.
#[derive(Debug, Default)]
struct Poll {
    next: Nanos,
    is_out: bool,
}

/// What a node knows of a run.
#[derive(Debug)]
pub struct InRun {
    /// The run.
    pub run: String,
    subject: String,
    clock_subject: String,
    order: Option<Arc<Order>>,
    assignment: Option<(u64, Assignment)>,
    polls: [Poll; 4],
    clock: NodeClock,
    lease: Lease,
    outbox: Outbox,
    parts: Parts,
    load: LoadState,
    changes: (usize, Vec<Change>),
    numbered: Numbers,
    signing: Signing,
    /// How far users are with counted iterations, as far as no record has told it yet.
    progress: Progress,
    /// When it began to leave.
    leaving: Option<Nanos>,
    /// Whether it is over, and how.
    pub over: Option<Over>,
}

/// How a run is over for a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// It was released: nothing is kept.
    Released,
    /// There is no such run: the call to it was an old one.
    Void,
    /// The node has left it, or nobody released it: what was recorded is kept.
    Left,
}

/// How far the load is.
#[derive(Debug, Default)]
struct LoadState {
    is_preparing: bool,
    is_ready: bool,
    refused: String,
    start: Option<Nanos>,
    /// It was told to stop, and not yet to go on.
    is_fenced: bool,
    /// Until when it was told that it may go on.
    valid: Nanos,
    /// What it has to do since the part from this second on is done.
    done: Option<u32>,
    is_ended: bool,
    ended_at: Nanos,
    stop_asked: bool,
    failures: Vec<String>,
}

/// Messages with numbers.
#[derive(Debug, Default)]
struct Numbers {
    next: u64,
    /// The second of each, and its number, until it is written down.
    seconds: VecDeque<(u32, u64)>,
    dropped: u32,
}

/// When to say all again.
#[derive(Debug, Default)]
struct Signing {
    serial: u64,
    due: Nanos,
    is_changed: bool,
}

impl InRun {
    /// A node that is called to a run.
    pub fn new(run: &str, cx: &mut Cx<'_>) -> InRun {
        let node = &cx.me.card.node;
        for keys in [keys::share(run, node), keys::changes(run), keys::release(run)] {
            cx.out.push(Output::Watch { keys });
        }
        cx.out.push(Output::Listen { subject: keys::resend(run) });
        InRun {
            run: run.into(),
            subject: keys::second(run, node),
            clock_subject: keys::clock(run),
            order: None,
            assignment: None,
            polls: Default::default(),
            clock: NodeClock::new(cx.now.steady),
            lease: Lease::new(cx.now.steady, FIRST_LEASE),
            outbox: Outbox::default(),
            parts: Parts::default(),
            load: LoadState::default(),
            changes: (0, Vec::new()),
            numbered: Numbers::default(),
            signing: Signing { is_changed: true, ..Signing::default() },
            progress: Progress::default(),
            leaving: None,
            over: None,
        }
    }

    /// How far it is.
    pub fn phase(&self) -> Phase {
        match () {
            () if self.over == Some(Over::Left) => Phase::Left,
            () if self.over.is_some() => Phase::Released,
            () if !self.load.refused.is_empty() => Phase::Refused,
            () if self.load.is_ended => Phase::Ended,
            () if self.load.start.is_some() && self.parts.is_fenced => Phase::Fenced,
            () if self.leaving.is_some() => Phase::Leaving,
            () if self.load.start.is_some() => Phase::Running,
            () if self.load.is_ready && self.clock.is_set() => Phase::Ready,
            () => Phase::Called,
        }
    }

    /// How many shards it has now.
    pub fn shards(&self, now: Nanos) -> usize {
        let Some(start) = self.load.start.filter(|_| !self.parts.is_fenced && !self.load.is_ended)
        else {
            return 0;
        };
        self.parts.at(second_at(start, now)).map_or(0, |taken| taken.shards.len())
    }

    /// Its clock.
    pub fn clock(&self) -> &NodeClock {
        &self.clock
    }

    fn refuse(&mut self, why: String, cx: &mut Cx<'_>) {
        if self.load.refused.is_empty() {
            cx.log(format!("{REFUSES} {}: {why}", self.run));
            self.load.refused = why;
            codec::shorten(&mut self.load.refused);
            self.signing.is_changed = true;
        }
    }

    /// What the load says.
    pub fn on_load(&mut self, event: LoadEvent, cx: &mut Cx<'_>) {
        self.signing.is_changed |= !matches!(event, LoadEvent::Second(_) | LoadEvent::Progress(_));
        match event {
            LoadEvent::Ready => self.load.is_ready = true,
            LoadEvent::Refused(why) => self.refuse(why, cx),
            LoadEvent::Progress(progress) => self.progress.merge(&progress),
            LoadEvent::Second(second) => self.publish(second, cx),
            LoadEvent::StopAsked => self.load.stop_asked = true,
            LoadEvent::Done { since } => self.load.done = since,
            LoadEvent::Ended { mut failures } => {
                failures.truncate(100);
                failures.iter_mut().for_each(codec::shorten);
                (self.load.is_ended, self.load.ended_at, self.load.failures) =
                    (true, cx.now.steady, failures);
            }
        }
    }

    /// The controller has answered what time it is, or has not.
    pub fn on_time(&mut self, sent: Nanos, answer: &Answer, now: Nanos) {
        let was_set = self.clock.is_set();
        self.clock.on_answer(sent, now, answer);
        self.signing.is_changed |= !was_set && self.clock.is_set();
    }

    /// The process shall end.
    pub fn leave(&mut self, now: Nanos) {
        if self.leaving.is_none() {
            self.leaving = Some(now);
            self.signing.is_changed = true;
        }
    }

    /// Does what is due.
    pub fn advance(&mut self, cx: &mut Cx<'_>) {
        if matches!(self.over, Some(Over::Released | Over::Void)) {
            return self.release(cx);
        }
        self.check_lease(cx);
        self.prepare(cx);
        self.follow(cx);
        self.tell_lease(cx);
        self.change(cx);
        self.drop_written(cx);
        self.check_end(cx);
        self.poll(cx);
        self.clock.ask(&self.clock_subject, cx);
        self.sign(cx);
        self.outbox.flush(&self.subject, cx);
    }

    fn release(&mut self, cx: &mut Cx<'_>) {
        cx.out.push(Output::Load(LoadCommand::Forget));
        cx.out.push(Output::Drop { run: self.run.clone() });
        // A last sign, so that the controller need not wait. Nobody waits for its acknowledgement.
        self.signing.is_changed = true;
        self.outbox = Outbox::default();
        self.sign(cx);
        self.outbox.flush(&self.subject, cx);
    }

    /// Whether the controller may have given it shards, so that they are void when the lease runs out: also those of which
    /// it does not know yet, and those that were given for a fence of which the controller has heard.
    fn may_have_shards(&self) -> bool {
        self.load.is_ready && !self.load.is_ended && self.load.refused.is_empty()
    }

    /// Tells the load how long it may go on, if that has changed.
    fn tell_lease(&mut self, cx: &mut Cx<'_>) {
        let until = self.lease.end();
        if self.may_have_shards()
            && self.load.start.is_some()
            && !self.load.is_fenced
            && self.load.valid != until
        {
            self.load.valid = until;
            cx.out.push(Output::Load(LoadCommand::Valid { until }));
        }
    }

    /// Stops the load when the lease is over.
    fn check_lease(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now.steady;
        if !self.may_have_shards() || now < self.lease.end() {
            return;
        }
        self.lease.restart(now);
        self.signing.is_changed = true;
        self.parts.fences += 1;
        if std::mem::replace(&mut self.parts.is_fenced, true) {
            return;
        }
        self.parts.fenced = match self.load.start {
            Some(start) if now >= start => second_at(start, now) + 1,
            _ => 0,
        };
        if self.load.start.is_some() {
            self.load.is_fenced = true;
            cx.out.push(Output::Load(LoadCommand::Fence));
        }
        cx.log(format!(
            "stops its load: the server has acknowledged nothing for {} s",
            self.lease.length() / SECOND
        ));
        // The share is read directly before it goes on.
        self.polls[Polled::Share as usize].next = now;
    }

    fn prepare(&mut self, cx: &mut Cx<'_>) {
        if let (Some(order), Some((_, assignment)), false) =
            (&self.order, &self.assignment, self.load.is_preparing)
            && self.load.refused.is_empty()
        {
            self.load.is_preparing = true;
            let (number, of) = (assignment.number, assignment.of);
            let (order, key) = (order.clone(), Bytes::from(&assignment.key[..]));
            cx.out.push(Output::Load(LoadCommand::Prepare { order, key, number, of }));
        }
    }

    /// Follows the parts of its share that are new.
    fn follow(&mut self, cx: &mut Cx<'_>) {
        let Some((_, assignment)) = &self.assignment else { return };
        if !self.may_have_shards() || !self.lease.is_valid(cx.now.steady) {
            return;
        }
        let Some(start) = self.load.start.or_else(|| self.clock.steady_at(assignment.start?))
        else {
            return;
        };
        let new = self.parts.take(assignment, cx.me.card.boot, start, cx.now.steady);
        self.signing.is_changed |= !new.is_empty();
        let mut new = new.into_iter().peekable();
        if self.load.start.is_none() {
            let first = new.next_if(|taken| taken.from == 0);
            let shards = first.map_or_else(|| Shards::from([]), |taken| taken.shards);
            self.load.start = Some(start);
            self.signing.is_changed = true;
            cx.out.push(Output::Load(LoadCommand::Start { at: start, shards }));
        }
        for taken in new {
            let (from, shards) = (taken.from, taken.shards);
            match codec::read_progress(&taken.progress) {
                Ok(known) if known.is_empty() => {}
                Ok(known) => cx.out.push(Output::Load(LoadCommand::Known(known))),
                Err(error) => cx.log(format!("how far others were cannot be read: {error}")),
            }
            if !self.load.is_fenced {
                cx.out.push(Output::Load(LoadCommand::Reshare { from, shards }));
            } else if !shards.is_empty() {
                self.load.is_fenced = false;
                cx.log(format!("goes on with its load from second {from} on"));
                cx.out.push(Output::Load(LoadCommand::Resume { from, shards }));
            }
        }
    }

    fn change(&mut self, cx: &mut Cx<'_>) {
        if self.load.start.is_none() {
            return;
        }
        let (done, changes) = &mut self.changes;
        for change in &changes[*done..] {
            cx.out.push(Output::Load(LoadCommand::Change(change.clone())));
        }
        *done = changes.len();
    }

    /// Leaves when it may, or when nobody comes back for what it has.
    fn check_end(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now.steady;
        if let Some(since) = self.leaving {
            let drives = self.load.start.is_some() && !self.load.is_ended && !self.parts.is_fenced;
            let handed = self.load.start.is_none_or(|start| {
                // The last second that it drove is recorded by a second after its end.
                let past = second_at(start, now.saturating_sub(SECOND));
                self.parts.last().is_none_or(|taken| taken.shards.is_empty() && taken.from <= past)
            });
            if ((!drives || handed) && self.outbox.is_empty())
                || now > since + 3 * self.lease.length()
            {
                self.over = Some(Over::Left);
            }
        }
        let stands = self.load.start.is_none() || self.load.is_ended || self.parts.is_fenced;
        let since = self.clock.heard.max(self.load.ended_at);
        if stands && now > since + WITHOUT_CONTROLLER {
            cx.log(format!("leaves run {}: nothing was heard of its controller for 10 minutes; what was recorded is kept", self.run));
            self.over = Some(Over::Left);
        }
        if self.over.is_some() {
            cx.out.push(Output::Load(LoadCommand::Forget));
        }
    }

    /// Says all again, if something changed or the lease wants it.
    fn sign(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now.steady;
        if !self.signing.is_changed && now < self.signing.due {
            return;
        }
        if self.outbox.signs() >= 4 {
            // Too many are on their way: the next says it all.
            self.signing.due = now + SOON;
            return;
        }
        self.signing.serial += 1;
        self.signing.is_changed = false;
        self.signing.due = now + self.lease.renewal();
        let (offset, error) = self.clock.offset(cx.now);
        let boot = cx.me.card.boot;
        let sign = Sign {
            boot,
            serial: self.signing.serial,
            phase: self.phase(),
            refused: self.load.refused.clone(),
            holds: self.parts.holds(),
            fences: self.parts.fences,
            fenced: self.parts.fenced,
            numbers: self.numbered.next,
            stop_asked: self.load.stop_asked,
            is_done: self.is_done(),
            failures: self.load.failures.clone(),
            former: cx
                .me
                .former
                .iter()
                .filter(|former| former.0 == self.run)
                .map(|former| (former.1, former.2))
                .collect(),
            offset,
            error,
        };
        let id = format!("{}/{}/{boot}/s{}", self.run, cx.me.card.node, sign.serial);
        self.outbox.push(id, codec::encode(&Stored::Sign(sign)), now, Kind::Sign);
    }

    /// Whether the load has done what the last part asks for: not only a former one.
    fn is_done(&self) -> bool {
        let last = self.parts.last().map_or(0, |taken| taken.from);
        !self.parts.is_fenced && self.load.done.is_some_and(|since| since >= last)
    }

    /// When it wants to be woken.
    pub fn wake_at(&self) -> Nanos {
        let mut wake = self.signing.due.min(self.clock.wake_at().unwrap_or(Nanos::MAX));
        wake = wake.min(self.outbox.wake_at().unwrap_or(Nanos::MAX));
        for poll in self.polls.iter().filter(|poll| !poll.is_out) {
            wake = wake.min(poll.next);
        }
        if self.may_have_shards() {
            wake = wake.min(self.lease.end());
        }
        wake
    }
}

/// How long after the end of a second a node publishes it, so that not all do at once.
fn spread(node: &str) -> Nanos {
    let mixed = node.bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (mixed >> 16) % SPREAD
}
