//! What is kept of a run in its folder while it goes on, so that another process can go on with it: its name, and the key
//! with which its job is encrypted. The file is the user's alone, and goes when the run was released.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use squall_base::hex::{hex, unhex};

use crate::protocol::messages::{Job, OnLoss};
use crate::seal::RunKey;

/// The file in the folder of a run.
const FILE: &str = "fleet.json";

/// The file of a run as long as this process leads it: no other process of this machine goes on with the run meanwhile. The
/// system lets go of it when the process ends, whatever ends it.
#[derive(Debug)]
pub(crate) struct Held {
    /// Locked until it is closed.
    _file: File,
}

/// What is kept of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Kept {
    /// The run.
    pub run: String,
    /// Its key, in hexadecimal.
    key: String,
    /// When it began, in seconds since 1970.
    pub started_unix: f64,
    /// How long a node may be without the server, in nanoseconds.
    pub lease: u64,
    /// What becomes of what a lost node had.
    pub on_loss: OnLoss,
    /// What its nodes were given.
    pub job: Job,
}

impl Kept {
    pub(crate) fn new(
        run: &str,
        key: &RunKey,
        started_unix: f64,
        (lease, on_loss): (u64, OnLoss),
        job: Job,
    ) -> Kept {
        let (run, key) = (run.to_owned(), hex(key.bytes()));
        Kept { run, key, started_unix, lease, on_loss, job }
    }

    /// Its key.
    ///
    /// # Errors
    /// The file was changed, in a sentence.
    pub(crate) fn key(&self) -> Result<RunKey, String> {
        let bytes = unhex(self.key.as_bytes()).unwrap_or_default();
        RunKey::from_bytes(&bytes).map_err(|_| format!("{FILE} has no key of a run any more"))
    }

    /// Writes it into a run's folder, which is this process's from then on.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn write(&self, folder: &Path) -> io::Result<Held> {
        let path = place(folder);
        let _former = fs::remove_file(&path);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        // A file system without locks is as good as one before: the server has a lock of the run as well.
        if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
            return Err(io::Error::other("another squall on this machine leads this run"));
        }
        let text = serde_json::to_vec(self).map_err(io::Error::other)?;
        if let Err(error) = file.write_all(&text).and_then(|()| file.sync_all()) {
            // Half a file looks like a run that can be gone on with.
            let _gone = fs::remove_file(&path);
            return Err(error);
        }
        Ok(Held { _file: file })
    }

    /// Takes a run's folder over from a process that is dead.
    ///
    /// # Errors
    /// It lives, and writes the folder: in a sentence.
    pub(crate) fn hold(folder: &Path) -> Result<Held, String> {
        let path = place(folder);
        let file = File::open(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => Err(format!(
                "{}: another squall on this machine leads this run, and writes its folder: end that one first",
                folder.display()
            )),
            _ => Ok(Held { _file: file }),
        }
    }

    /// Reads that of a run's folder.
    ///
    /// # Errors
    /// There is none, in a sentence.
    pub(crate) fn read(folder: &Path) -> Result<Kept, String> {
        let path = place(folder);
        let text = fs::read(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => format!(
                "{}: there is no run of a fleet to go on with: it has no {FILE}, which is deleted when a run is over",
                folder.display()
            ),
            _ => format!("{}: {error}", path.display()),
        })?;
        serde_json::from_slice(&text).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Deletes that of a run's folder.
    pub(crate) fn delete(folder: &Path) {
        let _gone = fs::remove_file(place(folder));
    }
}

fn place(folder: &Path) -> PathBuf {
    folder.join(FILE)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn it_is_read_as_it_was_written_and_by_nobody_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let key = RunKey::new().expect("random numbers");
        let job = Job {
            plan: "target: http://a".to_owned(),
            files: Default::default(),
            scripts: Default::default(),
            target: None,
            seed: 7,
            allow_exec: false,
            io: "auto".to_owned(),
            workers: None,
            setup: vec![("token".to_owned(), serde_json::json!("t-1"))],
            exchanges: None,
        };
        let kept = Kept::new("shop-1", &key, 12.5, (15, OnLoss::Continue), job);
        kept.write(folder.path()).expect("written");
        let held = kept.write(folder.path()).expect("written once more");
        let why = Kept::hold(folder.path()).expect_err("this process has it");
        assert!(why.contains("another squall on this machine leads this run"), "{why}");
        drop(held);
        Kept::hold(folder.path()).expect("nobody has it");
        let mode = fs::metadata(place(folder.path())).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let read = Kept::read(folder.path()).expect("read");
        assert_eq!(read, kept);
        assert_eq!(read.key().expect("a key").bytes(), key.bytes());
        Kept::delete(folder.path());
        let why = Kept::read(folder.path()).expect_err("it is gone");
        assert!(why.contains("there is no run of a fleet to go on with"), "{why}");
    }

    #[test]
    fn a_key_that_was_changed_is_none() {
        let key = RunKey::new().expect("random numbers");
        let job = serde_json::from_value(serde_json::json!({
            "plan": "", "files": {}, "target": null, "seed": 1, "allow_exec": false, "io": "auto",
            "workers": null, "setup": [], "exchanges": null,
        }));
        let kept = Kept::new("r", &key, 0.0, (1, OnLoss::Abort), job.expect("a job"));
        let changed = Kept { key: kept.key[2..].to_owned(), ..kept };
        assert!(changed.key().is_err());
    }
}
