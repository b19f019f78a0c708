//! `squall baseline`: runs as a small file to compare others with.

use std::fs;

use squall_base::units::{bytes, counted};
use squall_report::encode_baseline;

use crate::args::{Baseline, BaselineCommand};
use crate::compare::side;
use crate::exit::{CommandError, CommandResult, Exit};
use crate::out;

pub fn command(args: &Baseline) -> CommandResult {
    let BaselineCommand::Save { run, file, last, folder } = &args.command;
    let side = side(folder, run, last.map_or(1, |last| last as usize))?;
    let Some(sketch) = side.measured.sketch() else {
        let text = format!(
            "{}: a run.json alone has no seconds of each row: save the run's folder",
            side.name
        );
        return Err(CommandError::bad_input(text));
    };
    let abouts: Vec<_> = side.runs.iter().map(|(_, about)| about.clone()).collect();
    let encoded = encode_baseline(&abouts, sketch);
    fs::write(file, &encoded)
        .map_err(|error| CommandError::incomplete(format!("{}: {error}", file.display())))?;
    let (rows, runs) = (sketch.rows.len(), counted(abouts.len() as u64, "run"));
    let size = bytes(encoded.len() as u64);
    out::print(&format!("{}: {runs}, {rows} rows, {size}\n", file.display()));
    Ok(Exit::Ok)
}
