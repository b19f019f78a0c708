//! Exit codes, each with its sentence. A script may rely on them.

use std::fmt::Display;
use std::process::ExitCode;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// All thresholds and checks held.
    Ok = 0,
    /// A threshold or a check rule failed.
    Failed = 1,
    /// Bad plan, bad flags or bad input.
    BadInput = 2,
    /// The run could not be completed, or with `--strict` its numbers cannot be trusted.
    Incomplete = 3,
    /// Interrupted; the results up to then are kept and reported.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// Why a command could not do its work, and the code that says so.
#[derive(Debug)]
pub struct Failure {
    pub exit: Exit,
    /// What is printed, whole lines.
    pub text: String,
}

impl Failure {
    /// What the user gave was wrong.
    pub fn bad_input(text: impl Display) -> Failure {
        Failure { exit: Exit::BadInput, text: format!("squall: {text}") }
    }

    /// What the user gave was right, and yet it could not be done.
    pub fn incomplete(text: impl Display) -> Failure {
        Failure { exit: Exit::Incomplete, text: format!("squall: {text}") }
    }

    /// Errors in a plan, already rendered with their places.
    pub fn in_plan(text: String) -> Failure {
        Failure { exit: Exit::BadInput, text }
    }
}

/// What every command gives.
pub type Outcome = Result<Exit, Failure>;
