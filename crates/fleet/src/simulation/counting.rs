//! What must be true of iterations that are counted. Nobody can do an iteration exactly once whatever is lost; what a fleet
//! promises is: none is left out; what is known to have been done when shards are given on is not done again; what was not
//! done is listed; and the run ends when all is done.

use std::collections::BTreeMap;

use crate::protocol::messages::Cells;

use super::iterations::{Begun, Counted};

/// A process: its node, and which of the node's processes it is.
pub type Who = (usize, u32);
/// A shard in a second.
type Cell = (u32, u32);
/// An iteration: its load, its number (a user, or a shard of a number that all share), and which it is.
type Iteration = (u16, u64, u64);

/// Who has begun which iterations, and what the controller knew of it.
#[derive(Debug, Default)]
pub struct Counting {
    counted: Option<Counted>,
    /// Who has begun each iteration last, in which cell.
    begun: BTreeMap<Iteration, (Who, Cell)>,
    /// When each cell was merged, and when each shard was given on last, by the controller's present process.
    merged_at: BTreeMap<Cell, u64>,
    given_at: BTreeMap<u32, u64>,
    /// How many iterations were done again.
    pub again: u64,
}

impl Counting {
    pub fn new(counted: Option<Counted>) -> Counting {
        Counting { counted, ..Counting::default() }
    }

    /// Another process of the controller begins from nothing.
    pub fn restart(&mut self) {
        self.merged_at.clear();
        self.given_at.clear();
    }

    pub fn on_merged(&mut self, cell: Cell, time: u64) {
        self.merged_at.entry(cell).or_insert(time);
    }

    pub fn on_given(&mut self, shards: &[u32], time: u64) {
        self.given_at.extend(shards.iter().map(|shard| (*shard, time)));
    }

    /// An iteration is begun; what is wrong with that.
    pub fn on_begun(&mut self, who: Who, own: Begun) -> Option<String> {
        let Begun { load, number, iteration, shard, second } = own;
        let name = format!("iteration {iteration} of {number} of load {load}");
        let before = iteration
            .checked_sub(1)
            .is_none_or(|last| self.begun.contains_key(&(load, number, last)));
        if !before {
            return Some(format!("{name}, by node {}: the one before was never begun", who.0));
        }
        let (by, cell) = self.begun.insert((load, number, iteration), (who, (shard, second)))?;
        self.again += 1;
        let was_known = match (self.merged_at.get(&cell), self.given_at.get(&shard)) {
            (Some(merged), Some(given)) => merged < given,
            _ => false,
        };
        (by == who || was_known).then(|| {
            format!(
                "{name} was begun in second {} by node {} and again in second {second} by node {}{}",
                cell.1,
                by.0,
                who.0,
                if was_known { ", though it was known when the shard was given on" } else { "" }
            )
        })
    }

    fn is_done(&self, counted: Counted, shard: u32) -> bool {
        counted.of_shard(shard).all(|(load, number, count)| {
            count.checked_sub(1).is_none_or(|last| self.begun.contains_key(&(load, number, last)))
        })
    }

    /// The load has ended by itself, which would have lasted for so many seconds at most, and stands still at the end if
    /// `is_paused`; what is wrong with that.
    pub fn on_ended(&self, cells: &Cells, length: u32, is_paused: bool) -> Option<String> {
        let counted = self.counted?;
        let last = cells.seconds.checked_sub(1)?;
        let open: Vec<u32> =
            (0..cells.shards).filter(|shard| !self.is_done(counted, *shard)).collect();
        if cells.seconds >= length {
            // Who has shards of which it is not known that they are done does that again, which it cannot in a pause.
            let is_late = open.is_empty() && !is_paused;
            return is_late.then(|| "all was done, and the run went on to its last second".into());
        }
        let is_listed = |shard: &u32| {
            cells.missing.iter().any(|entry| entry.shards.contains(shard) && entry.to >= last)
        };
        let unlisted: Vec<u32> = open.into_iter().filter(|shard| !is_listed(shard)).collect();
        (!unlisted.is_empty()).then(|| {
            format!("the run ended in second {last}, and shards {unlisted:?}, which are not done, are not listed")
        })
    }
}
