//! A run, as its controller knows it.

use std::collections::{BTreeMap, BTreeSet};

use squall_engine::Progress;

use crate::protocol::io::{RunEvent, Wanted};
use crate::protocol::messages::{Call, Card, Change, Changes, Order};
use crate::protocol::units::{FleetTime, MS, Nanos, SECOND};
use crate::protocol::{codec, keys};

use super::desk::Cx;
use super::mark::Marks;
use super::member::{Member, Status};
use super::writer::Writer;

/// How much longer than its lease a node is waited for: its steady clock and the controller's may differ, and so may when
/// a message was published and read.
pub const MARGIN: Nanos = SECOND;
/// How far ahead nodes are told of a pause and its end.
const TOLD: Nanos = 500 * MS;
/// Most nodes of a run.
pub const NODES: usize = 10_000;

/// A run.
#[derive(Debug)]
pub struct Run {
    /// What nodes are told of it.
    pub order: Order,
    /// The nodes that it wants.
    pub wanted: Wanted,
    /// Its nodes, by name.
    pub members: BTreeMap<String, Member>,
    /// Nodes that are called as soon as it is stored that they are in the run: a controller that goes on after this one would
    /// not know them otherwise, and leave out what they record.
    pub uncalled: Vec<String>,
    /// Shards that nobody has.
    pub free: Vec<Free>,
    /// Whether shares are to be evened out.
    pub uneven: bool,
    /// When second 0 begins.
    pub start: Option<FleetTime>,
    /// The changes of the load.
    pub changes: Changes,
    /// Its keys.
    pub writer: Writer,
    /// Its marks in the stream.
    pub marks: Marks,
    /// Of so many seconds no more is expected.
    pub whole: u32,
    /// So many seconds are written down.
    pub written: u32,
    /// How far users are with iterations that are counted.
    pub progress: Progress,
    /// What failed.
    pub failures: Vec<String>,
    /// What a person was told of messages that are wrong.
    pub told: u32,
    /// Whether a step asked for the end.
    pub stop_asked: bool,
    /// Since when no node can carry on.
    pub alone: Option<Nanos>,
    /// Which request for messages comes next.
    pub round: u64,
    /// When the load was told to end, and by when it must have.
    pub stop: Option<Stop>,
    /// The greatest sequence number that was read.
    pub sequence: u64,
}

/// An end of the load that was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stop {
    /// When it was told first.
    pub told: FleetTime,
    /// By when it must have ended, by the controller's steady clock.
    pub by: Nanos,
}

/// Shards that nobody has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Free {
    /// Which.
    pub shards: Vec<u32>,
    /// From which second on nobody drives them.
    pub from: u32,
    /// Whose they were: they are given away only when it is stored that they are not any more, so that a controller that
    /// goes on after this one does not take them for two nodes'.
    pub giver: String,
    /// Of which zone they were.
    pub zone: String,
    /// For which node they are meant, and until when they are kept for it.
    pub whom: Option<(String, Nanos)>,
}

impl Run {
    /// A run that begins.
    pub fn new(order: Order, wanted: Wanted) -> Run {
        Run {
            order,
            wanted,
            members: BTreeMap::new(),
            uncalled: Vec::new(),
            free: Vec::new(),
            uneven: false,
            start: None,
            changes: Changes::default(),
            writer: Writer::default(),
            marks: Marks::default(),
            whole: 0,
            written: 0,
            progress: Progress::default(),
            failures: Vec::new(),
            told: 0,
            stop_asked: false,
            alone: None,
            round: 0,
            stop: None,
            sequence: 0,
        }
    }

    /// Takes a node into it, which is called then.
    pub fn call(&mut self, card: &Card, cx: &mut Cx<'_>) -> Result<(), String> {
        let key = (cx.lead.seal)(card)?;
        let node = card.node.clone();
        let mut member = Member::new(card.clone(), cx.lead.nonce, key, cx.now.steady);
        member.assignment.start = self.start;
        (member.assignment.number, member.assignment.of) = self.next_number();
        self.members.insert(node.clone(), member);
        self.write_names();
        self.uncalled.push(node);
        Ok(())
    }

    /// Calls those of whom it is stored that they are in the run.
    pub fn make_calls(&mut self) {
        if self.uncalled.is_empty() || !self.writer.is_stored(&keys::nodes(&self.order.run)) {
            return;
        }
        let call = codec::json(&Call { run: self.order.run.clone() });
        for node in std::mem::take(&mut self.uncalled) {
            self.write_share(&node);
            self.writer.set_over(keys::call(&node), call.clone());
        }
    }

