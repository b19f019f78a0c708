//! What one extraction may look at and keep: the bounds that a caller sets on hostile bodies.

/// Bounds on the bodies that extractors read and on what they take out of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The longest body, in bytes, that an extractor looks at.
    pub body_bytes: usize,
    /// The most values that one extraction gives.
    pub results: usize,
    /// The most memory, in bytes, that the values of one extraction take. A JSON array or object
    /// counts as [`JSON_VALUE_BYTES`] for each value in it and the bytes of its text.
    pub result_bytes: usize,
}

impl Default for Limits {
    /// Bodies of 16 MiB, 100,000 values, 64 MiB of values.
    fn default() -> Self {
        Limits { body_bytes: 16 << 20, results: 100_000, result_bytes: 64 << 20 }
    }
}

/// What one value in a JSON array or object is counted as, in bytes: a `serde_json::Value`, its
/// place in a list or table, and the room that the list or table keeps for growth.
pub const JSON_VALUE_BYTES: usize = 160;
