//! What squall's own monitors sample of the target and its hosts: the name of each metric, its unit, what it means, and
//! which value means that something is full. Reports, thresholds, the search for the limit and the documentation follow
//! from the table. Each is a gauge without a scenario, with the tag [`MONITOR_TAG`].

use Bound::{Metric, No, Value};
use MonitoredKind::{Cgroup, Host, Jvm, Nginx, Postgres, Process};
use MonitoredUnit::{Bytes, BytesPerSecond, Number, PerSecond, Seconds, Share};

/// The tag with the name of the monitor that samples a metric.
pub const MONITOR_TAG: &str = "monitor";

/// The unit of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MonitoredUnit {
    /// A part of 1. Of CPU time of processes, of one core: 2.5 means two and a half cores.
    Share,
    Bytes,
    BytesPerSecond,
    PerSecond,
    Number,
    Seconds,
}

impl MonitoredUnit {
    /// The unit in words.
    pub fn label(self) -> &'static str {
        match self {
            Share => "share",
            Bytes => "bytes",
            BytesPerSecond => "bytes per second",
            PerSecond => "per second",
            Number => "number",
            Seconds => "seconds",
        }
    }
}

/// The value at which what a metric measures is full.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bound {
    /// It has none, or none that is known.
    No,
    /// A constant.
    Value(f64),
    /// The value of another metric of the same monitor, with the same tags.
    Metric(&'static str),
}

/// What samples a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MonitoredKind {
    /// The kinds `pid`, `port`, `process` and `cgroup`: of all processes together.
    Process,
    /// The same, of those that are Java virtual machines.
    Jvm,
    /// The kind `cgroup`, and processes whose cgroup can be read.
    Cgroup,
    Host,
    Nginx,
    Postgres,
}

impl MonitoredKind {
    /// All, in the order of the documentation.
    pub const ALL: [MonitoredKind; 6] = [Process, Jvm, Cgroup, Host, Nginx, Postgres];

    /// What samples it, in words.
    pub fn label(self) -> &'static str {
        match self {
            Process => "Processes (`pid`, `port`, `process`, `cgroup`)",
            Jvm => "Java processes, in addition",
            Cgroup => "Control groups, in addition",
            Host => "The host (`host`)",
            Nginx => "nginx (`nginx`)",
            Postgres => "PostgreSQL (`postgres`)",
        }
    }
}

/// A metric that squall's own monitors sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Monitored {
    pub of: MonitoredKind,
    pub name: &'static str,
    pub unit: MonitoredUnit,
    /// At which value it is full.
    pub bound: Bound,
    /// Its further tag; empty: none.
    pub tag: &'static str,
    /// What it means, in a sentence.
    pub about: &'static str,
}

const fn metric(
    (of, name, tag): (MonitoredKind, &'static str, &'static str),
    unit: MonitoredUnit,
    bound: Bound,
    about: &'static str,
) -> Monitored {
    Monitored { of, name, unit, bound, tag, about }
}

