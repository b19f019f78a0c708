//! Front ends: each recognises the files of one kind, by their content or their name, and makes plans of them. A plan comes with the places
//! of its own file, so that whatever is found wrong with it later is said of what its author wrote.
//!
//! Reads the files that a plan is in, and what the machine says of itself; imports the plan model and what reads the
//! formats, and nothing that runs a plan.

mod foreign;
mod import;
mod jmx;
mod k6;
mod machine;
mod readable;
mod values;
mod yaml;

pub use import::{Import, ImportError, PlanText};
pub use jmx::Translated;
pub use k6::{GivenToScript, K6Failure, K6Test, is_script};
pub use machine::environment;
pub use readable::readable;
pub use values::{Values, properties};

use import::FrontEnd;

/// What recognises a text, each asked in turn. What none of them knows is YAML, or told what that is.
const FRONT_ENDS: [&dyn FrontEnd; 3] = [&k6::K6, &jmx::Jmx, &foreign::Foreign];

/// Makes a plan of a text, whatever it is written in.
pub fn import(plan: &PlanText, values: &Values) -> Import {
    let known = FRONT_ENDS.into_iter().find_map(|own| own.read(plan, values));
    let mut import = known.unwrap_or_else(|| yaml::read(plan, values));
    let Ok(loaded) = &mut import.plan else { return import };
    if let Some(isolation) = values.isolation {
        loaded.plan.scripts.isolation = isolation;
    }
    if !values.secrets.is_empty() {
        if !loaded.plan.calls_scripts() {
            let why =
                format!("{}: --secret-source is for scripts, and this plan calls none", plan.name);
            return Import { plan: Err(ImportError::Refused(why)), ..import };
        }
        loaded.plan.scripts.secrets = squall_k6::plan::sources(&values.secrets);
    }
    import
}

#[cfg(test)]
mod tests;
