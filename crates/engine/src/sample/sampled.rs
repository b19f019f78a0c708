//! When a user can go on, and what became of a sample of its.

use super::page::Found;
use crate::post::OnTheWay;

/// A moment at which a user can go on, on the run's clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    /// When it could: a response has arrived then, for instance.
    pub ready: u64,
    /// When squall saw that, which is later: what it does from now on it does at that time.
    pub seen: u64,
}

impl Moment {
    /// A moment that squall has not missed.
    pub(crate) fn at(now: u64) -> Self {
        Moment { ready: now, seen: now }
    }
}

/// What became of a sample, for the user.
pub(crate) struct Sampled {
    pub failed: bool,
    /// When it was over.
    pub end: Moment,
    /// The name under which it was counted.
    pub name: u32,
    /// The resources that its reply names.
    pub found: Option<Box<Found>>,
    /// What extracts of its page found in it, if it is a resource.
    pub on_the_way: OnTheWay,
}