/// All of them. What several kinds sample under one name has one unit.
#[rustfmt::skip]
pub const MONITORED: &[Monitored] = &[
    metric((Process, "cpu", ""), Share, Metric("cpu_limit"), "CPU time, as a share of one core: 2.5 means two and a half cores."),
    metric((Process, "cpu_limit", ""), Number, No, "Cores that it may use, by its CPU affinity and the quota of its control group."),
    metric((Process, "cpu_thread", ""), Share, Value(1.0), "CPU time of its busiest thread, as a share of one core."),
    metric((Process, "rss", ""), Bytes, Metric("memory_limit"), "Resident memory."),
    metric((Process, "processes", ""), Number, No, "Processes."),
    metric((Process, "threads", ""), Number, No, "Threads."),
    metric((Process, "descriptors", ""), Number, Metric("descriptors_limit"), "Open files and sockets of the process that has most of them."),
    metric((Process, "descriptors_limit", ""), Number, No, "How many this process may open."),
    metric((Process, "context_switches", ""), PerSecond, No, "Context switches because a thread waited for something."),
    metric((Process, "involuntary_switches", ""), PerSecond, No, "Context switches because another thread needed the core."),
    metric((Process, "run_queue_wait", ""), Seconds, No, "Time for which threads were ready and waited for a core, per second, summed over threads."),
    metric((Process, "io_wait", ""), Seconds, No, "Time for which threads waited for disks, per second, summed over threads, where the kernel counts it."),
    metric((Process, "read_bytes", ""), BytesPerSecond, No, "Bytes read from disks."),
    metric((Process, "written_bytes", ""), BytesPerSecond, No, "Bytes written to disks."),
    metric((Process, "listen_queue", "port"), Number, Metric("listen_queue_limit"), "Connections that wait to be accepted, of each port at which it listens."),
    metric((Process, "listen_queue_limit", "port"), Number, No, "How many may wait: the backlog."),

    metric((Jvm, "heap_used", ""), Bytes, Metric("heap_limit"), "Used memory of the Java heap, garbage included."),
    metric((Jvm, "heap_limit", ""), Bytes, No, "The most that the Java heap may have."),
    metric((Jvm, "gc_share", ""), Share, Value(1.0), "Share of the time for which garbage collection stopped the program."),
    metric((Jvm, "gc_pauses", ""), PerSecond, No, "Pauses for garbage collection."),
    metric((Jvm, "jvm_threads", ""), Number, No, "Platform threads of the Java virtual machine that are alive."),

    metric((Cgroup, "memory_used", ""), Bytes, Metric("memory_limit"), "Memory, caches of files included."),
    metric((Cgroup, "memory_limit", ""), Bytes, No, "Memory that it may use."),
    metric((Cgroup, "cpu_throttled", ""), Share, Value(1.0), "Share of the quota's periods in which it had to wait because its quota was used up."),
    metric((Cgroup, "pressure_cpu", ""), Share, Value(1.0), "Share of the time in which some task waited for a core."),
    metric((Cgroup, "pressure_memory", ""), Share, Value(1.0), "Share of the time in which some task waited for memory."),
    metric((Cgroup, "pressure_io", ""), Share, Value(1.0), "Share of the time in which some task waited for disks."),

    metric((Host, "cpu", ""), Share, Value(1.0), "CPU time of all cores that was used."),
    metric((Host, "cpu_user", ""), Share, No, "CPU time of programs."),
    metric((Host, "cpu_system", ""), Share, No, "CPU time of the kernel, interrupts included."),
    metric((Host, "cpu_iowait", ""), Share, No, "Time in which cores were idle and a disk was waited for."),
    metric((Host, "cpu_steal", ""), Share, No, "Time that the hypervisor gave to others."),
    metric((Host, "cpu_core", "core"), Share, Value(1.0), "CPU time of one core that was used."),
    metric((Host, "memory_used", ""), Bytes, Metric("memory_limit"), "Memory that is not available to programs."),
    metric((Host, "memory_limit", ""), Bytes, No, "Memory of the host."),
    metric((Host, "swap_used", ""), Bytes, No, "Memory that was moved to swap."),
    metric((Host, "pressure_cpu", ""), Share, Value(1.0), "Share of the time in which some task waited for a core."),
    metric((Host, "pressure_memory", ""), Share, Value(1.0), "Share of the time in which some task waited for memory."),
    metric((Host, "pressure_io", ""), Share, Value(1.0), "Share of the time in which some task waited for disks."),
    metric((Host, "disk_busy", "disk"), Share, Value(1.0), "Share of the time in which the disk had something to do."),
    metric((Host, "disk_read_bytes", "disk"), BytesPerSecond, No, "Bytes read from the disk."),
    metric((Host, "disk_written_bytes", "disk"), BytesPerSecond, No, "Bytes written to the disk."),
    metric((Host, "network_in_bytes", "interface"), BytesPerSecond, Metric("network_limit"), "Bytes received by the interface."),
    metric((Host, "network_out_bytes", "interface"), BytesPerSecond, Metric("network_limit"), "Bytes sent by the interface."),
    metric((Host, "network_limit", "interface"), BytesPerSecond, No, "Speed of the interface's link in one direction, where it says it."),
    metric((Host, "tcp_established", ""), Number, No, "TCP connections that are established."),
    metric((Host, "tcp_time_wait", ""), Number, No, "TCP connections in TIME_WAIT."),
    metric((Host, "tcp_retransmits", ""), PerSecond, No, "TCP segments that were sent again."),
    metric((Host, "listen_overflows", ""), PerSecond, No, "Connections that came while the listen queue of their port was full."),
    metric((Host, "listen_drops", ""), PerSecond, No, "Connections that were dropped before they were accepted, overflows included."),
    metric((Host, "ports_used", ""), Number, Metric("ports_limit"), "Local ports in use toward the destination that uses the most."),
    metric((Host, "ports_limit", ""), Number, No, "Local ports that are available toward one destination."),

    metric((Nginx, "connections", ""), Number, No, "Connections of clients, idle ones included."),
    metric((Nginx, "connections_reading", ""), Number, No, "Connections of which nginx reads the head of a request."),
    metric((Nginx, "connections_writing", ""), Number, No, "Connections to which nginx writes a response, or for which it waits for one."),
    metric((Nginx, "connections_waiting", ""), Number, No, "Idle connections."),
    metric((Nginx, "accepts", ""), PerSecond, No, "Connections accepted."),
    metric((Nginx, "handled", ""), PerSecond, No, "Connections handled; fewer than accepted where a limit was reached."),
    metric((Nginx, "requests", ""), PerSecond, No, "Requests."),

    metric((Postgres, "connections", ""), Number, Metric("connections_limit"), "Connections of clients to the server."),
    metric((Postgres, "connections_limit", ""), Number, No, "The server's `max_connections`."),
    metric((Postgres, "active", ""), Number, No, "Connections that execute a query."),
    metric((Postgres, "waiting", ""), Number, No, "Connections that wait for a lock."),
    metric((Postgres, "idle_in_transaction", ""), Number, No, "Connections that wait for their client within a transaction."),
    metric((Postgres, "longest_query", ""), Seconds, No, "How long the oldest query has been executed."),
    metric((Postgres, "commits", ""), PerSecond, No, "Transactions committed, of the database."),
    metric((Postgres, "rollbacks", ""), PerSecond, No, "Transactions rolled back, of the database."),
    metric((Postgres, "cache_hits", ""), Share, No, "Share of the blocks that were found in the server's cache."),
    metric((Postgres, "deadlocks", ""), PerSecond, No, "Deadlocks detected."),
    metric((Postgres, "temp_bytes", ""), BytesPerSecond, No, "Bytes written to temporary files, as of sorts that need more than `work_mem`."),
];

