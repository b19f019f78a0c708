//! Who has which shards: at the start, after a loss, for those who come.

use std::collections::BTreeMap;

use crate::protocol::assign::{self, Place};
use crate::protocol::io::RunEvent;
use crate::protocol::messages::{Card, Change, OnLoss, Phase, Shards, Sign, Why};
use crate::protocol::units::{MS, Nanos, SECOND};
use crate::protocol::{keys, ranges};

use super::desk::Cx;
use super::member::{Member, PARTS, Status};
use super::run::{Free, MARGIN, Run};

/// How far ahead a node is told of shards that nobody drives; of those that it gives to another.
const TAKE: Nanos = 400 * MS;
const GIVE: Nanos = 1_500 * MS;

impl Run {
    /// Deals the shards over the nodes that are ready, in turn: where there are fewer users than shards, each node has as many
    /// of them as its weight says.
    pub fn share_out(&mut self) {
        let names: Vec<String> = self.living().map(|(name, _)| name.clone()).collect();
        let mut dealt = vec![Vec::new(); names.len()];
        let chosen = assign::place(self.order.shards as usize, "", &self.places(&names));
        for (shard, at) in (0..).zip(chosen) {
            dealt[at].push(shard);
        }
        for (name, shards) in names.iter().zip(dealt) {
            if let Some(member) = self.members.get_mut(name) {
                member.give(Shards::from(shards), 0, Why::Given);
            }
            self.write_share(name);
        }
    }

    /// Nodes as places for shards.
    fn places(&self, names: &[String]) -> Vec<Place> {
        let cards: Vec<&Card> = names.iter().map(|name| &self.members[name].card).collect();
        let weights = assign::weights(&self.wanted.zones, &cards);
        names
            .iter()
            .zip(weights)
            .map(|(name, weight)| {
                let member = &self.members[name];
                Place { zone: member.card.zone.clone(), weight, has: member.shards().len() }
            })
            .collect()
    }

    /// Considers nodes lost of which nothing was stored for their lease and a margin, as far as the stream was read.
    pub fn find_lost(&mut self, cx: &mut Cx<'_>) {
        let patience = self.order.lease + MARGIN;
        let lost: Vec<String> = self
            .members
            .iter()
            .filter(|(_, member)| {
                matches!(member.status, Status::Living | Status::Called)
                    && self.marks.silence(member.heard) >= patience
            })
            .filter(|(_, member)| member.sign.phase != Phase::Ended || !self.has_all(member))
            .map(|(name, _)| name.clone())
            .collect();
        for name in lost {
            self.lose(&name, cx);
        }
    }

    /// Whether a node's load is done, and all that it recorded has come.
    pub fn has_all(&self, member: &Member) -> bool {
        member.sign.phase == Phase::Ended
            && member.boots.values().all(super::member::Came::is_complete)
    }

    fn lose(&mut self, name: &str, cx: &mut Cx<'_>) {
        let at = self.second_after(cx.time, 0);
        let Some(member) = self.members.get_mut(name) else { return };
        let is_living = member.status == Status::Living;
        // One that was not heard of for as long is dead as well.
        let recent = cx.now.steady.saturating_sub(self.order.lease + MARGIN);
        let next = member.next_boot.take().filter(|next| next.1 >= recent);
        let has_shards = !member.shards().is_empty() || !member.leaving.is_empty();
        if let Some(next) = next {
            return self.replace(name, next, at, cx);
        }
        member.status = Status::Lost;
        if member.sign.phase == Phase::Ended {
            cx.tell(name, "was lost after its load had ended; not all that it recorded has come");
            return;
        }
        if !is_living {
            return;
        }
        let zone = member.card.zone.clone();
        let seconds = self.order.lease / SECOND;
        let closed = if has_shards { member.close(at, Why::Lost) } else { Vec::new() };
        cx.tell(name, format!("was lost: nothing was stored of it for its lease of {seconds} s"));
        match self.order.on_loss {
            OnLoss::Redistribute => self.release(name, closed, &zone, None),
            OnLoss::Continue => self.release(name, closed, &zone, Some((name.into(), Nanos::MAX))),
            OnLoss::Abort => {
                self.release(name, closed, &zone, Some((name.into(), Nanos::MAX)));
                self.failures.push(format!("node {name} was lost, and the run ends on a loss"));
                self.change(Change::Abort, cx);
            }
        }
        self.write_share(name);
    }

