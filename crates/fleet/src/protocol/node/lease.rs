//! A node's lease: how long it may go on without the server.

use crate::protocol::units::Nanos;

/// A lease, which every acknowledged message of the process renews from when it was published *first*: the controller has
/// read it then at the earliest. (The time of the acknowledgement, or of a later attempt, would promise more than the
/// controller knows.)
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease {
    base: Nanos,
    length: Nanos,
    is_renewed: bool,
}

impl Lease {
    /// A lease that begins now.
    pub fn new(now: Nanos, length: Nanos) -> Lease {
        Lease { base: now, length, is_renewed: false }
    }

    /// A message that was published first at `first` is stored.
    pub fn renew(&mut self, first: Nanos) {
        self.is_renewed |= first >= self.base;
        self.base = self.base.max(first);
    }

    /// Begins anew after a fence: nothing renews it that was published before.
    pub fn restart(&mut self, now: Nanos) {
        (self.base, self.is_renewed) = (now, false);
    }

    /// Whether the node may drive shards: something was acknowledged that it has published since the lease began.
    pub fn is_valid(&self, now: Nanos) -> bool {
        self.is_renewed && now < self.end()
    }

    /// When it is over.
    pub fn end(&self) -> Nanos {
        self.base.saturating_add(self.length)
    }

    /// How often something must be stored, so that it is renewed in time.
    pub fn renewal(&self) -> Nanos {
        self.length / 4
    }

    /// Its length.
    pub fn length(&self) -> Nanos {
        self.length
    }

    /// Gives it another length.
    pub fn set_length(&mut self, length: Nanos) {
        self.length = length;
    }
}
