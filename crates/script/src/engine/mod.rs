//! The interpreter: quickjs-ng with one realm for many users, each of whom runs on a stack of its own, so that a function
//! that a script calls can wait, however deep in the script it is called.
//!
//! The only module with `unsafe`. What has to hold, and where it is made to:
//! - A realm is used by one thread: nothing here is `Send` (raw pointers, `Rc`).
//! - What runs now is one place of the runtime. It changes hands at each switch, with the jobs of promises and the limit of
//!   the stack (`fiber.rs`, `squall-quickjs`' `added.c`).
//! - A coroutine that waits is never dropped as it is: that would unwind through frames of C, which know no unwinding. It
//!   goes on once more with an error that nothing catches, and ends in order (`Fiber`'s `Drop`).
//! - Nobody waits with an exception pending: one of which a function in C took no notice is forgotten. No function of the host
//!   holds a borrow while it waits.
//! - Values are counted by the interpreter: a [`Value`] is one count, and gives it back.

mod call;
mod caller;
mod fiber;
mod held;
mod native;
mod objects;
mod realm;
mod rejected;
mod stack;
#[cfg(test)]
mod tests;
mod thrown;
mod timers;
mod value;

pub use call::Call;
pub use fiber::{Aborted, Fiber, Step};
pub use held::Held;
pub use realm::{Limits, Realm, Scope};
pub use thrown::{Cause, Thrown};
pub use value::{Value, text};