    /// Shards that a node had are nobody's.
    fn release(
        &mut self,
        giver: &str,
        closed: Vec<(Vec<u32>, u32, Option<String>)>,
        zone: &str,
        whom: Option<(String, Nanos)>,
    ) {
        for (shards, from, meant) in closed {
            let meant = meant.map(|node| (node, Nanos::MAX));
            let whom = meant
                .filter(|meant| self.members.get(&meant.0).is_some_and(Member::is_able))
                .or_else(|| whom.clone());
            self.free.push(Free { shards, from, giver: giver.into(), zone: zone.into(), whom });
        }
    }

    /// What a node says of itself.
    pub fn on_sign(&mut self, name: &str, sign: Sign, cx: &mut Cx<'_>) {
        if sign.stop_asked {
            self.ask_stop(cx);
        }
        let Some(member) = self.members.get_mut(name) else { return };
        for &(boot, count) in &sign.former {
            if boot != sign.boot
                && let Some(came) = member.came(boot)
            {
                came.count = came.count.max(count);
            }
        }
        if let Some(came) = member.came(sign.boot) {
            came.count = came.count.max(sign.numbers);
        }
        if sign.boot != member.assignment.boot {
            return self.on_other_boot(name, &sign, cx);
        }
        if member.sign.boot == sign.boot && sign.serial <= member.sign.serial {
            return;
        }
        if sign.error > 0 && (member.sign.boot, member.sign.error) != (sign.boot, sign.error) {
            let card = Box::new(member.card.clone());
            cx.run(RunEvent::Clock { card, offset: sign.offset, error: sign.error });
        }
        member.has_ended |= sign.phase == Phase::Ended;
        member.sign = sign;
        self.on_holds(name);
        self.on_fence(name, cx);
        self.on_phase(name, cx);
    }

    /// A process of a node's name that is not the one that has its share.
    fn on_other_boot(&mut self, name: &str, sign: &Sign, cx: &mut Cx<'_>) {
        let at = self.second_after(cx.time, 0);
        let Some(member) = self.members.get_mut(name) else { return };
        let current = member.assignment.boot;
        if member.boots.contains_key(&sign.boot)
            && member.assignment.parts.iter().any(|part| part.boot == sign.boot)
        {
            // A former one, whose message comes late.
            return;
        }
        let is_dead = sign.former.iter().any(|former| former.0 == current);
        let is_idle = member.shards().is_empty() && member.leaving.is_empty();
        if is_dead || is_idle || member.status == Status::Lost || member.status == Status::Left {
            return self.replace(name, (sign.boot, cx.now.steady), at, cx);
        }
        let is_known = member.next_boot.is_some_and(|next| next.0 == sign.boot);
        member.next_boot = Some((sign.boot, cx.now.steady));
        if !is_known {
            cx.tell(name, "has started anew; it gets its share back when the lease of its former process is over");
        }
    }

    /// Another process, which was heard last at that time, takes the place of a node's, which is dead.
    fn replace(&mut self, name: &str, (boot, heard): (u64, Nanos), at: u32, cx: &mut Cx<'_>) {
        let keep = cx.now.steady + self.order.lease + MARGIN;
        let Some(member) = self.members.get_mut(name) else { return };
        let zone = member.card.zone.clone();
        let was_lost = member.status == Status::Lost;
        let has_shards = !member.shards().is_empty() || !member.leaving.is_empty();
        let closed = if has_shards { member.close(at, Why::Restarted) } else { Vec::new() };
        if member.card.boot == boot {
            // Its card came before, so its key is known.
            match (cx.lead.seal)(&member.card) {
                Ok(key) => member.assignment.key = key,
                Err(why) => return self.tell_wrong(name, why, cx),
            }
        } else {
            // Its card is on its way: the next sign comes soon.
            cx.get(keys::card(name));
            member.next_boot = Some((boot, heard));
            self.release(name, closed, &zone, Some((name.into(), keep)));
            self.write_share(name);
            return;
        }
        member.assignment.boot = boot;
        member.next_boot = None;
        (member.fences, member.sign) = (0, Sign::default());
        (member.status, member.heard) = (Status::Called, cx.now.steady);
        let whom = if self.order.on_loss == OnLoss::Redistribute { keep } else { Nanos::MAX };
        self.release(name, closed, &zone, Some((name.into(), whom)));
        cx.tell(name, if was_lost { "is back, as a new process" } else { "has started anew" });
        self.write_share(name);
    }

