//! What squall and its supervisor say to each other: a line of JSON each.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::cpus::CpuSet;
use crate::error::Error;

/// The hidden command of squall that is a supervisor.
pub const COMMAND: &str = "supervise";

/// A program to be started. Its standard input is empty; what it prints is added to `log`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    /// Its name in messages.
    pub name: String,
    /// Program and arguments. One with a `/` is relative to `directory`, another one is sought on the PATH.
    pub command: Vec<String>,
    /// Environment variables, in addition to squall's own.
    pub env: Vec<(String, String)>,
    /// Its working directory.
    pub directory: PathBuf,
    /// Processors that it is bound to; `None`: any.
    pub cpus: Option<CpuSet>,
    pub log: PathBuf,
}

/// A program that was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ProgramId(pub u64);

/// A program that was started, and its process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Started {
    pub id: ProgramId,
    pub pid: u32,
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct End {
    /// Its exit code; `None`: a signal ended it.
    pub code: Option<i32>,
    /// The number of that signal.
    pub signal: Option<i32>,
    /// Processes that it left behind, which were ended, each with its name and number. Known when it was stopped.
    pub left_behind: Vec<String>,
}

impl End {
    /// Whether it ended with code 0.
    pub fn is_success(&self) -> bool {
        self.code == Some(0)
    }
}

/// `exited with code 1`, `was ended by signal 9`.
impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.code, self.signal) {
            (Some(code), _) => write!(f, "exited with code {code}"),
            (None, Some(signal)) => write!(f, "was ended by signal {signal}"),
            (None, None) => f.write_str("ended"),
        }
    }
}

/// What squall asks for.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Request {
    Spawn(Launch),
    Poll(ProgramId),
    /// SIGTERM, and SIGKILL after so many milliseconds.
    Stop(ProgramId, u64),
    StopAll,
    Set(String, String),
    Restore,
}

/// What the supervisor answers.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reply {
    Started(Started),
    /// `None`: it has not ended.
    Polled(Option<End>),
    Stopped(End),
    /// What a setting was before.
    Was(String),
    Done,
    Failed(Error),
}
