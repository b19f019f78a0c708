//! The files of a script on the disk: those below its root and no others, and what was fetched for it. It knows what was read.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::{Path, PathBuf, absolute};
use std::sync::{Mutex, PoisonError};

use crate::files::{Files, plain};
use crate::graph::{self, MOST, with_end};
use crate::lock::{LOCK, Lock, sha256};
use crate::module::{Language, Module};

/// Most bytes of a file that a script is made of, or opens.
const LARGEST: u64 = 256 << 20;

/// A file that was read for a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadFile {
    /// Its path below the root.
    pub path: PathBuf,
    /// Its length.
    pub bytes: u64,
    /// The URL that has given it, and its SHA-256 in hexadecimal; `None`: it is the user's own.
    pub url: Option<(String, String)>,
}

/// The files of one script.
///
/// Its root is the nearest folder, its own or one above it, that has a `squall.lock`; without one the nearest with a `.git`.
/// Without both it is the nearest with a `package.json`, or else the folder of the script, and so far above that as it has to
/// be to hold what the script imports by relative paths.
#[derive(Debug)]
pub struct ScriptFiles {
    /// The script, as it was asked for.
    script: PathBuf,
    /// The root as paths lead to it, ...
    root: PathBuf,
    /// ... and where it is, without links.
    real: PathBuf,
    /// What is wrong with the lock file matters to who imports a URL.
    lock: Result<Lock, String>,
    read: Mutex<BTreeMap<PathBuf, ReadFile>>,
}

impl ScriptFiles {
    /// The files of a script.
    pub fn of(script: &Path) -> ScriptFiles {
        let root = root_of(&whole(script));
        // What is not there has no files, as reading them says.
        let real = root.canonicalize().unwrap_or_else(|_| root.clone());
        let (script, read) = (script.to_owned(), Mutex::default());
        let mut own = ScriptFiles { script, root, real, lock: Ok(Lock::default()), read };
        let file = own.root.join(LOCK);
        if file.exists() {
            let text = own.contents(&file).and_then(|(_, bytes)| crate::files::text(&file, bytes));
            let failed = |why: String| format!("{}: {why}", file.display());
            own.lock = text.and_then(|text| Lock::parse(&text).map_err(failed));
        }
        own
    }

    /// The folder outside of which the script reads nothing.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What was read until now, by its path.
    pub fn read_files(&self) -> Vec<ReadFile> {
        // Nothing that holds the lock can leave it half changed.
        self.read.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// The path of a file below the root; `None`: it is not there.
    pub fn below_root(&self, path: &Path) -> Option<PathBuf> {
        whole(path).strip_prefix(&self.root).ok().map(Path::to_owned)
    }

    /// What locks the modules of URLs.
    pub(crate) fn lock(&self) -> Result<&Lock, String> {
        self.lock.as_ref().map_err(Clone::clone)
    }

    /// The command that fetches what the script imports.
    pub(crate) fn command(&self) -> String {
        format!("`squall k6 fetch {}`", self.script.display())
    }

    /// What is in a file, if it is below the root, with its path there.
    fn contents(&self, path: &Path) -> Result<(PathBuf, Vec<u8>), String> {
        let shown = path.display();
        let failed = |error: std::io::Error| format!("{shown} cannot be read: {error}");
        let below = self.below_root(path).ok_or_else(|| self.outside(path))?;
        let real = whole(path).canonicalize().map_err(failed)?;
        // Who names a script that is a link has looked at it.
        if !real.starts_with(&self.real) && path != self.script {
            return Err(self.outside(path));
        }
        // To open a pipe would wait for its other end.
        if !std::fs::metadata(&real).map_err(failed)?.is_file() {
            return Err(format!("{shown} cannot be read: it is not a file"));
        }
        let mut bytes = Vec::new();
        let file = std::fs::File::open(&real).map_err(failed)?;
        file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(failed)?;
        match bytes.len() as u64 > LARGEST {
            true => Err(format!("{shown} is larger than {} MiB", LARGEST >> 20)),
            false => Ok((below, bytes)),
        }
    }

    fn outside(&self, path: &Path) -> String {
        format!(
            "{} is outside of {}, the root of the script, and is not read: the root is the nearest folder with a file `{LOCK}`, which may be empty",
            path.display(),
            self.root.display()
        )
    }

    fn note(&self, path: PathBuf, bytes: u64, url: Option<(String, String)>) {
        let own = ReadFile { path: path.clone(), bytes, url };
        self.read.lock().unwrap_or_else(PoisonError::into_inner).insert(path, own);
    }
}

impl Files for ScriptFiles {
    fn bytes(&self, path: &Path) -> Result<Vec<u8>, String> {
        let (below, bytes) = self.contents(path)?;
        self.note(below, bytes.len() as u64, None);
        Ok(bytes)
    }

