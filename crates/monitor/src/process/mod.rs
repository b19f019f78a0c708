//! Processes of this host: those that are meant, and their descendants.

mod family;
mod find;
mod jvm;
mod listeners;
mod stat;
mod table;
mod threads;

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use squall_metrics::{Monitored, MonitoredKind};

use self::family::{Counted, Family};
use self::find::Finder;
pub(crate) use self::find::Target;
use self::jvm::Machines;
use self::listeners::Listener;
use self::stat::Stat;
pub(crate) use self::table::Table;
use self::threads::Threads;
use crate::cgroup::Group;
use crate::rates::Rate;
use crate::sampler::Reader;
use crate::samples::Samples;
use crate::system::{System, behind};

/// What seldom changes is read again so often, in samples, and when the processes are others.
const SELDOM: u32 = 15;
/// Most processes whose limits and sockets are looked at.
const MAX_LOOKED_AT: usize = 64;

/// Samples processes.
pub(crate) struct Processes {
    system: System,
    finder: Finder,
    table: Arc<Mutex<Table>>,
    /// Of a cgroup that is meant, itself; of others, that of the first process, if it limits anything.
    group: Option<Group>,
    is_group: bool,
    seldom: Seldom,
    cpu: (Family, Rate),
    read: (Family, Rate),
    written: (Family, Rate),
    waited: (Family, Rate),
    threads: Threads,
    machines: Machines,
    /// What could not be read of some of them.
    hidden: Option<String>,
}

/// What seldom changes.
#[derive(Debug, Default)]
struct Seldom {
    /// The processes when it was read, and in how many samples it is read again.
    of: Vec<u32>,
    left: u32,
    cores: Option<f64>,
    memory: Option<f64>,
    /// Whether there is a quota that they may use up.
    has_quota: bool,
    /// Whether the kernel counts for how long threads wait for disks.
    counts_io_wait: bool,
    /// The numbers of their sockets that listen.
    sockets: Vec<u64>,
}

/// A process of the family in this sample.
struct Member {
    pid: u32,
    stat: Stat,
}

impl Processes {
    /// Those of a target; the table of processes is shared with other monitors.
    pub(crate) fn new(target: Target, table: Arc<Mutex<Table>>) -> Processes {
        Processes::on(System::default(), target, table)
    }

    pub(crate) fn on(system: System, target: Target, table: Arc<Mutex<Table>>) -> Processes {
        let group = match &target {
            Target::Cgroup(path) => Some(Group::new(path)),
            _ => None,
        };
        Processes {
            is_group: group.is_some(),
            system,
            finder: Finder::new(target),
            table,
            group,
            seldom: Seldom::default(),
            cpu: Default::default(),
            read: Default::default(),
            written: Default::default(),
            waited: Default::default(),
            threads: Threads::default(),
            machines: Machines::default(),
            hidden: None,
        }
    }

    /// The numbers of the processes that are meant and of their descendants.
    ///
    /// # Errors
    /// There are none, or they cannot be seen.
    pub(crate) fn pids(&mut self) -> io::Result<Vec<u32>> {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        table.refresh(&self.system, Instant::now());
        let roots = self.finder.roots(&self.system, &table)?;
        let family = table.family(&roots);
        // One that was started a moment ago may not be in the table.
        Ok(if family.is_empty() { roots } else { family })
    }

    fn members(&mut self) -> io::Result<Vec<Member>> {
        let pids = self.pids()?;
        let member = |pid: &u32| {
            let stat = Stat::parse(&self.system.small(&format!("proc/{pid}/stat")).ok()?)?;
            Some(Member { pid: *pid, stat })
        };
        let members: Vec<Member> = pids.iter().filter_map(member).collect();
        match members.is_empty() {
            true => Err(io::Error::new(io::ErrorKind::NotFound, "its processes have ended")),
            false => Ok(members),
        }
    }

