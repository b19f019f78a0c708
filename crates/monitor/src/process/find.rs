//! Which processes a monitor means, found again when they were restarted.

use std::collections::HashSet;
use std::fs;
use std::io;

use super::listeners::Listener;
use super::stat::{Stat, status};
use super::table::Table;
use crate::cgroup;
use crate::system::System;

/// Which processes are meant; their descendants count with them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    Pid(u32),
    Port(u16),
    Name(String),
    /// By its path below the folder of cgroups.
    Cgroup(String),
}

/// Most open files that are looked at in search of those who listen.
const MAX_FILES: usize = 50_000;

/// Finds processes.
#[derive(Debug)]
pub(crate) struct Finder {
    target: Target,
    /// Of a process by its number: when it was started. Another one may get its number.
    start: Option<u64>,
    /// Of a port: its sockets, and the processes that have them open.
    owners: (Vec<u64>, Vec<u32>),
}

impl Finder {
    pub(crate) fn new(target: Target) -> Finder {
        Finder { target, start: None, owners: Default::default() }
    }

    /// The processes that are meant, without their descendants.
    ///
    /// # Errors
    /// There are none, or it cannot be seen which they are: why, and what to do.
    pub(crate) fn roots(&mut self, system: &System, table: &Table) -> io::Result<Vec<u32>> {
        match &self.target {
            Target::Pid(pid) => {
                let pid = *pid;
                self.same(system, pid).map(|pid| vec![pid])
            }
            Target::Name(name) => match table.named(name) {
                found if found.is_empty() => {
                    Err(told(format!("there is no process with the name {name}")))
                }
                found => Ok(found),
            },
            Target::Cgroup(path) => match cgroup::processes(system, path)? {
                found if found.is_empty() => {
                    Err(told(format!("there is no process in the control group {path}")))
                }
                found => Ok(found),
            },
            Target::Port(port) => {
                let port = *port;
                self.listening(system, table, port)
            }
        }
    }

    /// A process, if it is still the one that it was.
    fn same(&mut self, system: &System, pid: u32) -> io::Result<u32> {
        let text = system.text(&format!("proc/{pid}/stat"));
        let stat = text.ok().and_then(|text| Stat::parse(&text));
        match (stat, self.start) {
            (None, None) => Err(told(format!("there is no process {pid}"))),
            (Some(stat), None) => {
                self.start = Some(stat.start);
                Ok(pid)
            }
            (Some(stat), Some(start)) if stat.start == start => Ok(pid),
            _ => Err(told(format!("process {pid} has ended"))),
        }
    }

    /// The processes that listen at a port. They are looked for again when its sockets are others.
    fn listening(&mut self, system: &System, table: &Table, port: u16) -> io::Result<Vec<u32>> {
        let own: Vec<&Listener> = table.listeners().iter().filter(|own| own.port == port).collect();
        let Some(first) = own.first() else {
            return Err(told(format!("nothing listens at port {port} of this host")));
        };
        let mut inodes: Vec<u64> = own.iter().map(|own| own.inode).collect();
        inodes.sort_unstable();
        let is_there = |pid: &u32| system.path(&format!("proc/{pid}")).exists();
        if self.owners.0 == inodes
            && !self.owners.1.is_empty()
            && self.owners.1.iter().all(is_there)
        {
            return Ok(self.owners.1.clone());
        }
        let found = owners(system, &inodes);
        if found.is_empty() {
            let user = user_name(system, first.user);
            return Err(told(format!(
                "port {port} belongs to a process of {user} that squall may not see: run squall as {user} or root"
            )));
        }
        self.owners = (inodes, found.clone());
        Ok(found)
    }
}

/// The processes that have any of these sockets open, as far as their files may be seen.
fn owners(system: &System, inodes: &[u64]) -> Vec<u32> {
    let names: HashSet<String> = inodes.iter().map(|own| format!("socket:[{own}]")).collect();
    let mut left = MAX_FILES;
    let mut found: Vec<u32> = system.processes();
    found.retain(|pid| has_any(system, *pid, &names, &mut left));
    found.sort_unstable();
    found
}

