//! The processes of this machine, which all monitors share: who is whose child, and what they are called.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use super::listeners::{Listener, listeners};
use super::stat::Stat;
use crate::system::System;

/// How long it holds: monitors that sample in the same moment read it once.
const FRESH: Duration = Duration::from_millis(500);
/// How often a process is read until what it is called is taken for its name: it may be about to execute another program.
const YOUNG: u8 = 3;
/// Most processes of a family.
const MAX_MEMBERS: usize = 4_096;

#[derive(Debug)]
struct Known {
    parent: u32,
    /// Its name as the kernel has it, and the last part of the path that it was started by.
    names: [String; 2],
    /// How often it was read.
    reads: u8,
}

/// The processes, as they were a moment ago.
#[derive(Debug, Default)]
pub(crate) struct Table {
    processes: HashMap<u32, Known>,
    listeners: Vec<Listener>,
    read_at: Option<Instant>,
}

impl Table {
    /// Reads what is new, unless it was just done.
    pub(crate) fn refresh(&mut self, system: &System, now: Instant) {
        if self.read_at.is_some_and(|last| now.saturating_duration_since(last) < FRESH) {
            return;
        }
        self.read_at = Some(now);
        self.listeners = listeners(system);
        let there: HashSet<u32> = system.processes().into_iter().collect();
        self.processes.retain(|pid, _| there.contains(pid));
        for pid in there {
            let reads = self.processes.get(&pid).map_or(0, |known| known.reads);
            if reads < YOUNG
                && let Some(known) = read(system, pid, reads + 1)
            {
                self.processes.insert(pid, known);
            }
        }
    }

    /// The sockets that listen.
    pub(crate) fn listeners(&self) -> &[Listener] {
        &self.listeners
    }

    /// Processes with this name, but for squall itself.
    pub(crate) fn named(&self, name: &str) -> Vec<u32> {
        let own = std::process::id();
        let is_meant = |(pid, known): &(&u32, &Known)| {
            let [short, program] = &known.names;
            // The kernel keeps 15 bytes of a name.
            let is_short = short == name || (short.len() == 15 && name.starts_with(short.as_str()));
            **pid != own && (is_short || program == name)
        };
        let mut found: Vec<u32> =
            self.processes.iter().filter(is_meant).map(|(pid, _)| *pid).collect();
        found.sort_unstable();
        found
    }

    /// These processes, as far as they are there, and their descendants.
    pub(crate) fn family(&self, roots: &[u32]) -> Vec<u32> {
        let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
        for (pid, known) in &self.processes {
            children.entry(known.parent).or_default().push(*pid);
        }
        let mut seen: HashSet<u32> = HashSet::new();
        let mut left: Vec<u32> = roots.to_vec();
        let mut family = Vec::new();
        while let Some(pid) = left.pop().filter(|_| family.len() < MAX_MEMBERS) {
            if !seen.insert(pid) || !self.processes.contains_key(&pid) {
                continue;
            }
            family.push(pid);
            left.extend(children.get(&pid).into_iter().flatten());
        }
        family.sort_unstable();
        family
    }
}

fn read(system: &System, pid: u32, reads: u8) -> Option<Known> {
    let Stat { name, parent, .. } = Stat::parse(&system.small(&format!("proc/{pid}/stat")).ok()?)?;
    let command = system.bytes(&format!("proc/{pid}/cmdline")).unwrap_or_default();
    let first = command.split(|byte| *byte == 0).next().unwrap_or_default();
    let program = first.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let program = String::from_utf8_lossy(program).into_owned();
    Some(Known { parent, names: [name, program], reads })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(root: &std::path::Path, pid: u32, parent: u32, name: &str, command: &str) {
        let folder = root.join(format!("proc/{pid}"));
        std::fs::create_dir_all(&folder).expect("a folder");
        let stat =
            format!("{pid} ({name}) S {parent} 1 1 0 -1 0 0 0 0 0 1 1 0 0 20 0 1 0 99 0 5 0 0 0");
        std::fs::write(folder.join("stat"), stat).expect("a file");
        std::fs::write(folder.join("cmdline"), command).expect("a file");
    }

    #[test]
    fn families_and_names() {
        let root = tempfile::tempdir().expect("a folder");
        start(root.path(), 10, 1, "nginx", "nginx: master process\0");
        start(root.path(), 11, 10, "nginx", "");
        start(root.path(), 12, 11, "sh", "/bin/sh\0-c\0");
        start(root.path(), 20, 1, "a-very-long-nam", "/opt/a-very-long-name\0");
        let system = System::below(root.path());
        let (mut table, mut now) = (Table::default(), Instant::now());
        table.refresh(&system, now);
        assert_eq!(table.named("nginx"), [10, 11]);
        assert_eq!(table.named("a-very-long-name"), [20]);
        assert_eq!(table.named("sh"), [12]);
        assert_eq!(table.family(&[10]), [10, 11, 12]);
        assert_eq!(table.family(&[99]), [0; 0]);
        // One ends, and one that was young executes another program.
        std::fs::remove_dir_all(root.path().join("proc/11")).expect("it is there");
        start(root.path(), 12, 10, "python3", "/usr/bin/python3\0");
        table.refresh(&system, now);
        assert_eq!(table.named("sh"), [12], "it is fresh");
        now += Duration::from_secs(1);
        table.refresh(&system, now);
        assert_eq!(table.named("python3"), [12]);
        assert_eq!(table.family(&[10]), [10, 12]);
    }
}
