//! Before the load: nodes are chosen, called, waited for, and told when it starts.

use crate::protocol::codec;
use crate::protocol::io::{Output, RunEvent};
use crate::protocol::keys;
use crate::protocol::messages::{Card, Leader};
use crate::protocol::ranges::SHARDS;
use crate::protocol::units::{FleetTime, MS, Nanos, SECOND};

use super::candidates::{Candidates, FRESH};
use super::desk::Cx;
use super::member::Status;
use super::run::Run;

/// How far ahead the start is, and how much further for each node.
const AHEAD: Nanos = 1_500 * MS;
const AHEAD_OF_EACH: Nanos = MS / 2;
/// Most names in a sentence.
const NAMES: usize = 20;

/// How the barrier stands.
pub enum Barrier {
    /// It waits.
    Waits,
    /// The load starts.
    Starts(FleetTime),
    /// It cannot.
    Refused(String),
}

impl Run {
    /// Writes who leads it.
    pub fn write_leader(&mut self, renewal: u64, cx: &Cx<'_>) {
        let leader = Leader { nonce: cx.lead.nonce, renewal, host: cx.lead.host.clone() };
        self.writer.set(keys::leader(&self.order.run), codec::json(&leader));
    }

    /// How many nodes of each zone that is wanted it has.
    fn have(&self) -> Vec<(String, u32)> {
        let counts = |zone: &str| {
            let of_zone = |card: &Card| zone.is_empty() || card.zone == zone;
            let is_there = |status| matches!(status, Status::Called | Status::Living);
            self.members
                .values()
                .filter(|member| is_there(member.status) && of_zone(&member.card))
                .count()
        };
        self.wanted.zones.iter().map(|(zone, _)| (zone.clone(), counts(zone) as u32)).collect()
    }

    /// Which nodes to call besides those that it has, and how many of each zone there are too few. Neither one that it has nor
    /// one that has refused is among them, though its last heartbeat may be from before it was called.
    fn chosen_of(&self, candidates: &Candidates, cx: &Cx<'_>) -> (Vec<Card>, Vec<(String, u32)>) {
        let is_gone = |status| matches!(status, Status::Lost | Status::Left);
        let may_be =
            |node: &str| self.members.get(node).is_none_or(|member| is_gone(member.status));
        let (have, version) = (self.have(), cx.lead.version.as_str());
        candidates.choose(&self.wanted, &have, (version, cx.now.steady), may_be)
    }

    /// Chooses the nodes, for which it waits until then; a sentence about those that are missing, if there are too few.
    pub fn choose(
        &mut self,
        candidates: &Candidates,
        until: Nanos,
        cx: &mut Cx<'_>,
    ) -> Result<Vec<Card>, String> {
        let (chosen, missing) = self.chosen_of(candidates, cx);
        if missing.is_empty() {
            return Ok(chosen);
        }
        let wanted: u32 = self.wanted.zones.iter().map(|entry| entry.1).sum();
        let missing: Vec<String> = missing
            .iter()
            .map(|(zone, count)| {
                if zone.is_empty() {
                    format!("{count} more")
                } else {
                    format!("{count} more of zone {zone}")
                }
            })
            .collect();
        let mut text = format!(
            "{} of {wanted} nodes are there; waits for {}",
            chosen.len(),
            missing.join(", ")
        );
        let now = cx.now.steady;
        let has_listened =
            now >= until || now.saturating_add(self.wanted.wait) >= until.saturating_add(FRESH);
        let others = candidates.others(&cx.lead.version, now, has_listened);
        if !others.is_empty() {
            text.push_str(&format!(" ({})", others[..others.len().min(NAMES)].join("; ")));
        }
        Err(text)
    }

    /// Writes the order, now that the nodes are known, and makes the stream.
    pub fn write_order(&mut self, chosen: &[Card], cx: &mut Cx<'_>) {
        if self.order.shards == 0 {
            self.order.shards = chosen
                .iter()
                .map(|card| card.cores.clamp(1, 1_024).saturating_mul(4))
                .fold(0, u32::saturating_add);
        }
        self.order.shards = self.order.shards.clamp(1, SHARDS);
        self.order.version.clone_from(&cx.lead.version);
        self.writer.set(keys::order(&self.order.run), codec::json(&self.order));
        self.writer.set(keys::changes(&self.order.run), codec::json(&self.changes));
        cx.out.push(Output::Consume { run: self.order.run.clone() });
        cx.out.push(Output::Listen { subject: keys::clock(&self.order.run) });
    }

