//! How much of a body is read as markup.

use crate::error::ExtractError;

/// The deepest nesting of elements that is read, as browsers have it.
pub(super) const DEPTH_LIMIT: usize = 512;
/// The most attributes that are read in one tag.
pub(super) const ATTRIBUTES_LIMIT: usize = 4096;
/// The most different names of elements and attributes that are read in one body.
pub(super) const NAMES_LIMIT: usize = 1 << 16;

/// The most nodes that are read of a body, and the most attributes. Pages have a node for every
/// 20 to 40 bytes. With about 60 bytes for each node while a page is read, the limit bounds the
/// memory to 30 MB and about five times the body.
pub(super) fn nodes_limit(bytes: usize) -> usize {
    500_000 + bytes / 20
}

pub(super) fn too_many(what: &'static str, limit: usize) -> ExtractError {
    ExtractError::TooLarge { what, limit }
}

pub(super) fn too_many_attributes() -> ExtractError {
    ExtractError::TooLarge { what: "attributes in one tag", limit: ATTRIBUTES_LIMIT }
}
