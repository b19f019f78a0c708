//! How fast the bytes of an exchange may come and go.

use std::task::{Context, Poll};

/// Bounds bytes a second. An exchange asks before it reads or writes, and tells what it did.
pub trait Flow {
    /// How many bytes may come now, at least 1. `Pending`: none; the task is woken when one may.
    fn poll_down(&self, cx: &mut Context<'_>) -> Poll<usize>;

    /// How many bytes may go now, at least 1. `Pending`: none; the task is woken when one may.
    fn poll_up(&self, cx: &mut Context<'_>) -> Poll<usize>;

    /// So many bytes came.
    fn came(&self, bytes: usize);

    /// So many bytes went.
    fn went(&self, bytes: usize);
}