    fn put_times(&mut self, members: &[Member], now: Duration, into: &mut Samples) {
        let ticks = rustix::param::clock_ticks_per_second().max(1) as f64;
        let of = |value: fn(&Stat) -> u64| {
            members.iter().map(move |Member { pid, stat }| Counted {
                pid: *pid,
                start: stat.start,
                parent: stat.parent,
                value: value(stat),
            })
        };
        let used = self.cpu.0.sum(of(|stat| stat.ticks + stat.children_ticks)) as f64 / ticks;
        let used = self.cpu.1.of(used, now);
        let of_group = self.group.as_mut().filter(|_| self.is_group);
        let of_group = of_group.and_then(|group| group.cpu(&self.system, now));
        into.put_known("cpu", of_group.or(used));
        if self.seldom.counts_io_wait {
            let waited = self.waited.0.sum(of(|stat| stat.io_ticks)) as f64 / ticks;
            into.put_known("io_wait", self.waited.1.of(waited, now));
        }
    }

    /// What was read from disks and written to them, where it may be seen.
    fn put_io(&mut self, members: &[Member], now: Duration, into: &mut Samples) {
        let mut counted = [Vec::new(), Vec::new()];
        for Member { pid, stat } in members {
            let Ok(text) = self.system.small(&format!("proc/{pid}/io")) else {
                self.hide(*pid);
                return;
            };
            for (own, name) in counted.iter_mut().zip(["read_bytes", "write_bytes"]) {
                let value = behind(&text, name).unwrap_or(0.0) as u64;
                own.push(Counted { pid: *pid, start: stat.start, parent: stat.parent, value });
            }
        }
        let [read, written] = counted;
        let sums =
            [(&mut self.read, read, "read_bytes"), (&mut self.written, written, "written_bytes")];
        for ((family, rate), counted, name) in sums {
            let sum = family.sum(counted.into_iter());
            into.put_known(name, rate.of(sum as f64, now));
        }
    }

    /// Open files of the process that has most of them, and its limit.
    fn put_descriptors(&mut self, members: &[Member], into: &mut Samples) {
        let count = |member: &Member| Some((descriptors(&self.system, member.pid)?, member.pid));
        let Some((count, pid)) = members.iter().take(MAX_LOOKED_AT).filter_map(count).max() else {
            self.hide(members[0].pid);
            return;
        };
        into.put("descriptors", count as f64);
        let limits = self.system.small(&format!("proc/{pid}/limits"));
        let limit = limits.ok().and_then(|text| stat::files_limit(&text));
        into.put_known("descriptors_limit", limit);
    }

    /// Notes that a process does not show all.
    fn hide(&mut self, pid: u32) {
        // It may have ended.
        if self.hidden.is_none() && self.system.path(&format!("proc/{pid}")).exists() {
            let user = find::user_of(&self.system, pid);
            let own = find::user_of(&self.system, std::process::id());
            let help = if user == own { "" } else { ": run squall as that user, or as root" };
            self.hidden = Some(format!(
                "files and I/O of process {pid} of {user} may not be seen by {own}{help}"
            ));
        }
    }

    /// Reads what seldom changes, if its time has come.
    fn read_seldom(&mut self, members: &[Member], listening: &[Listener]) {
        let pids: Vec<u32> = members.iter().map(|own| own.pid).take(MAX_LOOKED_AT).collect();
        if self.seldom.of == pids && self.seldom.left > 0 {
            self.seldom.left -= 1;
            return;
        }
        if !self.is_group {
            self.group = Group::of_process(&self.system, pids[0]);
        }
        let quota = self.group.as_ref().and_then(|group| group.cores(&self.system));
        let cores = affinity(&self.system, &pids).into_iter().chain(quota).reduce(f64::min);
        let memory = self.group.as_ref().and_then(|group| group.memory(&self.system));
        let owned = find::owned(&self.system, &pids, listening);
        let sockets = owned.iter().map(|own| own.inode).collect();
        let (has_quota, delays) = (quota.is_some(), "proc/sys/kernel/task_delayacct");
        let counts_io_wait = self.system.number(delays).is_some_and(|on| on > 0.0);
        self.seldom =
            Seldom { of: pids, left: SELDOM, cores, memory, has_quota, counts_io_wait, sockets };
        self.machines.look_again();
    }

