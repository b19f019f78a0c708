//! What a plan needs of each kernel setting, and the value that suffices where it is not enough.

use squall_base::units::{bytes, count};

use super::values::KernelSettings;
use crate::available::Available;
use crate::capacity::{Demand, usual_workers};

/// How long a closed connection keeps its port, in s (TCP_TIMEWAIT_LEN), ...
const TIME_WAIT_S: f64 = 60.0;
/// ... and how long at least before a new one may take it where that is allowed (`tcp_twsk_unique` in the kernel's net/ipv4/tcp_ipv4.c).
const REUSED_AFTER_S: f64 = 1.0;
/// The lowest port that a program without privileges may have.
const LOWEST_PORT: u64 = 1_024;
const PORTS: &str = "net.ipv4.ip_local_port_range";
const REUSE: &str = "net.ipv4.tcp_tw_reuse";
const NEEDS_A_PLAN: &str = "depends on the plan: `squall doctor PLAN`";

/// What is needed, in words, and the value that suffices, if what is here does not.
type Needed = (String, Option<String>);

/// Whether such words say what is needed.
pub(super) fn is_known(text: &str) -> bool {
    text != NEEDS_A_PLAN && text != NOT_FROM_THE_PLAN
}

/// What is needed of a setting.
pub(super) fn needed(
    here: &KernelSettings,
    name: &str,
    demand: Option<&Demand>,
    has: &Available,
) -> Needed {
    match (name, demand) {
        (PORTS, Some(demand)) => match ports_and_reuse(here, demand) {
            Some(own) => (own.ports, own.wider),
            None => (NOT_FROM_THE_PLAN.to_owned(), None),
        },
        (REUSE, Some(demand)) => match ports_and_reuse(here, demand) {
            Some(own) => (own.reuse, own.reuse_is_needed.then(|| "1".to_owned())),
            None => (NOT_FROM_THE_PLAN.to_owned(), None),
        },
        ("net.ipv4.tcp_max_tw_buckets", Some(demand)) => (time_wait(here, demand), None),
        ("fs.nr_open", Some(demand)) => table(here, demand, has),
        ("fs.file-max", Some(demand)) => all_files(here, demand, has),
        (PORTS | REUSE | "net.ipv4.tcp_max_tw_buckets" | "fs.nr_open" | "fs.file-max", None) => {
            (NEEDS_A_PLAN.to_owned(), None)
        }
        ("net.core.netdev_max_backlog", _) => backlog(here),
        ("net.ipv4.tcp_rmem" | "net.ipv4.tcp_wmem", _) => (buffers(here, name), None),
        _ => ("nothing".to_owned(), None),
    }
}

const NOT_FROM_THE_PLAN: &str = "not known before the run: new connections depend on response times, or source addresses on users";

/// Local ports, and whether those in TIME_WAIT may be taken.
#[derive(Debug)]
pub(super) struct Ports {
    /// What is needed of the range, in words, and of reuse.
    pub ports: String,
    pub reuse: String,
    /// Whether to allow reuse, which is then enough.
    pub reuse_is_needed: bool,
    /// A range that is wide enough, where reuse would not do.
    pub wider: Option<String>,
    /// That neither is enough, in a sentence.
    pub beyond: Option<String>,
}