    /// How the barrier stands, after `wait` at the latest.
    pub fn barrier(&mut self, candidates: &Candidates, until: Nanos, cx: &mut Cx<'_>) -> Barrier {
        let refusals: Vec<String> = self
            .members
            .iter()
            .filter(|(_, member)| member.status == Status::Refused)
            .map(|(name, member)| format!("node {name} refuses the run: {}", member.sign.refused))
            .collect();
        // One that refuses is replaced by a spare one.
        let (chosen, missing) = self.chosen_of(candidates, cx);
        for card in &chosen {
            if self.members.contains_key(&card.node) {
                continue;
            }
            if let Err(why) = self.call(card, cx) {
                cx.tell(&card.node, format!("cannot be called: {why}"));
            }
        }
        if !missing.is_empty() && !refusals.is_empty() {
            return Barrier::Refused(refusals[..refusals.len().min(NAMES)].join("; "));
        }
        let waits: Vec<&String> = self
            .members
            .iter()
            .filter(|(_, member)| member.status == Status::Called)
            .map(|(name, _)| name)
            .collect();
        if waits.is_empty() && missing.is_empty() && self.writer.all_stored() {
            let ahead = AHEAD + AHEAD_OF_EACH * self.members.len() as u64;
            return Barrier::Starts(cx.time + ahead as i64);
        }
        if cx.now.steady < until {
            return Barrier::Waits;
        }
        let mut names: Vec<&str> = waits.iter().map(|name| name.as_str()).collect();
        let lost = self
            .members
            .iter()
            .filter(|(_, member)| matches!(member.status, Status::Lost | Status::Left));
        names.extend(lost.map(|(name, _)| name.as_str()));
        let more = names.len().saturating_sub(NAMES);
        names.truncate(NAMES);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let seconds = self.wanted.wait / SECOND;
        Barrier::Refused(format!("not ready within {seconds} s: {}{more}", names.join(", ")))
    }

    /// How the barrier stands, in a line.
    pub fn standing(&self) -> String {
        let ready = self.living().count();
        let waits: Vec<&str> = self
            .members
            .iter()
            .filter(|(_, member)| member.status == Status::Called)
            .map(|(name, _)| name.as_str())
            .take(NAMES)
            .collect();
        let all = self
            .members
            .values()
            .filter(|member| matches!(member.status, Status::Called | Status::Living))
            .count();
        if waits.is_empty() {
            format!("{ready} of {all} nodes are ready")
        } else {
            format!("{ready} of {all} nodes are ready; waits for {}", waits.join(", "))
        }
    }

    /// The load starts then.
    pub fn begin(&mut self, at: FleetTime, cx: &mut Cx<'_>) {
        self.start = Some(at);
        let names: Vec<String> = self.members.keys().cloned().collect();
        for name in &names {
            if let Some(member) = self.members.get_mut(name) {
                member.assignment.start = Some(at);
            }
            self.write_share(name);
        }
        self.share_out();
        let nodes = self.living().map(|(_, member)| member.card.clone()).collect();
        cx.run(RunEvent::Starts { at, shards: self.order.shards, nodes });
    }

    /// Calls nodes while the load runs: those that came after it had begun, and spare ones in place of those that are lost.
    pub fn call_more(&mut self, candidates: &Candidates, cx: &mut Cx<'_>) {
        if self.stop.is_some() {
            return;
        }
        let (mut chosen, _) = self.chosen_of(candidates, cx);
        let late =
            candidates.idle(&cx.lead.version, cx.now.steady).filter(|candidate| candidate.is_late);
        let of_zone = |card: &Card| {
            self.wanted.zones.iter().any(|(zone, _)| zone.is_empty() || *zone == card.zone)
        };
        chosen.extend(late.map(|candidate| candidate.card.clone()).filter(of_zone));
        for card in chosen {
            if self.members.contains_key(&card.node) {
                // It is in the run by name: it has been called, and a new process reads the call.
                continue;
            }
            if let Err(why) = self.call(&card, cx) {
                cx.tell(&card.node, format!("cannot be called: {why}"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::controller::desk::{Desk, Lead};
    use crate::protocol::controller::member::Member;
    use crate::protocol::io::{Now, Wanted};
    use crate::protocol::messages::{Heartbeat, OnLoss, Order};

    /// One that was called has not said so yet by its heart: it does not stand for one that has refused.
    #[test]
    fn a_node_that_was_called_is_not_chosen_again() {
        let mut candidates = Candidates::default();
        let wanted = Wanted { zones: vec![(String::new(), 2)], wait: 0 };
        let order = Order {
            run: "r".to_owned(),
            version: "1".to_owned(),
            shards: 8,
            lease: SECOND,
            on_loss: OnLoss::default(),
            job: String::new(),
            files: Vec::new(),
        };
        let mut run = Run::new(order, wanted);
        for (node, status) in [("a", Status::Called), ("b", Status::Refused)] {
            let (node, version) = (node.to_owned(), "1".to_owned());
            let card = Card { node: node.clone(), boot: 1, version, ..Card::default() };
            candidates.on_card(&keys::card(&node), 1, Some(&codec::json(&card)), false);
            candidates.on_heart(&node, Heartbeat { boot: 1, ..Heartbeat::default() }, 0);
            run.members.insert(node, Member { status, ..Member::new(card, 1, Vec::new(), 0) });
        }
        let (lead, mut desk) = (
            Lead {
                nonce: 1,
                host: String::new(),
                version: "1".to_owned(),
                seal: Box::new(|_| Ok(Vec::new())),
            },
            Desk::default(),
        );
        let (now, mut out) = (Now { steady: 0, unix: 0 }, Vec::new());
        let mut cx = Cx { now, out: &mut out, desk: &mut desk, time: 0, lead: &lead };
        let (chosen, missing) = run.chosen_of(&candidates, &cx);
        assert!(chosen.is_empty(), "{chosen:?}");
        assert_eq!(missing, [(String::new(), 1)]);
        let barrier = run.barrier(&candidates, SECOND, &mut cx);
        assert!(matches!(barrier, Barrier::Refused(why) if why.contains("node b refuses")));
    }
}
