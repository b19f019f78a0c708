//! k6's scripts, summed up and told of as k6 would.

mod metric_kinds;
pub mod output;
mod points;
pub mod summary;
pub mod write;
