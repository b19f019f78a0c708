//! What users of scripts wait for.

use std::time::Duration;

/// What a user waits for.
#[derive(Debug, Clone, PartialEq)]
pub enum Wait {
    /// So much time.
    Sleep(Duration),
    /// A request, by its number among those that whoever runs the user keeps.
    Request(u64),
}

/// What has come of it.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// The time has passed, or what was asked for is there.
    Ready,
}
