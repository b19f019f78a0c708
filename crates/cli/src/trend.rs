//! `squall trend`: a measure over many runs.

use squall_analysis::MeasureOf;
use squall_report::Extent;

use crate::args::Trend;
use crate::compare::{json, write, wrong};
use crate::exit::{CommandResult, Exit};
use crate::{history, out};

/// Shows a measure over many runs, and where it stepped.
pub fn command(args: &Trend) -> CommandResult {
    let of = MeasureOf::parse(&args.measure);
    let of = of.map_err(|error| wrong("--measure", &args.measure, &error))?;
    let runs = history::runs(&args.runs, Extent::Rows)?;
    let document = squall_report::trend(&runs, &of);
    match &args.runs.json {
        Some(target) => write(target, &json(&document))?,
        None => out::print(&squall_report::trend_text(&document, &out::show())),
    }
    Ok(Exit::Ok)
}
