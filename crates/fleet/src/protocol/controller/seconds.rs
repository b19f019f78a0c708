//! What nodes recorded: each message once, what is missing again, and when all is there.

use crate::protocol::cells::{self, Block};
use crate::protocol::codec::{self, Numbered, Stored};
use crate::protocol::io::{Output, RunEvent};
use crate::protocol::keys;
use crate::protocol::messages::{Cells, Change, Phase, Resend, Why};
use crate::protocol::units::{Bytes, MS, Nanos, SECOND};

use super::desk::Cx;
use super::member::{Came, Member, Status};
use super::run::{Free, MARGIN, Run};

/// How long a number may be missing before it is asked for, as messages overtake each other; how long an answer may take.
const GAP: Nanos = SECOND;
const AGAIN: Nanos = 2 * SECOND;
/// How long a second is waited for after its end: from a node whose heart beats, and from one whose heart does not.
const PATIENCE: Nanos = 5 * SECOND;
const SUSPECT_PATIENCE: Nanos = 2 * SECOND;
const SUSPECT: Nanos = SECOND;
/// How far the controller's reading of the stream may be behind when it waits for what may come.
const BEHIND: Nanos = 60 * SECOND;
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
        let second = record.second;
        if !second.shards.is_empty() {
            let delivered = member.delivered.entry(record.epoch).or_default();
            delivered.seconds.insert(second.second.into());
            if !second.is_whole {
                delivered.in_part.insert(second.second.into());
            }
        }
        cx.run(RunEvent::Record { node: name.into(), second });
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
            return self.stops_by.is_some_and(|by| now > by);
        }
        // The others are done. Who was lost may come back with what it recorded, if it is not long ago; if all were lost,
        // one may come back and go on.
        let since = *self.alone.get_or_insert(now);
        let patience = 2 * (self.order.lease + MARGIN);
        let ended = self.members.values().any(|member| self.has_all(member));
        let is_late = |member: &Member| {
            let there = member.heard.max(member.beat);
            let from = if ended { there } else { since.max(there) };
            now < from + patience && now < since + 2 * patience
        };
        !self.members.values().any(|member| match member.status {
            Status::Left | Status::Refused => false,
            // It is asked again for what is missing.
            Status::Living => !is_complete(member) && now < since + patience.max(60 * SECOND),
            Status::Called => !ended && is_late(member),
            Status::Lost => !self.has_all(member) && is_late(member),
        })
    }

    /// Whether the load of a node that lives goes on: it has not ended, and does not stand still without shards.
    fn drives(&self, member: &Member) -> bool {
        let stands = member.sign.phase == Phase::Fenced
            && member.shards().is_empty()
            && (self.stops_by.is_some() || self.free.is_empty());
        member.sign.phase != Phase::Ended && !stands
    }

    /// Ends the load when all have done what they have, and nothing waits for somebody to do it.
    pub fn end_when_done(&mut self, cx: &mut Cx<'_>) {
        if self.stops_by.is_some() || self.start.is_none() {
            return;
        }
        // What is kept for a node that does not come back is nobody's any more.
        let waits = |free: &Free| match &free.whom {
            Some((node, Nanos::MAX)) => {
                self.members.get(node).is_some_and(|member| member.status == Status::Living)
            }
            _ => true,
        };
        let moves = self.members.values().any(|member| !member.leaving.is_empty());
        if moves || self.free.iter().any(waits) {
            return;
        }
        let driving = |member: &&Member| member.status == Status::Living && self.drives(member);
        let mut driving = self.members.values().filter(driving).peekable();
        if driving.peek().is_some() && driving.all(has_done) {
            self.change(Change::Stop { graceful: 0 }, cx);
        }
    }

    /// Tells that the load is over.
    pub fn end(&mut self, cx: &mut Cx<'_>) {
        let mut failures = std::mem::take(&mut self.failures);
        for (name, member) in &self.members {
            failures.extend(
                member.sign.failures.iter().map(|failure| format!("node {name}: {failure}")),
            );
        }
        failures.truncate(1_000);
        cx.run(RunEvent::Ended { cells: self.cells(), failures });
    }

    /// What became of each cell.
    pub fn cells(&self) -> Cells {
        let ends = self.members.values().filter_map(Member::last_second);
        let seconds = ends.max().map_or(0, |last| last + 1);
        let mut blocks = Vec::new();
        for (name, member) in &self.members {
            let parts = &member.assignment.parts;
            for (at, part) in parts.iter().enumerate() {
                let next = parts.get(at + 1);
                let to = next.map_or(seconds, |next| next.from).min(seconds);
                if part.shards.is_empty() || part.from >= to {
                    continue;
                }
                let delivered = member.delivered.get(&part.epoch);
                // The last second of a load that ended in order is as long as it is.
                let ended =
                    if member.sign.phase == Phase::Ended { member.last_second() } else { None };
                let why = match next.map(|next| next.why) {
                    Some(Why::Lost) => "the node was lost",
                    Some(Why::Fenced) => "the node was cut off from the server",
                    Some(Why::Restarted) => "the node's process ended",
                    Some(Why::Left) => "the node left",
                    Some(Why::Given | Why::Moved) | None => "what the node recorded did not come",
                };
                blocks.push(Block {
                    node: name,
                    shards: part.shards.clone(),
                    from: part.from,
                    to,
                    seconds: delivered.map(|of| &of.seconds),
                    in_part: delivered.map(|of| &of.in_part),
                    ended,
                    why,
                    after: next.map_or("", |next| gap(next.why)),
                });
            }
        }
        cells::of(self.order.shards, seconds, &blocks)
    }
}

/// Whether a node has done all that it was given.
fn has_done(member: &Member) -> bool {
    let given = member.assignment.parts.last().map_or(0, |part| part.epoch);
    let holds = member.sign.holds.last().map_or(0, |hold| hold.0);
    member.sign.is_done && holds >= given && member.sign.fences == member.fences
}

/// Whether all that a node has published has come, or is nowhere any more.
fn is_complete(member: &Member) -> bool {
    member.boots.values().all(Came::is_complete)
}

/// Why nobody drives the shards that a node had.
fn gap(why: Why) -> &'static str {
    match why {
        Why::Lost => "the node was lost, and nobody had them yet",
        Why::Fenced => "the node was cut off from the server",
        Why::Restarted => "the node's process ended",
        Why::Left => "the node left, and nobody had them yet",
        Why::Given | Why::Moved => "they were on their way to another node",
    }
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
