//! Going on with a run that another controller began.

use std::collections::{BTreeMap, BTreeSet};

use crate::protocol::codec;
use crate::protocol::io::{Answer, Output, Wanted};
use crate::protocol::keys;
use crate::protocol::messages::{Assignment, Card, Changes, Leader, OnLoss, Order, Why};
use crate::protocol::units::{Bytes, Nanos, SECOND};

use super::desk::Cx;
use super::member::{Member, Status};
use super::run::{Free, MARGIN, NODES, Run};

/// How long the lock of a run must stand still before another controller takes it: the leader renews it each 2 s.
pub const STALE: Nanos = 8 * SECOND;

/// What is read of a run before it is taken over.
#[derive(Debug, Default)]
pub struct Resume {
    /// The run.
    pub run: String,
    /// The lock as it was read first, and when it is read again.
    lock: Option<(u64, Nanos)>,
    /// What was read: by key, revision and value; `None`: nothing there.
    read: BTreeMap<String, Option<(u64, Bytes)>>,
    asked: BTreeSet<String>,
    /// Whether the lock is being taken, and whether it is this controller's.
    is_locking: bool,
    is_locked: bool,
}

/// How far it is.
pub enum Step {
    /// It reads.
    Reads,
    /// The lock may be taken: its revision.
    Lock(u64),
    /// All was read.
    Run(Box<Run>),
    /// It cannot be.
    Refused(String),
}

impl Resume {
    /// Of this run.
    pub fn new(run: String) -> Resume {
        Resume { run, ..Resume::default() }
    }

    /// What stands under a key.
    pub fn on_read(&mut self, key: &str, answer: &Answer, cx: &mut Cx<'_>) {
        match answer {
            Answer::Value(value) => {
                self.read.insert(key.into(), value.clone());
            }
            _ => cx.get(key.into()),
        }
    }

    /// Whether an answer about a key is for it: the lock that is being taken is not.
    pub fn reads(&self, key: &str) -> bool {
        !self.is_locking || key != keys::leader(&self.run)
    }

    /// The lock is taken.
    pub fn locked(&mut self) {
        self.is_locked = true;
    }

    fn want(&mut self, key: String, cx: &mut Cx<'_>) -> Option<Option<(u64, Bytes)>> {
        if self.asked.insert(key.clone()) {
            cx.get(key);
            return None;
        }
        self.read.get(&key).cloned()
    }

    /// Goes on.
    pub fn advance(&mut self, cx: &mut Cx<'_>) -> Step {
        if self.is_locking && !self.is_locked {
            return Step::Reads;
        }
        if !self.is_locked {
            return self.lock(cx);
        }
        let run = self.run.clone();
        let keys = [keys::order(&run), keys::nodes(&run), keys::changes(&run), keys::release(&run)];
        let read: Vec<Option<Option<(u64, Bytes)>>> =
            keys.into_iter().map(|key| self.want(key, cx)).collect();
        let [Some(order), Some(nodes), Some(changes), Some(release)] = &read[..] else {
            return Step::Reads;
        };
        if release.is_some() {
            // The former controller was done with it: what is left is deleted.
            cx.out.push(Output::Forget { run: run.clone() });
            return Step::Refused(format!("run {run} was released: it is over"));
        }
        let order = order.as_ref().and_then(|value| codec::read_json::<Order>(&value.1).ok());
        let nodes = nodes.as_ref().and_then(|value| {
            Some((value.0, codec::read_json::<(Vec<(String, u32)>, Vec<String>)>(&value.1).ok()?))
        });
        let (Some(order), Some((revision, (zones, names)))) = (order, nodes) else {
            return Step::Refused(format!("run {run} had not begun: start it anew"));
        };
        let names: Vec<String> =
            names.into_iter().filter(|name| keys::is_name(name)).take(NODES).collect();
        let mut all = true;
        for name in &names {
            all &= self.want(keys::share(&run, name), cx).is_some()
                & self.want(keys::card(name), cx).is_some();
        }
        if !all {
            return Step::Reads;
        }
        let wanted = Wanted { zones, wait: 300 * SECOND };
        let mut taken = Run::new(order, wanted);
        taken.writer.know(keys::nodes(&run), revision);
        if let Some((revision, value)) = changes {
            taken.changes = codec::read_json::<Changes>(value).unwrap_or_default();
            taken.writer.know(keys::changes(&run), *revision);
        }
        for name in &names {
            self.take_member(name, &mut taken, cx);
        }
        Step::Run(Box::new(taken))
    }

