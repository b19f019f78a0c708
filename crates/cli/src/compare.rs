//! `squall compare`: what changed from one run to another.

use std::fs;

use squall_analysis::Gate;
use squall_report::{Side, find_run};

use crate::args::Compare;
use crate::exit::{CommandError, CommandResult, Exit};
use crate::out;

/// Compares runs, and prints what changed.
pub fn command(args: &Compare) -> CommandResult {
    let targets = [&args.json, &args.markdown, &args.html];
    if targets.iter().filter(|target| target.as_deref() == Some("-")).count() > 1 {
        let text = "only one of --json, --markdown and --html can go to the standard output";
        return Err(CommandError::bad_input(text));
    }
    let gates = args.fail_if.iter().map(|text| gate(text)).collect::<Result<Vec<Gate>, _>>()?;
    let mut sides = Vec::new();
    for text in std::iter::once(&args.before).chain(&args.after) {
        let path = find_run(&args.folder, text).map_err(CommandError::bad_input)?;
        let side = Side::load(&path).map_err(CommandError::bad_input)?;
        // A run that was found by its label is called so.
        let name = if path.as_os_str() == text.as_str() { side.name } else { text.clone() };
        sides.push(Side { name, ..side });
    }
    distinguish(&mut sides);
    let document = squall_report::compare_runs(&sides, &gates);
    let mut printed = false;
    let outputs = [
        (&args.json, args.json.as_ref().map(|_| json(&document))),
        (
            &args.markdown,
            args.markdown.as_ref().map(|_| squall_report::compare_markdown(&document)),
        ),
        (&args.html, args.html.as_ref().map(|_| squall_report::compare_html(&document))),
    ];
    for (target, text) in outputs {
        if let (Some(target), Some(text)) = (target, text) {
            write(target, &text)?;
            printed |= target == "-";
        }
    }
    if !printed {
        out::print(&squall_report::compare_text(&document, &out::show()));
    }
    Ok(if document.passed { Exit::Ok } else { Exit::Failed })
}

/// Prints the JSON Schema of a comparison.
pub fn schema() -> CommandResult {
    out::print(&json(&squall_report::comparison_schema()));
    Ok(Exit::Ok)
}

/// A value as JSON, for people too.
pub fn json(value: &impl serde::Serialize) -> String {
    // Documents have texts as keys, and so always a JSON form.
    serde_json::to_string_pretty(value).map(|text| text + "\n").unwrap_or_default()
}

/// Writes a text to a file, or to the standard output for `-`.
///
/// # Errors
/// The file cannot be written.
pub fn write(target: &str, text: &str) -> Result<(), CommandError> {
    match target {
        "-" => out::print(text),
        path => fs::write(path, text)
            .map_err(|error| CommandError::incomplete(format!("{path}: {error}")))?,
    }
    Ok(())
}

/// Runs of the same name are told apart by their numbers.
fn distinguish(sides: &mut [Side]) {
    let names: Vec<String> = sides.iter().map(|side| side.name.clone()).collect();
    for (at, side) in sides.iter_mut().enumerate() {
        if names.iter().filter(|name| **name == side.name).count() > 1 {
            side.name = format!("{} ({})", side.name, at + 1);
        }
    }
}

/// Reads a gate; what is wrong is shown below its place.
fn gate(text: &str) -> Result<Gate, CommandError> {
    Gate::parse(text).map_err(|error| wrong("--fail-if", text, &error))
}

/// What is wrong with a text of the command line, with its place.
pub fn wrong(flag: &str, text: &str, error: &squall_analysis::SyntaxError) -> CommandError {
    let column = text.get(..error.offset).map_or(0, |before| before.chars().count());
    let help = error.help.as_ref().map_or(String::new(), |help| format!("\nhint: {help}"));
    let shown: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let place = format!("{shown}\n  {}^", " ".repeat(column));
    let at = column + 1;
    CommandError::bad_input(format!("{flag}, column {at}: {}\n  {place}{help}", error.message))
}
