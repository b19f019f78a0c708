//! `squall report`: prints the result of a run again, finished or broken off.

use crate::args::Report;
use crate::exit::{CommandError, CommandResult, Exit};
use crate::out;
use crate::run::write_json;

/// Prints a run's result.
pub fn command(args: &Report) -> CommandResult {
    let run = squall_report::load(&args.run).map_err(CommandError::bad_input)?;
    match &args.json {
        Some(target) => write_json(&run, target).map_err(CommandError::incomplete)?,
        None => out::print(&squall_report::text(&run, out::has_colors())),
    }
    Ok(if run.passed() { Exit::Ok } else { Exit::Failed })
}