    /// Sees whether another controller leads: its lock moves, then.
    fn lock(&mut self, cx: &mut Cx<'_>) -> Step {
        let key = keys::leader(&self.run);
        match self.lock {
            Some((_, again)) if again != Nanos::MAX && cx.now.steady < again => return Step::Reads,
            Some((revision, again)) if again != Nanos::MAX => {
                self.lock = Some((revision, Nanos::MAX));
                self.asked.remove(&key);
                self.read.remove(&key);
            }
            _ => {}
        }
        let Some(read) = self.want(key, cx) else { return Step::Reads };
        let Some((revision, value)) = read else {
            return Step::Refused(format!(
                "there is no run {} on this server: it was released, or never begun",
                self.run
            ));
        };
        match self.lock {
            Some((first, _)) if first == revision => {
                self.is_locking = true;
                Step::Lock(revision)
            }
            Some(_) => {
                let host = codec::read_json::<Leader>(&value)
                    .map(|leader| leader.host)
                    .unwrap_or_default();
                Step::Refused(format!(
                    "run {} is led by another controller, on {host}: end that one first",
                    self.run
                ))
            }
            None => {
                self.lock = Some((revision, cx.now.steady + STALE));
                Step::Reads
            }
        }
    }

    fn take_member(&self, name: &str, run: &mut Run, cx: &mut Cx<'_>) {
        let value = |key: String| self.read.get(&key).cloned().flatten();
        let share = value(keys::share(&run.order.run, name));
        let card = value(keys::card(name))
            .and_then(|value| codec::read_json::<Card>(&value.1).ok())
            .filter(|card| card.node == name);
        // Without its card it is one that has left.
        let card = card.unwrap_or_else(|| Card { node: name.into(), ..Card::default() });
        let mut member = Member::new(card, cx.lead.nonce, Vec::new(), cx.now.steady);
        let key = keys::share(&run.order.run, name);
        let revision = share.as_ref().map_or(0, |share| share.0);
        if let Some(assignment) =
            share.and_then(|share| codec::read_json::<Assignment>(&share.1).ok())
        {
            member.adopt(assignment, cx.lead.nonce);
        }
        run.start = run.start.or(member.assignment.start);
        run.members.insert(name.into(), member);
        run.writer.know(key, revision);
        if revision == 0 {
            // It may not have been called yet.
            run.uncalled.push(name.into());
        }
    }
}

impl Run {
    /// Writes all that it has taken over under its own name, so that nothing that the former controller writes counts.
    pub fn write_all(&mut self, cx: &mut Cx<'_>) {
        let names: Vec<String> = self.members.keys().cloned().collect();
        for name in &names {
            if let Some(member) = self.members.get_mut(name) {
                member.assignment.start = self.start;
                if member.card.boot == member.assignment.boot
                    && let Ok(key) = (cx.lead.seal)(&member.card)
                {
                    member.assignment.key = key;
                }
            }
            self.write_share(name);
        }
        self.write_names();
        self.writer.set(keys::changes(&self.order.run), codec::json(&self.changes));
    }

    /// The former controller has written a share in the last moment: that holds.
    pub fn adopt(&mut self, key: &str, revision: u64, value: &Bytes, cx: &mut Cx<'_>) {
        let name =
            self.members.keys().find(|name| keys::share(&self.order.run, name) == key).cloned();
        let Some(name) = name else { return self.writer.write_over(key, revision) };
        if let (Some(member), Ok(assignment)) =
            (self.members.get_mut(&name), codec::read_json::<Assignment>(value))
        {
            member.adopt(assignment, cx.lead.nonce);
            self.start = self.start.or(member.assignment.start);
        }
        self.writer.write_over(key, revision);
        self.write_share(&name);
    }

