//! Plans of JMeter: read, translated to plans of squall, or refused with all of them that has no equal.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use squall_jmeter::{
    Inventory, Machine, Surroundings, Translation, Tree, inventory, parse_properties, translate,
};
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

/// A plan, translated.
pub struct Translated<'p> {
    path: &'p Path,
    /// Its elements, and what becomes of each.
    found: Inventory,
    /// The plan that they become.
    plan: String,
}

/// Reads a plan and translates it.
pub fn read<'p>(path: &'p Path, variables: &Variables) -> Result<Translated<'p>, CommandError> {
    if !variables.set.is_empty() || !variables.env_file.is_empty() {
        let text = "--set and --env-file are for plans of squall; properties of JMeter are given as -JNAME=VALUE";
        return Err(CommandError::bad_input(text));
    }
    translated(path, &variables.property, &variables.properties)
}

impl Translated<'_> {
    /// The plan to be run, if it is whole.
    pub fn load(&self) -> Result<Loaded, CommandError> {
        if !self.found.is_whole() {
            return Err(self.refusal());
        }
        // What runs is what `squall convert` writes, to the letter.
        let name = format!("{} (converted)", self.path.display());
        Ok(squall_runner::load_str(&name, &self.plan)?)
    }

    /// Its tree, an element a line, with what becomes of each.
    pub fn tree(&self) -> String {
        squall_base::escape_lines(&self.found.to_string()).into_owned()
    }

    /// What keeps it from running as JMeter would run it.
    fn refusal(&self) -> CommandError {
        let reasons = self.found.reasons();
        let path = self.path.display();
        let mut text = format!("{path}: not all of this plan can be run as JMeter runs it:\n");
        for reason in reasons.iter().take(MOST_SHOWN) {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "  {reason}");
        }
        if reasons.len() > MOST_SHOWN {
            let _ = writeln!(text, "  and {} more", reasons.len() - MOST_SHOWN);
        }
        CommandError::bad_input(text.trim_end())
    }
}

/// Writes a plan as one of squall's. What has no equal stands in comments, and is an error.
pub fn convert(args: &Convert) -> CommandResult {
    let read = translated(&args.plan, &args.property, &args.properties)?;
    let mut text =
        format!("# From {}, a plan of JMeter.\n", shown(&args.plan.display().to_string()));
    for reason in read.found.reasons() {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "# Left out: {}", shown(&reason));
    }
    text.push_str(&read.plan);
    match &args.out {
        Some(path) => std::fs::write(path, &text)
            .map_err(|error| CommandError::incomplete(format!("{}: {error}", path.display())))?,
        None => out::print(&text),
    }
    if read.found.is_whole() { Ok(Exit::Ok) } else { Err(read.refusal()) }
}

fn translated<'p>(
    path: &'p Path,
    properties: &[String],
    files: &[PathBuf],
) -> Result<Translated<'p>, CommandError> {
    let bad = |text: String| CommandError::bad_input(format!("{}: {text}", path.display()));
    let mut values = BTreeMap::new();
    for file in files {
        let text = squall_plan::files::text(file);
        let text =
            text.map_err(|why| CommandError::bad_input(format!("{}: {why}", file.display())))?;
        values.extend(parse_properties(&text));
    }
    for text in properties {
        let Some((name, value)) = text.split_once('=') else {
            // What is no name may be a secret.
            return Err(CommandError::bad_input("-J: expected NAME=VALUE"));
        };
        values.insert(name.to_owned(), value.to_owned());
    }
    let text = squall_plan::files::text(path).map_err(bad)?;
    let tree = Tree::read(text.as_bytes()).map_err(|error| bad(error.to_string()))?;
    // What is converted may be written to another folder: files are named from the root.
    let place = std::path::absolute(path).map_err(|error| bad(error.to_string()))?;
    let folder = place.parent().unwrap_or(Path::new("/")).to_owned();
    let machine = Machine {
        environment: std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect(),
        working_folder: std::env::current_dir().unwrap_or_default(),
        plan_folder: folder.clone(),
    };
    let given = Surroundings { properties: values, folder, machine };
    let Translation { plan, obstacles } = translate(&tree, given);
    let found = inventory(&tree, &obstacles);
    Ok(Translated { path, found, plan: yaml::print(&plan, false) })
}

/// A text on one line.
fn shown(text: &str) -> String {
    text.replace(char::is_control, " ")
}