/// What a plan needs of both, if it is known.
pub(super) fn ports_and_reuse(here: &KernelSettings, demand: &Demand) -> Option<Ports> {
    let (rate, sources) = (demand.new_connections?, demand.sources?.max(1));
    let &[low, high] = here.of(PORTS) else { return None };
    let held = |seconds: f64| demand.connections.saturating_add((rate * seconds).ceil() as u64);
    let (all, reused) = (held(TIME_WAIT_S), held(REUSED_AFTER_S));
    let reuses = match here.number(REUSE) {
        Some(1) => true,
        Some(2) => demand.builtin,
        _ => false,
    };
    let there = (high + 1).saturating_sub(low).saturating_mul(sources);
    let needed = if reuses { reused } else { all };
    let is_enough = needed <= there;
    // A reuse that cannot be allowed, because the kernel has none, does not help.
    let reuse_is_needed = !is_enough && !reuses && here.number(REUSE).is_some() && reused <= there;
    let wanted = needed.div_ceil(sources);
    let top = high.clamp(LOWEST_PORT, 65_535);
    let fits = wanted <= top + 1 - LOWEST_PORT;
    let wider =
        (!is_enough && !reuse_is_needed && fits).then(|| format!("{} {top}", top + 1 - wanted));
    let stuck = !is_enough && !reuse_is_needed && wider.is_none();
    let verdict = match (is_enough, reuse_is_needed) {
        (true, _) => "enough",
        (false, true) => "enough once tcp_tw_reuse is 1",
        (false, false) => "NOT ENOUGH",
    };
    let counted = if reuses {
        "of which those in TIME_WAIT may be taken again"
    } else {
        "those in TIME_WAIT included"
    };
    let (needed, there) = (count(needed), count(there));
    let waiting = count(all - demand.connections);
    Some(Ports {
        ports: format!("{needed} ports toward a host, {counted}; {there} there: {verdict}"),
        reuse: match (reuse_is_needed, reuses) {
            (true, _) => format!("up to {waiting} connections in TIME_WAIT keep ports that are needed"),
            (false, true) => "ports in TIME_WAIT may be taken again".to_owned(),
            (false, false) if is_enough => format!("up to {waiting} connections in TIME_WAIT: there are enough ports for them"),
            (false, false) => "would not be enough".to_owned(),
        },
        reuse_is_needed,
        wider,
        beyond: stuck.then(|| format!("no kernel setting gives {needed} local ports toward a host, of which there are {there}: reuse connections, or use more source addresses")),
    })
}

fn time_wait(here: &KernelSettings, demand: &Demand) -> String {
    let Some(rate) = demand.new_connections else { return NOT_FROM_THE_PLAN.to_owned() };
    let waiting = (rate * TIME_WAIT_S).ceil() as u64;
    let most = here.number("net.ipv4.tcp_max_tw_buckets").unwrap_or(0);
    match waiting > most {
        true => format!(
            "up to {}, of which {} are forgotten early: no limit of the load",
            count(waiting),
            count(waiting - most)
        ),
        false => format!("up to {}: enough", count(waiting)),
    }
}

/// Open files of a table: `ulimit -n` is below `fs.nr_open`.
fn table(here: &KernelSettings, demand: &Demand, has: &Available) -> Needed {
    let needed = demand.files_together(has, usual_workers(has.cpus, None));
    match here.number("fs.nr_open") {
        Some(most) if needed > most => {
            let text = format!(
                "up to {} in one table, if the limit of the process is raised to that as well",
                count(needed)
            );
            (text, Some(needed.to_string()))
        }
        _ => (format!("{} in one table: enough", count(needed)), None),
    }
}

fn all_files(here: &KernelSettings, demand: &Demand, has: &Available) -> Needed {
    let own = demand.files_together(has, usual_workers(has.cpus, None));
    let needed = own.saturating_add(here.files_in_use);
    let text = format!("{} and {} of other programs", count(own), count(here.files_in_use));
    match here.number("fs.file-max") {
        Some(most) if needed > most => (format!("{text}: NOT ENOUGH"), Some(needed.to_string())),
        _ => (format!("{text}: enough"), None),
    }
}

/// Packets were dropped, or were not: no plan says how many there will be.
fn backlog(here: &KernelSettings) -> Needed {
    let dropped = here.packets_dropped;
    if dropped == 0 {
        return ("nothing: no packet was dropped since the machine started".to_owned(), None);
    }
    let twice = here.number("net.core.netdev_max_backlog").map(|own| own.saturating_mul(2));
    let text = format!(
        "{} packets were dropped since the machine started: if more are during a run, twice as much",
        count(dropped)
    );
    (text, twice.map(|twice| twice.to_string()))
}

/// The throughput of a connection is at most its buffer in each round trip.
fn buffers(here: &KernelSettings, name: &str) -> String {
    let most = here.of(name).last().copied().unwrap_or(0);
    format!(
        "nothing, unless one connection is to carry more than {} a second over a round trip of 100 ms",
        bytes(most.saturating_mul(10))
    )
}
