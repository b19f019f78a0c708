//! squall's engine: runs a plan. It compiles it to a program, makes users, drives load, records.
//!
//! The way of the data is one direction: [`compile`] makes a [`Program`] of a plan; [`run()`] starts
//! the workers and hands their slices, one a worker and second, to the caller. Nothing downstream
//! calls back; a [`Control`] ends a run from elsewhere.

mod behaviour;
mod clock;
mod follow;
mod found;
#[doc(hidden)]
pub mod fuzz;
mod long_body;
mod messages;
mod net;
mod parts;
mod post;
mod profile;
mod program;
mod progress;
mod record;
mod roster;
mod rows;
mod run;
mod sample;
mod scope;
mod scratch;
mod scripts;
mod session;
mod shared_rows;
mod shared_values;
#[cfg(test)]
mod testing;
mod together;
mod trace;
mod turns;
mod user;
mod worker;

pub use follow::{Followed, Ordered};
pub use messages::{ErrorExample, LogLine};
pub use parts::trace_context::TraceId;
pub use parts::url::host_name;
pub use program::{
    Alone, CompileOptions, DEFAULT_GRACEFUL_STOP, Feeds, Judged, KnownScripts, Node, Planned,
    Program, Refused, ScriptParts, Section, Subjects, advise, compile, compile_or_refuse,
    misjudged,
};
pub use progress::Progress;
pub use run::{Control, Ended, Event, RunOptions, run};
pub use squall_script::{LOCK as SCRIPT_LOCK, ReadFile};
pub use trace::{
    Exchange, ExchangeCopy, ExchangeFilter, Extracted, Measured, SeenGroup, Spares, StatedResponse,
    Tally, Trace,
};
