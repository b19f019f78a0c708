//! The parts of a share that a node follows.

use crate::protocol::messages::{Assignment, Part, Shards};
use crate::protocol::units::{MS, Nanos, SECOND};

/// Most parts that are kept; a second that is recorded belongs to one of the last.
const MOST: usize = 64;
/// How many a sign tells of.
const TOLD: usize = 16;
/// How long before a second begins the load must be told of it.
const AHEAD: Nanos = 100 * MS;

/// A part that the node follows.
#[derive(Debug, Clone)]
pub struct Taken {
    /// Its number.
    pub epoch: u32,
    /// From which second on, which may be later than wanted.
    pub from: u32,
    /// Its shards.
    pub shards: Shards,
    /// How far others were with what is new of them.
    pub progress: String,
}

/// What a node follows, and how often it was fenced.
#[derive(Debug, Default)]
pub struct Parts {
    taken: Vec<Taken>,
    /// How often it was fenced.
    pub fences: u32,
    /// From this second on it has driven nothing, since the last fence.
    pub fenced: u32,
    /// Whether it stands still since.
    pub is_fenced: bool,
}

impl Parts {
    /// The parts of an assignment that are new, for a load that began at `start`. A part that was made before the controller
    /// knew of the last fence is not followed: its shards may be another's by now.
    pub fn take(
        &mut self,
        assignment: &Assignment,
        boot: u64,
        start: Nanos,
        now: Nanos,
    ) -> Vec<Taken> {
        let mut new = Vec::new();
        for part in &assignment.parts {
            if part.boot != boot
                || part.fences < self.fences
                || self.taken.last().is_some_and(|last| last.epoch >= part.epoch)
            {
                continue;
            }
            let taken = Taken {
                epoch: part.epoch,
                from: self.from(part, start, now),
                shards: part.shards.clone(),
                progress: part.progress.clone(),
            };
            self.is_fenced &= taken.shards.is_empty();
            // What it says of others is needed but once.
            self.taken.push(Taken { progress: String::new(), ..taken.clone() });
            new.push(taken);
        }
        let extra = self.taken.len().saturating_sub(MOST);
        self.taken.drain(..extra);
        new
    }

    /// From which second on a part can be followed.
    fn from(&self, part: &Part, start: Nanos, now: Nanos) -> u32 {
        let mut from = part.from.max(self.taken.last().map_or(0, |last| last.from));
        if now + AHEAD > start {
            from = from.max(second_at(start, now + AHEAD) + 1);
        }
        if self.is_fenced { from.max(self.fenced) } else { from }
    }

    /// The part that it followed in a second.
    pub fn at(&self, second: u32) -> Option<&Taken> {
        self.taken.iter().rev().find(|taken| taken.from <= second)
    }

    /// The last one.
    pub fn last(&self) -> Option<&Taken> {
        self.taken.last()
    }

    /// What a sign tells of it.
    pub fn holds(&self) -> Vec<(u32, u32)> {
        let first = self.taken.len().saturating_sub(TOLD);
        self.taken[first..].iter().map(|taken| (taken.epoch, taken.from)).collect()
    }
}

/// The second of a load that began at `start`.
pub fn second_at(start: Nanos, now: Nanos) -> u32 {
    u32::try_from(now.saturating_sub(start) / SECOND).unwrap_or(u32::MAX - 1)
}
