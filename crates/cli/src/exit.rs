//! Exit codes, each with its sentence. A script may rely on them.

use std::fmt::Display;
use std::process::ExitCode;

use squall_report::RunDocument;
use squall_runner::ErrorKind;

/// The exit code of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Ok = 0,
    /// The run failed; its result says why.
    Failed = 1,
    /// Bad plan, bad flags or bad input.
    BadInput = 2,
    /// The run or its result is incomplete, or with `--strict` its numbers are invalid.
    Incomplete = 3,
    /// Interrupted; the results so far are reported.
    Interrupted = 130,
    /// `squall k6`: a threshold was crossed.
    ThresholdCrossed = 99,
    /// `squall k6`: the script's setup took too long.
    SetupTimedOut = 100,
    /// `squall k6`: the script's teardown took too long.
    TeardownTimedOut = 101,
    /// `squall k6`: an option of the test is wrong.
    InvalidOption = 104,
    /// `squall k6`: interrupted.
    TestInterrupted = 105,
    /// `squall k6`: the script cannot be read, or throws at its top level or in its setup.
    ScriptFailed = 107,
    /// `squall k6`: the script has ended the test.
    TestAborted = 108,
    /// `squall k6`: the script marked the test as failed.
    TestFailed = 110,
    /// `squall k6`: no such file, or a flag that k6 has not.
    BadCommand = 255,
}

impl Exit {
    /// The code of a run that has a result.
    pub fn of_run(run: &RunDocument) -> Exit {
        let all = [Exit::Ok, Exit::Failed, Exit::Incomplete, Exit::Interrupted];
        let code = run.outcome.exit_code;
        all.into_iter().find(|exit| *exit as u64 == code).unwrap_or(Exit::Failed)
    }
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
