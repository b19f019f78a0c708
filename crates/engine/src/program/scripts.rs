//! The scripts of a program, as they were read and tried before the run. Plain data.

use std::path::PathBuf;

use squall_script::{Graph, ScriptMetric, ScriptUser, Stage, StageOptions};

/// A script, as all workers share it.
#[derive(Debug)]
pub(crate) struct Script {
    pub graph: Graph,
    pub options: StageOptions,
    /// The metrics that it makes.
    pub metrics: Vec<ScriptMetric>,
    /// `None`: users share an interpreter.
    pub alone: Option<Alone>,
}

/// That users of a script have an interpreter each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alone {
    /// Why, in words that follow "since"; empty: it was asked for.
    pub why: String,
    /// Memory of a user's interpreter where the user begins, in bytes.
    pub bytes: usize,
}

/// The scripts of a compilation.
#[derive(Debug, Default)]
pub(super) struct Scripts {
    /// What each was made of: its file, and what is in `__ENV`.
    pub(super) asked: Vec<(PathBuf, Vec<(String, String)>)>,
    /// What became of it; `None`: an error was noted.
    pub(super) read: Vec<Option<Tried>>,
    /// How many calls there are.
    calls: u32,
}

/// A script with a user on a stage of its own, who never does anything.
#[derive(Debug)]
pub(super) struct Tried {
    pub script: Script,
    pub stage: Stage,
    pub user: ScriptUser,
}

impl Scripts {
    /// The number of one more call.
    pub(super) fn count_call(&mut self) -> u32 {
        self.calls += 1;
        self.calls - 1
    }

    /// Those that were compiled, by their numbers. None is missing where there was no error.
    pub(super) fn into_all(self) -> Vec<Script> {
        self.read.into_iter().flatten().map(|tried| tried.script).collect()
    }
}