impl Monitored {
    /// Those of a name: one, or one of each kind that has it.
    pub fn named(name: &str) -> impl Iterator<Item = &'static Monitored> {
        MONITORED.iter().filter(move |own| own.name == name)
    }

    /// The names of what these kinds sample, each once.
    pub fn names(kinds: &[MonitoredKind]) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for own in MONITORED.iter().filter(|own| kinds.contains(&own.of)) {
            if !names.iter().any(|name| name == own.name) {
                names.push(own.name.to_owned());
            }
        }
        names
    }

    /// The unit of a name.
    pub fn unit_of(name: &str) -> Option<MonitoredUnit> {
        Monitored::named(name).next().map(|own| own.unit)
    }

    /// The value at which the metric of a name is full, given the values of other metrics with the same tags: a metric that is
    /// its bound, if it was sampled, or else a constant.
    pub fn full_at(name: &str, value_of: impl Fn(&str) -> Option<f64>) -> Option<f64> {
        let metric = |own: &Monitored| match own.bound {
            Metric(bound) => value_of(bound),
            Value(_) | No => None,
        };
        let constant = |own: &Monitored| match own.bound {
            Value(bound) => Some(bound),
            Metric(_) | No => None,
        };
        let bound = Monitored::named(name).find_map(metric);
        bound.or_else(|| Monitored::named(name).find_map(constant))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_unit_and_one_tag() {
        for own in MONITORED {
            for other in Monitored::named(own.name) {
                assert_eq!((own.unit, own.tag), (other.unit, other.tag), "{}", own.name);
                assert!(own == other || own.of != other.of, "{} is there twice", own.name);
            }
            assert!(own.about.ends_with('.') && own.about.split(' ').count() <= 40, "{own:?}");
        }
    }

    #[test]
    fn a_bound_is_a_metric_of_the_same_kind_in_the_same_unit() {
        for own in MONITORED {
            let Metric(bound) = own.bound else { continue };
            let bound = Monitored::named(bound).next().expect(bound);
            let of_cores = own.name == "cpu" && bound.unit == Number;
            assert!(of_cores || bound.unit == own.unit, "{own:?}");
            assert_eq!((bound.bound, bound.tag), (No, own.tag), "{own:?}");
        }
    }

    #[test]
    fn a_sampled_bound_comes_before_a_constant() {
        let of_process = |name: &str| (name == "cpu_limit").then_some(0.5);
        assert_eq!(Monitored::full_at("cpu", of_process), Some(0.5));
        assert_eq!(Monitored::full_at("cpu", |_| None), Some(1.0));
        assert_eq!(Monitored::full_at("rss", |_| None), None);
        assert_eq!(Monitored::full_at("threads", |_| Some(1.0)), None);
        assert_eq!(Monitored::full_at("pg_stat_activity_count", |_| Some(1.0)), None);
        assert_eq!(Monitored::unit_of("heap_used"), Some(Bytes));
        assert_eq!(Monitored::unit_of("pg_stat_activity_count"), None);
    }

    #[test]
    fn names_are_listed_once() {
        let names = Monitored::names(&[Process, Jvm, Cgroup]);
        assert!(names.iter().filter(|name| *name == "cpu").count() == 1 && names.len() > 20);
        assert!(names.iter().all(|name| name != "deadlocks"));
    }
}
