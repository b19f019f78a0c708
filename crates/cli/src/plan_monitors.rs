//! Monitors that a plan asks for, and those that are typed.

use std::fmt::Write as _;

use squall_monitor::{Monitors, of_plan as made, refused, unreadable, wanted};
use squall_plan::model;
use squall_plan::yaml::Loaded;

use crate::exit::{CommandError, Exit};

/// The monitors of a plan, and those that its user typed besides.
///
/// # Errors
/// The plan's would run programs, which are not allowed.
pub fn of_plan(
    loaded: &Loaded,
    typed: &[model::Monitor],
    allow_exec: bool,
) -> Result<Monitors, CommandError> {
    match refused(&loaded.plan, allow_exec) {
        Some(refusal) => {
            let text = loaded.sources.render(&refusal);
            Err(CommandError { exit: Exit::BadInput, text })
        }
        None => Ok(made(&loaded.plan, typed)),
    }
}

/// They, in words, and what of them cannot be read now.
pub fn describe(loaded: &Loaded, typed: &[model::Monitor]) -> String {
    let unreadable = unreadable(&loaded.plan, typed);
    let mut text = String::new();
    for own in wanted(&loaded.plan, typed) {
        let name = &own.name.value;
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  monitor    {name}: {}", own.shown());
        for (_, error) in unreadable.iter().filter(|(other, _)| other == name) {
            let _ = writeln!(text, "             cannot be read now: {error}");
        }
    }
    text
}
