//! k6: plans made of its scripts and options, and its summary of a run. Runs nothing.

#[cfg(test)]
mod golden;
pub mod output;
pub mod summary;
