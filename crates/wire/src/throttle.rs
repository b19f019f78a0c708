//! How fast the bytes of an exchange may come and go.

use std::task::{Context, Poll};

/// Bounds bytes a second. An exchange asks before it reads or writes, and tells what it did.
pub trait Throttle {
    /// How many bytes may come now, at least 1. `Pending`: none; the task is woken when one may.
    fn poll_receive_budget(&self, cx: &mut Context<'_>) -> Poll<usize>;

    /// How many bytes may go now, at least 1. `Pending`: none; the task is woken when one may.
    fn poll_send_budget(&self, cx: &mut Context<'_>) -> Poll<usize>;

    /// So many bytes came.
    fn on_received(&self, bytes: usize);

    /// So many bytes went.
    fn on_sent(&self, bytes: usize);
}

/// How many bytes may be read now.
pub(crate) fn receive_budget(throttle: Option<&dyn Throttle>, cx: &mut Context<'_>) -> Poll<usize> {
    throttle.map_or(Poll::Ready(usize::MAX), |throttle| throttle.poll_receive_budget(cx))
}

/// How many bytes may be written now.
pub(crate) fn send_budget(throttle: Option<&dyn Throttle>, cx: &mut Context<'_>) -> Poll<usize> {
    throttle.map_or(Poll::Ready(usize::MAX), |throttle| throttle.poll_send_budget(cx))
}
