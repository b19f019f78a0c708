//! Scripts in JavaScript that users of a load test run.
//!
//! `engine` is the interpreter: the one module with `unsafe`. Everything else is built on what it offers, and knows
//! neither the interpreter's C functions nor stacks.

mod engine;
mod module;
mod wait;

pub use engine::{Aborted, Call, Fiber, Held, Limits, Realm, Scope, Step, Thrown, Value};
pub use module::{Language, Module, Offence, Place, SyntaxError};
pub use wait::{Answer, Wait};
