//! The files of a run on a node: those that came with it, in a folder that only this process can read and that goes with
//! the run; and those of the node's own that a plan may read.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Component, Path, PathBuf};

use squall_plan::model::Plan;
use squall_plan::{FileName, FileUse};

use crate::protocol::messages::Allows;

/// How the folders of runs begin.
const PREFIX: &str = "squall-node-";
/// The file in a folder that its process holds a lock on, so that others know that it lives.
const LOCK: &str = "lock";

/// A folder for the files of one run, deleted when it is dropped.
#[derive(Debug)]
pub(crate) struct RunFolder {
    path: PathBuf,
    /// Locked as long as it lives.
    _lock: File,
    files: usize,
}

impl RunFolder {
    /// Makes one in a folder, such as that for temporary files.
    ///
    /// # Errors
    /// It cannot be made.
    pub(crate) fn new(within: &Path) -> io::Result<RunFolder> {
        let name = format!("{PREFIX}{}-{:016x}", std::process::id(), drawn());
        let path = within.join(name);
        DirBuilder::new().mode(0o700).create(&path)?;
        let locked = private(&path.join(LOCK)).and_then(|lock| lock.lock().map(|()| lock));
        match locked {
            Ok(lock) => Ok(RunFolder { path, _lock: lock, files: 0 }),
            Err(error) => {
                let _as_good_as_gone = fs::remove_dir_all(&path);
                Err(error)
            }
        }
    }

    /// Keeps a file under the last part of its name, which may be sent along with it: where it is.
    ///
    /// # Errors
    /// The name has no last part, or it cannot be written.
    pub(crate) fn keep(&mut self, name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
        let last = Path::new(name).file_name().ok_or_else(|| io::Error::other("it has no name"))?;
        self.files += 1;
        // Two may be called the same.
        let folder = self.path.join(self.files.to_string());
        DirBuilder::new().mode(0o700).create(&folder)?;
        let path = folder.join(last);
        private(&path)?.write_all(bytes)?;
        Ok(path)
    }
}

impl RunFolder {
    /// A folder for files that find each other by their paths.
    ///
    /// # Errors
    /// It cannot be made.
    pub(crate) fn tree(&mut self) -> io::Result<Tree> {
        self.files += 1;
        let path = self.path.join(self.files.to_string());
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Tree(path))
    }
}

/// A folder within that of a run.
#[derive(Debug)]
pub(crate) struct Tree(PathBuf);

impl Tree {
    /// Keeps a file under its path: where it is.
    ///
    /// # Errors
    /// The path leads elsewhere, or it cannot be written.
    pub(crate) fn keep(&self, name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
        let is_below = |own: Component<'_>| matches!(own, Component::Normal(_));
        if name.is_empty() || !Path::new(name).components().all(is_below) {
            return Err(io::Error::other("its path leads out of the folder"));
        }
        let path = self.0.join(name);
        let folder = path.parent().unwrap_or(&self.0);
        DirBuilder::new().mode(0o700).recursive(true).create(folder)?;
        private(&path)?.write_all(bytes)?;
        Ok(path)
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        // What cannot be deleted now is when the next node starts.
        let _left = fs::remove_dir_all(&self.path);
    }
}

/// A new file that only this user can read.
fn private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// A number that others do not guess.
fn drawn() -> u64 {
    use std::hash::{BuildHasher as _, RandomState};
    RandomState::new().hash_one(std::process::id())
}

/// Deletes the folders of runs whose processes are dead, such as one that was killed. How many there were.
pub(crate) fn delete_leftovers(within: &Path) -> usize {
    let Ok(entries) = fs::read_dir(within) else { return 0 };
    let own = entries.flatten().filter(|entry| {
        entry.file_name().to_string_lossy().starts_with(PREFIX)
            && entry.metadata().is_ok_and(|found| found.is_dir() && found.uid() == user())
    });
    own.filter(|entry| is_dead(&entry.path()) && fs::remove_dir_all(entry.path()).is_ok()).count()
}

/// The user of this process, as a file of its own has it.
pub(crate) fn user() -> u32 {
    fs::metadata("/proc/self").map_or(u32::MAX, |own| own.uid())
}

