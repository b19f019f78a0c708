//! How much steps may inherit: each step has all of it, so that few lines of a plan may come to a lot.

use squall_plan::span::Span;

/// What steps may inherit all together, in bytes of text and [`WEIGHT`] for each header and tag.
pub(super) const MAX_INHERITED: usize = 64 << 20;
/// Bytes that a header or a tag counts for beside its text.
pub(super) const WEIGHT: usize = 64;

/// What further steps may inherit.
#[derive(Debug)]
pub(super) struct Inherited {
    pub(super) left: usize,
    /// The tags that were last put on.
    pub(super) tags: Span,
}

impl Default for Inherited {
    fn default() -> Self {
        Inherited { left: MAX_INHERITED, tags: Span::default() }
    }
}
