//! A node in a run, as the controller knows it.

use std::collections::BTreeMap;

use crate::protocol::cells::Block;
use crate::protocol::codec::Numbered;
use crate::protocol::messages::{Assignment, Card, Part, Phase, Shards, Sign, Why};
use crate::protocol::ranges::Ranges;
use crate::protocol::units::Nanos;

/// Most processes of a name in a run, most gaps in what came of one, and most parts of a share.
const BOOTS: usize = 256;
const GAPS: usize = 10_000;
pub const PARTS: usize = 4_096;
/// Most sets of shards of a part that its node did not drive, as it carries no more users.
const SHORT: usize = 64;

/// Why a node does not drive some of its shards.
const TOO_MANY_USERS: &str = "the node carries no more users (`--max-users`)";

/// What the run thinks of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It was called, and is not ready.
    Called,
    /// It may have shards.
    Living,
    /// Nothing was heard of it for its lease.
    Lost,
    /// It has left.
    Left,
    /// It has refused the run.
    Refused,
}

/// A node in a run.
#[derive(Debug)]
pub struct Member {
    /// What it says of itself.
    pub card: Card,
    /// What it is to know.
    pub assignment: Assignment,
    /// What the run thinks of it.
    pub status: Status,
    /// When something stored of its present process was read last.
    pub heard: Nanos,
    /// When its heart was heard last.
    pub beat: Nanos,
    /// What it said of itself last.
    pub sign: Sign,
    /// Whether the load of one of its processes has ended, whatever became of it since.
    pub has_ended: bool,
    /// The fences of its process that were dealt with.
    pub fences: u32,
    /// A process of its name that waits until the former is dead, and when it was heard last.
    pub next_boot: Option<(u64, Nanos)>,
    /// Shards that were taken from it by a part, until it says from when on it follows: epoch, shards, for whom.
    pub leaving: Vec<(u32, Vec<u32>, Option<String>)>,
    /// What came of each of its processes.
    pub boots: BTreeMap<u64, Came>,
    /// The seconds that were delivered of each part, and those that were not driven from beginning to end.
    pub delivered: BTreeMap<u32, Delivered>,
}

/// What was delivered of a part.
#[derive(Debug, Default)]
pub struct Delivered {
    /// Seconds.
    pub seconds: Ranges,
    /// Of them those that were not driven from beginning to end.
    pub in_part: Ranges,
    /// Shards that the node did not drive, as it carries no more users, with the seconds.
    pub short: BTreeMap<Shards, Ranges>,
}

/// Shards of a part that a node did not drive in all seconds that it delivered.
#[derive(Debug)]
pub struct Uncarried {
    /// The part.
    pub epoch: u32,
    /// The shards.
    pub shards: Shards,
    /// The seconds in which it did.
    pub seconds: Ranges,
    /// Of them those that were not driven from beginning to end.
    pub in_part: Ranges,
}

/// What came of a process.
#[derive(Debug, Default)]
pub struct Came {
    /// The numbers of its messages.
    pub numbers: Ranges,
    /// How many there are, as far as it said.
    pub count: u64,
    /// When messages were asked for again, and since when some were missing.
    pub asked: Nanos,
    /// Since when numbers are missing.
    pub since: Option<Nanos>,
    /// Messages that are nowhere any more.
    pub gone: u64,
}

impl Came {
    /// Whether all has come.
    pub fn is_complete(&self) -> bool {
        self.numbers.prefix() >= self.count.max(self.numbers.end())
    }
}

/// Of ascending shards those that are not among others.
pub fn without(shards: &[u32], others: &[u32]) -> Vec<u32> {
    shards.iter().filter(|own| others.binary_search(own).is_err()).copied().collect()
}

impl Member {
    /// A node that is called.
    pub fn new(card: Card, leader: u64, key: Vec<u8>, now: Nanos) -> Member {
        let boot = card.boot;
        Member {
            card,
            assignment: Assignment {
                leader,
                boot,
                number: 1,
                of: 1,
                key,
                start: None,
                parts: Vec::new(),
            },
            status: Status::Called,
            heard: now,
            beat: now,
            sign: Sign::default(),
            has_ended: false,
            fences: 0,
            next_boot: None,
            leaving: Vec::new(),
            boots: BTreeMap::new(),
            delivered: BTreeMap::new(),
        }
    }

