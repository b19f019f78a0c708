//! Plans of JMeter: read, translated to plans of squall, or refused with all of them that has no equal.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use squall_jmeter::{Inventory, Translation, Tree, inventory, translate};
use squall_plan::yaml::{self, Loaded};

use crate::args::{Convert, Variables};
use crate::exit::{CommandError, CommandResult, Exit};
use crate::out;

/// What is printed of reasons in one go: a large plan has thousands of elements.
const MOST_SHOWN: usize = 50;

/// Whether a file is a plan of JMeter, by its name.
pub fn is_plan(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("jmx"))
}

/// Reads a plan and translates it.
pub fn load(path: &Path, variables: &Variables) -> Result<Loaded, CommandError> {
    if !variables.set.is_empty() || !variables.env_file.is_empty() {
        let text = "--set and --env-file are for plans of squall; properties of JMeter are given as -JNAME=VALUE";
        return Err(CommandError::bad_input(text));
    }
    let (found, plan) = read(path, &variables.property)?;
    if !found.is_whole() {
        return Err(refusal(path, &found));
    }
    // What runs is what `squall convert` writes, to the letter.
    let name = format!("{} (converted)", path.display());
    Ok(squall_runner::load_str(&name, &plan)?)
}

/// The tree of a plan, an element a line, with what becomes of each.
pub fn tree(path: &Path, properties: &[String]) -> Result<String, CommandError> {
    let found = read(path, properties)?.0;
    Ok(squall_base::escape_lines(&found.to_string()).into_owned())
}

/// Writes a plan as one of squall's. What has no equal stands in comments, and is an error.
pub fn convert(args: &Convert) -> CommandResult {
    let (found, plan) = read(&args.plan, &args.property)?;
    let mut text =
        format!("# From {}, a plan of JMeter.\n", shown(&args.plan.display().to_string()));
    for reason in found.reasons() {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "# Left out: {}", shown(&reason));
    }
    text.push_str(&plan);
    match &args.out {
        Some(path) => std::fs::write(path, &text)
            .map_err(|error| CommandError::incomplete(format!("{}: {error}", path.display())))?,
        None => out::print(&text),
    }
    if found.is_whole() { Ok(Exit::Ok) } else { Err(refusal(&args.plan, &found)) }
}

/// A plan's elements, and the plan that they become.
fn read(path: &Path, properties: &[String]) -> Result<(Inventory, String), CommandError> {
    let bad = |text: String| CommandError::bad_input(format!("{}: {text}", path.display()));
    let mut values = BTreeMap::new();
    for text in properties {
        let Some((name, value)) = text.split_once('=') else {
            // What is no name may be a secret.
            return Err(CommandError::bad_input("-J: expected NAME=VALUE"));
        };
        values.insert(name.to_owned(), value.to_owned());
    }
    let text = squall_plan::files::text(path).map_err(bad)?;
    let tree = Tree::read(text.as_bytes()).map_err(|error| bad(error.to_string()))?;
    let Translation { plan, obstacles } = translate(&tree, values);
    Ok((inventory(&tree, &obstacles), yaml::print(&plan, false)))
}

/// What keeps a plan from running as JMeter would run it.
fn refusal(path: &Path, found: &Inventory) -> CommandError {
    let reasons = found.reasons();
    let mut text =
        format!("{}: not all of this plan can be run as JMeter runs it:\n", path.display());
    for reason in reasons.iter().take(MOST_SHOWN) {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {reason}");
    }
    if reasons.len() > MOST_SHOWN {
        let _ = writeln!(text, "  and {} more", reasons.len() - MOST_SHOWN);
    }
    CommandError::bad_input(text.trim_end())
}

/// A text on one line.
fn shown(text: &str) -> String {
    text.replace(char::is_control, " ")
}
