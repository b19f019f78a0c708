//! A script as it says what it is: its options, what it exports, the metrics that it makes. Its top level runs once, as it does
//! for each user. None of its functions is called.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
pub use squall_script::{Files, ScriptFiles, ScriptMetric, SecretSource};
use squall_script::{Graph, Numbers, OpenFiles, ScriptUser, Stage, StageOptions};

/// Whoever runs the top level of a script before the test: no user.
const NOBODY: Numbers = Numbers { user: 0, iteration: 0 };

/// The function that makes the summary.
pub const HANDLE_SUMMARY: &str = "handleSummary";

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
    /// Reads a script with what it imports, and runs its top level. `env` is its `__ENV`, and `secrets` what `k6/secrets` gives.
    ///
    /// # Errors
    /// It cannot be read or compiled, or its top level throws.
    pub fn read(
        file: &Path,
        files: Arc<dyn Files + Send + Sync>,
        env: &[(String, String)],
        secrets: &[SecretSource],
    ) -> Result<Script, ScriptFailure> {
        let failed = |why: &dyn fmt::Display| ScriptFailure(why.to_string());
        let thrown = |why: &dyn fmt::Display| ScriptFailure(format!("{}: {why}", file.display()));
        let graph = Graph::read(file, &*files).map_err(|error| failed(&error))?;
        let options = StageOptions {
            env: env.to_vec(),
            secrets: secrets.to_vec(),
            files: OpenFiles(Some(files)),
            // Nobody else is there.
            is_alone: true,
            ..StageOptions::default()
        };
        let stage = Stage::new(&graph, &options).map_err(|error| thrown(&error))?;
        let stage = stage.map_err(|error| thrown(&error))?;
        let user = stage.user(NOBODY, &[]).map_err(|error| thrown(&error))?;
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

    /// Whether it makes the summary itself, with `handleSummary`.
    ///
    /// # Errors
    /// What it exports by that name is not a function.
    pub fn handles_summary(&self) -> Result<bool, ScriptFailure> {
        let own = self.stage.exported(&self.user, HANDLE_SUMMARY);
        own.map(|own| own.is_some())
            .map_err(|error| ScriptFailure(format!("{}: {error}", self.file.display())))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    struct Text(&'static str);

    impl Files for Text {
        fn bytes(&self, _: &Path) -> Result<Vec<u8>, String> {
            Ok(self.0.into())
        }
        fn has(&self, _: &Path) -> bool {
            true
        }
    }

    fn read(text: &'static str) -> Result<Script, ScriptFailure> {
        let env = [("N".to_owned(), "3".to_owned())];
        Script::read(Path::new("/t/a.ts"), Arc::new(Text(text)), &env, &[])
    }

    #[test]
    fn a_script_says_what_it_is() {
        let script = read(
            "import { Rate } from 'k6/metrics';
            const own: Rate = new Rate('own');
            export const options = { vus: Number(__ENV.N) };
            export function browse() {}
            export const value = 1;",
        )
        .unwrap_or_else(|why| panic!("{why}"));
        assert_eq!(script.options(), Ok(json!({"vus": 3})));
        let has: Vec<bool> =
            ["browse", "default", "value"].map(|name| script.exports(name)).to_vec();
        assert_eq!(has, [true, false, false]);
        assert_eq!(script.metrics().len(), 1);
        assert_eq!(script.handles_summary(), Ok(false));
        let of = |text| read(text).and_then(|own| own.handles_summary());
        assert_eq!(of("export function handleSummary() {}"), Ok(true));
        assert!(of("export const handleSummary = 1").is_err());
        assert_eq!(read("").and_then(|own| own.options()), Ok(json!({})));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let why = |text| read(text).map(|_| ()).expect_err("a failure").to_string();
        assert!(why("let = 1 1").starts_with("/t/a.ts:1:"));
        assert!(why("throw new Error('no')").starts_with("/t/a.ts: "));
        assert!(why("import 'k6/browser'").starts_with("/t/a.ts:1:8: `k6/browser`"));
    }
}
