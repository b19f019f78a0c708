//! `squall check` and `squall schema`: what a plan would run, and what is wrong with it.

use std::fmt::Write as _;
use std::path::Path;

use squall_base::units;
use squall_engine::Alone;
use squall_front::Import;
use squall_plan::model::{Plan, Step};
use squall_plan::node_files;
use squall_plan::secrets::Secrets;

use squall_runner::Checked;

use crate::args::Check;
use crate::exit::{CommandError, CommandResult, Exit};
use crate::{out, plan_monitors, plans, script_parts};

/// Most columns of a data source that are named.
const MAX_COLUMNS: usize = 12;

/// Checks a plan; sends nothing.
pub fn command(args: &Check) -> CommandResult {
    let (plan, values) = (plans::text(&args.plan)?, plans::values(&args.variables.values)?);
    let Import { plan, outline } = squall_front::import(&plan, &values);
    if let Some(outline) = outline {
        let secrets = plan.as_ref().map(|own| own.plan.secrets()).unwrap_or_default();
        out::print(&secrets.mask(&outline));
    }
    let loaded = plan.map_err(squall_runner::Error::from)?;
    let options = args.variables.options();
    let typed = &args.monitors.typed;
    let monitors = plan_monitors::of_plan(&loaded, typed, options.allow_exec)?;
    let checked = squall_runner::check(&loaded, &options, &monitors)?;
    checked.warnings.iter().for_each(|warning| out::message(warning));
    plans::within_nodes(&loaded).iter().for_each(|note| out::message(note));
    if args.program {
        for program in checked.programs.iter().filter(|program| !program.is_empty()) {
            out::print(&program.secrets.mask_own(&program.to_string()));
        }
    } else {
        let mut secrets = loaded.plan.secrets();
        checked.programs.iter().for_each(|program| secrets.extend(&program.secrets));
        out::print(&describe(&loaded.plan, &checked, &secrets));
        out::print(&secrets.mask(&script_parts::describe(&checked.programs)));
        out::print(&secrets.mask(&plan_monitors::describe(&loaded, typed)));
        for need in checked.demand.needs(&squall_runner::available(), None) {
            out::print(&format!("{need}\n"));
        }
    }
    Ok(Exit::Ok)
}

/// Prints the JSON Schema of plans.
pub fn schema() -> CommandResult {
    let schema = serde_json::to_string_pretty(&squall_plan::yaml::schema())
        .map_err(CommandError::incomplete)?;
    out::print(&format!("{schema}\n"));
    Ok(Exit::Ok)
}

/// Prints the JSON Schema of `run.json`.
pub fn run_schema() -> CommandResult {
    let schema = serde_json::to_string_pretty(&squall_report::run_schema())
        .map_err(CommandError::incomplete)?;
    out::print(&format!("{schema}\n"));
    Ok(Exit::Ok)
}

/// A plan in words, without its secrets.
fn describe(plan: &Plan, checked: &Checked, secrets: &Secrets) -> String {
    let mut text = format!("{}: plan OK\n", plan.name);
    // Writing to a String cannot fail.
    let _ = match &plan.target {
        Some(squall_plan::model::Target::Builtin) => writeln!(text, "  target     built-in"),
        Some(squall_plan::model::Target::Url(url)) => {
            writeln!(text, "  target     {}", secrets.mask_own(url.source()))
        }
        None => Ok(()),
    };
    for scenario in &plan.scenarios {
        let load = match (&scenario.load, &scenario.weight) {
            (Some(load), _) => squall_runner::describe_load(&load.value),
            (None, Some(weight)) => format!("weight {}", weight.value),
            (None, None) => String::new(),
        };
        let requests = requests(&scenario.steps);
        let name = &scenario.name.value;
        let _ = writeln!(text, "  scenario   {name}: {load}; {requests} per iteration");
    }
    if let Some(load) = &plan.load {
        let _ = writeln!(text, "  load       {}", squall_runner::describe_load(&load.value));
    }
    // Setup, load and teardown have the same.
    let data = checked.programs.iter().find(|program| program.data().next().is_some());
    for (name, rows, columns) in data.iter().flat_map(|program| program.data()) {
        let source = plan.data.iter().find(|data| data.name.value == name);
        // Of files by node it is the one that this machine reads, as the only node.
        let file = source.map(|data| node_files::of_node(&data.file.value, 1));
        let file = file.filter(|file| !file.as_os_str().is_empty());
        let file = file.map_or(String::new(), |file| format!(": {}", file.display()));
        let rows = units::counted(rows, "row");
        let _ = writeln!(text, "  data       {name}{file}: {rows}, {}", listed(columns));
    }
    for (file, own) in &checked.alone {
        let _ = writeln!(text, "  script     {}", interpreters(file, own));
    }
    for data in plan.data.iter().filter(|data| node_files::is_by_node(&data.file.value)) {
        let _ = writeln!(text, "  in a fleet {}: {}", data.name.value, by_node(&data.file.value));
    }
    for feed in &plan.feeds {
        let _ = writeln!(text, "  feed       {}", feed.target.value.shown());
    }
    for (span, holds) in squall_plan::holds_within_a_node(plan) {
        let _ = writeln!(text, "  in a fleet {holds} (line {})", span.line);
    }
    // Names may have been given a secret as well. A short one is left: numbers of users may look like it.
    let mut text = secrets.mask(&text);
    for threshold in &plan.thresholds {
        let shown = squall_runner::masked_threshold(&threshold.text.value, secrets);
        let _ = writeln!(text, "  threshold  {shown}");
    }
    text
}

/// That each user of a script has an interpreter, and what that takes, in words.
fn interpreters(file: &Path, own: &Alone) -> String {
    let why = if own.why.is_empty() { String::new() } else { format!(", since {}", own.why) };
    let size = units::bytes(own.bytes as u64);
    format!(
        "{}: each user has an interpreter of its own, some {size} where it begins{why}",
        file.display()
    )
}

/// Which nodes of a fleet have a data file, in words: each reads its own.
fn by_node(path: &Path) -> String {
    let nodes = node_files::nodes(path);
    let last = nodes.last().copied().unwrap_or(0);
    let missing = (1..=last).filter(|node| nodes.binary_search(node).is_err());
    let missing: Vec<String> =
        missing.map(|node| node_files::of_node(path, node).display().to_string()).collect();
    let (shown, more) = missing.split_at(missing.len().min(MAX_COLUMNS));
    let mut text = match last {
        1 => "each node reads its own file: that of node 1 is here".to_owned(),
        last => format!("each node reads its own file: those of nodes 1 to {last} are here"),
    };
    if !missing.is_empty() {
        text += &format!(", without {}", shown.join(", "));
    }
    if !more.is_empty() {
        text += &format!(" and {} more", more.len());
    }
    text
}

/// The columns of a data source, in words.
fn listed(columns: &[String]) -> String {
    let (shown, more) = columns.split_at(columns.len().min(MAX_COLUMNS));
    let what = if columns.len() == 1 { "column" } else { "columns" };
    let names = match shown {
        [all @ .., last] if more.is_empty() && !all.is_empty() => {
            format!("{} and {last}", all.join(", "))
        }
        shown => shown.join(", "),
    };
    match more.len() {
        0 => format!("{what} {names}"),
        more => format!("{what} {names} and {more} more"),
    }
}

/// The number of requests in the steps, in words.
fn requests(steps: &[Step]) -> String {
    let count = squall_runner::requests(steps);
    format!("{count} request{}", if count == 1 { "" } else { "s" })
}
