//! What takes too long to be read where the seconds of a run are collected: tables of all sockets of the machine, and
//! the threads of the target. A thread of low priority reads them, and a sample has what it found last. Before and after
//! the load nothing waits for that, and it is done at once: on a busy machine the thread may not have run at all.

use std::collections::HashMap;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::listeners;
use super::ports::Ports;
use crate::proc::stat_fields;
use crate::sink::give_way;

/// How often the threads of the target are looked at.
const LOOK: Duration = Duration::from_secs(1);
/// What takes long is done less often: after so many times what it took, so that it costs 1% of a CPU.
const PAUSE: u32 = 100;
/// Most threads of the target that are looked at.
const MAX_THREADS: usize = 1_024;
/// How the threads of the built-in target are called, beside which squall's own are in the same process.
const OWN_TARGET: &str = "target-";

/// The thread. It ends soon after this is dropped.
#[derive(Debug)]
pub(super) struct Aside {
    found: Arc<Found>,
    ports: Arc<Ports>,
    _ended: mpsc::Sender<()>,
}

#[derive(Debug, Default)]
struct Found {
    count_ports: AtomicBool,
    ports: AtomicU64,
    waited_us: AtomicU64,
    processes: Mutex<Vec<Process>>,
    /// Held for as long as the threads of the target are read.
    target: Mutex<Target>,
}

/// A process that is, or was, the target.
#[derive(Debug)]
struct Process {
    id: u32,
    /// CPU time that it had used when it was found, and when it was looked at last, in clock ticks.
    ticks: (u64, u64),
}

impl Aside {
    /// Looks for what listens on these addresses of this machine, and counts these ports when asked to.
    pub fn new(addresses: Vec<SocketAddr>, ports: Ports) -> Aside {
        let target = Mutex::new(Target { addresses, ..Target::default() });
        let found = Arc::new(Found { target, ..Found::default() });
        let (sender, ended) = mpsc::channel();
        found.look();
        let ports = Arc::new(ports);
        let (shared, counted) = (found.clone(), ports.clone());
        let thread = std::thread::Builder::new().name("host".to_owned());
        // Without the thread these numbers are 0.
        let _ = thread.spawn(move || {
            give_way();
            let (mut ports, mut pause) = (Counting::new(counted), LOOK);
            while ended.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                ports.look(&shared);
                pause = LOOK.max(shared.look() * PAUSE);
            }
        });
        Aside { found, ports, _ended: sender }
    }

    /// The ports in use when they were counted last, which they are from now on if there may be many.
    pub fn ports(&self, may_be_many: bool) -> u64 {
        self.found.count_ports.store(may_be_many, Ordering::Relaxed);
        if may_be_many { self.found.ports.load(Ordering::Relaxed) } else { 0 }
    }

    /// Counts the ports in use, however long that takes.
    pub fn count_ports(&self) -> u64 {
        self.ports.used()
    }

    /// Looks at the threads of the target, however long that takes.
    pub fn look_at_target(&self) {
        self.found.look();
    }

    /// The target: how many processes it is, the CPU time that they have used since they were found, squall's own left
    /// out, in clock ticks, and for how long their threads have waited for a CPU, in µs.
    pub fn target(&self) -> (u64, u64, u64) {
        let mut processes = self.found.processes();
        let mut ticks = 0;
        for process in processes.iter_mut().filter(|own| own.id != std::process::id()) {
            // One that has ended keeps what it had.
            process.ticks.1 = process.ticks.1.max(cpu_ticks(process.id));
            ticks += process.ticks.1 - process.ticks.0;
        }
        (processes.len() as u64, ticks, self.found.waited_us.load(Ordering::Relaxed))
    }
}

/// CPU time that a process has used, in clock ticks; 0: there is none.
fn cpu_ticks(process: u32) -> u64 {
    let stat = stat_fields(&format!("/proc/{process}/stat"));
    stat(11) + stat(12)
}

/// Counts the ports in use while it is asked to.
struct Counting {
    ports: Arc<Ports>,
    again_at: Instant,
}

impl Counting {
    fn new(ports: Arc<Ports>) -> Counting {
        Counting { ports, again_at: Instant::now() }
    }

