//! The binary: reads what was typed, calls the libraries, prints, and ends with an exit code that a
//! script can rely on. It knows all crates and holds no logic of theirs.

mod args;
mod builtin;
mod check;
mod collect;
mod doctor;
mod exit;
mod limit;
mod links;
mod machine;
mod mask;
mod needs;
mod once;
mod one_line;
mod out;
mod plans;
mod report;
mod request_log;
mod run;
mod signals;
mod target;
mod trial;
mod usage;

use std::process::ExitCode;

use clap::Parser;

use args::{Arguments, Command};
use exit::Exit;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version go to stdout and are no failure; printing can only fail when
            // nobody reads it.
            let _ = error.print();
            return if error.use_stderr() { Exit::BadInput.into() } else { Exit::Ok.into() };
        }
    };
    let outcome = match arguments.command {
        Some(Command::Run(run)) => run::command(&run),
        Some(Command::Limit(limit)) => limit::command(&limit),
        Some(Command::Try(trial)) => trial::command(&trial),
        Some(Command::Check(check)) => check::command(&check),
        Some(Command::Doctor(doctor)) => doctor::command(&doctor),
        Some(Command::Schema) => check::schema(),
        Some(Command::Target(target)) => target::command(&target),
        Some(Command::Report(report)) => report::command(&report),
        None => one_line::command(&arguments.one_line),
    };
    match outcome {
        Ok(exit) => exit.into(),
        Err(failure) => {
            eprintln!("{}", failure.text);
            failure.exit.into()
        }
    }
}
