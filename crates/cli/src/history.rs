//! `squall history`: the runs of a folder.

use squall_report::{Extent, Filter, HistoryDocument};

use crate::args::{History, Runs};
use crate::compare::{json, write};
use crate::exit::{CommandError, CommandResult, Exit};
use crate::out;

pub fn command(args: &History) -> CommandResult {
    // Who reads the rows gets them.
    let extent = if args.runs.json.is_some() { Extent::Rows } else { Extent::Totals };
    let document = runs(&args.runs, extent)?;
    match &args.runs.json {
        Some(target) => write(target, &json(&document))?,
        None => out::print(&squall_report::history_text(&document, &out::show())),
    }
    Ok(Exit::Ok)
}

/// The runs that are meant, each as far as is wanted.
///
/// # Errors
/// The folder cannot be read.
pub fn runs(args: &Runs, extent: Extent) -> Result<HistoryDocument, CommandError> {
    let filter = Filter {
        plan: args.plan.clone(),
        labels: args.label.clone(),
        commit: args.commit.clone(),
        outcomes: args.outcome.clone(),
        validities: args.validity.clone(),
    };
    squall_report::history(&args.folder, &filter, extent).map_err(CommandError::bad_input)
}