    /// Whether it can be given shards: it lives, has said that it is ready, and its load is not done.
    pub fn is_able(&self) -> bool {
        self.status == Status::Living
            && self.next_boot.is_none()
            && self.sign.fences == self.fences
            && matches!(self.sign.phase, Phase::Ready | Phase::Running | Phase::Fenced)
            && self.assignment.parts.len() < PARTS
    }

    /// The shards that it has in the end.
    pub fn shards(&self) -> &[u32] {
        self.assignment.parts.last().map_or(&[], |part| &part.shards)
    }

    /// The part in a second.
    pub fn part_at(&self, second: u32) -> Option<&Part> {
        self.assignment.parts.iter().rev().find(|part| part.from <= second)
    }

    /// A further part, from this second on at the earliest.
    pub fn give(&mut self, shards: Shards, from: u32, why: Why) {
        let last = self.assignment.parts.last();
        let from = from.max(last.map_or(0, |last| last.from));
        let epoch = last.map_or(1, |last| last.epoch + 1);
        let (boot, fences) = (self.assignment.boot, self.fences);
        let progress = String::new();
        self.assignment.parts.push(Part { epoch, boot, fences, from, why, shards, progress });
    }

    /// It follows a part from this second on, and later ones not before. That it has nothing since it was fenced or lost is so
    /// whenever it hears of it.
    pub fn hold(&mut self, epoch: u32, from: u32) {
        let follows =
            |part: &&mut Part| part.epoch >= epoch && matches!(part.why, Why::Given | Why::Moved);
        for part in self.assignment.parts.iter_mut().filter(follows) {
            part.from = part.from.max(from);
        }
    }

    /// Takes all shards from it, which it does not drive from `at` on. Each with the second from which on nobody has it.
    pub fn close(&mut self, at: u32, why: Why) -> Vec<(Vec<u32>, u32, Option<String>)> {
        let driven: Shards = match at.checked_sub(1) {
            Some(last) => {
                self.part_at(last).map_or_else(|| Shards::from([]), |part| part.shards.clone())
            }
            None => Shards::from([]),
        };
        let mut free: BTreeMap<(u32, Option<String>), Vec<u32>> = BTreeMap::new();
        let from = |shard: u32, parts: &[Part]| match driven.binary_search(&shard) {
            Ok(_) => at,
            Err(_) => parts
                .iter()
                .find(|part| part.from >= at && part.shards.binary_search(&shard).is_ok())
                .map_or(at, |part| part.from),
        };
        for &shard in self.shards() {
            free.entry((from(shard, &self.assignment.parts), None)).or_default().push(shard);
        }
        for (_, shards, whom) in std::mem::take(&mut self.leaving) {
            for shard in shards {
                free.entry((from(shard, &self.assignment.parts), whom.clone()))
                    .or_default()
                    .push(shard);
            }
        }
        // Parts that never began are no part of its history; the next one has a later number all the same.
        let epoch = self.assignment.parts.last().map_or(0, |part| part.epoch);
        self.assignment.parts.retain(|part| part.from < at);
        let (boot, fences) = (self.assignment.boot, self.fences);
        self.assignment.parts.push(Part {
            epoch: epoch + 1,
            boot,
            fences,
            from: at,
            why,
            shards: Shards::from([]),
            progress: String::new(),
        });
        free.into_iter()
            .map(|((from, whom), mut shards)| {
                shards.sort_unstable();
                shards.dedup();
                (shards, from, whom)
            })
            .collect()
    }

    /// Whether a record is one of a part that it had; a sentence if it is not.
    pub fn check(&mut self, record: &Numbered) -> Result<(), String> {
        let second = &record.second;
        if second.shards.is_empty() {
            return Ok(());
        }
        let parts = &self.assignment.parts;
        let Some(at) =
            parts.iter().position(|part| part.epoch == record.epoch && part.boot == record.boot)
        else {
            return Err(format!(
                "a record of second {} under part {}, which it never had",
                second.second, record.epoch
            ));
        };
        let left = without(&parts[at].shards, &second.shards);
        let is_known = left.is_empty()
            || self
                .delivered
                .get(&record.epoch)
                .is_none_or(|of| of.short.len() < SHORT || of.short.contains_key(&*left));
        let is_its = left.len() + second.shards.len() == parts[at].shards.len();
        if !is_its || !is_known || second.second < parts[at].from {
            return Err(format!(
                "a record of second {} with shards that it did not have",
                second.second
            ));
        }
        if let Some(next) = parts.get(at + 1).filter(|next| next.from <= second.second) {
            // It followed the next part later than wanted, and has not said so yet: this says it. Not if the next part is
            // one that needed no word of it.
            let said = self.sign.boot == record.boot
                && self.sign.holds.iter().any(|hold| hold.0 == next.epoch);
            if said || !matches!(next.why, Why::Given | Why::Moved) || next.boot != record.boot {
                return Err(format!(
                    "a record of second {} of shards that were taken from it before",
                    second.second
                ));
            }
            let epoch = next.epoch;
            self.hold(epoch, second.second + 1);
        }
        Ok(())
    }

