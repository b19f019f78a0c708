//! A closed workload: how many users there should be, and how many iterations are left for them.

use squall_load::{Share, UserChanges};

use super::iterations::{IterationsLeft, Taken};
use super::seat::Begin;
use crate::profile::{ClosedShape, Nanos};

/// State of a share of a closed workload.
pub(super) struct Closed {
    changes: UserChanges,
    /// Whether the users of time 0 are still to come.
    first: bool,
    /// Most iterations of a user.
    iterations: u64,
    /// Whether the load ends with the first user that has done them.
    together: bool,
    /// The iterations of all users together, as far as not begun.
    left: IterationsLeft,
    /// The shard of which the last one was.
    taken: Option<u64>,
}

impl Closed {
    pub(super) fn new(shape: &ClosedShape, users: &Share, left: IterationsLeft) -> Closed {
        Closed {
            changes: UserChanges::new(&shape.users, users),
            first: true,
            iterations: shape.iterations.unwrap_or(u64::MAX),
            together: shape.together,
            left,
            taken: None,
        }
    }

    /// When the number of users changes next, in the load's time. `None`: it does not, or users that come then would have
    /// no iteration.
    pub(super) fn due(&self) -> Option<Nanos> {
        match self.first {
            true => Some(0),
            false => self.changes.peek().filter(|_| !self.left.is_empty()),
        }
    }

    /// The number of users in the share at a time.
    pub(super) fn change(&mut self, time: Nanos) -> u64 {
        self.first = false;
        self.changes.advance(time)
    }

    /// The same load as another share has it, or with another number of users. Iterations stay with whom they were given to.
    pub(super) fn reshare(&mut self, shape: &ClosedShape, users: &Share) {
        *self = Closed::new(shape, users, std::mem::take(&mut self.left));
    }

    /// What all users have together of its iterations.
    pub(super) fn left(&self) -> &IterationsLeft {
        &self.left
    }

    /// The shard that had the iteration which was begun last, of those that all users have together.
    pub(super) fn taken(&self) -> Option<u64> {
        self.taken
    }

    /// Whether a user may begin its `iteration`-th iteration, from 0; counts it if so.
    pub(super) fn begin(&mut self, user: u64, iteration: u64) -> Begin {
        if iteration >= self.iterations {
            return if self.together { Begin::LoadIsDone } else { Begin::No };
        }
        self.taken = match self.left.take(user) {
            Taken::Nothing => return Begin::No,
            Taken::Free => None,
            Taken::Of(shard) => Some(shard),
        };
        Begin::Yes
    }
}
