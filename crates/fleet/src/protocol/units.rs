//! What times, bytes and shards are.

use std::sync::Arc;

/// Nanoseconds of a process's own steady clock, from any origin.
pub type Nanos = u64;
/// Nanoseconds since 1970 by the controller's clock, which is the fleet's.
pub type FleetTime = i64;
/// Bytes that are shared in place of copied.
pub type Bytes = Arc<[u8]>;
/// Shards, ascending.
pub type Shards = Arc<[u32]>;

/// A millisecond.
pub const MS: Nanos = 1_000_000;
/// A second.
pub const SECOND: Nanos = 1_000_000_000;
