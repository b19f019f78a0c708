//! What nodes recorded: each message once, what is missing again, and when all is there.

use crate::protocol::cells::{self, Block};
use crate::protocol::codec::{self, Numbered, Stored};
use crate::protocol::io::{Output, RunEvent};
use crate::protocol::keys;
use crate::protocol::messages::{Cells, Change, Part, Phase, Resend};
use crate::protocol::units::{Bytes, MS, Nanos, SECOND};

use super::desk::Cx;
use super::member::{Came, Member, Status};
use super::run::{MARGIN, Run};

/// How long a number may be missing before it is asked for, as messages overtake each other; how long an answer may take.
const GAP: Nanos = SECOND;
const AGAIN: Nanos = 2 * SECOND;
/// How long a second is waited for after its end: from a node whose heart beats, and from one whose heart does not.
const PATIENCE: Nanos = 5 * SECOND;
const SUSPECT_PATIENCE: Nanos = 2 * SECOND;
const SUSPECT: Nanos = SECOND;
/// How far the controller's reading of the stream may be behind when it waits for what may come.
const BEHIND: Nanos = 60 * SECOND;
/// How long a node that is there is waited for at the end, when something is missing that it has recorded.
const INCOMPLETE: Nanos = 60 * SECOND;
/// What is told of a load that nobody has ended.
const NOBODY: &str =
    "the load was given up before its end: no node was left that could go on with it";
/// Most ranges of numbers in a request.
const RANGES: usize = 256;

impl Run {
    /// A stored message.
    pub fn on_stored(&mut self, subject: &str, payload: &Bytes, cx: &mut Cx<'_>) {
        let Some(name) = keys::node_of(&self.order.run, subject) else { return };
        let stored = match codec::decode(payload) {
            Ok(stored) => stored,
            Err(error) => return self.tell_wrong(name, error.to_string(), cx),
        };
        if name == keys::MARK {
            if let Stored::Mark { nonce, serial } = stored
                && nonce == cx.lead.nonce
            {
                self.marks.on_mark(serial);
            }
            return;
        }
        let Some(member) = self.members.get_mut(name) else {
            return self.tell_wrong(name, "it is not a node of this run".into(), cx);
        };
        let boot = match &stored {
            Stored::Record(record) => record.boot,
            Stored::Sign(sign) => sign.boot,
            Stored::Gone { .. } | Stored::Mark { .. } => 0,
        };
        if boot == member.assignment.boot {
            member.heard = cx.now.steady;
        }
        match stored {
            Stored::Record(record) => self.on_record(name, record, cx),
            Stored::Sign(sign) => self.on_sign(name, sign, cx),
            Stored::Gone { boot, number } => self.on_gone(name, boot, number, cx),
            Stored::Mark { .. } => {}
        }
    }

    fn on_record(&mut self, name: &str, record: Numbered, cx: &mut Cx<'_>) {
        let last = self.second_at(cx.time);
        let Some(member) = self.members.get_mut(name) else { return };
        let Some(came) = member.came(record.boot) else {
            return self.tell_wrong(
                name,
                "messages of too many processes, or with too many gaps".into(),
                cx,
            );
        };
        if !came.numbers.insert(record.number) {
            return;
        }
        came.count = came.count.max(record.number + 1);
        // Clocks differ by seconds at most once the fleet's time is known.
        if record.second.second > last + 60 {
            return self.tell_wrong(
                name,
                format!("a record of second {}, which is to come", record.second.second),
                cx,
            );
        }
        if let Err(why) = member.check(&record) {
            return self.tell_wrong(name, why, cx);
        }
        member.deliver(&record);
        self.on_progress(name, &record.progress);
        cx.run(RunEvent::Record { node: name.into(), second: record.second });
    }

    fn on_gone(&mut self, name: &str, boot: u64, number: u64, cx: &mut Cx<'_>) {
        let Some(came) = self.members.get_mut(name).and_then(|member| member.boots.get_mut(&boot))
        else {
            return;
        };
        if number < came.count && came.numbers.insert(number) {
            came.gone += 1;
            cx.tell(name, format!("has message {number} no more, and the server has lost it: what it recorded then is missing"));
        }
    }

