//! Fetches what a script imports from URLs, and locks it by its hash. Reads and writes files; who downloads is given.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use crate::disk::ScriptFiles;
use crate::files::Files;
use crate::graph::{Graph, ScriptError};
use crate::lock::{LOCK, Lock, Locked, sha256};
use crate::origin::Origin;

/// Most bytes of one module, and of all that are downloaded for a script.
const LARGEST: u64 = 32 << 20;
const MOST: u64 = 256 << 20;

/// Downloads what a URL gives, if it has not more bytes than this.
pub type Download<'d> = dyn Fn(&str, u64) -> Result<Vec<u8>, String> + 'd;

/// What became of a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FetchState {
    /// It was there, as its hash says.
    Kept,
    /// It is new.
    Added,
    /// It was locked, and is there again.
    Restored,
    /// The URL has given something else than before.
    Updated,
}

/// A module that a script imports from a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchedModule {
    pub url: String,
    pub bytes: u64,
    pub state: FetchState,
}

/// Downloads the modules that a script imports from URLs, those that these import, and so on, as far as they are not there.
/// `is_update`: all are downloaded, and what they are now is locked. Nothing is written if something fails.
///
/// # Errors
/// The script cannot be read; a URL gives nothing, or something else than what is locked; a file cannot be written.
pub fn fetch(
    script: &Path,
    is_update: bool,
    download: &Download<'_>,
) -> Result<(PathBuf, Vec<FetchedModule>), ScriptError> {
    let own = ScriptFiles::of(script);
    let failed = |message: String| ScriptError {
        origin: Origin::File(script.to_owned()),
        place: None,
        message,
        help: None,
    };
    let lock = own.lock().map_err(failed)?.clone();
    let state = State { lock, new: Vec::new(), modules: Vec::new() };
    let fetching = Fetching { own, is_update, download, state: RefCell::new(state) };
    Graph::read(script, &fetching)?;
    let Fetching { own, state, .. } = fetching;
    let State { lock, new, modules } = state.into_inner();
    let file = own.root().join(LOCK);
    if modules.iter().any(|own| own.state != FetchState::Kept) {
        let new = new.iter().map(|(name, bytes)| (own.root().join(name), bytes.as_slice()));
        let lock = lock.print();
        new.chain([(file.clone(), lock.as_bytes())])
            .try_for_each(|(path, bytes)| write(&path, bytes))
            .map_err(failed)?;
    }
    Ok((file, modules))
}

/// A file is either as it was, or whole.
fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let part = path.with_added_extension("part");
    let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    let written = folder.and_then(|()| std::fs::write(&part, bytes));
    let written = written.and_then(|()| std::fs::rename(&part, path));
    written.map_err(|error| format!("{} cannot be written: {error}", path.display()))
}

/// What is known by now.
struct State {
    lock: Lock,
    /// What is to be written: a name below the root, and the bytes.
    new: Vec<(String, Vec<u8>)>,
    modules: Vec<FetchedModule>,
}

/// The files of a script, as it is fetched: what its URLs give is downloaded while it is read.
struct Fetching<'d> {
    own: ScriptFiles,
    is_update: bool,
    download: &'d Download<'d>,
    state: RefCell<State>,
}

impl Fetching<'_> {
    /// Downloads a module: what it is, and how it differs from what is locked.
    fn download(&self, url: &str) -> Result<(Vec<u8>, FetchState), String> {
        let state = &mut *self.state.borrow_mut();
        let before: u64 = state.new.iter().map(|(_, bytes)| bytes.len() as u64).sum();
        let most = LARGEST.min(MOST.saturating_sub(before));
        let bytes = (self.download)(url, most)?;
        let new = Locked::new(url, &bytes);
        let old = state.lock.modules.get(url);
        let became = match old.map(|own| own.sha256 == new.sha256) {
            None => FetchState::Added,
            Some(true) => FetchState::Restored,
            Some(false) if self.is_update => FetchState::Updated,
            Some(false) => {
                return Err(format!(
                    "it gives something else now than {LOCK} names (SHA-256 {}): look at it, and take it with `--update`",
                    sha256(&bytes)
                ));
            }
        };
        state.new.push((new.file.clone(), bytes.clone()));
        state.lock.modules.insert(url.to_owned(), new);
        Ok((bytes, became))
    }
}

impl Files for Fetching<'_> {
    fn bytes(&self, path: &Path) -> Result<Vec<u8>, String> {
        self.own.bytes(path)
    }

    fn has(&self, path: &Path) -> bool {
        self.own.has(path)
    }

    fn fetched(&self, url: &str) -> Result<Vec<u8>, String> {
        let kept = self.own.fetched(url);
        let is_there = kept.is_ok();
        let (bytes, state) = match kept {
            Ok(bytes) if !self.is_update => (bytes, FetchState::Kept),
            _ => self.download(url)?,
        };
        // What an update finds as it was, was kept.
        let state =
            if is_there && state == FetchState::Restored { FetchState::Kept } else { state };
        let (url, length) = (url.to_owned(), bytes.len() as u64);
        self.state.borrow_mut().modules.push(FetchedModule { url, bytes: length, state });
        Ok(bytes)
    }
}
