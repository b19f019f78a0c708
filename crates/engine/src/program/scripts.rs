//! The scripts of a program, as they were read and tried before the run, and the files that this has read.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use squall_script::{Graph, Import, ReadFile, ScriptFiles, ScriptUser, Stage, StageOptions};

/// A script, as all workers share it.
#[derive(Debug)]
pub(crate) struct Script {
    /// Its file, as the plan names it.
    pub file: PathBuf,
    /// Where its files are, with those that were read.
    pub files: Arc<ScriptFiles>,
    pub graph: Graph,
    pub options: StageOptions,
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
    /// Each with its file; `None`: an error was noted.
    pub(super) read: Vec<(PathBuf, Option<Tried>)>,
    /// How many kinds of users there are, over all scripts.
    pub(super) kinds: u32,
    /// How many calls there are.
    calls: u32,
}

/// What `__ENV` of some users has beside that of all, or in place of it.
pub(crate) type OwnEnv = Vec<(String, String)>;

/// A script with users who never do anything.
#[derive(Debug)]
pub(super) struct Tried {
    pub script: Script,
    /// At least one.
    pub users: Vec<TriedUser>,
}

/// A user of a script of one kind.
#[derive(Debug)]
pub(super) struct TriedUser {
    pub env: OwnEnv,
    /// The number of the kind, over all scripts.
    pub kind: u32,
    pub stage: Rc<Stage>,
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
        self.read.into_iter().filter_map(|(_, tried)| Some(tried?.script)).collect()
    }
}

/// The files of scripts. Whatever is compiled with a clone of this adds to what is known of them: an array that was made already
/// does not open its file again.
#[derive(Debug, Clone, Default)]
pub struct KnownScripts(Arc<Mutex<HashMap<PathBuf, Arc<ScriptFiles>>>>);

impl KnownScripts {
    /// Those of a script.
    pub(super) fn of(&self, script: &Path) -> Arc<ScriptFiles> {
        // Nothing that holds the lock can leave it half changed.
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || Arc::new(ScriptFiles::of(script));
        all.entry(script.to_owned()).or_insert_with(new).clone()
    }
}

/// What a script was made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptParts {
    /// Its file, as the plan names it, ...
    pub file: PathBuf,
    /// ... and as its root does.
    pub below_root: PathBuf,
    /// The folder that its files are below.
    pub root: PathBuf,
    /// All files that were read: modules, and what is opened where it begins.
    pub files: Vec<ReadFile>,
    /// The URLs in whose place something is built in.
    pub built_in: Vec<String>,
}

impl ScriptParts {
    pub(super) fn of(script: &Script) -> ScriptParts {
        let (file, files) = (script.file.clone(), &script.files);
        let modules = script.graph.modules.iter();
        let imports = modules.flat_map(|own| own.module.imports.iter().zip(&own.imports));
        let urls = imports.filter_map(|((source, _), import)| match import {
            Import::BuiltIn(_) if source.contains("://") => Some(source.clone()),
            _ => None,
        });
        let mut built_in: Vec<String> = urls.collect();
        built_in.sort();
        built_in.dedup();
        ScriptParts {
            below_root: files.below_root(&file).unwrap_or_else(|| file.clone()),
            root: files.root().to_owned(),
            files: files.read_files(),
            file,
            built_in,
        }
    }
}
