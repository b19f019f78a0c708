//! A closed workload: how many users there should be, and how many iterations are left for them.

use squall_load::{Share, UserChanges};

use super::Begin;
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
    /// The share's part of the iterations of all users together, as far as not begun.
    left: u64,
}

impl Closed {
    pub(super) fn new(shape: &ClosedShape, share: &Share) -> Closed {
        Closed {
            changes: UserChanges::new(&shape.users, share),
            first: true,
            iterations: shape.iterations.unwrap_or(u64::MAX),
            together: shape.together,
            left: shape.total_iterations.map_or(u64::MAX, |total| share.count_below(total)),
        }
    }

    /// When the number of users changes next, in the load's time.
    pub(super) fn due(&self) -> Option<Nanos> {
        if self.first { Some(0) } else { self.changes.peek() }
    }

    /// The number of users in the share at a time.
    pub(super) fn change(&mut self, time: Nanos) -> u64 {
        self.first = false;
        self.changes.advance(time)
    }

    /// The same load as another share has it. Iterations stay with whom they were given to.
    pub(super) fn reshare(&mut self, shape: &ClosedShape, share: &Share) {
        *self = Closed { left: self.left, ..Closed::new(shape, share) };
    }

    /// Whether a user may begin its `iteration`-th iteration, from 0; counts it if so.
    pub(super) fn begin(&mut self, iteration: u64) -> Begin {
        if iteration >= self.iterations {
            return if self.together { Begin::LoadIsDone } else { Begin::No };
        }
        if self.left == 0 {
            return Begin::No;
        }
        if self.left != u64::MAX {
            self.left -= 1;
        }
        Begin::Yes
    }
}
