//! What a node recorded in a second, as a message: small and exact.
//!
//! A node merges its workers before it speaks; the controller merges the nodes, bucket by bucket, into one slice a second
//! ([`Merger`]). Each message stands for itself, with the names of its rows, because any may be lost or come late. What
//! describes a node alone becomes metrics that bear its name ([`facts()`]).

mod accounts;
mod aside;
mod bytes;
mod copies;
mod facts;
mod merger;
mod message;
mod names;
#[cfg(test)]
mod tests;

use squall_metrics::{Slice, Source};

pub use aside::{Aside, LeftOut, SeenAside};
pub use facts::{Fact, facts};
pub use merger::{MAX_NODES_WITH_FACTS, Merger};
pub use message::{Decoder, Record, decode, encode, section_bytes};
pub use squall_metrics::DecodeError;

/// Any bytes as a record, or as what is encrypted in one: they are refused, or are merged into a slice that can be written
/// and read again.
pub(crate) fn fuzz(bytes: &[u8]) {
    let _refused = SeenAside::default().read(bytes);
    let Ok(record) = decode(bytes) else { return };
    let mut merger = Merger::new();
    merger.add("n", "z", 0, &record);
    if let Some(slice) = merger.take(0, Source::Worker(0)) {
        let mut written = Vec::new();
        slice.encode(&mut written);
        let again = Slice::decode(&mut &written[..]);
        assert!(again.is_ok_and(|again| again.rows().eq(slice.rows())));
    }
    assert!(merger.take_facts(0, Source::Monitor(0)).is_some());
}
