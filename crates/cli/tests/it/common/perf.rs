//! A `perf` that stands in for the real one.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// A `perf` that takes what it is told, and prints one stack for each record.
pub const PERF: &str = r#"#!/bin/sh
echo "$@" >> "$PERF_CALLS"
case $1 in
    record) while [ "$1" != -- ]; do shift; done; shift; exec "$@" ;;
    script) printf 'server 1 2.0: 1 cpu-clock:\n\t1f shop::hash+0x1 (/bin/shop)\n\t2f main+0x2 (/bin/shop)\n\n' ;;
esac
"#;

/// A folder for the PATH with a shell, `sleep` and such a `perf`, if there is to be one; it is made once.
pub fn perf_on(folder: &Path, perf: Option<&str>) -> PathBuf {
    let programs = folder.join("bin");
    if programs.exists() {
        return programs;
    }
    fs::create_dir(&programs).expect("made");
    for program in ["sh", "sleep"] {
        std::os::unix::fs::symlink(Path::new("/bin").join(program), programs.join(program))
            .expect("linked");
    }
    if let Some(text) = perf {
        let file = programs.join("perf");
        fs::write(&file, text).expect("written");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("set");
    }
    programs
}