    /// Whether it may be read is said by who reads it.
    fn has(&self, path: &Path) -> bool {
        path.is_file()
    }

    fn fetched(&self, url: &str) -> Result<Vec<u8>, String> {
        let command = self.command();
        let Some(locked) = self.lock()?.modules.get(url) else {
            let lock = self.root.join(LOCK);
            return Err(format!("it is not in {}: fetch it with {command}", lock.display()));
        };
        let path = self.root.join(&locked.file);
        let read = self.contents(&path);
        let (below, bytes) = read.map_err(|why| format!("{why}: fetch it again with {command}"))?;
        if sha256(&bytes) != locked.sha256 {
            return Err(format!(
                "{} is not what {LOCK} names, by its hash: {command} fetches that again",
                path.display()
            ));
        }
        self.note(below, bytes.len() as u64, Some((url.to_owned(), locked.sha256.clone())));
        let lock = std::fs::metadata(self.root.join(LOCK)).map_or(0, |own| own.len());
        self.note(LOCK.into(), lock, None);
        Ok(bytes)
    }
}

/// An absolute path without `.` and `..`.
fn whole(path: &Path) -> PathBuf {
    // Without a current folder it is as it is.
    plain(&absolute(path).unwrap_or_else(|_| path.to_owned()))
}

/// The root of a script, whose path is absolute.
fn root_of(script: &Path) -> PathBuf {
    let folder = script.parent().unwrap_or(script);
    let nearest = |name: &&str| folder.ancestors().find(|own| own.join(name).exists());
    let said = [LOCK, ".git"].iter().find_map(nearest).map(Path::to_owned);
    said.unwrap_or_else(|| {
        let home = std::env::home_dir().unwrap_or_default();
        around(nearest(&"package.json").unwrap_or(folder), script, &home)
    })
}

/// The folder around another one and all files that a script imports by relative paths. It grows neither to the home folder nor
/// beyond: who has such a script says where its root is.
pub(crate) fn around(folder: &Path, script: &Path, home: &Path) -> PathBuf {
    let (mut root, mut seen, mut left) =
        (folder.to_owned(), BTreeSet::new(), vec![script.to_owned()]);
    while let Some(path) = left.pop().filter(|_| seen.len() < MOST) {
        let whole = root.ancestors().find(|own| path.starts_with(own)).unwrap_or(&root);
        if whole.parent().is_none() || home.starts_with(whole) && whole != folder {
            continue;
        }
        root = whole.to_owned();
        if seen.insert(path.clone()) {
            left.extend(near(&path));
        }
    }
    root
}

/// The files that a module imports by relative paths, as far as it can be read: what is wrong with it is said later.
fn near(path: &Path) -> Vec<PathBuf> {
    let most = graph::LARGEST as u64;
    let is_read = std::fs::metadata(path).is_ok_and(|own| own.is_file() && own.len() <= most);
    let text = is_read.then(|| std::fs::read_to_string(path).ok()).flatten().unwrap_or_default();
    let module = Module::read(&text, Language::of(&path.to_string_lossy()));
    let folder = path.parent().unwrap_or(path);
    let imports = module.into_iter().flat_map(|own| own.imports);
    let named = imports.filter(|(source, _)| source.starts_with('.'));
    named.filter_map(|(source, _)| with_end(&plain(&folder.join(source)), Path::is_file)).collect()
}
