//! A node in a run.

use std::collections::VecDeque;
use std::sync::Arc;

use squall_engine::Progress;

use crate::protocol::codec::{self, Numbered, Stored};
use crate::protocol::io::{Answer, Kept, LoadCommand, LoadEvent, Output, REFUSES};
use crate::protocol::keys;
use crate::protocol::messages::{Assignment, Change, Changes, Order, Phase, Resend, Second, Sign};
use crate::protocol::units::{Bytes, MS, Nanos, SECOND, Shards};

use super::clock::NodeClock;
use super::desk::{Cx, Polled, Purpose};
use super::lease::Lease;
use super::outbox::{Kind, Outbox};
use super::parts::{Parts, second_at};

/// How long a node waits for a controller that is silent, before the load and after it.
pub const WITHOUT_CONTROLLER: Nanos = 600 * SECOND;
/// Over how long the nodes' messages of a second are spread.
const SPREAD: Nanos = 100 * MS;
/// How often a key is read while the node waits for it, and otherwise.
const SOON: Nanos = 500 * MS;
const NOW_AND_THEN: Nanos = 5 * SECOND;
/// Most messages that are sent again for one request.
const AGAIN: usize = 1_000;
/// A lease until the order says its length.
const FIRST_LEASE: Nanos = 15 * SECOND;
/// Seconds that are remembered until the controller says that they are written down: a day.
const REMEMBERED: usize = 86_400;

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
    /// How often it has told of its progress.
    told_progress: u64,
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
            told_progress: 0,
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

    /// Takes the value of a key, if it is one of this run's.
    pub fn on_key(&mut self, key: &str, revision: u64, value: Option<&Bytes>, cx: &mut Cx<'_>) {
        match key {
            key if key == keys::share(&self.run, &cx.me.card.node) => {
                self.take_share(revision, value, cx)
            }
            key if key == keys::changes(&self.run) => self.take_changes(value, cx),
            key if key == keys::release(&self.run) && value.is_some() => {
                self.over = Some(Over::Released)
            }
            _ => {}
        }
    }

    /// Takes the answer to a read of a key.
    pub fn on_read(&mut self, polled: Polled, answer: &Answer, cx: &mut Cx<'_>) {
        let poll = &mut self.polls[polled as usize];
        poll.is_out = false;
        poll.next = cx.now.steady + SOON;
        let Answer::Value(value) = answer else { return };
        let (revision, bytes) = match value {
            Some((revision, bytes)) => (*revision, Some(bytes)),
            None => (0, None),
        };
        match polled {
            Polled::Order => self.take_order(bytes, cx),
            Polled::Share => self.take_share(revision, bytes, cx),
            Polled::Changes => self.take_changes(bytes, cx),
            Polled::Release if bytes.is_some() => self.over = Some(Over::Released),
            Polled::Release => {}
        }
        if self.is_settled(polled) {
            self.polls[polled as usize].next = cx.now.steady + NOW_AND_THEN;
        }
    }

    /// Whether a key need not be read again soon.
    fn is_settled(&self, polled: Polled) -> bool {
        match polled {
            Polled::Order => self.order.is_some(),
            Polled::Share => self.load.start.is_some() && !self.parts.is_fenced,
            Polled::Changes | Polled::Release => true,
        }
    }

    fn take_order(&mut self, bytes: Option<&Bytes>, cx: &mut Cx<'_>) {
        let Some(bytes) = bytes else {
            self.over = Some(if self.order.is_some() { Over::Released } else { Over::Void });
            return;
        };
        if self.order.is_some() {
            return;
        }
        match codec::read_json::<Order>(bytes) {
            Ok(order) if order.run == self.run && order.version == cx.me.card.version => {
                self.lease.set_length(order.lease.clamp(SECOND, 3_600 * SECOND));
                self.order = Some(Arc::new(order));
            }
            Ok(order) => self.refuse(
                format!(
                    "the run wants squall {}, and this node is {}: install the same version on all machines",
                    order.version, cx.me.card.version
                ),
                cx,
            ),
            Err(error) => self.refuse(format!("the run's order cannot be read: {error}"), cx),
        }
    }

    fn refuse(&mut self, why: String, cx: &mut Cx<'_>) {
        if self.load.refused.is_empty() {
            cx.log(format!("{REFUSES} {}: {why}", self.run));
            self.load.refused = why;
            codec::shorten(&mut self.load.refused);
            self.signing.is_changed = true;
        }
    }

    fn take_share(&mut self, revision: u64, value: Option<&Bytes>, cx: &mut Cx<'_>) {
        let Some(bytes) = value else { return };
        if self.assignment.as_ref().is_some_and(|known| known.0 >= revision) {
            return;
        }
        match codec::read_json::<Assignment>(bytes) {
            // One of another process of this name: this one has none until the controller knows of it.
            Ok(assignment) if assignment.boot == cx.me.card.boot => {
                self.assignment = Some((revision, assignment))
            }
            Ok(_) => {}
            Err(error) => cx
                .log(format!("the share of this node in run {} cannot be read: {error}", self.run)),
        }
    }

    fn take_changes(&mut self, value: Option<&Bytes>, cx: &mut Cx<'_>) {
        let Some(bytes) = value else { return };
        match codec::read_json::<Changes>(bytes) {
            Ok(changes) if changes.0.len() > self.changes.1.len() => self.changes.1 = changes.0,
            Ok(_) => {}
            Err(error) => {
                cx.log(format!("the changes of run {} cannot be read: {error}", self.run))
            }
        }
    }

    /// What the load says.
    pub fn on_load(&mut self, event: LoadEvent, cx: &mut Cx<'_>) {
        self.signing.is_changed |= !matches!(event, LoadEvent::Second(_) | LoadEvent::Progress(_));
        match event {
            LoadEvent::Ready => self.load.is_ready = true,
            LoadEvent::Refused(why) => self.refuse(why, cx),
            LoadEvent::Progress(progress) => self.publish_progress(progress, cx),
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

    /// It is kept in the stream alone: what is lost of it, the next change says again.
    fn publish_progress(&mut self, progress: Progress, cx: &mut Cx<'_>) {
        let boot = cx.me.card.boot;
        self.told_progress += 1;
        let id = format!("{}/{}/{boot}/p{}", self.run, cx.me.card.node, self.told_progress);
        let payload = codec::encode(&Stored::Progress { boot, progress });
        self.outbox.push(id, payload, cx.now.steady + spread(&cx.me.card.node), Kind::Record);
    }

    fn publish(&mut self, second: Second, cx: &mut Cx<'_>) {
        let number = self.numbered.next;
        self.numbered.next += 1;
        self.numbered.seconds.push_back((second.second, number));
        if self.numbered.seconds.len() > REMEMBERED {
            self.numbered.seconds.pop_front();
        }
        let boot = cx.me.card.boot;
        let epoch = self.parts.at(second.second).map_or(0, |taken| taken.epoch);
        let payload = codec::encode(&Stored::Record(Numbered { boot, number, epoch, second }));
        let id = format!("{}/{}/{boot}/{number}", self.run, cx.me.card.node);
        let (run, subject) = (self.run.clone(), self.subject.clone());
        cx.out.push(Output::Keep(Kept {
            run,
            boot,
            number,
            subject,
            id: id.clone(),
            payload: payload.clone(),
        }));
        self.outbox.push(id, payload, cx.now.steady + spread(&cx.me.card.node), Kind::Record);
    }

    /// What became of a message.
    pub fn on_published(&mut self, key: u64, answer: &Answer, cx: &mut Cx<'_>) {
        if let Some(first) = self.outbox.on_answer(key, answer, cx) {
            self.lease.renew(first);
        }
    }

    /// The controller has answered what time it is, or has not.
    pub fn on_time(&mut self, sent: Nanos, answer: &Answer, now: Nanos) {
        let was_set = self.clock.is_set();
        self.clock.on_answer(sent, now, answer);
        self.signing.is_changed |= !was_set && self.clock.is_set();
    }

    /// The controller asks for messages again.
    pub fn on_resend(&mut self, payload: &[u8], cx: &mut Cx<'_>) {
        let Ok(resend) = codec::read_json::<Resend>(payload) else { return };
        if resend.node != cx.me.card.node {
            return;
        }
        // What a former process has recorded is gone if its disk is: that is said as well.
        let (boot, round) = (resend.boot, resend.round);
        let numbers =
            resend.numbers.iter().flat_map(|&(first, last)| (first..=last).take(AGAIN)).take(AGAIN);
        for number in numbers {
            let ticket = cx.desk.ticket(Purpose::Again { boot, number, round });
            cx.out.push(Output::Recall { ticket, run: self.run.clone(), boot, number });
        }
    }

    /// A kept message was read again, or is there no more.
    pub fn on_recalled(
        &mut self,
        (boot, number, round): (u64, u64, u64),
        answer: Answer,
        cx: &mut Cx<'_>,
    ) {
        let payload = match answer {
            Answer::Object(payload) => payload,
            Answer::Refused(_) => codec::encode(&Stored::Gone { boot, number }),
            _ => return,
        };
        let id = format!("{}/{}/{boot}/{number}/{round}", self.run, cx.me.card.node);
        self.outbox.push(id, payload, cx.now.steady, Kind::Other);
    }

    /// The process shall end.
    pub fn leave(&mut self, now: Nanos) {
        self.leaving.get_or_insert(now);
        self.signing.is_changed = true;
    }

    /// Does what is due.
    pub fn advance(&mut self, cx: &mut Cx<'_>) {
        if matches!(self.over, Some(Over::Released | Over::Void)) {
            return self.release(cx);
        }
        self.check_lease(cx);
        self.prepare(cx);
        self.follow(cx);
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

    /// Tells the disk what is written down by the controller.
    fn drop_written(&mut self, cx: &mut Cx<'_>) {
        if self.numbered.dropped >= self.clock.written {
            return;
        }
        self.numbered.dropped = self.clock.written;
        let mut below = None;
        while let Some(&(second, number)) = self.numbered.seconds.front()
            && second < self.clock.written
        {
            below = Some(number + 1);
            self.numbered.seconds.pop_front();
        }
        if let Some(below) = below {
            cx.out.push(Output::MayDrop { run: self.run.clone(), boot: cx.me.card.boot, below });
        }
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

    fn poll(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now.steady;
        for polled in [Polled::Order, Polled::Share, Polled::Changes, Polled::Release] {
            let poll = &mut self.polls[polled as usize];
            if poll.is_out || now < poll.next {
                continue;
            }
            poll.is_out = true;
            let key = match polled {
                Polled::Order => keys::order(&self.run),
                Polled::Share => keys::share(&self.run, &cx.me.card.node),
                Polled::Changes => keys::changes(&self.run),
                Polled::Release => keys::release(&self.run),
            };
            let ticket = cx.desk.ticket(Purpose::Key(polled));
            cx.out.push(Output::Get { ticket, key });
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
