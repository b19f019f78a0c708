//! A record of a recording, as it is on disk.

/// How a record is compressed: its first byte.
pub(super) const ZSTD: u8 = 2;
/// Largest record, in bytes.
pub(super) const MAX_RECORD: usize = 256 << 20;

/// A record as it is on disk.
pub(super) struct Record {
    pub at: usize,
    pub bytes: Vec<u8>,
}
