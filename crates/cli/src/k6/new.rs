//! `squall k6 new`: a script to start from.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};

use crate::args::K6New;
use crate::exit::{CommandError, CommandResult, Exit};
use crate::out;

/// The script: it runs as it is, against `squall target`.
const SCRIPT: &str = include_str!("new.js");

/// Writes the script. A file that is there is overwritten only if that is asked for.
pub fn command(args: &K6New) -> CommandResult {
    let path = args.file.display();
    let mut options = OpenOptions::new();
    options.write(true);
    match args.force {
        true => options.create(true).truncate(true),
        false => options.create_new(true),
    };
    let written = options.open(&args.file).and_then(|mut file| file.write_all(SCRIPT.as_bytes()));
    let failed = |why: String| {
        Err(CommandError { exit: Exit::BadCommand, text: format!("squall: {path}: {why}") })
    };
    match written {
        Ok(()) => {
            out::print(&format!(
                "wrote {path}\nnext: `squall target` in another terminal, then `squall k6 run {path}`\n"
            ));
            Ok(Exit::Ok)
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            failed("it is there already: give another name, or `--force`".to_owned())
        }
        Err(error) => failed(error.to_string()),
    }
}
