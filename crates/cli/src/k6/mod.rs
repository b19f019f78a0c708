//! `squall k6`: k6's command line, so that a build that runs k6 can run squall in its place, and what scripts need before.

mod fetch;
mod inspect;
mod log;
mod metric_kinds;
mod new;
mod output;
mod run;
mod stats;
mod summary;
mod write;

use squall_k6::summary::K6_VERSION;

use crate::args::{K6, K6Command};
use crate::exit::{CommandError, CommandResult, Exit};
use crate::out;

/// Commands of k6 that squall does not have, and what does that work.
const OTHERS: &[(&[&str], &str)] = &[
    (
        &["cloud", "login"],
        "squall has no cloud: run it here with `squall k6 run`, or on many machines with `squall run --nodes`",
    ),
    (&["archive"], "squall makes no archives: give a run the script and the files that it imports"),
    (
        &["deps"],
        "squall has no extensions: `squall check` names what a script imports and cannot have",
    ),
    (&["features"], "squall has none of k6's experimental features"),
    (
        &["pause", "resume", "scale", "stats", "status"],
        "squall has no REST API: `squall run --ui` shows and controls a run",
    ),
    (&["x", "subcommands"], "squall has no extensions"),
];

/// Does what k6 would have been asked to.
pub fn command(line: &K6) -> CommandResult {
    match &line.command {
        K6Command::Run(own) => run::command(own),
        K6Command::Fetch(own) => fetch::command(own),
        K6Command::Inspect(own) => inspect::command(own),
        K6Command::New(own) => new::command(own),
        K6Command::Version => {
            let own = env!("SQUALL_VERSION");
            out::print(&format!("squall {own}, with the command line of k6 v{K6_VERSION}\n"));
            Ok(Exit::Ok)
        }
        K6Command::Other(words) => Err(other(&words[0].to_string_lossy())),
    }
}

fn other(word: &str) -> CommandError {
    let known = OTHERS.iter().find(|(words, _)| words.contains(&word));
    let why = known.map_or("expected run, inspect, new or version", |(_, why)| why);
    CommandError { exit: Exit::BadCommand, text: format!("squall: k6 {word}: {why}") }
}