    /// Asks for messages that are missing.
    pub fn ask_again(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now.steady;
        let mut asked = Vec::new();
        for (name, member) in
            self.members.iter_mut().filter(|(_, member)| member.status != Status::Left)
        {
            let is_there = now < member.heard + 2 * SECOND || now < member.beat + SUSPECT;
            for (&boot, came) in &mut member.boots {
                if came.is_complete() {
                    came.since = None;
                    continue;
                }
                let since = *came.since.get_or_insert(now);
                if !is_there || now < since + GAP || now < came.asked {
                    continue;
                }
                came.asked = now + AGAIN;
                let mut numbers = came.numbers.gaps(0, came.count.max(came.numbers.end()));
                numbers.truncate(RANGES);
                asked.push(Resend { node: name.clone(), boot, numbers, round: 0 });
            }
        }
        for mut resend in asked {
            self.round += 1;
            // Other controllers of this run have counted as well.
            resend.round = cx.lead.nonce.wrapping_add(self.round);
            cx.out.push(Output::Say {
                subject: keys::resend(&self.order.run),
                payload: codec::json(&resend),
            });
        }
    }

    /// Says up to which second all is there that is expected.
    pub fn find_whole(&mut self, cx: &mut Cx<'_>) {
        let Some(start) = self.start else { return };
        let first = self.whole;
        loop {
            let end = start.saturating_add((i64::from(self.whole) + 1) * SECOND as i64);
            let Ok(past) = Nanos::try_from(cx.time.saturating_sub(end)) else { break };
            let now = cx.now.steady;
            let waits = self.members.values().any(|member| {
                member.status == Status::Living && is_awaited(member, self.whole, past, now)
            });
            if waits {
                break;
            }
            self.whole += 1;
        }
        if self.whole > first {
            cx.run(RunEvent::Whole { second: self.whole - 1 });
        }
    }

    /// Whether the load is over: all is there that can come.
    pub fn is_over(&mut self, cx: &mut Cx<'_>) -> bool {
        // While its reading is behind, nobody is late.
        let now = self.marks.read_until.unwrap_or(0).max(cx.now.steady.saturating_sub(BEHIND));
        if self
            .members
            .values()
            .any(|member| member.status == Status::Living && self.drives(member))
        {
            self.alone = None;
            return self.stop.is_some_and(|stop| now > stop.by);
        }
        // The others are done. Who was lost may come back with what it recorded, if it is not long ago; if all were lost,
        // one may come back and go on.
        let since = *self.alone.get_or_insert(now);
        let patience = 2 * (self.order.lease + MARGIN);
        let ended = self.members.values().any(|member| self.has_all(member));
        let is_late = |member: &Member| {
            let there = member.heard.max(member.beat);
            let from = if ended { there } else { since.max(there) };
            now < from + patience && now < since + (2 * patience).max(INCOMPLETE)
        };
        !self.members.values().any(|member| match member.status {
            Status::Left | Status::Refused => false,
            // It is asked again for what is missing.
            Status::Living => !is_complete(member) && now < since + patience.max(INCOMPLETE),
            Status::Called => !ended && is_late(member),
            Status::Lost => !self.has_all(member) && is_late(member),
        })
    }

    /// Whether the load of a node that lives goes on: it has not ended, and does not stand still without shards.
    fn drives(&self, member: &Member) -> bool {
        let stands = member.sign.phase == Phase::Fenced
            && member.shards().is_empty()
            && (self.stop.is_some() || !self.awaits_owners());
        member.sign.phase != Phase::Ended && !stands
    }

    /// Whether shards that are nobody's will be given to a node. Those that are kept for one that does not come back are
    /// not.
    fn awaits_owners(&self) -> bool {
        let may_come = |status| matches!(status, Status::Called | Status::Living);
        self.free.iter().any(|free| match &free.whom {
            Some((node, Nanos::MAX)) => {
                self.members.get(node).is_some_and(|member| may_come(member.status))
            }
            _ => true,
        })
    }

