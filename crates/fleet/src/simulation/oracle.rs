//! What must be true, whatever happens.

use std::collections::{BTreeMap, BTreeSet};

use crate::protocol::io::RunEvent;
use crate::protocol::messages::{Cells, Change, Changes, OnLoss, Second};
use crate::protocol::ranges;

use super::counting::Counting;
use super::load::{ALL, Done, Sent, without_pauses};
use super::scenario::{Fault, Scenario};

/// What was sent and merged, and what of it is wrong.
#[derive(Debug, Default)]
pub struct Oracle {
    /// What was sent of each cell, and by which node last.
    sent: BTreeMap<(u32, u32), (u8, usize)>,
    /// All of it, with its place in the load.
    placed: Vec<Sent>,
    /// Cells of which it is told that a node drove them before it had heard of a pause or its end.
    pub unheard: usize,
    pub counting: Counting,
    /// The changes of the load that were stored.
    pub changes: Changes,
    /// Seconds of the load, if nothing but its own end can end it.
    pub length: Option<u32>,
    /// What was merged of each cell by the controller's present process.
    merged: BTreeMap<(u32, u32), u8>,
    in_part: BTreeSet<(u32, u32)>,
    /// What came late of a second, by its first shard.
    again: BTreeSet<(u32, u32)>,
    whole: Option<u32>,
    /// Records that came when no more was expected of their second.
    pub after_whole: u32,
    pub started: bool,
    pub refused: Option<String>,
    pub ended: Option<(Cells, Vec<String>)>,
    pub told: Vec<String>,
    pub wrong: Vec<String>,
}

impl Oracle {
    pub fn of(scenario: &Scenario) -> Oracle {
        let ends = |fault: &Fault| matches!(fault, Fault::Stop | Fault::AskStop { .. });
        let is_ended = scenario.on_loss == OnLoss::Abort
            || scenario.faults.iter().any(|(_, fault)| ends(fault));
        Oracle {
            counting: Counting::new(scenario.counted),
            length: (!is_ended).then_some(scenario.length),
            ..Oracle::default()
        }
    }

    pub fn fail(&mut self, what: String) {
        if self.wrong.len() < 20 {
            self.wrong.push(what);
        }
    }

    /// The load on a node has done something.
    pub fn on_done(&mut self, node: usize, incarnation: u32, done: &Done) {
        for sent in &done.sent {
            self.on_sent(node, sent.cell, sent.mask);
            self.placed.push(*sent);
        }
        for begun in &done.begun {
            if let Some(wrong) = self.counting.on_begun((node, incarnation), *begun) {
                self.fail(wrong);
            }
        }
    }

    /// A node has sent requests.
    fn on_sent(&mut self, node: usize, cell: (u32, u32), mask: u8) {
        let (before, by) = self.sent.entry(cell).or_insert((0, node));
        if *before & mask != 0 {
            let by = *by;
            self.fail(format!(
                "shard {} second {}: node {node} sent what node {by} had sent",
                cell.0, cell.1
            ));
            return;
        }
        *before |= mask;
        *by = node;
    }

    /// Another process of the controller begins from nothing.
    pub fn restart(&mut self) {
        self.merged.clear();
        self.in_part.clear();
        self.again.clear();
        self.whole = None;
        self.started = false;
        self.ended = None;
        self.counting.restart();
    }

    /// What the run is told.
    pub fn on_run(&mut self, event: &RunEvent, time: u64) {
        match event {
            RunEvent::Starts { .. } => {
                if std::mem::replace(&mut self.started, true) {
                    self.fail("started twice".into());
                }
            }
            RunEvent::Refused(why) => self.refused = Some(why.clone()),
            RunEvent::Record { node, second } => self.on_record(node, second, time),
            RunEvent::Whole { second } => {
                if self.whole.is_some_and(|before| before >= *second) {
                    self.fail(format!("second {second} was whole before"));
                }
                self.whole = Some(*second);
            }
            RunEvent::Told { node, text, .. } => {
                let given =
                    text.strip_prefix("has shards ").and_then(|text| text.split(' ').next());
                if let Some(shards) = given.and_then(ranges::read) {
                    self.counting.on_given(&shards, time);
                }
                self.told.push(format!("{node}: {text}"));
            }
            RunEvent::Ended { cells, failures } => {
                if self.ended.is_some() && self.refused.is_none() {
                    self.fail("ended twice".into());
                }
                self.ended = Some((cells.clone(), failures.clone()));
                self.check();
                let pauses = self.pauses();
                self.check_places(&pauses);
                let is_paused = pauses.last().is_some_and(|last| last.1);
                let wrong =
                    self.length.and_then(|length| self.counting.on_ended(cells, length, is_paused));
                wrong.into_iter().for_each(|wrong| self.fail(wrong));
            }
            RunEvent::Waiting(_)
            | RunEvent::Carries { .. }
            | RunEvent::Clock { .. }
            | RunEvent::StopAsked
            | RunEvent::Interrupted => {}
        }
    }