    /// The stream was read: what the former controller had begun is finished.
    pub fn settle(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now.steady;
        let keep = now + self.order.lease + MARGIN;
        let mut nobodys: BTreeSet<u32> = (0..self.order.shards).collect();
        for member in self.members.values_mut() {
            (member.heard, member.beat) = (now, now.max(member.beat));
            let is_lost = member.assignment.parts.last().is_some_and(|part| {
                part.why == Why::Lost
                    && part.boot == member.sign.boot
                    && member.sign.fences == part.fences
            });
            if is_lost && member.status == Status::Living {
                member.status = Status::Lost;
            }
            // All that it said of itself may have been forgotten: it lives as long as nothing tells otherwise.
            let last =
                member.assignment.parts.last().filter(|part| part.boot == member.assignment.boot);
            if let (Status::Called, Some(part)) = (member.status, last) {
                member.status = match part.why {
                    Why::Lost => Status::Lost,
                    Why::Left => Status::Left,
                    _ => Status::Living,
                };
            }
            for shard in member.shards() {
                nobodys.remove(shard);
            }
            for leaving in &member.leaving {
                leaving.1.iter().for_each(|shard| _ = nobodys.remove(shard));
            }
        }
        for free in &self.free {
            free.shards.iter().for_each(|shard| _ = nobodys.remove(shard));
        }
        if self.start.is_none() {
            return;
        }
        let mut orphans: BTreeMap<Option<(String, u32)>, Vec<u32>> = BTreeMap::new();
        for shard in nobodys {
            orphans.entry(self.last_owner(shard)).or_default().push(shard);
        }
        for (owner, shards) in orphans {
            self.take_orphans(owner, shards, keep);
        }
        self.uneven = true;
    }

    /// Who had a shard last, and the number of the part by which it lost it.
    fn last_owner(&self, shard: u32) -> Option<(String, u32)> {
        let mut last: Option<(u32, String, u32)> = None;
        for (name, member) in &self.members {
            for pair in member.assignment.parts.windows(2) {
                let has = |at: usize| pair[at].shards.binary_search(&shard).is_ok();
                if has(0) && !has(1) && last.as_ref().is_none_or(|last| last.0 < pair[1].from) {
                    last = Some((pair[1].from, name.clone(), pair[1].epoch));
                }
            }
        }
        last.map(|(_, name, epoch)| (name, epoch))
    }

    fn take_orphans(&mut self, owner: Option<(String, u32)>, shards: Vec<u32>, keep: Nanos) {
        let Some((name, epoch)) = owner else {
            self.free.push(Free {
                shards,
                from: 0,
                giver: String::new(),
                zone: String::new(),
                whom: None,
            });
            return;
        };
        let Some(member) = self.members.get_mut(&name) else { return };
        let Some(part) = member.assignment.parts.iter().find(|part| part.epoch == epoch) else {
            return;
        };
        let (from, zone) = (part.from, member.card.zone.clone());
        let is_held =
            member.sign.boot == part.boot && member.sign.holds.iter().any(|hold| hold.0 >= epoch);
        // Whoever was lost meanwhile hands nothing over any more.
        let why = if member.status == Status::Lost { Why::Lost } else { part.why };
        if why == Why::Moved && part.boot == member.assignment.boot && !is_held {
            member.leaving.push((epoch, shards, None));
            return;
        }
        let until = match (why, self.order.on_loss) {
            (Why::Lost, OnLoss::Redistribute) | (Why::Given | Why::Moved | Why::Left, _) => None,
            (Why::Lost, _) | (_, OnLoss::Continue | OnLoss::Abort) => Some(Nanos::MAX),
            (Why::Fenced | Why::Restarted, OnLoss::Redistribute) => Some(keep),
        };
        self.free.push(Free {
            shards,
            from,
            giver: name.clone(),
            zone,
            whom: until.map(|until| (name, until)),
        });
    }
}

impl Member {
    /// Takes what another controller had given to it.
    fn adopt(&mut self, assignment: Assignment, leader: u64) {
        self.assignment = Assignment { leader, ..assignment };
        let boot = self.assignment.boot;
        self.fences = self
            .assignment
            .parts
            .iter()
            .filter(|part| part.boot == boot)
            .map(|part| part.fences)
            .max()
            .unwrap_or(0);
    }
}
