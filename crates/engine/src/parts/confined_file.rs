//! Files whose names are made while the run goes on, from what a server sent or a row of data has: they stay
//! under one folder, whatever that is.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

/// Creates a file, or empties it, under a folder.
///
/// # Errors
/// The name leads out of the folder or is none, it is not a plain file, or it cannot be created.
pub(crate) fn create(folder: &Path, name: &str) -> io::Result<File> {
    check(name).map_err(refused)?;
    let folder = folder.canonicalize()?;
    let path = folder.join(name);
    let (Some(parent), Some(last)) = (path.parent(), path.file_name()) else {
        return Err(refused("the name has no last part"));
    };
    // A link within the folder may lead to another.
    let parent = parent.canonicalize()?;
    if !parent.starts_with(&folder) {
        return Err(refused("a symbolic link leads out of the folder"));
    }
    let mut options = OpenOptions::new();
    let file = plain(options.write(true).create(true), &parent.join(last))?;
    file.set_len(0)?;
    Ok(file)
}

/// Opens a file under a folder to read it. The folder's path has no links in it: see [`Path::canonicalize`].
///
/// # Errors
/// The name leads out of the folder or is none, it is not a plain file, or it cannot be opened.
pub(crate) fn open(folder: &Path, name: &str) -> io::Result<File> {
    check(name).map_err(refused)?;
    let path = folder.join(name).canonicalize()?;
    if !path.starts_with(folder) {
        return Err(refused("a symbolic link leads out of the folder"));
    }
    plain(OpenOptions::new().read(true), &path)
}

/// Opens a plain file, neither through a link nor waiting for the other end of a pipe.
fn plain(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = options.custom_flags(flags.bits() as i32).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(refused("it is not a plain file"));
    }
    Ok(file)
}

fn refused(reason: &str) -> io::Error {
    io::Error::other(format!("refused, as its name is made while the run goes on: {reason}"))
}

/// Whether a name may stand for a file under a folder.
fn check(name: &str) -> Result<(), &'static str> {
    if name.chars().any(char::is_control) {
        return Err("the name has a control character");
    }
    if name.starts_with('/') || Path::new(name).is_absolute() {
        return Err("the name is an absolute path");
    }
    for part in name.split('/') {
        match part {
            "" => return Err("a part of the name is empty"),
            "." | ".." => return Err("the name has a part `.` or `..`"),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_below_their_folder() {
        for name in ["a", "a.bin", "a/b", "..a", "a..b/c", "\u{e9} x"] {
            assert_eq!(check(name), Ok(()), "{name}");
        }
        for name in [
            "",
            "/",
            "/etc/x",
            "..",
            "../x",
            "a/../../x",
            "a/..",
            ".",
            "./a",
            "a//b",
            "a/",
            "a\0b",
            "a\nb",
        ] {
            assert!(check(name).is_err(), "{name}");
        }
    }

    #[test]
    fn links_lead_nowhere_else() {
        use std::os::unix::fs::symlink;
        let (folder, outside) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir());
        let (folder, outside) = (folder.path(), outside.expect("a folder"));
        std::fs::write(outside.path().join("kept"), "kept").expect("writable");
        std::fs::create_dir(folder.join("inner")).expect("writable");
        symlink(outside.path(), folder.join("out")).expect("writable");
        symlink(outside.path().join("kept"), folder.join("file")).expect("writable");
        symlink(folder.join("inner"), folder.join("in")).expect("writable");
        for name in ["out/kept", "out/new", "file", "inner/../../x", "inner", "missing/x"] {
            assert!(create(folder, name).is_err(), "{name}");
        }
        for name in ["new", "inner/new", "in/other", "new"] {
            assert!(create(folder, name).is_ok(), "{name}");
        }
        std::fs::remove_file(folder.join("file")).expect("a link");
        symlink("inner/new", folder.join("file")).expect("writable");
        let folder = folder.canonicalize().expect("a folder");
        for name in ["out/kept", "inner/../../x", "/etc/passwd", "../x", "inner", "missing/x", ""] {
            assert!(open(&folder, name).is_err(), "{name}");
        }
        for name in ["new", "inner/new", "in/other", "file"] {
            assert!(open(&folder, name).is_ok(), "{name}");
        }
        assert_eq!(std::fs::read(outside.path().join("kept")).expect("there"), b"kept");
        assert_eq!(std::fs::read_dir(outside.path()).expect("there").count(), 1);
    }
}
