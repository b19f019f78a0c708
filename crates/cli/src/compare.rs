//! `squall compare`: what changed from one run to another, or from some runs to others.

use std::fs;
use std::path::Path;

use squall_analysis::Gate;
use squall_base::units::counted;
use squall_report::{Side, find_runs, last_runs};

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
    let mut sides = sides(args)?;
    if !gates.is_empty() && sides.len() > 2 {
        let text = format!(
            "--fail-if judges one run, or several of the same thing, and {} were given: name the one that is meant \
             (a folder, a label, or `--last 1`), or take them together with `--after`",
            sides.len() - 1
        );
        return Err(CommandError::bad_input(text));
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
    if document.passed && document.undecided {
        out::message(
            "warning: --fail-if cannot tell; the comparison says why, and what would tell",
        );
    }
    Ok(match (document.passed, document.undecided && args.strict) {
        (false, _) => Exit::Failed,
        (true, true) => Exit::Incomplete,
        (true, false) => Exit::Ok,
    })
}

/// The sides that are meant, the one that the others are compared with first.
fn sides(args: &Compare) -> Result<Vec<Side>, CommandError> {
    let folder = &args.folder;
    let most = args.last.map_or(1, |last| last as usize);
    let together = |texts: &[String]| side(folder, texts, most);
    if !args.before.is_empty() {
        return Ok(vec![together(&args.before)?, together(&args.after)?]);
    }
    let Some((first, others)) = args.runs.split_first() else {
        return Err(CommandError::bad_input("--after needs a run to compare with"));
    };
    let one = |text: &String| together(std::slice::from_ref(text));
    match (others, args.after.as_slice(), args.last) {
        ([], [], None) => Err(CommandError::bad_input(
            "name a run to compare with it, or take the last ones with `--last N`",
        )),
        ([], [], Some(_)) => {
            // Compared with itself, no run is worse.
            let own = find_runs(folder, first, most).map_err(CommandError::bad_input)?;
            let paths = last_runs(folder, most, &own).map_err(CommandError::bad_input)?;
            let name = format!("last {}", counted(paths.len() as u64, "run"));
            Ok(vec![one(first)?, pooled(&name, load(&paths)?)?])
        }
        ([], after, _) => Ok(vec![one(first)?, together(after)?]),
        (_, [], _) => args.runs.iter().map(one).collect(),
        _ => Err(CommandError::bad_input(
            "name the runs to compare either behind the first or with `--after`",
        )),
    }
}

/// The runs that texts mean, each label the last so many, as one side.
///
/// # Errors
/// There is no such run, or it cannot be read.
pub fn side(folder: &Path, texts: &[String], most: usize) -> Result<Side, CommandError> {
    let mut all = Vec::new();
    for text in texts {
        let paths = find_runs(folder, text, most).map_err(CommandError::bad_input)?;
        let is_path = paths.iter().all(|path| path.as_os_str() == text.as_str());
        let mut found = load(&paths)?;
        // A run that was found by its label is called so.
        match found.as_mut_slice() {
            [one] if !is_path => all.push(one.clone().renamed(text)),
            _ => all.append(&mut found),
        }
    }
    match (texts, all.len()) {
        (_, 1) => Ok(all.swap_remove(0)),
        ([text], _) => pooled(text, all),
        (_, number) => pooled(&counted(number as u64, "run"), all),
    }
}

fn load(paths: &[std::path::PathBuf]) -> Result<Vec<Side>, CommandError> {
    let each = paths.iter().map(|path| Side::load(path).map_err(CommandError::bad_input));
    each.collect()
}

fn pooled(name: &str, mut sides: Vec<Side>) -> Result<Side, CommandError> {
    match sides.len() {
        1 => Ok(sides.swap_remove(0)),
        _ => Side::pool(name, sides).map_err(CommandError::bad_input),
    }
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

/// Sides of the same name are told apart by their numbers.
fn distinguish(sides: &mut [Side]) {
    let names: Vec<String> = sides.iter().map(|side| side.name.clone()).collect();
    for (at, side) in sides.iter_mut().enumerate() {
        if names.iter().filter(|name| **name == side.name).count() > 1 {
            *side = side.clone().renamed(&format!("{} ({})", side.name, at + 1));
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
