//! `squall k6 inspect`: the options of a script, as JSON.

use serde_json::{Value, json};
use squall_k6::options::{Requirements, print_time};

use super::run;
use crate::args::K6Inspect;
use crate::exit::{CommandResult, Exit};
use crate::out;

/// Prints the options that a script exports; with its requirements, those of everywhere.
pub fn command(args: &K6Inspect) -> CommandResult {
    let test = run::test(&args.script, &args.given, Vec::new())?;
    let mut shown = test.given_options.clone();
    if args.execution_requirements {
        let Requirements { duration, max_users } = Requirements::of(&test.options.scenarios);
        shown["totalDuration"] = json!(print_time(duration));
        shown["maxVUs"] = json!(max_users);
    }
    let shown: Value = shown;
    out::print(&format!("{}\n", test.secrets.mask(&format!("{shown:#}"))));
    Ok(Exit::Ok)
}
