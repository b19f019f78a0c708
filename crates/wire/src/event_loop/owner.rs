//! What an event loop works for.

/// What an event loop asks and tells its owner.
pub trait LoopOwner {
    /// When the loop has to go on though nothing has happened, in ns on the client's clock;
    /// `u64::MAX`: never. Asked only with io_uring: with epoll the owner has a timer of its own.
    fn next_deadline(&self) -> u64;

    /// The deadline is over: wakes the part of the loop's future that waits for it.
    fn on_deadline(&self);

    /// The future was polled, which took so many ns.
    fn on_iteration(&self, took_ns: u64);
}
