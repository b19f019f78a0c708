//! `squall k6`: k6's command line, so that a build that runs k6 can run squall in its place, and what scripts need before.

mod fetch;
mod log;
mod metric_kinds;
mod output;
mod run;
mod stats;
mod summary;
mod write;

use crate::args::{K6, K6Command};
use crate::exit::CommandResult;

/// Does what k6 would have been asked to.
pub fn command(line: &K6) -> CommandResult {
    match &line.command {
        K6Command::Run(own) => run::command(own),
        K6Command::Fetch(own) => fetch::command(own),
    }
}
