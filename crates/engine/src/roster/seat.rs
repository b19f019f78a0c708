//! The number of a user in its load, and what it may do with it. Plain data.

/// A virtual user as its load counts it: a number over all workers and nodes, never given twice at
/// the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seat {
    pub number: u64,
    pub load: u16,
    pub scenario: u16,
}

/// What takes a seat.
pub(crate) trait Seated {
    /// The seat that it has.
    fn seat(&self) -> Seat;
}

/// What was counted of an iteration that has begun, for who goes on with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counted {
    /// Iterations that its user has begun.
    pub begun: u64,
    /// The shard that had it, of those that all users have together.
    pub shard: Option<u64>,
}

/// Whether a user may begin an iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Begin {
    Yes,
    /// Its load has no place or no iteration for it.
    No,
    /// It has done all its iterations, and its load ends with the first user that has.
    LoadIsDone,
}
