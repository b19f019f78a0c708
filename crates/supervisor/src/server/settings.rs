//! Settings of the kernel, and what they were before.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Where the kernel has them; a test has another folder.
const FOLDER: &str = "/proc/sys";
const FOLDER_OF_TESTS: &str = "SQUALL_PROC_SYS";

/// Settings that were changed. What they were is on disk before they are, so that it is known whoever is killed.
#[derive(Debug)]
pub(super) struct Settings {
    folder: PathBuf,
    journal: Option<PathBuf>,
    /// Names, and what they were, in the order in which they were changed.
    before: Vec<(String, String)>,
}

impl Settings {
    pub fn new(journal: Option<&Path>) -> Settings {
        let folder = std::env::var_os(FOLDER_OF_TESTS).map_or(FOLDER.into(), PathBuf::from);
        let text = journal.and_then(|path| fs::read(path).ok()).unwrap_or_default();
        let before = serde_json::from_slice(&text).unwrap_or_default();
        Settings { folder, journal: journal.map(Path::to_owned), before }
    }

    /// Sets one, and returns what it was.
    pub fn set(&mut self, name: &str, value: &str) -> Result<String, String> {
        let path = self.path(name)?;
        let was = fs::read_to_string(&path).map_err(|error| told(name, &error))?.trim().to_owned();
        if was == value {
            return Ok(was);
        }
        if !self.before.iter().any(|(own, _)| own == name) {
            self.before.push((name.to_owned(), was.clone()));
            self.note().map_err(|error| format!("the journal of settings: {error}"))?;
        }
        write(&path, value).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidInput => {
                format!("`{name}`: the kernel refuses the value `{value}`; it is `{was}`")
            }
            _ => told(name, &error),
        })?;
        Ok(was)
    }

    /// Puts all back, the last one first.
    pub fn restore(&mut self) -> Result<(), String> {
        let mut failed = Vec::new();
        while let Some((name, was)) = self.before.pop() {
            let written = self
                .path(&name)
                .and_then(|path| write(&path, &was).map_err(|error| error.to_string()));
            if let Err(why) = written {
                failed.push(format!("`{name}` could not be set back to `{was}`: {why}"));
            }
        }
        if let Some(journal) = &self.journal {
            // One that is not there need not be removed.
            let _ = fs::remove_file(journal);
        }
        if failed.is_empty() { Ok(()) } else { Err(failed.join("; ")) }
    }

    /// The file of a setting. Names with a `/` in a part have a `.` there, as `sysctl` has it.
    fn path(&self, name: &str) -> Result<PathBuf, String> {
        let parts: Vec<&str> = name.split('.').collect();
        let is_good = |part: &&str| {
            !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || "_-/".contains(c))
        };
        let is_within = parts.iter().all(is_good) && !name.starts_with('/');
        if !is_within {
            return Err(format!(
                "`{name}`: expected the name of a setting, such as net.ipv4.tcp_tw_reuse"
            ));
        }
        let path: PathBuf = parts.iter().map(|part| part.replace('/', ".")).collect();
        Ok(self.folder.join(path))
    }

    /// Writes down what was changed.
    fn note(&self) -> io::Result<()> {
        let Some(journal) = &self.journal else { return Ok(()) };
        let mut file = File::create(journal)?;
        file.write_all(serde_json::to_string(&self.before)?.as_bytes())?;
        file.sync_all()
    }
}

fn write(path: &Path, value: &str) -> io::Result<()> {
    // Not created: a setting that is not there is none.
    File::options().write(true).open(path)?.write_all(format!("{value}\n").as_bytes())
}

fn told(name: &str, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => format!("`{name}`: this kernel has no such setting"),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            format!(
                "`{name}`: it may not be set here: run squall as root, outside of a container that forbids it"
            )
        }
        _ => format!("`{name}`: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(folder: &Path) -> Settings {
        let before = Vec::new();
        Settings { folder: folder.join("sys"), journal: Some(folder.join("journal")), before }
    }

    #[test]
    fn settings_are_put_back_also_by_the_next_one() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("sys/net/ipv4/tcp_tw_reuse");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "2\n").unwrap();
        let value = || fs::read_to_string(&file).unwrap().trim().to_owned();
        let mut own = settings(folder.path());
        assert_eq!(own.set("net.ipv4.tcp_tw_reuse", "0").as_deref(), Ok("2"));
        assert_eq!(own.set("net.ipv4.tcp_tw_reuse", "1").as_deref(), Ok("0"));
        assert_eq!(value(), "1");
        // It is killed; the next one has its journal.
        let text = fs::read(folder.path().join("journal")).unwrap();
        let mut next = Settings { before: serde_json::from_slice(&text).unwrap(), ..own };
        assert_eq!(next.restore(), Ok(()));
        assert_eq!(value(), "2");
        assert!(!folder.path().join("journal").exists());
    }

    #[test]
    fn what_cannot_be_set_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let mut own = settings(folder.path());
        for (name, said) in [
            ("net.none", "no such setting"),
            ("../etc/passwd", "expected the name"),
            ("net..a", "expected the name"),
            ("/etc/passwd", "expected the name"),
        ] {
            let error = own.set(name, "1").unwrap_err();
            assert!(error.contains(said), "{name}: {error}");
        }
    }
}