    /// Takes note of a record that was checked: the seconds that it delivers of its shards.
    pub fn deliver(&mut self, record: &Numbered) {
        let second = &record.second;
        // What comes late of a second does not stand for it: the second itself may be lost.
        if second.late > 0 {
            return;
        }
        let part = self.assignment.parts.iter().find(|part| part.epoch == record.epoch);
        if second.shards.is_empty() {
            let has_some = |part: &Part| {
                part.boot == record.boot && part.from <= second.second && !part.shards.is_empty()
            };
            // It has nothing, or has been cut off; otherwise it carries none of what it has.
            if !second.is_whole || !part.is_some_and(has_some) {
                return;
            }
        }
        let left = part.map_or_else(Vec::new, |part| without(&part.shards, &second.shards));
        let delivered = self.delivered.entry(record.epoch).or_default();
        delivered.seconds.insert(second.second.into());
        if !second.is_whole {
            delivered.in_part.insert(second.second.into());
        }
        if !left.is_empty() {
            delivered.short.entry(left.into()).or_default().insert(second.second.into());
        }
    }

    /// The shards that it did not drive though it delivered the seconds, those with the same seconds together.
    pub fn uncarried(&self) -> Vec<Uncarried> {
        let mut all = Vec::new();
        for (&epoch, of) in &self.delivered {
            let mut sets: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
            for (number, shards) in of.short.keys().enumerate() {
                shards.iter().for_each(|&shard| sets.entry(shard).or_default().push(number));
            }
            let mut together: BTreeMap<Vec<usize>, Vec<u32>> = BTreeMap::new();
            for (shard, sets) in sets {
                together.entry(sets).or_default().push(shard);
            }
            let seconds: Vec<&Ranges> = of.short.values().collect();
            for (sets, shards) in together {
                let driven = |all: &Ranges| {
                    sets.iter().fold(all.clone(), |driven, &set| driven.without(seconds[set]))
                };
                let (seconds, in_part) = (driven(&of.seconds), driven(&of.in_part));
                all.push(Uncarried { epoch, shards: shards.into(), seconds, in_part });
            }
        }
        all
    }

    /// What it had of a run of so many seconds, and what came of that.
    pub fn blocks<'m>(&'m self, name: &'m str, seconds: u32) -> Vec<Block<'m>> {
        let (mut blocks, uncarried) = (Vec::new(), self.uncarried());
        let parts = &self.assignment.parts;
        for (at, part) in parts.iter().enumerate() {
            let next = parts.get(at + 1);
            let to = next.map_or(seconds, |next| next.from).min(seconds);
            if part.shards.is_empty() || part.from >= to {
                continue;
            }
            let delivered = self.delivered.get(&part.epoch);
            // The last second of a load that ended in order is as long as it is.
            let ended = if self.sign.phase == Phase::Ended { self.last_second() } else { None };
            let mut block = Block {
                node: name,
                shards: part.shards.clone(),
                from: part.from,
                to,
                seconds: delivered.map_or_else(Ranges::default, |of| of.seconds.clone()),
                in_part: delivered.map_or_else(Ranges::default, |of| of.in_part.clone()),
                ended,
                why: missed(next.map(|next| next.why)),
                after: next.map_or("", |next| gap(next.why)),
            };
            for own in uncarried.iter().filter(|own| own.epoch == part.epoch) {
                block.shards = without(&block.shards, &own.shards).into();
                blocks.push(Block {
                    shards: own.shards.clone(),
                    seconds: own.seconds.clone(),
                    in_part: own.in_part.clone(),
                    why: TOO_MANY_USERS,
                    ..block.clone()
                });
            }
            if !block.shards.is_empty() {
                blocks.push(block);
            }
        }
        blocks
    }