    /// From when on it follows the parts that it was given.
    fn on_holds(&mut self, name: &str) {
        let Some(member) = self.members.get_mut(name) else { return };
        for (epoch, from) in member.sign.holds.clone() {
            let is_known = member
                .assignment
                .parts
                .iter()
                .any(|part| part.epoch == epoch && part.boot == member.sign.boot);
            if is_known {
                member.hold(epoch, from);
            }
        }
        let held = member.sign.holds.last().map_or(0, |hold| hold.0);
        let zone = member.card.zone.clone();
        let (done, leaving) =
            std::mem::take(&mut member.leaving).into_iter().partition(|leaving| leaving.0 <= held);
        member.leaving = leaving;
        let done: Vec<(u32, Vec<u32>, Option<String>)> = done;
        let parts: BTreeMap<u32, u32> =
            member.assignment.parts.iter().map(|part| (part.epoch, part.from)).collect();
        for (epoch, shards, whom) in done {
            let from = parts.range(epoch..).next().map_or(0, |part| *part.1);
            self.release(name, vec![(shards, from, whom)], &zone, None);
        }
    }

    /// It has fenced itself: nothing that it had is driven until it is given a part that knows of the fence.
    fn on_fence(&mut self, name: &str, cx: &mut Cx<'_>) {
        let Some(member) = self.members.get_mut(name) else { return };
        if member.sign.fences <= member.fences {
            return;
        }
        member.fences = member.sign.fences;
        let zone = member.card.zone.clone();
        let has_shards = !member.shards().is_empty() || !member.leaving.is_empty();
        if has_shards {
            let closed = member.close(member.sign.fenced, Why::Fenced);
            let until = cx.now.steady + self.order.lease + MARGIN;
            self.release(name, closed, &zone, Some((name.into(), until)));
            self.write_share(name);
        }
        if self.start.is_some() {
            cx.tell(name, "had stopped by itself, as the server had acknowledged nothing for its lease; it can be reached again");
        }
    }

    fn on_phase(&mut self, name: &str, cx: &mut Cx<'_>) {
        let Some(member) = self.members.get_mut(name) else { return };
        match (member.sign.phase, member.status) {
            (Phase::Refused, Status::Called | Status::Living) => {
                member.status = Status::Refused;
                let why = member.sign.refused.clone();
                cx.tell(name, format!("refuses the run: {why}"));
            }
            (Phase::Ready | Phase::Running | Phase::Fenced, Status::Called | Status::Lost) => {
                let is_back = member.status == Status::Lost;
                member.status = Status::Living;
                self.uneven |= self.start.is_some();
                if is_back && self.start.is_some() {
                    cx.tell(name, "is back");
                } else if self.start.is_some() {
                    cx.tell(name, "has joined the run");
                }
            }
            (Phase::Leaving, Status::Living) => {
                let shards = member.shards().to_vec();
                if shards.is_empty() {
                    return;
                }
                cx.tell(name, "leaves: its shards go to others");
                let from = self.second_after(cx.time, GIVE);
                self.take(name, shards, from, None);
            }
            (Phase::Left | Phase::Released, Status::Living | Status::Called | Status::Lost) => {
                let zone = member.card.zone.clone();
                let at = member.last_second().map_or(0, |second| second + 1);
                let at = at.max(member.assignment.parts.last().map_or(0, |part| part.from));
                member.status = Status::Left;
                if !member.shards().is_empty() || !member.leaving.is_empty() {
                    let closed = member.close(at, Why::Left);
                    self.release(name, closed, &zone, None);
                    self.write_share(name);
                }
                cx.tell(name, "has left");
            }
            _ => {}
        }
    }

    /// Takes shards from a living node, from a second on that it says.
    fn take(&mut self, name: &str, shards: Vec<u32>, from: u32, whom: Option<String>) {
        let Some(member) = self.members.get_mut(name) else { return };
        let left: Shards = member
            .shards()
            .iter()
            .copied()
            .filter(|shard| shards.binary_search(shard).is_err())
            .collect();
        member.give(left, from, Why::Moved);
        let epoch = member.assignment.parts.last().map_or(0, |part| part.epoch);
        member.leaving.push((epoch, shards, whom));
        self.write_share(name);
    }

