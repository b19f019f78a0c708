//! How a sample counts, when a user can go on, and what became of it.

use squall_metrics::PlaceId;

use super::page::Found;
use crate::post::OnTheWay;
use crate::program::RowOp;

/// How a sample counts, whatever performs it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SampleHead<'a> {
    /// The name under which it is counted, where that is known before.
    pub name: Option<u32>,
    /// Where it counts if it has no name.
    pub place: PlaceId,
    /// The number of its step.
    pub step: &'a str,
    /// What it does, in a word, for samples that came to nothing before they had a name.
    pub kind: &'a str,
    /// Whether it counts in the record.
    pub is_counted: bool,
    /// Whether its latency is also counted from when it should have been sent, where the load says
    /// when that was.
    pub is_scheduled: bool,
    /// Whether it is a resource of a page.
    pub is_of_page: bool,
}

impl<'a> SampleHead<'a> {
    /// Of a step of the plan.
    pub(crate) fn of(row: &'a RowOp, kind: &'a str, is_scheduled: bool) -> Self {
        SampleHead {
            name: row.name.known(),
            place: row.place,
            step: &row.step,
            kind,
            is_counted: row.counted,
            is_scheduled,
            is_of_page: false,
        }
    }
}

/// A moment at which a user can go on, on the run's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
