//! A closed workload: how many users there should be, and how many iterations are left for them.

use squall_load::{Share, UserChanges};

use super::part::IterationsLeft;
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
}

impl Closed {
    pub(super) fn new(shape: &ClosedShape, users: &Share, left: IterationsLeft) -> Closed {
        Closed {
            changes: UserChanges::new(&shape.users, users),
            first: true,
            iterations: shape.iterations.unwrap_or(u64::MAX),
            together: shape.together,
            left,
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

    /// Whether a user may begin its `iteration`-th iteration, from 0; counts it if so.
    pub(super) fn begin(&mut self, iteration: u64) -> Begin {
        if iteration >= self.iterations {
            return if self.together { Begin::LoadIsDone } else { Begin::No };
        }
        if self.left.take() { Begin::Yes } else { Begin::No }
    }
}