    fn look(&mut self, found: &Found) {
        let begin = Instant::now();
        if begin < self.again_at || !found.count_ports.load(Ordering::Relaxed) {
            return;
        }
        found.ports.store(self.ports.used(), Ordering::Relaxed);
        self.again_at = begin + begin.elapsed() * PAUSE;
    }
}

impl Found {
    fn processes(&self) -> MutexGuard<'_, Vec<Process>> {
        self.processes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Finds the target if it has not begun yet or began anew, or looks at its threads. How long that took.
    fn look(&self) -> Duration {
        let begin = Instant::now();
        let mut target = self.target.lock().unwrap_or_else(PoisonError::into_inner);
        if target.addresses.is_empty() {
            return Duration::ZERO;
        }
        let known: Vec<u32> = self.processes().iter().map(|own| own.id).collect();
        let is_there = |id: &u32| Path::new(&format!("/proc/{id}")).exists();
        match known.iter().any(is_there) {
            true => target.add_waits(&known),
            false => {
                let processes = target.find();
                self.processes().extend(processes);
            }
        }
        self.waited_us.store(target.all_ns / 1_000, Ordering::Relaxed);
        begin.elapsed()
    }
}

/// What the threads of the target waited for a CPU, added up.
#[derive(Debug, Default)]
struct Target {
    addresses: Vec<SocketAddr>,
    /// What each thread had waited when it was looked at last, in ns.
    waited: HashMap<PathBuf, u64>,
    /// All of it since the threads were found, in ns.
    all_ns: u64,
}

impl Target {
    /// The processes that are the target now, whose threads are known from now on.
    fn find(&mut self) -> Vec<Process> {
        let found = listeners::processes(&self.addresses);
        self.waited = threads(&found).collect();
        let process = |id| {
            let ticks = cpu_ticks(id);
            Process { id, ticks: (ticks, ticks) }
        };
        found.into_iter().map(process).collect()
    }

    fn add_waits(&mut self, processes: &[u32]) {
        let now: HashMap<PathBuf, u64> = threads(processes).collect();
        for (thread, waited) in &now {
            // A thread that is new has waited since it began.
            self.all_ns += waited.saturating_sub(self.waited.get(thread).copied().unwrap_or(0));
        }
        self.waited = now;
    }
}

/// The threads of some processes that serve the target, each with the time that it was ready to run and had no CPU, in ns.
fn threads(processes: &[u32]) -> impl Iterator<Item = (PathBuf, u64)> {
    let folders = processes.iter().map(|id| (*id, PathBuf::from(format!("/proc/{id}/task"))));
    let all = folders.flat_map(|(id, folder)| {
        let tasks = fs::read_dir(folder).into_iter().flatten().flatten();
        tasks.map(move |task| (id, task.path()))
    });
    let serve = |(id, task): &(u32, PathBuf)| {
        let name = || fs::read_to_string(task.join("comm")).unwrap_or_default();
        *id != std::process::id() || name().starts_with(OWN_TARGET)
    };
    let waited = |(_, task): (u32, PathBuf)| {
        let text = fs::read_to_string(task.join("schedstat")).ok()?;
        // Time on a CPU, time that it waited for one, how often it had one.
        Some((task, text.split_whitespace().nth(1)?.parse().ok()?))
    };
    all.take(MAX_THREADS).filter(serve).filter_map(waited).collect::<Vec<_>>().into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_target_is_found_and_followed() {
        let own = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let addresses = vec![own.local_addr().expect("an address")];
        let target = Mutex::new(Target { addresses, ..Target::default() });
        let found = Found { target, ..Found::default() };
        found.look();
        found.look();
        let processes: Vec<u32> = found.processes().iter().map(|own| own.id).collect();
        assert_eq!(processes, [std::process::id()], "found once");
    }

    /// What a thread had waited before is not added, and that of one that ends is not lost.
    #[test]
    fn waits_are_added_up_from_when_a_thread_is_known() {
        let mut target = Target::default();
        let thread = PathBuf::from("/proc/1/task/1");
        target.waited.insert(thread.clone(), u64::MAX);
        target.all_ns = 5;
        target.add_waits(&[]);
        assert_eq!((target.all_ns, target.waited.len()), (5, 0));
    }
}
