//! Reads a plan, with values for its variables from flags, environment and files.

use std::io::Read as _;
use std::path::Path;

use squall_plan::files::MAX_TEXT;
use squall_plan::vars::{self, LoadOptions};
use squall_plan::yaml::Loaded;

use crate::args::Variables;
use crate::exit::CommandError;
use crate::{foreign, jmeter};

/// Reads a plan; `-` is one on the standard input.
pub fn load(path: &Path, variables: &Variables) -> Result<Loaded, CommandError> {
    if jmeter::is_plan(path) {
        return jmeter::read(path, variables)?.load();
    }
    let Variables { property, properties, skip_unsupported, .. } = variables;
    if !property.is_empty() || !properties.is_empty() || *skip_unsupported {
        let text = "-J is for JMeter plans, and so are --properties and --skip-unsupported; \
                    variables of a plan of squall are given with --set";
        return Err(CommandError::bad_input(text));
    }
    let mut values = LoadOptions {
        environment: vars::from_environment(std::env::vars()),
        ..LoadOptions::default()
    };
    for file in &variables.env_file {
        let text = squall_plan::files::text(file)
            .map_err(|error| CommandError::bad_input(format!("{}: {error}", file.display())))?;
        let name = file.display().to_string();
        values
            .env_files
            .extend(vars::parse_env_file(&name, &text).map_err(CommandError::bad_input)?);
    }
    for text in &variables.set {
        let Some((name, value)) = text.split_once('=') else {
            // What is no name may be a secret.
            let name: String =
                text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            return Err(CommandError::bad_input(format!("--set {name}: expected NAME=VALUE")));
        };
        values.set.push((name.to_owned(), value.to_owned()));
    }
    if path == Path::new(STDIN) {
        let folder = std::env::current_dir().unwrap_or_default();
        return Ok(squall_runner::load_text("stdin", &given()?, &folder, &values)?);
    }
    if let Some(what) = foreign::what_is(path) {
        let path = path.display();
        return Err(CommandError::bad_input(format!("{path}: this is {what}")));
    }
    Ok(squall_runner::load(path, &values)?)
}

/// What stands for the standard input in place of a plan's file.
const STDIN: &str = "-";

/// The text on the standard input.
fn given() -> Result<String, CommandError> {
    let bad = |why: String| CommandError::bad_input(format!("the standard input: {why}"));
    let mut text = String::new();
    let mut input = std::io::stdin().lock().take(MAX_TEXT + 1);
    input.read_to_string(&mut text).map_err(|error| bad(error.to_string()))?;
    match text.len() as u64 > MAX_TEXT {
        true => Err(bad(format!("it has more than {MAX_TEXT} bytes, which is the most"))),
        false => Ok(text),
    }
}
