//! `squall baseline`: a run as a small file to compare others with.

use std::fs;

use squall_base::units::bytes;
use squall_report::{Side, encode_baseline, find_run};

use crate::args::{Baseline, BaselineCommand};
use crate::exit::{CommandError, CommandResult, Exit};
use crate::out;

/// Keeps a run.
pub fn command(args: &Baseline) -> CommandResult {
    let BaselineCommand::Save { run, file, folder } = &args.command;
    let path = find_run(folder, run).map_err(CommandError::bad_input)?;
    let side = Side::load(&path).map_err(CommandError::bad_input)?;
    let Some(sketch) = side.measured.sketch() else {
        let text =
            format!("{run}: a run.json alone has no seconds of each row: save the run's folder");
        return Err(CommandError::bad_input(text));
    };
    let encoded = encode_baseline(&side.about, sketch);
    fs::write(file, &encoded)
        .map_err(|error| CommandError::incomplete(format!("{}: {error}", file.display())))?;
    let rows = sketch.rows.len();
    out::print(&format!("{}: {rows} rows, {}\n", file.display(), bytes(encoded.len() as u64)));
    Ok(Exit::Ok)
}
