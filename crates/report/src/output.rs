//! Files that are written in the place of others: whole, or not at all.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::Path;

/// Writes a file in the place of one that is there: whoever reads it meanwhile sees this one or the one before,
/// and so does whoever reads it after a generator that was killed.
///
/// # Errors
/// It cannot be written; what was there before is still there, and nothing else is.
pub fn replace_file(path: &Path, write: impl FnOnce(File) -> io::Result<()>) -> io::Result<()> {
    let mut next = path.as_os_str().to_owned();
    next.push(".new");
    let written = File::create(&next).and_then(write).and_then(|()| fs::rename(&next, path));
    if written.is_err() {
        // A part of it is of no use, and takes the room of what still has to be written.
        let _ = fs::remove_file(&next);
    }
    written
}

/// The same of a file that somebody named: where it is a link, the file behind it is replaced, and it keeps its permissions.
/// Where no other file can take its place, because its folder is protected or it is mounted by itself, it is overwritten.
///
/// # Errors
/// As of [`replace_file`]; a file that was overwritten may be incomplete.
pub fn rewrite_file(path: &Path, write: impl Fn(File) -> io::Result<()>) -> io::Result<()> {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let permissions = fs::metadata(&path).map(|own| own.permissions());
    let replaced = replace_file(&path, |file| {
        if let Ok(permissions) = permissions {
            file.set_permissions(permissions)?;
        }
        write(file)
    });
    match replaced {
        Err(error) if takes_no_other(error.kind()) => write(File::create(&path)?),
        done => done,
    }
}

/// Whether the reason is that there may be no other file in its place.
fn takes_no_other(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::PermissionDenied
            | ErrorKind::ResourceBusy
            | ErrorKind::CrossesDevices
            | ErrorKind::ReadOnlyFilesystem
    )
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder").map(|own| own.expect("an entry"));
        let mut names: Vec<String> =
            entries.map(|own| own.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn what_cannot_be_written_leaves_the_file_before_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a");
        fs::write(&path, "before").expect("writable");
        let fails = |mut file: File| {
            file.write_all(b"a part")?;
            Err(ErrorKind::StorageFull.into())
        };
        assert!(replace_file(&path, fails).is_err() && rewrite_file(&path, fails).is_err());
        assert_eq!(fs::read_to_string(&path).expect("it is there"), "before");
        assert_eq!(names(folder.path()), ["a"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_one_and_a_file_keeps_its_permissions() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().expect("a folder");
        let (path, link) = (folder.path().join("a"), folder.path().join("b"));
        fs::write(&path, "before").expect("writable");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("it is ours");
        std::os::unix::fs::symlink("a", &link).expect("a link");
        rewrite_file(&link, |mut file| file.write_all(b"after")).expect("writable");
        assert_eq!(fs::read_to_string(&path).expect("it is there"), "after");
        assert_eq!(fs::metadata(&path).expect("it is there").permissions().mode() & 0o777, 0o600);
        assert!(link.is_symlink());
        assert_eq!(names(folder.path()), ["a", "b"]);
    }
}
