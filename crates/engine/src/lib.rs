//! squall's engine: runs a plan. It compiles it to a program, makes users, drives load, records.
//!
//! The way of the data is one direction: [`compile`] makes a [`Program`] of a plan; [`run`] starts
//! the workers and hands their slices, one a worker and second, to the caller. Nothing downstream
//! calls back; a [`Stopper`] ends a run from elsewhere.

mod judge;
mod parts;
mod program;
mod render;
mod run;
mod schedule;
mod scope;
mod trace;
mod user;
mod worker;

pub use program::{
    CompileOptions, DEFAULT_GRACEFUL_STOP, Feeds, Program, Section, advise, compile,
};
pub use run::{Ended, Event, LogLine, RunOptions, Stopper, run};
pub use trace::{Exchange, Trace, Which};
