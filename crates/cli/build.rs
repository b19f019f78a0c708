//! Tells the program its version, with the commit that it was built from: `squall --version` prints it.

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=SQUALL_COMMIT");
    let given = env::var("SQUALL_COMMIT").ok();
    let commit = given.or_else(of_git).filter(|commit| !commit.is_empty());
    let version = env!("CARGO_PKG_VERSION");
    match commit {
        Some(commit) => println!("cargo::rustc-env=SQUALL_VERSION={version} ({commit})"),
        None => println!("cargo::rustc-env=SQUALL_VERSION={version}"),
    }
}

/// The commit and its date, such as `abcdef12 2026-11-28`; `None` without git, or in sources that are not under it.
fn of_git() -> Option<String> {
    // Sources that were unpacked within a repository of something else are no part of it.
    git(&["ls-files", "--error-unmatch", "build.rs"])?;
    // A line is added to this log when another commit is checked out or made. A repository may have none.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    let moved =
        if Path::new(&log).exists() { log } else { git(&["rev-parse", "--git-path", "HEAD"])? };
    println!("cargo::rerun-if-changed={moved}");
    git(&["log", "-1", "--abbrev=8", "--format=%h %cs"])
}

/// What git prints, in the folder of this crate, which is that of a build script.
fn git(arguments: &[&str]) -> Option<String> {
    let ran = Command::new("git").args(arguments).output().ok()?;
    let printed = String::from_utf8(ran.stdout).ok()?;
    ran.status.success().then(|| printed.trim().to_owned())
}
