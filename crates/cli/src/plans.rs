//! Reads a plan, with values for its variables from flags, environment and files.

use std::io::Read as _;
use std::path::Path;

use squall_front::{PlanText, Values};
use squall_plan::diagnostic::Diagnostic;
use squall_plan::files::MAX_TEXT;
use squall_plan::vars;
use squall_plan::yaml::Loaded;

use crate::args::{self, Variables};
use crate::exit::CommandError;

/// Reads a plan; `-` is one on the standard input.
pub fn load(path: &Path, variables: &Variables) -> Result<Loaded, CommandError> {
    Ok(squall_runner::import(&text(path)?, &values(&variables.values)?)?)
}

/// What was given in place of a plan's own values.
pub fn values(given: &args::Values) -> Result<Values, CommandError> {
    let mut values = Values {
        environment: vars::from_environment(squall_front::environment()),
        skips_unsupported: given.skip_unsupported,
        isolation: given.isolation.map(Into::into),
        ..Values::default()
    };
    let bad = CommandError::bad_input;
    given.env_file.iter().try_for_each(|file| values.add_env_file(file)).map_err(bad)?;
    given.properties.iter().try_for_each(|file| values.add_properties(file)).map_err(bad)?;
    given.set.iter().try_for_each(|text| values.give(text)).map_err(bad)?;
    given.env.iter().try_for_each(|text| values.give_env(text)).map_err(bad)?;
    values.give_secrets(&given.secret_source).map_err(bad)?;
    Ok(values)
}

/// What of a plan holds within each node of a fleet alone, with its places.
pub fn within_nodes(loaded: &Loaded) -> Vec<String> {
    let found = squall_plan::holds_within_a_node(&loaded.plan).into_iter();
    let note = |(span, text)| Diagnostic::warning(span, format!("in a fleet: {text}"));
    found.map(|own| loaded.sources.render(&note(own))).collect()
}

/// What stands for the standard input in place of a plan's file.
const STDIN: &str = "-";

/// The text of a plan.
pub fn text(path: &Path) -> Result<PlanText, CommandError> {
    if path != Path::new(STDIN) {
        return PlanText::read(path).map_err(CommandError::bad_input);
    }
    let folder = std::env::current_dir().unwrap_or_default();
    Ok(PlanText { name: "stdin".to_owned(), text: given()?, folder })
}

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