    /// The fullest queue of each port at which they listen.
    fn put_queues(&self, listening: &[Listener], into: &mut Samples) {
        let mut own: Vec<&Listener> =
            listening.iter().filter(|own| self.seldom.sockets.contains(&own.inode)).collect();
        let fullness = |own: &Listener| (own.queue, u64::MAX - own.limit.unwrap_or(u64::MAX));
        own.sort_by_key(|own| (own.port, std::cmp::Reverse(fullness(own))));
        own.dedup_by_key(|own| own.port);
        for Listener { port, queue, limit, .. } in own.into_iter().take(MAX_LOOKED_AT) {
            let port = port.to_string();
            into.put_of("listen_queue", ("port", &port), *queue as f64);
            if let Some(limit) = limit {
                into.put_of("listen_queue_limit", ("port", &port), *limit as f64);
            }
        }
    }
}

impl Reader for Processes {
    fn names(&self) -> Vec<String> {
        Monitored::names(&[MonitoredKind::Process, MonitoredKind::Jvm, MonitoredKind::Cgroup])
    }

    fn read(&mut self, now: Duration, into: &mut Samples) -> io::Result<()> {
        let members = self.members()?;
        let listening = {
            let table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
            table.listeners().to_vec()
        };
        self.read_seldom(&members, &listening);
        self.put_times(&members, now, into);
        into.put_known("cpu_limit", self.seldom.cores);
        let sum = |of: fn(&Stat) -> u64| members.iter().map(|own| of(&own.stat)).sum::<u64>();
        into.put("rss", sum(|stat| stat.rss_pages) as f64 * rustix::param::page_size() as f64);
        into.put_known("memory_limit", self.seldom.memory);
        into.put("processes", members.len() as f64);
        let count = sum(|stat| stat.threads);
        into.put("threads", count as f64);
        let pids: Vec<u32> = members.iter().map(|own| own.pid).collect();
        self.threads.put(&self.system, &pids, (count, now), into);
        self.put_descriptors(&members, into);
        self.put_io(&members, now, into);
        self.put_queues(&listening, into);
        let named = members.iter().map(|own| (own.pid, own.stat.name.as_str()));
        self.machines.put(&self.system, named, now, into);
        if let Some(group) = &mut self.group {
            if self.seldom.has_quota {
                group.put_throttled(&self.system, now, into);
            }
            if self.is_group {
                group.put_use(&self.system, now, into);
            }
        }
        Ok(())
    }

    fn remark(&self) -> Option<String> {
        self.hidden.clone().or_else(|| self.threads.remark())
    }
}

/// How many files a process has open; `None`: it may not be seen. The kernel says it as the size of the folder since Linux 6.2.
fn descriptors(system: &System, pid: u32) -> Option<u64> {
    let folder = system.path(&format!("proc/{pid}/fd"));
    let size = folder.metadata().map_or(0, |own| own.len());
    if system.is_this_machine() && size > 0 {
        return Some(size);
    }
    Some(std::fs::read_dir(&folder).ok()?.count() as u64)
}

/// On how many CPUs these processes may run.
fn affinity(system: &System, pids: &[u32]) -> Option<f64> {
    let mut cpus: Vec<usize> = Vec::new();
    for pid in pids {
        let text = system.text(&format!("proc/{pid}/status")).unwrap_or_default();
        cpus.extend(stat::cpus(stat::status(&text, "Cpus_allowed_list").unwrap_or_default()));
    }
    cpus.sort_unstable();
    cpus.dedup();
    // A list may name CPUs that the host does not have.
    let there = system.text("proc/stat").unwrap_or_default();
    let count = |number: &usize| there.contains(&format!("\ncpu{number} "));
    let count = cpus.iter().filter(|number| count(number)).count();
    (count > 0).then_some(count as f64)
}

/// For [`crate::fuzz`].
pub(crate) fn fuzz(bytes: &[u8]) {
    jvm::fuzz(bytes);
}

#[cfg(test)]
mod tests;
