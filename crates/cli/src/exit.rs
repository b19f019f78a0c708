//! Exit codes, each with its sentence. A script may rely on them.

use std::fmt::Display;
use std::process::ExitCode;

use squall_runner::ErrorKind;

/// The exit code of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// The run passed.
    Ok = 0,
    /// The run failed: a threshold or a check failed, or the plan stopped it.
    Failed = 1,
    /// Bad plan, bad flags or bad input.
    BadInput = 2,
    /// The run could not be completed, or with `--strict` its numbers are invalid.
    Incomplete = 3,
    /// Interrupted; the results so far are reported.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// Why a command could not do its work, and its exit code.
#[derive(Debug)]
pub struct CommandError {
    pub exit: Exit,
    /// What is printed.
    pub text: String,
}

impl CommandError {
    /// The input was wrong.
    pub fn bad_input(text: impl Display) -> CommandError {
        CommandError { exit: Exit::BadInput, text: format!("squall: {text}") }
    }

    /// The input was right, but the work could not be done.
    pub fn incomplete(text: impl Display) -> CommandError {
        CommandError { exit: Exit::Incomplete, text: format!("squall: {text}") }
    }
}

impl From<squall_runner::Error> for CommandError {
    fn from(error: squall_runner::Error) -> CommandError {
        let exit = match error.kind {
            // Its text shows the plan's lines.
            ErrorKind::Plan => return CommandError { exit: Exit::BadInput, text: error.text },
            ErrorKind::Input => Exit::BadInput,
            ErrorKind::Incomplete => Exit::Incomplete,
            ErrorKind::Interrupted => Exit::Interrupted,
        };
        CommandError { exit, text: format!("squall: {}", error.text) }
    }
}

/// The result of a command.
pub type CommandResult = Result<Exit, CommandError>;