    /// Gives away what is nobody's.
    pub fn place_free(&mut self, cx: &mut Cx<'_>) {
        if self.free.is_empty() || self.stop.is_some() {
            return;
        }
        let able: Vec<String> = self
            .living()
            .filter(|(_, member)| member.is_able())
            .map(|(name, _)| name.clone())
            .collect();
        let now = cx.now.steady;
        let mut gifts: BTreeMap<String, (Vec<u32>, u32)> = BTreeMap::new();
        let mut stay = Vec::new();
        for free in std::mem::take(&mut self.free) {
            let share = keys::share(&self.order.run, &free.giver);
            let is_stored =
                !self.members.contains_key(&free.giver) || self.writer.is_stored(&share);
            if !is_stored || self.awaits_progress(&free, cx) {
                stay.push(free);
                continue;
            }
            let meant =
                free.whom.as_ref().filter(|(_, until)| now < *until).map(|(name, _)| name.clone());
            match meant {
                Some(name) if able.contains(&name) => {
                    let gift = gifts.entry(name).or_default();
                    gift.0.extend(&free.shards);
                    gift.1 = gift.1.max(free.from);
                }
                Some(_) => stay.push(free),
                None if able.is_empty() => stay.push(free),
                None => self.spread(&free, &able, &mut gifts),
            }
        }
        self.free = stay;
        let soonest = self.second_after(cx.time, TAKE);
        for (name, (shards, from)) in gifts {
            let Some(member) = self.members.get_mut(&name) else { continue };
            let from = from.max(soonest);
            let mut all = member.shards().to_vec();
            all.extend(&shards);
            all.sort_unstable();
            member.give(all.into(), from, Why::Given);
            self.pass_progress(&name, &shards, cx);
            cx.tell(
                &name,
                format!("has shards {} from second {from} on", ranges::text(&sorted(shards))),
            );
            self.write_share(&name);
        }
    }

    fn spread(&self, free: &Free, able: &[String], gifts: &mut BTreeMap<String, (Vec<u32>, u32)>) {
        let mut places = self.places(able);
        for (place, name) in places.iter_mut().zip(able) {
            place.has += gifts.get(name).map_or(0, |gift| gift.0.len());
        }
        for (shard, at) in
            free.shards.iter().zip(assign::place(free.shards.len(), &free.zone, &places))
        {
            let gift = gifts.entry(able[at].clone()).or_default();
            gift.0.push(*shard);
            gift.1 = gift.1.max(free.from);
        }
    }

    /// Moves shards to those who have too few, such as one that has joined: as few as possible.
    pub fn even_out(&mut self, cx: &mut Cx<'_>) {
        let moves = self.members.values().any(|member| !member.leaving.is_empty());
        if !self.uneven || !self.free.is_empty() || moves || self.stop.is_some() {
            return;
        }
        self.uneven = false;
        let names: Vec<String> = self
            .living()
            .filter(|(_, member)| member.is_able())
            .map(|(name, _)| name.clone())
            .collect();
        let places = self.places(&names);
        let total = places.iter().map(|place| place.has).sum();
        let targets = assign::targets(total, &places);
        let mut needs: Vec<(usize, usize)> = (0..names.len())
            .filter(|&at| targets[at] > places[at].has)
            .map(|at| (at, targets[at] - places[at].has))
            .collect();
        let from = self.second_after(cx.time, GIVE);
        for at in (0..names.len()).filter(|&at| targets[at] < places[at].has) {
            let mut extra = self.members[&names[at]].shards()[targets[at]..].to_vec();
            while let (Some(need), false) = (needs.last_mut(), extra.is_empty()) {
                let count = need.1.min(extra.len());
                let moved = extra.split_off(extra.len() - count);
                need.1 -= count;
                let whom = names[need.0].clone();
                if need.1 == 0 {
                    needs.pop();
                }
                if self.members[&names[at]].assignment.parts.len() < PARTS {
                    self.take(&names[at], moved, from, Some(whom));
                }
            }
        }
    }
}

fn sorted(mut shards: Vec<u32>) -> Vec<u32> {
    shards.sort_unstable();
    shards
}
