//! Outputs of made-up runs held against files, and folders that are written and read again. One binary of tests for all, as
//! each would be linked anew; `memory.rs` beside it looks at the whole process, and stays alone.

mod common;
mod comparison;
mod documentation;
mod experiment;
mod fleet;
mod golden;
mod golden_limit;
mod page;
mod recording;
mod target;
mod validity;
