//! Files of the kernel below a root, which is another folder in tests.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Most of a file that is read.
const MAX_BYTES: u64 = 4 << 20;

/// Where `/proc` and `/sys` are.
#[derive(Debug, Clone)]
pub(crate) struct System(PathBuf);

impl Default for System {
    fn default() -> System {
        System(PathBuf::from("/"))
    }
}

impl System {
    /// The files below a folder, such as recorded ones.
    #[cfg(test)]
    pub(crate) fn below(root: impl Into<PathBuf>) -> System {
        System(root.into())
    }

    /// Whether it is this machine itself.
    pub(crate) fn is_this_machine(&self) -> bool {
        self.0 == Path::new("/")
    }

    /// The path of a file, which is given without the first `/`.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.0.join(path)
    }

    /// A file as bytes, cut at 4 MiB. One that is a pipe is not waited for.
    pub(crate) fn bytes(&self, path: &str) -> io::Result<Vec<u8>> {
        let flags = rustix::fs::OFlags::NONBLOCK.bits() as i32;
        let file = OpenOptions::new().read(true).custom_flags(flags).open(self.path(path))?;
        read(file)
    }

    /// A small file as text, which the kernel gives at once: cut at 4 KiB, with one call in place of two.
    pub(crate) fn small(&self, path: &str) -> io::Result<String> {
        let mut bytes = [0; 4 << 10];
        let mut file = File::open(self.path(path))?;
        let read = file.read(&mut bytes)?;
        Ok(String::from_utf8_lossy(bytes.get(..read).unwrap_or_default()).into_owned())
    }

    /// A file as text.
    pub(crate) fn text(&self, path: &str) -> io::Result<String> {
        let bytes = self.bytes(path)?;
        Ok(String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }

    /// A number that is alone in its file; `None`: it is not there, or is a word, such as `max`.
    pub(crate) fn number(&self, path: &str) -> Option<f64> {
        self.small(path).ok()?.trim().parse().ok()
    }

    /// The names in a folder; none if it cannot be read.
    pub(crate) fn names(&self, path: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(path)).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
    }

    /// The processes.
    pub(crate) fn processes(&self) -> Vec<u32> {
        let entries = fs::read_dir(self.path("proc")).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
    }
}

fn read(file: File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(1024);
    file.take(MAX_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The number behind a name in lines such as `MemTotal:  16 kB` or `nr_throttled 5`.
pub(crate) fn behind(text: &str, name: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| {
        let rest = line.strip_prefix(name)?;
        rest.starts_with([':', ' ', '\t']).then_some(rest)
    })?;
    line.trim_start_matches(':').split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_behind_names() {
        let text = "MemTotal:       100 kB\nMem: 1\nnr_throttled 5\n";
        assert_eq!(behind(text, "MemTotal"), Some(100.0));
        assert_eq!(behind(text, "nr_throttled"), Some(5.0));
        assert_eq!(behind(text, "nr"), None);
    }
}
