//! How far users are with iterations that are counted, for who goes on with their shards.

use squall_engine::Progress;
use squall_load::Share;

use crate::protocol::codec;
use crate::protocol::units::{Nanos, SECOND};

use super::desk::Cx;
use super::member::Status;
use super::run::{Free, Run};

/// Most users and shards of which it is kept, in the whole run.
const KEPT: usize = 4_000_000;
/// Most letters of it in a share: a server takes messages of a megabyte.
const LETTERS: usize = 600_000;
/// Parts of a node's share in which a user may be that it tells of: what it tells is a few seconds old at most.
const PARTS: usize = 8;
/// How long a node that gives shards away is waited for, so that it is known how far it went.
const PATIENCE: Nanos = 5 * SECOND;

impl Run {
    /// A node tells how far it is. Of what it does not have it has nothing to tell.
    pub fn on_progress(&mut self, name: &str, told: &Progress) {
        let Some(member) = self.members.get(name) else { return };
        let parts = member.assignment.parts.iter().rev().take(PARTS);
        let shards = parts.flat_map(|part| part.shards.iter().copied()).collect::<Vec<u32>>();
        if self.progress.users.len() + self.progress.totals.len() < KEPT {
            self.progress.merge(&told.within(&self.share(shards)));
        }
    }

    /// Whether shards wait until it is known how far their node, which lives, went with them.
    pub fn awaits_progress(&self, free: &Free, cx: &Cx<'_>) -> bool {
        let Some(member) = self.members.get(&free.giver) else { return false };
        let Some(last) = free.from.checked_sub(1) else { return false };
        let waits = self.start.is_some_and(|start| {
            let past = cx.time.saturating_sub(start).max(0) as Nanos;
            past < Nanos::from(free.from) * SECOND + PATIENCE
        });
        !self.progress.is_empty()
            && waits
            && member.status == Status::Living
            && !member.has_delivered(last)
    }

    /// Adds to the last part of a node's share how far the shards are that it got with it.
    pub fn pass_progress(&mut self, name: &str, shards: &[u32], cx: &mut Cx<'_>) {
        if self.progress.is_empty() {
            return;
        }
        let text = codec::progress_text(&self.progress.within(&self.share(shards.to_vec())));
        let Some(member) = self.members.get_mut(name) else { return };
        let held = match member.sign.boot == member.assignment.boot {
            true => member.sign.holds.last().map_or(0, |hold| hold.0),
            false => 0,
        };
        let parts = &mut member.assignment.parts;
        // What it follows it has read.
        parts.iter_mut().filter(|part| part.epoch <= held).for_each(|part| part.progress.clear());
        let letters: usize = parts.iter().map(|part| part.progress.len()).sum();
        if letters + text.len() > LETTERS {
            let text = "takes over more users with a number of iterations than can be told of: they begin anew";
            self.failures.push(format!("node {name} {text}"));
            return cx.tell(name, text);
        }
        if let Some(part) = parts.last_mut() {
            part.progress = text;
        }
    }

    /// Shards of this run.
    fn share(&self, mut shards: Vec<u32>) -> Share {
        shards.sort_unstable();
        shards.dedup();
        let of = u64::from(self.order.shards.max(1));
        let numbers: Vec<u64> = shards.into_iter().map(u64::from).filter(|own| *own < of).collect();
        // They ascend and exist: nothing is wrong with them.
        Share::new(&numbers, of).unwrap_or_else(|_| Share::all().none())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::protocol::controller::desk::{Desk, Lead};
    use crate::protocol::controller::member::Member;
    use crate::protocol::io::{Now, Wanted};
    use crate::protocol::messages::{Card, Order, Phase, Sign, Why};

    fn node(name: &str, shards: &[u32]) -> Member {
        let card = Card { node: name.into(), boot: 7, ..Card::default() };
        let mut member = Member::new(card, 1, Vec::new(), 0);
        member.status = Status::Living;
        member.sign = Sign { boot: 7, phase: Phase::Running, ..Sign::default() };
        member.give(shards.into(), 0, Why::Given);
        member
    }

    #[test]
    fn nodes_carry_together_what_those_do_who_live() {
        let mut run = Run::new(crate::protocol::controller::blank("r"), Wanted::default());
        assert_eq!(run.carries(), None, "nobody lives");
        for (name, most) in [("a", Some(300)), ("b", Some(200)), ("c", None)] {
            let mut own = node(name, &[]);
            own.card.allows.max_users = most;
            run.members.insert(name.into(), own);
        }
        assert_eq!(run.carries(), None, "one of them sets no limit");
        run.members.get_mut("c").expect("a node").status = Status::Lost;
        assert_eq!(run.carries(), Some(500));
    }

    #[test]
    fn who_takes_shards_over_is_told_how_far_they_are() {
        let order = Order { shards: 4, ..crate::protocol::controller::blank("r") };
        let mut run = Run::new(order, Wanted::default());
        run.start = Some(0);
        run.members.insert("a".into(), node("a", &[0, 1]));
        run.members.insert("b".into(), node("b", &[2, 3]));
        let users = |all: &[(u64, u64)]| Progress {
            users: all.iter().map(|(user, begun)| ((0, *user), *begun)).collect(),
            totals: BTreeMap::new(),
        };
        // User 6 is in shard 2, which it does not have.
        run.on_progress("a", &users(&[(1, 5), (4, 2), (6, 9)]));
        run.on_progress("a", &users(&[(1, 8)]));
        assert_eq!(run.progress, users(&[(1, 8), (4, 2)]));
        let (mut out, mut desk) = (Vec::new(), Desk::default());
        let lead = Lead {
            nonce: 1,
            host: String::new(),
            version: String::new(),
            seal: Box::new(|_| Ok(Vec::new())),
        };
        let (now, time) = (Now { steady: 0, unix: 0 }, 3 * SECOND as i64);
        let mut cx = Cx { now, out: &mut out, desk: &mut desk, time, lead: &lead };
        // Node a gives shard 1 away from second 3 on: its record of second 2 has not come.
        let mut free =
            Free { shards: vec![1], from: 3, giver: "a".into(), zone: String::new(), whom: None };
        assert!(run.awaits_progress(&free, &cx));
        cx.time += PATIENCE as i64;
        assert!(!run.awaits_progress(&free, &cx), "not for ever");
        cx.time = time;
        free.giver = "gone".into();
        assert!(!run.awaits_progress(&free, &cx));
        run.free = vec![free];
        run.members.get_mut("a").expect("a node").status = Status::Lost;
        run.place_free(&mut cx);
        let last = run.members["b"].assignment.parts.last().expect("a part");
        assert_eq!(&*last.shards, &[1, 2, 3]);
        assert_eq!(codec::read_progress(&last.progress), Ok(users(&[(1, 8)])));
    }
}
