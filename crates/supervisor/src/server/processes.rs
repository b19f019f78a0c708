//! The processes of this machine, as /proc has them.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// How often it is looked whether something has ended.
pub(super) const LOOK: Duration = Duration::from_millis(5);
/// How long it is waited for what was killed: the kernel may have to finish its I/O.
pub(super) const KILLED: Duration = Duration::from_secs(5);

/// A process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Process {
    pub pid: i32,
    pub parent: i32,
    pub group: i32,
    pub name: String,
    /// Whether it has ended, and nobody has asked how.
    pub is_zombie: bool,
}

impl Process {
    pub fn shown(&self) -> String {
        format!("{} (process {})", self.name, self.pid)
    }

    /// Ends it; it may have ended.
    pub fn kill(&self) {
        if let Some(pid) = Pid::from_raw(self.pid) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }

    /// The value of a variable in the environment that it was started with.
    pub fn environment(&self, name: &str) -> Option<String> {
        let all = fs::read(format!("/proc/{}/environ", self.pid)).ok()?;
        let mut all = all.split(|byte| *byte == 0).map(String::from_utf8_lossy);
        all.find_map(|own| Some(own.strip_prefix(name)?.strip_prefix('=')?.to_owned()))
    }
}

/// All that can be seen.
pub(super) fn all() -> impl Iterator<Item = Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|own| own.file_name().to_str()?.parse().ok()).filter_map(process)
}

/// All that descend from a process, without it.
pub(super) fn descendants(of: i32) -> Vec<Process> {
    let mut by_parent: BTreeMap<i32, Vec<Process>> = BTreeMap::new();
    for process in all() {
        by_parent.entry(process.parent).or_default().push(process);
    }
    let (mut found, mut parents) = (Vec::new(), vec![of]);
    while let Some(parent) = parents.pop() {
        for process in by_parent.remove(&parent).unwrap_or_default() {
            parents.push(process.pid);
            found.push(process);
        }
    }
    found
}

fn process(pid: i32) -> Option<Process> {
    parsed(pid, &fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// The line of a process: `PID (NAME) STATE PARENT GROUP ...`; its name may hold anything.
fn parsed(pid: i32, stat: &str) -> Option<Process> {
    let (begin, rest) = stat.rsplit_once(") ")?;
    let (_, name) = begin.split_once(" (")?;
    let mut rest = rest.split(' ');
    let is_zombie = matches!(rest.next()?, "Z" | "X");
    let (parent, group) = (rest.next()?.parse().ok()?, rest.next()?.parse().ok()?);
    Some(Process { pid, parent, group, name: name.to_owned(), is_zombie })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_anything() {
        let own = parsed(7, "7 (a) S 1 (b) Z 3 4 5").unwrap();
        assert_eq!(
            (own.name.as_str(), own.parent, own.group, own.is_zombie),
            ("a) S 1 (b", 3, 4, true)
        );
        assert_eq!(parsed(7, "7 (a"), None);
    }

    #[test]
    fn descendants_are_found() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let found = descendants(std::process::id() as i32);
        assert!(found.iter().any(|own| own.pid == child.id() as i32), "{found:?}");
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