/// Whether a process has one of these files open; so many more may be looked at.
fn has_any(system: &System, pid: u32, names: &HashSet<String>, left: &mut usize) -> bool {
    let files = fs::read_dir(system.path(&format!("proc/{pid}/fd"))).into_iter().flatten();
    let files = files.flatten().take(*left).inspect(|_| *left -= 1);
    let mut links = files.filter_map(|file| fs::read_link(file.path()).ok());
    links.any(|link| link.to_str().is_some_and(|link| names.contains(link)))
}

/// The sockets among these that processes have open.
pub(crate) fn owned(system: &System, pids: &[u32], all: &[Listener]) -> Vec<Listener> {
    let is_owned = |own: &&Listener| {
        let name = HashSet::from([format!("socket:[{}]", own.inode)]);
        let mut left = MAX_FILES;
        pids.iter().any(|pid| has_any(system, *pid, &name, &mut left))
    };
    all.iter().filter(is_owned).copied().collect()
}

/// The user of a process, in words.
pub(crate) fn user_of(system: &System, pid: u32) -> String {
    let text = system.text(&format!("proc/{pid}/status")).unwrap_or_default();
    let user = status(&text, "Uid").and_then(|ids| ids.split_whitespace().next()?.parse().ok());
    user.map_or_else(|| "another user".to_owned(), |user| user_name(system, user))
}

/// The name of a user by its number.
fn user_name(system: &System, user: u32) -> String {
    let number = user.to_string();
    let text = system.text("etc/passwd").unwrap_or_default();
    let line = text.lines().find(|line| line.split(':').nth(2) == Some(&number));
    let name = line.and_then(|line| line.split(':').next());
    name.map_or_else(|| format!("user {number}"), str::to_owned)
}

fn told(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    fn listens(root: &Path, inode: u32) {
        let table = format!(
            "  sl  local_address\n   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  33        0 {inode} 1\n"
        );
        std::fs::create_dir_all(root.join("proc/net")).expect("a folder");
        std::fs::write(root.join("proc/net/tcp"), table).expect("a file");
    }

    fn opens(root: &Path, pid: u32, inode: u32) {
        let folder = root.join(format!("proc/{pid}/fd"));
        std::fs::create_dir_all(&folder).expect("a folder");
        symlink(format!("socket:[{inode}]"), folder.join("3")).expect("a link");
    }

    #[test]
    fn who_listens_is_found_again() {
        let root = tempfile::tempdir().expect("a folder");
        let (root, system) = (root.path(), System::below(root.path()));
        let mut finder = Finder::new(Target::Port(8080));
        let mut found = || {
            let mut table = Table::default();
            table.refresh(&system, std::time::Instant::now());
            finder.roots(&system, &table).map_err(|error| error.to_string())
        };
        assert_eq!(found(), Err("nothing listens at port 8080 of this host".to_owned()));
        listens(root, 4711);
        std::fs::create_dir_all(root.join("etc")).expect("a folder");
        std::fs::write(
            root.join("etc/passwd"),
            "root:x:0:0::/root:/bin/sh\nwww-data:x:33:33::/:\n",
        )
        .expect("a file");
        let error = found().expect_err("nobody has it open");
        assert!(error.contains("of www-data that squall may not see"), "{error}");
        opens(root, 50, 4711);
        assert_eq!(found(), Ok(vec![50]));
        // It is restarted.
        std::fs::remove_dir_all(root.join("proc/50")).expect("it is there");
        listens(root, 4712);
        opens(root, 51, 4712);
        assert_eq!(found(), Ok(vec![51]));
    }

    #[test]
    fn a_number_is_of_one_process() {
        let root = tempfile::tempdir().expect("a folder");
        let system = System::below(root.path());
        let starts = |start: u32| {
            std::fs::create_dir_all(root.path().join("proc/7")).expect("a folder");
            let stat = format!("7 (a) S 1 1 1 0 -1 0 0 0 0 0 1 1 0 0 20 0 1 0 {start} 0 5 0");
            std::fs::write(root.path().join("proc/7/stat"), stat).expect("a file");
        };
        let mut finder = Finder::new(Target::Pid(7));
        let mut found = || finder.roots(&system, &Table::default()).map_err(|e| e.to_string());
        assert_eq!(found(), Err("there is no process 7".to_owned()));
        starts(5);
        assert_eq!(found(), Ok(vec![7]));
        starts(6);
        assert_eq!(found(), Err("process 7 has ended".to_owned()));
    }
}
