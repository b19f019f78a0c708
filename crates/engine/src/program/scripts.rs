//! The scripts of a program, as they were read and tried before the run. Plain data.

use std::path::PathBuf;

use squall_script::{Graph, ScriptUser, Stage, StageOptions};

/// A script, as all workers share it.
#[derive(Debug)]
pub(crate) struct Script {
    pub graph: Graph,
    pub options: StageOptions,
}

/// The scripts of a compilation.
#[derive(Debug, Default)]
pub(super) struct Scripts {
    /// Each with its file; `None`: an error was noted.
    pub(super) read: Vec<(PathBuf, Option<Tried>)>,
    /// How many kinds of users there are, over all scripts.
    pub(super) kinds: u32,
    /// How many calls there are.
    calls: u32,
}

/// What `__ENV` of some users has beside that of all, or in place of it.
pub(crate) type OwnEnv = Vec<(String, String)>;

/// A script with users on a stage of its own, who never do anything.
#[derive(Debug)]
pub(super) struct Tried {
    pub script: Script,
    pub stage: Stage,
    /// One of each kind, with the number of the kind.
    pub users: Vec<(OwnEnv, u32, ScriptUser)>,
}

impl Scripts {
    /// The number of one more call.
    pub(super) fn count_call(&mut self) -> u32 {
        self.calls += 1;
        self.calls - 1
    }

    /// Those that were compiled, by their numbers. None is missing where there was no error.
    pub(super) fn into_all(self) -> Vec<Script> {
        self.read.into_iter().filter_map(|(_, tried)| Some(tried?.script)).collect()
    }
}
