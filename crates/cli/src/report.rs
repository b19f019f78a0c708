//! `squall report`: the result of a run again, also of one that was broken off.

use std::io::IsTerminal;

use crate::args::Report;
use crate::collect::write_json;
use crate::exit::{Exit, Failure, Outcome};
use crate::out;

/// Prints a run's result.
pub fn command(args: &Report) -> Outcome {
    let run = squall_report::load(&args.run).map_err(Failure::bad_input)?;
    match &args.json {
        Some(target) => write_json(&run, target)?,
        None => out::print(&squall_report::text(&run, std::io::stdout().is_terminal())),
    }
    Ok(if run.passed() { Exit::Ok } else { Exit::Failed })
}