    /// Ends the load when all have done what they have, and nothing waits for somebody to do it.
    pub fn end_when_done(&mut self, cx: &mut Cx<'_>) {
        if self.stop.is_some() || self.start.is_none() {
            return;
        }
        let moves = self.members.values().any(|member| !member.leaving.is_empty());
        if moves || self.awaits_owners() {
            return;
        }
        let driving = |member: &&Member| member.status == Status::Living && self.drives(member);
        let mut driving = self.members.values().filter(driving).peekable();
        if driving.peek().is_some() && driving.all(has_done) {
            self.change(Change::Done, cx);
        }
    }

    /// Tells that the load is over.
    pub fn end(&mut self, cx: &mut Cx<'_>) {
        let mut failures = std::mem::take(&mut self.failures);
        failures.extend(self.is_given_up().then(|| NOBODY.to_owned()));
        for (name, member) in &self.members {
            failures.extend(
                member.sign.failures.iter().map(|failure| format!("node {name}: {failure}")),
            );
        }
        failures.truncate(1_000);
        cx.run(RunEvent::Ended { cells: self.cells(self.least_seconds(cx)), failures });
    }

    /// Whether nobody was left to go on with a load that had not ended, and was not told to.
    fn is_given_up(&self) -> bool {
        let has_ended = self.members.values().any(|member| member.has_ended);
        self.alone.is_some() && !has_ended && self.stop.is_none()
    }

    /// How many seconds the load had at least if shards were nobody's when it ended, whatever came of the others: 0 if none
    /// were.
    fn least_seconds(&self, cx: &Cx<'_>) -> u32 {
        let alone = self.alone.filter(|_| self.is_given_up()).map(|alone| {
            let since = cx.now.steady.saturating_sub(alone);
            let second = self.second_at(cx.time.saturating_sub(since as i64));
            second.max(self.recorded_seconds()) + 1
        });
        let told = self.stop.filter(|_| !self.free.is_empty());
        alone.or_else(|| Some(self.second_at(told?.told))).unwrap_or(0)
    }

    /// How many seconds there are until the last one of which something came.
    fn recorded_seconds(&self) -> u32 {
        let ends = self.members.values().filter_map(Member::last_second);
        ends.max().map_or(0, |last| last + 1)
    }

    /// What became of each cell of a run of so many seconds at least.
    pub fn cells(&self, seconds: u32) -> Cells {
        let seconds = self.recorded_seconds().max(seconds);
        let blocks: Vec<Block> =
            self.members.iter().flat_map(|(name, member)| member.blocks(name, seconds)).collect();
        cells::of(self.order.shards, seconds, &blocks)
    }
}

/// Whether a node has done all that it was given.
fn has_done(member: &Member) -> bool {
    // What a former process was given is not this one's to hold.
    let own = |part: &&Part| part.boot == member.assignment.boot;
    let given = member.assignment.parts.iter().rev().find(own).map_or(0, |part| part.epoch);
    let holds = member.sign.holds.last().map_or(0, |hold| hold.0);
    member.sign.is_done && holds >= given && member.sign.fences == member.fences
}

/// Whether all that a node has published has come, or is nowhere any more.
fn is_complete(member: &Member) -> bool {
    member.boots.values().all(Came::is_complete)
}

/// Whether a second of a node is waited for, this long after its end.
fn is_awaited(member: &Member, second: u32, past: Nanos, now: Nanos) -> bool {
    if member.has_delivered(second) {
        return false;
    }
    let is_done = member.sign.phase == Phase::Ended
        && member.boots.values().all(super::member::Came::is_complete);
    let is_suspect = now > member.beat + SUSPECT;
    let patience = if is_suspect { SUSPECT_PATIENCE } else { PATIENCE };
    !is_done && past < patience.max(200 * MS)
}
