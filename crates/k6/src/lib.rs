//! k6: plans made of its scripts and options, and its summary of a run. Runs nothing.

#[cfg(test)]
mod golden;
pub mod options;
pub mod output;
pub mod plan;
pub mod script;
pub mod secrets;
pub mod summary;
