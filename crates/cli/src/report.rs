//! `squall report` and `squall export`: the result of a run again, finished or broken off, and what was
//! recorded for other programs.

use std::fs::File;
use std::io::{BufWriter, Write};

use squall_report::{FileKind, Finished, Show};

use crate::args::{Export, Report};
use crate::exit::{CommandError, CommandResult, Exit};
use crate::run::write_json;
use crate::{files, out};

/// Prints a run's result, or writes it as files.
pub fn command(args: &Report) -> CommandResult {
    let draws = args.out.iter().any(|file| file.kind == FileKind::Html);
    let load = if draws { squall_report::load_folder_to_draw } else { squall_report::load_folder };
    let run = match args.run.is_dir() {
        true => Some(load(&args.run).map_err(CommandError::bad_input)?.0),
        false => None,
    };
    let document = match &run {
        Some(run) => squall_report::document(run),
        None => squall_report::load(&args.run).map_err(CommandError::bad_input)?,
    };
    let folder = run.is_some().then_some(args.run.as_path());
    files::write(&args.out, Finished { document: &document, run: run.as_ref(), folder })
        .map_err(CommandError::incomplete)?;
    match &args.json {
        Some(target) => write_json(&document, target).map_err(CommandError::incomplete)?,
        None if args.out.is_empty() => {
            let show = Show { full: args.full, explain: args.explain, ..out::show() };
            out::print(&squall_report::text(&document, &show));
        }
        None => {}
    }
    Ok(Exit::of_run(&document))
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