    /// What came of a process; `None` if there are too many of them.
    pub fn came(&mut self, boot: u64) -> Option<&mut Came> {
        if self.boots.len() >= BOOTS && !self.boots.contains_key(&boot) {
            return None;
        }
        let came = self.boots.entry(boot).or_default();
        (came.numbers.pieces() < GAPS).then_some(came)
    }

    /// Whether a second was delivered.
    pub fn has_delivered(&self, second: u32) -> bool {
        self.part_at(second).is_none_or(|part| {
            part.shards.is_empty()
                || self
                    .delivered
                    .get(&part.epoch)
                    .is_some_and(|of| of.seconds.contains(second.into()))
        })
    }

    /// The last second of which something came; `None`: nothing did.
    pub fn last_second(&self) -> Option<u32> {
        self.delivered
            .values()
            .map(|of| of.seconds.end())
            .max()
            .filter(|&end| end > 0)
            .map(|end| (end - 1) as u32)
    }
}

/// Why a record did not come of a part that this one followed.
fn missed(next: Option<Why>) -> &'static str {
    match next {
        Some(Why::Lost) => "the node was lost",
        Some(Why::Fenced) => "the node was cut off from the server",
        Some(Why::Restarted) => "the node's process ended",
        Some(Why::Left) => "the node left",
        Some(Why::Given | Why::Moved) | None => "what the node recorded did not come",
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::cells;
    use crate::protocol::messages::Second;
    use crate::protocol::units::Bytes;

    fn record(second: u32, shards: &[u32], is_whole: bool) -> Numbered {
        let record = Bytes::from([]);
        let second = Second { second, shards: shards.into(), is_whole, late: 0, record };
        Numbered { boot: 7, number: 0, epoch: 1, progress: Default::default(), second }
    }

    /// A node that carries no more users drives some of its shards alone: what it recorded counts, and the others are
    /// listed.
    #[test]
    fn shards_that_a_node_does_not_carry_are_missing() {
        let card = Card { node: "a".to_owned(), boot: 7, ..Card::default() };
        let mut member = Member::new(card, 1, Vec::new(), 0);
        member.give([0, 1, 2, 3].into(), 0, Why::Given);
        for (second, shards, is_whole) in
            [(0, &[0, 1, 2][..], true), (1, &[0, 1], false), (3, &[0, 1, 2, 3], true)]
        {
            let record = record(second, shards, is_whole);
            assert_eq!(member.check(&record), Ok(()));
            member.deliver(&record);
        }
        assert!(member.check(&record(4, &[0, 1, 4], true)).is_err(), "one that it never had");
        let cells = cells::of(4, 4, &member.blocks("a", 4));
        let told: Vec<_> = cells
            .missing
            .iter()
            .map(|own| (own.shards.to_vec(), own.from, own.to, own.why.as_str()))
            .collect();
        let (late, lost) =
            ("driven in part of the second only", "what the node recorded did not come");
        let few = TOO_MANY_USERS;
        assert_eq!(
            told,
            [
                (vec![3], 0, 2, few),
                (vec![0, 1], 1, 1, late),
                (vec![2], 1, 2, few),
                (vec![0, 1], 2, 2, lost),
            ]
        );
        assert_eq!(cells.driven, 16 - 3 - 2 - 2 - 2);
    }

    /// One that carries none of its shards says so, and is not waited for; one that is cut off does not.
    #[test]
    fn a_node_that_carries_nothing_says_why() {
        let card = Card { node: "a".to_owned(), boot: 7, ..Card::default() };
        let mut member = Member::new(card, 1, Vec::new(), 0);
        member.give([0, 1].into(), 0, Why::Given);
        for (second, is_whole) in [(0, true), (1, true), (2, false)] {
            let record = record(second, &[], is_whole);
            assert_eq!(member.check(&record), Ok(()));
            member.deliver(&record);
        }
        assert!(member.has_delivered(0) && member.has_delivered(1) && !member.has_delivered(2));
        let cells = cells::of(2, 3, &member.blocks("a", 3));
        let told =
            cells.missing.iter().map(|own| (own.shards.to_vec(), own.from, own.to, &*own.why));
        let few = (vec![0, 1], 0, 2, TOO_MANY_USERS);
        assert_eq!((told.collect::<Vec<_>>(), cells.driven), (vec![few], 0));
        // What another process of its name says, and what is of no part, does not count.
        member.deliver(&Numbered { boot: 8, ..record(5, &[], true) });
        member.deliver(&Numbered { epoch: 9, ..record(5, &[], true) });
        assert!(!member.has_delivered(5));
    }
}
