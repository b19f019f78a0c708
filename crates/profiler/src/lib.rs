//! Profiles at the peak: where the target spends its CPU time while it is under load. A [`Profiler`] is a sink of the run. It
//! begins at a time, or when what was recorded in a second asks for it; then `perf`, or for a JVM its flight recorder, runs
//! under a supervisor, and what it prints becomes the stacks of a [`squall_report::Profile`].
//!
//! Whatever goes wrong is a warning of the run, never its failure.

mod begin;
mod jfr;
mod native;
mod plan;
mod profiler;
mod stop;
mod take;
mod tools;

pub use plan::problem;
pub use profiler::Profiler;
