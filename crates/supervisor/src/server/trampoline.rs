//! Becomes a program: a process of squall binds itself to processors and to its parent's life, which only it can do for itself,
//! and is then replaced by the program.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use rustix::process::{Signal, getppid, set_parent_process_death_signal};

use crate::cpus::CpuSet;

/// The word that asks for it.
pub(super) const EXEC: &str = "--exec";
/// The exit code of what could not become a program.
const NO_PROGRAM: i32 = 126;

/// The words that make a process of squall a program: `--exec PARENT CPUS PROGRAM ARGUMENTS`.
pub(super) fn words(cpus: Option<&CpuSet>, program: &OsStr, arguments: &[String]) -> Vec<OsString> {
    let parent = std::process::id().to_string();
    let cpus = cpus.map_or(String::new(), CpuSet::to_string);
    let first = [OsString::from(EXEC), parent.into(), cpus.into(), program.to_owned()];
    first.into_iter().chain(arguments.iter().map(OsString::from)).collect()
}

/// Becomes the program that these words ask for; `None`: they do not. Returns only where that fails.
pub(super) fn jump(words: &[OsString]) -> Option<i32> {
    let [exec, parent, cpus, program, arguments @ ..] = words else { return None };
    if exec != EXEC {
        return None;
    }
    let error = become_program(parent, cpus, program, arguments);
    eprintln!("{}: {error}", program.display());
    Some(NO_PROGRAM)
}

fn become_program(parent: &OsStr, cpus: &OsStr, program: &OsStr, arguments: &[OsString]) -> String {
    if let Err(error) = set_parent_process_death_signal(Some(Signal::KILL)) {
        return format!("no parent-death signal: {error}");
    }
    // The parent may have died before that.
    let is_alive = getppid().is_some_and(|own| own.as_raw_nonzero().to_string().as_str() == parent);
    if !is_alive {
        return "the supervisor has ended".to_owned();
    }
    let cpus = cpus.to_string_lossy();
    let bound =
        if cpus.is_empty() { Ok(()) } else { CpuSet::parse(&cpus).and_then(|own| own.bind()) };
    match bound {
        Ok(()) => Command::new(program).args(arguments).exec().to_string(),
        Err(error) => error.to_string(),
    }
}
