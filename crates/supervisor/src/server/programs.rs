//! The programs that were started, and what they have started.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, kill_process_group, wait};

use super::processes::{KILLED, LOOK, Process, descendants};
use super::trampoline;
use crate::find::find_program;
use crate::mark::{Mark, VARIABLE};
use crate::protocol::{COMMAND, End, Launch, ProgramId, Started};

/// How long what a program has started may take to end after it.
const AFTER_IT: Duration = Duration::from_millis(500);

/// All programs.
#[derive(Debug)]
pub(super) struct Programs {
    /// By which what a program has started is known, even when it has left its group.
    mark: Mark,
    /// Of each its process, and how that ended.
    all: BTreeMap<ProgramId, (Pid, Option<End>)>,
    next: u64,
}

impl Programs {
    pub fn new(mark: Mark) -> Programs {
        Programs { mark, all: BTreeMap::new(), next: 0 }
    }

    pub fn spawn(&mut self, launch: &Launch) -> Result<Started, String> {
        let Some((program, arguments)) = launch.command.split_first() else {
            return Err("the command is empty".to_owned());
        };
        if !launch.directory.is_dir() {
            return Err(format!("{}: no such folder", launch.directory.display()));
        }
        let path = launch.env.iter().rev().find(|(name, _)| name == "PATH");
        let path = path.map(|(_, value)| value.as_str());
        let program = find_program(program, &launch.directory, path)?;
        let said = |error: std::io::Error| format!("{}: {error}", launch.log.display());
        let log = File::options().create(true).append(true).open(&launch.log).map_err(said)?;
        let also = log.try_clone().map_err(said)?;
        let id = ProgramId(self.next);
        let own = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut command = Command::new(own);
        command
            .arg(COMMAND)
            .args(trampoline::words(launch.cpus.as_ref(), program.as_os_str(), arguments))
            .envs(launch.env.iter().map(|(name, value)| (name, value)))
            .env(VARIABLE, self.marks(id))
            .current_dir(&launch.directory)
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(also)
            .process_group(0);
        // Dropped, it goes on; all children are waited for together.
        let child = command.spawn().map_err(|error| format!("{}: {error}", program.display()))?;
        let pid = Pid::from_child(&child);
        self.next += 1;
        self.all.insert(id, (pid, None));
        Ok(Started { id, pid: child.id() })
    }

    /// How it ended; `None`: it has not.
    pub fn poll(&mut self, id: ProgramId) -> Option<End> {
        self.reap();
        match self.all.get(&id) {
            Some((_, end)) => end.clone(),
            None => Some(End::default()),
        }
    }

    /// Ends it and all that it has started.
    pub fn stop(&mut self, id: ProgramId, within: Duration) -> End {
        let Some((pid, _)) = self.all.get(&id).cloned() else { return End::default() };
        let patience = Instant::now() + within;
        let _ = kill_process_group(pid, Signal::TERM);
        while self.poll(id).is_none() && Instant::now() < patience {
            std::thread::sleep(LOOK);
        }
        if self.poll(id).is_none() {
            let _ = kill_process_group(pid, Signal::KILL);
        }
        let last = Instant::now() + AFTER_IT;
        while !self.left(id, pid).is_empty() && Instant::now() < last {
            std::thread::sleep(LOOK);
        }
        let mut left_behind: Vec<String> = Vec::new();
        let last = Instant::now() + KILLED;
        // What is killed may just have started another one.
        loop {
            let left = self.left(id, pid);
            if left.is_empty() || Instant::now() > last {
                break;
            }
            for process in left {
                if process.pid != pid.as_raw_nonzero().get() {
                    note(&mut left_behind, process.shown());
                }
                process.kill();
            }
            std::thread::sleep(LOOK);
        }
        let end = self.poll(id).unwrap_or_default();
        self.all.remove(&id);
        End { left_behind, ..end }
    }

    /// Ends everything, whoever has started it.
    pub fn stop_all(&mut self, within: Duration) {
        self.reap();
        for (pid, end) in self.all.values() {
            if end.is_none() {
                let _ = kill_process_group(*pid, Signal::TERM);
            }
        }
        let patience = Instant::now() + within;
        while self.all.values().any(|(_, end)| end.is_none()) && Instant::now() < patience {
            std::thread::sleep(LOOK);
            self.reap();
        }
        let last = Instant::now() + KILLED;
        loop {
            self.reap();
            let left = alive();
            if left.is_empty() || Instant::now() > last {
                break;
            }
            left.iter().for_each(Process::kill);
            std::thread::sleep(LOOK);
        }
        self.all.clear();
    }

    /// The marks of a program: that of its own, and those of supervisors above this one.
    fn marks(&self, id: ProgramId) -> String {
        let above = std::env::var(VARIABLE).map(|own| own + " ").unwrap_or_default();
        above + &self.mark.of_program(id)
    }

    /// Asks how those ended that have, among them what programs have left behind.
    fn reap(&mut self) {
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            let end = End {
                code: status.exit_status(),
                signal: status.terminating_signal(),
                left_behind: Vec::new(),
            };
            if let Some(own) = self.all.values_mut().find(|own| own.0 == pid) {
                own.1.get_or_insert(end);
            }
        }
    }

    /// What is left of a program: its process, those of its group, those that descend from it, and those that bear its mark.
    fn left(&mut self, id: ProgramId, pid: Pid) -> Vec<Process> {
        self.reap();
        let leader = pid.as_raw_nonzero().get();
        let mark = self.mark.of_program(id);
        let below: Vec<i32> = descendants(leader).iter().map(|own| own.pid).collect();
        let is_own = |own: &Process| {
            own.pid == leader
                || own.group == leader
                || below.contains(&own.pid)
                || own
                    .environment(VARIABLE)
                    .is_some_and(|all| all.split(' ').any(|its| its == mark))
        };
        alive().into_iter().filter(is_own).collect()
    }
}

/// All processes that this one is responsible for.
fn alive() -> Vec<Process> {
    let own = std::process::id() as i32;
    descendants(own).into_iter().filter(|own| !own.is_zombie).collect()
}

/// Notes a name, once, and not too many.
fn note(names: &mut Vec<String>, name: String) {
    if names.len() < 20 && !names.contains(&name) {
        names.push(name);
    }
}
