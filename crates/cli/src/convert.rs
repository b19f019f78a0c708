//! `squall convert`: a JMeter plan or a k6 script as a plan of squall's, in YAML.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use squall_front::{Translated, Values};
use squall_plan::yaml;

use crate::args::Convert;
use crate::exit::{CommandError, CommandResult, Exit};
use crate::{out, plans};

/// Writes a plan as one of squall's. What has no equal stands in comments, and is an error.
pub fn command(args: &Convert) -> CommandResult {
    let Convert { plan, set, env, properties, skip_unsupported, exact, out } = args;
    let mut values = Values { skips_unsupported: *skip_unsupported, ..Values::default() };
    let bad = CommandError::bad_input;
    properties.iter().try_for_each(|file| values.add_properties(file)).map_err(bad)?;
    set.iter().try_for_each(|text| values.give(text)).map_err(bad)?;
    env.iter().try_for_each(|text| values.give_env(text)).map_err(bad)?;
    let given = plans::text(plan)?;
    let folder = folder(out.as_ref().unwrap_or(plan));
    if squall_front::is_script(&given.name) {
        let loaded = squall_runner::import(&given, &values)?;
        let text = match exact {
            true => yaml::print(&loaded.plan, false),
            false => squall_front::readable(&loaded.plan, &folder),
        };
        let text = format!("# From {}, a k6 script, which it calls.\n{text}", shown(&given.name));
        return write(&text, out.as_deref()).map(|()| Exit::Ok);
    }
    let read = Translated::of(&given, &values).map_err(bad)?;
    let mut text = format!("# From {}, a JMeter plan.\n", shown(&plan.display().to_string()));
    for reason in read.left_out.iter().chain(&read.refused) {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "# Left out: {}", shown(&reason.to_string()));
    }
    text.push_str(&match exact {
        true => read.exact(),
        false => read.readable(&folder),
    });
    write(&text, out.as_deref())?;
    read.refusal().map_or(Ok(Exit::Ok), |why| Err(bad(why)))
}

/// Writes a plan to a file, or to the standard output.
fn write(text: &str, file: Option<&Path>) -> Result<(), CommandError> {
    match file {
        Some(path) => std::fs::write(path, text)
            .map_err(|error| CommandError::incomplete(format!("{}: {error}", path.display()))),
        None => {
            out::print(text);
            Ok(())
        }
    }
}

/// The folder of a file that is written, to which paths in it are relative.
fn folder(file: &Path) -> PathBuf {
    let place = std::path::absolute(file).unwrap_or_default();
    place.parent().unwrap_or(Path::new("/")).to_owned()
}

/// A text on one line.
fn shown(text: &str) -> String {
    text.replace(char::is_control, " ")
}
