//! The binary: parses the command line, calls the libraries, prints, and exits with a code that scripts can
//! rely on. It depends on all crates and contains none of their logic.

mod args;
mod as_jmeter;
mod baseline;
mod check;
mod compare;
mod convert;
mod doctor;
mod exit;
mod experiment;
mod files;
mod fleet;
mod generator;
mod history;
mod init;
mod k6;
mod labels;
mod limit;
mod node;
mod one_line;
mod out;
mod plan_feeds;
mod plan_monitors;
mod plan_profile;
mod plan_samples;
mod plans;
mod report;
mod run;
mod script_parts;
mod shell;
mod signals;
mod target;
mod trend;
mod try_plan;
mod ui;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;
use squall_supervisor::COMMAND;

use args::{Arguments, Command};
use exit::Exit;

fn main() -> ExitCode {
    // The command of squall itself, whose words are another program's.
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    if let Some((_, rest)) = words.split_first().filter(|(first, _)| *first == COMMAND) {
        return ExitCode::from(squall_supervisor::serve(rest) as u8);
    }
    if let Some(help) = args::short_help() {
        out::print(&help);
        return Exit::Ok.into();
    }
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let error = args::masked(args::explained(error));
            // Help and version go to stdout and are no failure; printing can only fail when
            // nobody reads it.
            let _ = error.print();
            let wrong = if words.first().is_some_and(|first| first == "k6") {
                Exit::BadCommand
            } else {
                Exit::BadInput
            };
            return if error.use_stderr() { wrong.into() } else { Exit::Ok.into() };
        }
    };
    // Where the system takes no handler the signal ends squall, as it would without one.
    let _ = signals::outlive_full_files();
    let outcome = match arguments.command {
        Some(Command::Run(run)) => run::command(&run),
        Some(Command::Limit(limit)) => limit::command(&limit),
        Some(Command::Experiment(args)) => experiment::command(&args),
        Some(Command::Try(args)) => try_plan::command(&args),
        Some(Command::Check(check)) => check::command(&check),
        Some(Command::Init(args)) => init::command(&args),
        Some(Command::Convert(convert)) => convert::command(&convert),
        Some(Command::Jmeter(line)) => as_jmeter::command(&line),
        Some(Command::K6(line)) => k6::command(&line),
        Some(Command::Doctor(doctor)) => doctor::command(&doctor),
        Some(Command::Schema(schema)) if schema.run => check::run_schema(),
        Some(Command::Schema(schema)) if schema.compare => compare::schema(),
        Some(Command::Schema(schema)) if schema.experiment => experiment::schema(),
        Some(Command::Schema(schema)) if schema.experiment_result => experiment::result_schema(),
        Some(Command::Schema(_)) => check::schema(),
        Some(Command::Target(target)) => target::command(&target),
        Some(Command::Node(node)) => node::command(&node),
        Some(Command::Fleet(fleet)) => fleet::command(&fleet),
        Some(Command::Report(report)) => report::command(&report),
        Some(Command::Export(export)) => report::export(&export),
        Some(Command::History(args)) => history::command(&args),
        Some(Command::Compare(args)) => compare::command(&args),
        Some(Command::Trend(args)) => trend::command(&args),
        Some(Command::Ui(args)) => ui::command(&args),
        Some(Command::Baseline(args)) => baseline::command(&args),
        Some(Command::Completions(args)) => shell::completions(&args),
        Some(Command::Man(args)) => shell::man(&args),
        None => one_line::command(&arguments.one_line),
    };
    let exit = outcome.unwrap_or_else(|failure| {
        out::message(&format!("{}\n", failure.text));
        failure.exit
    });
    let Some(reason) = out::failure() else { return exit.into() };
    out::message(&format!("squall: the standard output could not be written: {reason}\n"));
    // Another failure says more.
    if exit == Exit::Ok { Exit::Incomplete.into() } else { exit.into() }
}
