//! Finds the file of a program. Reads what is in folders.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

/// The file of a program: below `directory`, if there is a `/` in its name, otherwise in a folder of `path`, or of squall's own
/// PATH.
///
/// # Errors
/// It is not there, or cannot be executed; in a sentence.
pub fn find_program(
    program: &str,
    directory: &Path,
    path: Option<&str>,
) -> Result<PathBuf, String> {
    let is_executable = |path: &Path| path.is_file() && access(path, Access::EXEC_OK).is_ok();
    if program.contains('/') {
        let path = directory.join(program);
        return match fs::metadata(&path) {
            Err(error) => Err(format!("{}: {error}", path.display())),
            Ok(_) if !is_executable(&path) => {
                Err(format!("{}: it is not an executable file", path.display()))
            }
            Ok(_) => Ok(path),
        };
    }
    let folders = path.map(OsString::from).or(std::env::var_os("PATH")).unwrap_or_default();
    let mut places = std::env::split_paths(&folders).map(|own| directory.join(own).join(program));
    places.find(|path| is_executable(path)).ok_or_else(|| {
        format!("`{program}` was not found on the PATH: install it, or write its path")
    })
}
