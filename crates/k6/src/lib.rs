//! k6: plans made of its scripts and options, and its summary of a run. Runs nothing.

pub mod options;
pub mod plan;
pub mod script;
pub mod summary;
