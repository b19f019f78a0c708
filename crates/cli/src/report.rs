//! `squall report` and `squall export`: the result of a run again, finished or broken off, and what was
//! recorded for other programs.

use std::fs::File;
use std::io::{BufWriter, Write};

use crate::args::{Export, Report};
use crate::exit::{CommandError, CommandResult, Exit};
use crate::out;
use crate::run::write_json;

/// Prints a run's result.
pub fn command(args: &Report) -> CommandResult {
    let run = squall_report::load(&args.run).map_err(CommandError::bad_input)?;
    match &args.json {
        Some(target) => write_json(&run, target).map_err(CommandError::incomplete)?,
        None => out::print(&squall_report::text(&run, &out::show(args.explain))),
    }
    Ok(Exit::of_run(&run))
}

/// Writes what was recorded in a run.
pub fn export(args: &Export) -> CommandResult {
    let (run, mut recording) =
        squall_report::load_folder(&args.run).map_err(CommandError::bad_input)?;
    let mut write =
        |to: &mut (dyn Write + Send)| squall_report::export(&run, &mut recording, args.format, to);
    let written = match &args.out {
        Some(path) => File::create(path).and_then(|file| {
            let mut file = BufWriter::new(file);
            write(&mut file)?;
            file.flush()
        }),
        None => {
            let mut printed = BufWriter::new(out::Printed);
            write(&mut printed).and_then(|()| printed.flush())
        }
    };
    let name =
        args.out.as_ref().map_or("the standard output".into(), |path| path.to_string_lossy());
    written.map_err(|error| CommandError::incomplete(format!("{name}: {error}")))?;
    Ok(Exit::Ok)
}
