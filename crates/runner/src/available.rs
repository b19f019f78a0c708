//! What this machine has available for a load, before anything is sent.

use rustix::process::{Resource, getrlimit};

use crate::proc::{cores, number, port_range, read, sockets};

/// Open files of a run besides its connections: 14 with a run folder and a request log, and some more for
/// moments in which the host is looked at, names are looked up or a result is written.
const RUN_FILES: u64 = 24;
/// Those of a worker: its event loop (epoll and its waker twice, a socket for signals), which is in the
/// process's table and in all that are copied of it, ...
const EVENT_LOOP_FILES: u64 = 5;
/// ... and its timer, ring and the ring's signals, which are only in its own.
const WORKER_FILES: u64 = 3;
/// Those of the built-in target, and of each of its threads, of which it has one per CPU.
const TARGET_FILES: u64 = 4;
const TARGET_THREAD_FILES: u64 = 5;

/// What the machine has available.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Available {
    /// The process's limit of open files, which may be raised up to the hard limit.
    pub files: u64,
    /// The hard limit.
    pub files_hard: u64,
    /// Whether threads can have tables of open files of their own, each with that limit (Linux).
    pub tables: bool,
    /// First and last ephemeral local port.
    pub ports: (u64, u64),
    /// Connections in TIME_WAIT now.
    pub time_wait: u64,
    /// Memory that is available, in bytes.
    pub memory: u64,
    /// CPUs that the process may use.
    pub cpus: u64,
    /// CPU time of a request, in µs, if it was measured.
    pub us_per_request: Option<f64>,
}

impl Available {
    /// Ends of connections that fit into the process's table of open files beside so many workers.
    pub(crate) fn room(&self, workers: u32, own_files: bool, builtin: bool) -> u64 {
        self.files.saturating_sub(self.base_files(workers, own_files, builtin))
    }

    /// Open files of the process's table besides the connections.
    pub(crate) fn base_files(&self, workers: u32, own_files: bool, builtin: bool) -> u64 {
        let worker = EVENT_LOOP_FILES + if own_files { 0 } else { WORKER_FILES };
        let target = if builtin { TARGET_FILES + TARGET_THREAD_FILES * self.cpus } else { 0 };
        RUN_FILES + worker * u64::from(workers) + target
    }

    /// Connections that fit into a table of a worker's own, beside so many workers.
    pub(crate) fn own_room(&self, workers: u32, builtin: bool) -> u64 {
        self.room(workers, true, builtin).saturating_sub(WORKER_FILES)
    }
}

/// What the host has available for a load.
pub fn available() -> Available {
    let files = getrlimit(Resource::Nofile);
    let memory = read("/proc/meminfo");
    let available = memory.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = number(available.and_then(|text| text.split_whitespace().next()));
    Available {
        files: files.current.unwrap_or(u64::MAX),
        files_hard: files.maximum.unwrap_or(u64::MAX),
        tables: cfg!(target_os = "linux"),
        ports: port_range(),
        time_wait: sockets().time_wait,
        memory: kib << 10,
        cpus: cores(),
        us_per_request: None,
    }
}
