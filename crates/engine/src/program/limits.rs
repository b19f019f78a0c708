//! Bounds of a sample: how long it may take, and how much may come. Plain data.

use std::time::Duration;

use squall_plan::template::BoundTemplate;

/// Bounds of a request, in nanoseconds and bytes; `u64::MAX`: none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Waiting for a connection of the plan's pool.
    pub pool: u64,
    pub connect: u64,
    pub first_byte: u64,
    pub total: u64,
    pub all: u64,
    pub redirects: u32,
    pub max_body: u64,
    /// Most decompressed bytes for each byte of a compressed body.
    pub max_decompression_ratio: u64,
    /// How much of the body's beginning is kept for those who read it.
    pub keep: u64,
    /// Whether compressed responses are asked for, and so may have to be decompressed.
    pub compression: bool,
}

impl Limits {
    /// Everything as long and as large as it comes, of which nothing is kept.
    pub const NONE: Limits = Limits {
        pool: u64::MAX,
        connect: u64::MAX,
        first_byte: u64::MAX,
        total: u64::MAX,
        all: u64::MAX,
        redirects: 0,
        max_body: u64::MAX,
        max_decompression_ratio: u64::MAX,
        keep: 0,
        compression: false,
    };
}

/// A limit of time.
#[derive(Debug)]
pub(crate) enum TimeOp {
    Known(Duration),
    OfUser(BoundTemplate),
}

/// The limits of a request, where one of them is made from the user's variables.
#[derive(Debug)]
pub(crate) struct TimeoutsOp {
    pub pool: TimeOp,
    pub connect: TimeOp,
    pub first_byte: TimeOp,
    pub total: TimeOp,
    pub all: TimeOp,
}
