//! Front ends: each recognises the files of one kind by their content, and makes plans of them. A plan comes with the places
//! of its own file, so that whatever is found wrong with it later is said of what its author wrote.
//!
//! Reads the files that a plan is in, and what the machine says of itself; imports the plan model and what reads the
//! formats, and nothing that runs a plan.

mod foreign;
mod import;
mod jmx;
mod machine;
mod readable;
mod values;
mod yaml;

pub use import::{FrontEnd, ImportError, PlanText};
pub use jmx::{Jmx, Translated};
pub use values::{Values, properties};
pub use yaml::Yaml;

use squall_plan::yaml::Loaded;

/// All front ends, each asked in turn whether a text is one of its own.
const FRONT_ENDS: [&dyn FrontEnd; 2] = [&Jmx, &Yaml];

/// Makes a plan of a text, whatever it is written in.
///
/// # Errors
/// It is no plan that squall reads, or no good one.
pub fn import(plan: &PlanText, values: &Values) -> Result<Loaded, ImportError> {
    front_end(plan)?.read(plan, values)
}

/// The elements of a plan whose format has a tree of its own, a line each, with what becomes of each.
pub fn outline(plan: &PlanText, values: &Values) -> Option<String> {
    front_end(plan).ok()?.outline(plan, values)
}

fn front_end(plan: &PlanText) -> Result<&'static dyn FrontEnd, ImportError> {
    if let Some(what) = foreign::what_is(&plan.name, &plan.text) {
        return Err(ImportError::Refused(format!("{}: this is {what}", plan.name)));
    }
    let known = FRONT_ENDS.into_iter().find(|own| own.sniff(&plan.text));
    // What nobody knows is told what squall's own form is.
    Ok(known.unwrap_or(&Yaml))
}

#[cfg(test)]
mod tests;