    /// The number of the next node that is called, of how many: the least that is free.
    fn next_number(&self) -> (u32, u32) {
        let is_there = |member: &&Member| !matches!(member.status, Status::Refused | Status::Left);
        let taken: BTreeSet<u32> =
            self.members.values().filter(is_there).map(|member| member.assignment.number).collect();
        let wanted = self.wanted.zones.iter().map(|zone| zone.1).fold(0, u32::saturating_add);
        let number = (1..).find(|number| !taken.contains(number)).unwrap_or(u32::MAX);
        (number, wanted.max(number))
    }

    /// Writes the names of its nodes.
    pub fn write_names(&mut self) {
        let names: Vec<&String> = self.members.keys().collect();
        self.writer.set(keys::nodes(&self.order.run), codec::json(&(&self.wanted.zones, &names)));
    }

    /// Writes a node's share.
    pub fn write_share(&mut self, node: &str) {
        if let Some(member) = self.members.get(node) {
            self.writer.set(keys::share(&self.order.run, node), codec::json(&member.assignment));
        }
    }

    /// The second that goes on at a fleet time.
    pub fn second_at(&self, time: FleetTime) -> u32 {
        let since = time.saturating_sub(self.start.unwrap_or(time)).max(0) as u64;
        u32::try_from(since / SECOND).unwrap_or(u32::MAX / 2)
    }

    /// The first second that begins at least so many nanoseconds after this time.
    pub fn second_after(&self, time: FleetTime, ahead: Nanos) -> u32 {
        match self.start {
            Some(start) if time.saturating_add(ahead as i64) <= start => 0,
            _ => self.second_at(time.saturating_add(ahead as i64)) + 1,
        }
    }

    /// Changes the load.
    pub fn change(&mut self, mut change: Change, cx: &mut Cx<'_>) {
        if let Change::Pause { from } | Change::GoOn { from } = &mut change {
            *from = self.soonest_change(cx.time).max(*from);
        }
        let ends = match &change {
            Change::Stop { graceful } => Some(*graceful),
            Change::Done | Change::Abort => Some(0),
            _ => None,
        };
        if let Some(graceful) = ends {
            let by = cx
                .now
                .steady
                .saturating_add(graceful)
                .saturating_add(self.order.lease + 30 * SECOND);
            let known = self.stop.unwrap_or(Stop { told: cx.time, by });
            self.stop = Some(Stop { by: known.by.min(by), ..known });
        }
        if self.changes.0.len() < 10_000 {
            self.changes.0.push(change);
            self.writer.set(keys::changes(&self.order.run), codec::json(&self.changes));
        } else {
            cx.tell("", "the load was changed 10,000 times; it is not changed any more");
        }
    }

    /// The first second from which on a pause, or its end, can hold on all nodes: not before one that was decided earlier.
    fn soonest_change(&self, time: FleetTime) -> u32 {
        let last = self.changes.0.iter().rev().find_map(|change| match change {
            Change::Pause { from } | Change::GoOn { from } => Some(*from),
            _ => None,
        });
        let soonest = self.start.map_or(0, |_| self.second_after(time, TOLD));
        soonest.max(last.unwrap_or(0))
    }

    /// Tells of a message that is wrong: the first ones, so that a node that sends nothing else fills no log.
    pub fn tell_wrong(&mut self, node: &str, text: String, cx: &mut Cx<'_>) {
        self.told += 1;
        if self.told <= 100 {
            cx.tell(node, format!("sent what it must not send, which is left out: {text}"));
        }
    }

    /// Those who live.
    pub fn living(&self) -> impl Iterator<Item = (&String, &Member)> {
        self.members.iter().filter(|(_, member)| member.status == Status::Living)
    }

    /// Most virtual users that those who live carry together; `None`: one of them says nothing of that, or nobody lives.
    pub fn carries(&self) -> Option<u64> {
        let mut all = self.living().map(|(_, member)| member.card.allows.max_users).peekable();
        all.peek()?;
        all.try_fold(0u64, |sum, most| Some(sum.saturating_add(most?)))
    }

    /// Asks for the end, once.
    pub fn ask_stop(&mut self, cx: &mut Cx<'_>) {
        if !self.stop_asked {
            self.stop_asked = true;
            cx.run(RunEvent::StopAsked);
        }
    }
}