/// Whether nobody holds the lock of a folder. One without it is being made, or deleted.
fn is_dead(folder: &Path) -> bool {
    let lock = OpenOptions::new().write(true).open(folder.join(LOCK));
    lock.is_ok_and(|lock| lock.try_lock().is_ok())
}

/// Puts the places of files on this node in place of the names that a plan has for them: `sent` are those that came with
/// the run. All others are the node's own, and have to be in the folder that it allows.
///
/// # Errors
/// The plan wants what it may not have, in a sentence that names the file and the flag.
pub(crate) fn place(
    plan: &mut Plan,
    sent: &BTreeMap<String, PathBuf>,
    allows: &Allows,
) -> Result<(), String> {
    for (of, mut name) in plan.files_mut() {
        let known = name.known();
        if of == FileUse::Read
            && let Some(path) = known.as_ref().and_then(|known| sent.get(known))
        {
            name.set(&path.display().to_string());
            continue;
        }
        // A program that the plan runs could write any file as well.
        if of == FileUse::Written && allows.exec {
            continue;
        }
        own(of, &mut name, known, allows)?;
    }
    Ok(())
}

/// A file of the node's own.
fn own(
    of: FileUse,
    name: &mut FileName<'_>,
    known: Option<String>,
    allows: &Allows,
) -> Result<(), String> {
    let source = name.source();
    if of == FileUse::Written {
        return Err(format!(
            "the plan writes the file {source} on each node, which this node does not allow: start it with `--allow-exec`, or leave that out of the plan"
        ));
    }
    let what = match of {
        FileUse::Socket => "sends requests to the Unix socket",
        FileUse::Read | FileUse::Written => "reads the file",
    };
    let Some(folder) = &allows.files else {
        return Err(format!(
            "the plan {what} {source}, which did not come with it, and this node allows none of its own: start it with `--allow-files DIR`"
        ));
    };
    let Some(known) = known else {
        // What expressions come to may lead anywhere.
        return match Path::new(folder) == Path::new("/") {
            true => Ok(()),
            false => Err(format!(
                "the plan {what} {source}, whose name is made while it runs: start this node with `--allow-files /`, or give the files names that are known before"
            )),
        };
    };
    let wrong = |error: io::Error| format!("the plan {what} {known} of this node: {error}");
    let folder = Path::new(folder).canonicalize().map_err(|error| {
        format!("the folder {folder} of `--allow-files` cannot be used: {error}")
    })?;
    let path = folder.join(&known).canonicalize().map_err(wrong)?;
    if !path.starts_with(&folder) {
        return Err(format!(
            "the plan {what} {known}, which is not in {}: start this node with another `--allow-files DIR`",
            folder.display()
        ));
    }
    name.set(&path.display().to_string());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(steps: &str) -> Plan {
        let text = format!(
            "target: http://127.0.0.1:1\nvars: {{v: /etc/passwd}}\nscenarios: {{a: {{load: {{users: 1, iterations: 1}}, steps: [{steps}]}}}}\n"
        );
        let loaded = squall_plan::yaml::load_str("p", &text, Path::new(""), &Default::default());
        loaded.unwrap_or_else(|errors| panic!("{:?}", errors.diagnostics)).plan
    }

    fn placed(steps: &str, sent: &[(&str, &str)], allows: &Allows) -> Result<Vec<String>, String> {
        let mut plan = plan(steps);
        let sent = sent.iter().map(|(name, path)| ((*name).to_owned(), path.into())).collect();
        place(&mut plan, &sent, allows)?;
        Ok(plan.files_mut().iter().map(|(_, name)| name.source()).collect())
    }

    #[test]
    fn files_are_those_that_were_sent_or_are_allowed() {
        let home = tempfile::tempdir().expect("a folder");
        let root = home.path().canonicalize().expect("a folder");
        fs::create_dir(root.join("in")).expect("a folder");
        fs::write(root.join("in/a.bin"), "a").expect("writable");
        fs::write(root.join("out.bin"), "b").expect("writable");
        std::os::unix::fs::symlink(root.join("out.bin"), root.join("in/link")).expect("a link");
        let body = |name: &str| format!("{{post: /, body: {{file: '{name}'}}}}");
        let none = Allows::default();
        let own = Allows { files: Some(root.join("in").display().to_string()), ..none.clone() };
        let sent = [("plans/a.bin", "/tmp/run/1/a.bin")];
        let place = |name: &str, allows: &Allows| placed(&body(name), &sent, allows);
        assert_eq!(place("plans/a.bin", &none), Ok(vec!["/tmp/run/1/a.bin".to_owned()]));
        let expected = Ok(vec![root.join("in/a.bin").display().to_string()]);
        assert_eq!(place("a.bin", &own), expected);
        assert_eq!(place(&root.join("in/a.bin").display().to_string(), &own), expected);
        let why = |name: &str, allows: &Allows| place(name, allows).expect_err(name);
        assert!(
            why("a.bin", &none).contains("a.bin")
                && why("a.bin", &none).contains("--allow-files DIR")
        );
        for outside in ["../out.bin", "link", "/etc/passwd"] {
            assert!(why(outside, &own).contains("is not in"), "{outside}");
        }
        assert!(why("missing", &own).contains("missing of this node"));
        for made in ["${v}", "x/${v}", "${iteration}.bin"] {
            assert!(why(made, &own).contains("--allow-files /"), "{made}");
            let all = Allows { files: Some("/".to_owned()), ..none.clone() };
            assert_eq!(place(made, &all), Ok(vec![made.to_owned()]));
        }
    }

    #[test]
    fn a_node_is_written_to_only_where_programs_may_run() {
        let write = "{write: /tmp/x, text: y}, {get: /, response_body: {file: out.bin}}";
        let files = Allows { files: Some("/".to_owned()), ..Allows::default() };
        let error = placed(write, &[], &files).expect_err("it writes");
        assert!(error.contains("/tmp/x") && error.contains("--allow-exec"), "{error}");
        let exec = Allows { exec: true, ..Allows::default() };
        assert_eq!(placed(write, &[], &exec).map(|files| files.len()), Ok(2));
    }

    #[test]
    fn a_folder_goes_with_its_run_and_leftovers_with_the_next_node() {
        let within = tempfile::tempdir().expect("a folder");
        let mut folder = RunFolder::new(within.path()).expect("a folder");
        let (one, two) = (folder.keep("a/x.csv", b"1"), folder.keep("b/x.csv", b"2"));
        let (one, two) = (one.expect("a file"), two.expect("a file"));
        assert_eq!(one.file_name(), two.file_name());
        assert_eq!(
            (fs::read(&one).ok(), fs::read(&two).ok()),
            (Some(b"1".to_vec()), Some(b"2".to_vec()))
        );
        assert_eq!(fs::metadata(&one).expect("a file").mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(&folder.path).expect("a folder").mode() & 0o777, 0o700);
        assert!(folder.keep("..", b"").is_err());
        let tree = folder.tree().expect("a folder");
        let (one, two) = (tree.keep("lib/a.js", b"1"), tree.keep("lib/b/c.js", b"2"));
        assert_eq!(fs::read(one.expect("a file")).ok(), Some(b"1".to_vec()));
        assert_eq!(fs::read(two.expect("a file")).ok(), Some(b"2".to_vec()));
        for outside in ["", "..", "../x", "/x", "lib/../../x", "./x/../../y"] {
            assert!(tree.keep(outside, b"").is_err(), "{outside}");
        }
        // One whose process is dead holds no lock.
        let dead = within.path().join(format!("{PREFIX}1-dead"));
        fs::create_dir(&dead).expect("a folder");
        fs::write(dead.join(LOCK), "").expect("writable");
        fs::create_dir(within.path().join("others")).expect("a folder");
        assert_eq!(delete_leftovers(within.path()), 1);
        assert!(folder.path.exists() && !dead.exists() && within.path().join("others").exists());
        let path = folder.path.clone();
        drop(folder);
        assert!(!path.exists());
    }
}
