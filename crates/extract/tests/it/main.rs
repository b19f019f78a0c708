//! The public interface, over good, bad and hostile patterns and bodies. One binary of tests for all, as each would be linked
//! anew; `memory.rs` beside it has an allocator of its own, and stays alone.

mod adversarial;
mod extract;
mod never_panics;
mod suites;