    fn on_record(&mut self, node: &str, own: &Second, time: u64) {
        let second = own.second;
        if own.late > 0 {
            let first = own.shards.first().copied().unwrap_or(u32::MAX);
            if !self.again.insert((first, second)) {
                self.fail(format!("what came late of second {second} of {node} came twice"));
            }
            return;
        }
        if self.whole.is_some_and(|whole| second <= whole) {
            self.after_whole += 1;
        }
        for (at, &shard) in own.shards.iter().enumerate() {
            let cell = (shard, second);
            let mask = own.record.get(at * 5 + 4).copied().unwrap_or(0);
            self.counting.on_merged(cell, time);
            if self.merged.insert(cell, mask).is_some() {
                self.fail(format!("shard {shard} second {second} was merged twice, of {node}"));
            }
            if !own.is_whole {
                self.in_part.insert(cell);
            }
        }
    }

    /// Every cell was merged once, or is listed; what was merged is what was sent.
    fn check(&mut self) {
        let Some((cells, _)) = self.ended.clone() else { return };
        let mut missing = BTreeSet::new();
        let mut lost = 0u64;
        for entry in &cells.missing {
            for &shard in entry.shards.iter() {
                for second in entry.from..=entry.to {
                    lost += 1;
                    if !missing.insert((shard, second)) {
                        self.fail(format!(
                            "shard {shard} second {second} is listed twice ({}: {})",
                            entry.node, entry.why
                        ));
                    }
                }
            }
        }
        if cells.driven + lost != u64::from(cells.shards) * u64::from(cells.seconds) {
            self.fail(format!(
                "{} cells driven and {lost} missing of {} x {}",
                cells.driven, cells.shards, cells.seconds
            ));
        }
        let mut wrong = Vec::new();
        for shard in 0..cells.shards {
            for second in 0..cells.seconds {
                let cell = (shard, second);
                match (self.merged.get(&cell), missing.contains(&cell)) {
                    (None, false) => wrong.push(format!(
                        "shard {shard} second {second} is neither merged nor listed"
                    )),
                    (Some(mask), listed) => {
                        let sent = self.sent.get(&cell).map_or(0, |sent| sent.0);
                        if sent != *mask {
                            wrong.push(format!(
                                "shard {shard} second {second}: sent {sent:04b}, merged {mask:04b}"
                            ));
                        }
                        if listed && *mask == ALL && !self.in_part.contains(&cell) {
                            wrong.push(format!(
                                "shard {shard} second {second} is merged and listed"
                            ));
                        }
                    }
                    (None, true) => {}
                }
            }
        }
        if let Some((cell, _)) =
            self.merged.iter().find(|(cell, _)| cell.1 >= cells.seconds || cell.0 >= cells.shards)
        {
            wrong.push(format!("shard {} second {} was merged, beyond the run", cell.0, cell.1));
        }
        for what in wrong {
            self.fail(what);
        }
    }

    /// Pauses and their ends, with the second from which on each holds.
    fn pauses(&self) -> Vec<(u32, bool)> {
        let pause = |change: &Change| match change {
            Change::Pause { from } => Some((*from, true)),
            Change::GoOn { from } => Some((*from, false)),
            _ => None,
        };
        self.changes.0.iter().filter_map(pause).collect()
    }

    /// What was sent in a second is what follows from the pauses so far, unless the node had not heard of one.
    fn check_places(&mut self, pauses: &[(u32, bool)]) {
        for sent in std::mem::take(&mut self.placed) {
            let (shard, second) = sent.cell;
            let news = pauses.iter().skip(sent.heard);
            if sent.place.is_none() || news.clone().any(|(from, _)| *from <= second) {
                self.unheard += 1;
                continue;
            }
            let is_paused =
                pauses.iter().rev().find(|own| own.0 <= second).is_some_and(|own| own.1);
            let place = without_pauses(pauses.iter().copied(), second);
            if (is_paused && sent.mask != 0) || sent.place != Some(place) {
                self.fail(format!(
                    "shard {shard} second {second}: sent {:04b} of second {:?} of the load, and not of {place}{}",
                    sent.mask,
                    sent.place,
                    if is_paused { ", where it stands still" } else { "" }
                ));
            }
        }
    }

    /// Everything that a node that ended in order has recorded was merged.
    pub fn check_recorded(&mut self, node: usize, recorded: &[(u32, u32)]) {
        let lost: Vec<u32> = recorded
            .iter()
            .filter(|cell| !self.merged.contains_key(cell))
            .map(|cell| cell.1)
            .collect();
        if !lost.is_empty() {
            self.fail(format!(
                "node {node} recorded what was not merged: seconds {}",
                ranges::text(&{
                    let mut lost = lost;
                    lost.sort_unstable();
                    lost.dedup();
                    lost
                })
            ));
        }
    }
}
