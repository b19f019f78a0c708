//! `squall init`: a plan to start from, and its schema beside it, with which editors complete and check it.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use crate::args::Init;
use crate::exit::{CommandError, CommandResult, Exit};
use crate::out;

/// The name of the schema's file.
const SCHEMA: &str = "squall.schema.json";
/// The plan: it runs as it is, on the built-in target.
const PLAN: &str = include_str!("init.yaml");

/// Writes a plan to start from. Nothing that is there is overwritten.
pub fn command(args: &Init) -> CommandResult {
    let path = args.file.display();
    match create(&args.file, PLAN) {
        Ok(true) => {}
        Ok(false) => {
            let text =
                format!("{path} is there already: give another name, as in `squall init FILE`");
            return Err(CommandError::bad_input(text));
        }
        Err(error) => return Err(CommandError::bad_input(format!("{path}: {error}"))),
    }
    let schema = args.file.with_file_name(SCHEMA);
    let text = format!("{:#}\n", squall_plan::yaml::schema());
    let beside = match create(&schema, &text) {
        Ok(true) => format!(" and {}, with which editors check it", schema.display()),
        Ok(false) => String::new(),
        Err(error) => {
            let text = format!("{}: {error}", schema.display());
            return Err(CommandError::incomplete(text));
        }
    };
    out::print(&format!(
        "wrote {path}{beside}\nnext: `squall check {path}`, `squall try {path}`, `squall run {path}`\n"
    ));
    Ok(Exit::Ok)
}

/// Writes a new file; `false`: there is one.
fn create(path: &Path, text: &str) -> std::io::Result<bool> {
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(mut file) => file.write_all(text.as_bytes()).map(|()| true),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}
