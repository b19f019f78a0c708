//! A script as it says what it is: its options, what it exports, the metrics that it makes. Its top level runs once, as it does
//! for each user; none of its functions is called.

use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::Value;
pub use squall_script::{Files, ScriptMetric};
use squall_script::{Graph, Numbers, ScriptUser, Stage, StageOptions};

/// Whoever runs the top level of a script before the test: no user.
const NOBODY: Numbers = Numbers { user: 0, iteration: 0 };

/// A script that was read.
#[derive(Debug)]
pub struct Script {
    /// Its file.
    pub file: PathBuf,
    stage: Stage,
    user: ScriptUser,
}

/// Why a script cannot be run: with its place, as far as there is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptFailure(pub String);

impl fmt::Display for ScriptFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Script {
    /// Reads a script with what it imports, and runs its top level. `env` is its `__ENV`.
    ///
    /// # Errors
    /// It cannot be read or compiled, or its top level throws.
    pub fn read(
        file: &Path,
        files: &dyn Files,
        env: &[(String, String)],
    ) -> Result<Script, ScriptFailure> {
        let failed = |why: &dyn fmt::Display| ScriptFailure(why.to_string());
        let thrown = |why: &dyn fmt::Display| ScriptFailure(format!("{}: {why}", file.display()));
        let graph = Graph::read(file, files).map_err(|error| failed(&error))?;
        let options = StageOptions { env: env.to_vec(), ..StageOptions::default() };
        let stage = Stage::new(&graph, &options).map_err(|error| thrown(&error))?;
        let stage = stage.map_err(|error| thrown(&error))?;
        let user = stage.user(NOBODY).map_err(|error| thrown(&error))?;
        Ok(Script { file: file.to_owned(), stage, user })
    }

    /// What it exports as `options`; an empty mapping: nothing.
    ///
    /// # Errors
    /// It is nothing that can be written as JSON.
    pub fn options(&self) -> Result<Value, ScriptFailure> {
        let failed = |why: &dyn fmt::Display| {
            ScriptFailure(format!("{}: `options`: {why}", self.file.display()))
        };
        match self.stage.json(&self.user, "options").map_err(|error| failed(&error))? {
            None => Ok(Value::Object(serde_json::Map::new())),
            Some(json) => serde_json::from_str(&json).map_err(|error| failed(&error)),
        }
    }

    /// Whether it exports a function of this name.
    pub fn exports(&self, name: &str) -> bool {
        self.stage.exported(&self.user, name).is_ok_and(|own| own.is_some())
    }

    /// The metrics that it makes.
    pub fn metrics(&self) -> Vec<ScriptMetric> {
        self.stage.metrics()
    }
}
