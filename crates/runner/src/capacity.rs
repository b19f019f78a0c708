//! Capacity: what a plan needs of this machine and what the machine has, computed before anything is sent.
//! Where something is missing it suggests the smallest change that helps, of the plan first and of the
//! system second; it changes nothing itself.

use std::fmt;

use squall_base::units::{bytes, count, rate as rate_text};
use squall_engine::RunOptions;
use squall_plan::model::{ConnectionReuse, Load, Plan, Stage};

use crate::available::{Available, available};
use crate::error::Error;
use crate::source_addresses;

mod peak;

use peak::Peak;
pub use peak::requests;

/// Most workers. Each has a thread, a ring and an event loop that all tables know; more of them take more
/// from a table than they give.
pub const MAX_WORKERS: u32 = 128;
/// How long a closed connection keeps its local port, in s (TIME_WAIT, which Linux fixes at
/// 60 s: TCP_TIMEWAIT_LEN).
const TIME_WAIT_S: f64 = 60.0;
/// Memory of a process without users, and of a user with an idle connection, in bytes, as measured (docs/develop/benchmarks.md: 10,000 users).
const BASE_BYTES: u64 = 12 << 20;
const USER_BYTES: u64 = 1_300;

/// What a plan needs at its peak, as far as the plan says.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Demand {
    /// Concurrent virtual users.
    pub users: u64,
    /// Concurrent connections, to all hosts.
    pub connections: u64,
    /// Those of them that users of closed workloads hold; open workloads rarely use all their users.
    pub closed_workload_connections: u64,
    /// Users of closed workloads.
    pub closed_workload_users: u64,
    /// Files that requests send or write at the same time, besides their connections.
    pub files: u64,
    /// Those of them that users of closed workloads have.
    pub closed_workload_files: u64,
    /// New connections per second toward one host; `None`: it depends on the response times.
    pub new_connections: Option<f64>,
    /// Requests per second; `None`: it depends on the response times.
    pub requests: Option<f64>,
    /// Source addresses, at least 1; `None`: only users know them.
    pub sources: Option<u64>,
    /// Whether the built-in target runs in this process and has the other end of each connection.
    pub builtin: bool,
    /// Memory of the interpreters that each user has of its own, in bytes.
    pub interpreters: u64,
}

/// The workers for the load of a plan: `asked`, or as many as it needs. `hosts`: how many it talks to;
/// `builtin`: the built-in target is one.
///
/// # Errors
/// The plan's virtual users do not fit into this machine.
pub(crate) fn workers(
    plan: &Plan,
    hosts: usize,
    builtin: bool,
    asked: Option<u32>,
) -> Result<RunOptions, Error> {
    let (demand, has) = (Demand::of(plan, hosts, builtin), available());
    let needs = demand.hopeless(&has, asked);
    if needs.is_empty() {
        return Ok(demand.workers(&has, asked));
    }
    let needs: Vec<String> = needs.iter().map(ToString::to_string).collect();
    let needs = needs.join("\n");
    Err(Error::input(format!("this machine cannot run this plan\n{needs}")))
}

/// As many workers as were asked for, otherwise one per CPU.
pub(crate) fn usual_workers(cpus: u64, asked: Option<u32>) -> u32 {
    let cpus = u32::try_from(cpus).unwrap_or(MAX_WORKERS);
    asked.unwrap_or(cpus).clamp(1, MAX_WORKERS)
}

/// A resource that a plan needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Need {
    /// Its name.
    pub what: &'static str,
    /// How much is needed and how much is available, in words.
    pub text: String,
    /// What helps, the smallest change first; empty: enough is available.
    pub help: Vec<String>,
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let enough = if self.help.is_empty() { "enough" } else { "NOT ENOUGH" };
        write!(f, "  {:10} {}: {enough}", self.what, self.text)?;
        self.help.iter().try_for_each(|help| write!(f, "\n{:15}{help}", ""))
    }
}

impl Demand {
    /// The demand of a plan. `hosts`: the number of origins that it connects to.
    pub fn of(plan: &Plan, hosts: usize, builtin: bool) -> Demand {
        let mut demand = Demand {
            sources: source_addresses::count(plan),
            builtin,
            new_connections: Some(0.0),
            requests: Some(0.0),
            ..Demand::default()
        };
        let reuse = plan.connections.reuse;
        let per_iteration =
            matches!(reuse, ConnectionReuse::PerIteration | ConnectionReuse::PerRequest);
        if let Some(load) = &plan.load {
            let peaks = plan.scenarios.iter().map(|scenario| Peak::of(scenario, plan));
            demand.add(&load.value, peaks.fold(Peak::default(), Peak::or), per_iteration);
        }
        for scenario in &plan.scenarios {
            if let Some(load) = &scenario.load {
                demand.add(&load.value, Peak::of(scenario, plan), per_iteration);
            }
        }
        let hosts = hosts.max(1) as u64;
        let most = match reuse {
            ConnectionReuse::Pool(size) => u64::from(size).saturating_mul(hosts),
            ConnectionReuse::PerUser
            | ConnectionReuse::PerIteration
            | ConnectionReuse::PerRequest => u64::MAX,
        };
        demand.connections = demand.connections.saturating_mul(hosts).min(most);
        demand.closed_workload_connections =
            demand.closed_workload_connections.saturating_mul(hosts).min(most);
        demand
    }

    /// That of a part of the load, such as a node's in a fleet.
    pub fn of_share(&self, share: f64) -> Demand {
        let part = |whole: u64| (whole as f64 * share).ceil() as u64;
        Demand {
            users: part(self.users),
            connections: part(self.connections),
            closed_workload_connections: part(self.closed_workload_connections),
            closed_workload_users: part(self.closed_workload_users),
            files: part(self.files),
            closed_workload_files: part(self.closed_workload_files),
            new_connections: self.new_connections.map(|rate| rate * share),
            requests: self.requests.map(|rate| rate * share),
            sources: self.sources,
            builtin: false,
            interpreters: self.interpreters,
        }
    }

    /// The workers for this demand: as many as were asked for, otherwise one per CPU, or more where their
    /// tables of open files require it, but at most [`MAX_WORKERS`].
    pub fn workers(&self, has: &Available, asked: Option<u32>) -> RunOptions {
        let usual = usual_workers(has.cpus, asked);
        if !has.tables || self.files_together(has, usual) <= has.files {
            return RunOptions { workers: usual, ..RunOptions::default() };
        }
        let workers = match asked {
            // The target's threads have one table, which more workers do not make larger.
            None if !self.builtin => {
                self.least_workers(has, self.closed_workload_ends()).unwrap_or(MAX_WORKERS)
            }
            _ => usual,
        };
        RunOptions { workers, own_files: true, ..RunOptions::default() }
    }

    /// The least number of workers, with tables of their own, that have room for so many connections and files;
    /// `None`: there is none.
    fn least_workers(&self, has: &Available, ends: u64) -> Option<u32> {
        (usual_workers(has.cpus, None)..=MAX_WORKERS).find(|workers| {
            ends.div_ceil(u64::from(*workers)) <= has.own_room(*workers, self.builtin)
        })
    }

    /// Connections and files that users of closed workloads have.
    fn closed_workload_ends(&self) -> u64 {
        self.closed_workload_connections.saturating_add(self.closed_workload_files)
    }

    /// The resources of which there is not nearly enough: to run the plan makes no sense, as users of closed
    /// workloads all exist, and all hold their connections.
    pub fn hopeless(&self, has: &Available, asked: Option<u32>) -> Vec<Need> {
        let closed = self.closed();
        let crowded = has.tables
            && asked.is_none()
            && !self.builtin
            && self.files_together(has, 1) > has.files
            && self.least_workers(has, self.closed_workload_ends()).is_none();
        let files = if crowded { self.files(has, asked) } else { None };
        let memory = closed.memory(has).filter(|need| !need.help.is_empty());
        files.into_iter().chain(memory).collect()
    }

    /// That of the closed workloads alone, whose users all exist and all hold their connections.
    pub(crate) fn closed(&self) -> Demand {
        Demand {
            users: self.closed_workload_users,
            connections: self.closed_workload_connections,
            files: self.closed_workload_files,
            ..*self
        }
    }

    /// Open files if all workers share one table.
    pub(crate) fn files_together(&self, has: &Available, workers: u32) -> u64 {
        let ends = self.connections.saturating_mul(self.ends()).saturating_add(self.files);
        ends.saturating_add(has.base_files(workers, false, self.builtin))
    }

    /// How many ends of each connection this process has.
    fn ends(&self) -> u64 {
        if self.builtin { 2 } else { 1 }
    }

    /// Adds a load whose users have this peak; `per_iteration`: each iteration has connections of its own.
    fn add(&mut self, load: &Load, peak: Peak, per_iteration: bool) {
        let top = |stages: &[Stage]| stages.iter().map(|stage| stage.level).fold(0.0, f64::max);
        let add = |to: &mut u64, more: u64| *to = to.saturating_add(more);
        let (users, iterations) = match load {
            Load::Closed(closed) => {
                let users = closed.users.unwrap_or(0).max(top(&closed.stages).ceil() as u64);
                let pacing = closed.pacing.map(|pacing| users as f64 / pacing.as_secs_f64());
                add(&mut self.closed_workload_users, users);
                add(
                    &mut self.closed_workload_connections,
                    users.saturating_mul(peak.connections()),
                );
                add(&mut self.closed_workload_files, users.saturating_mul(peak.files));
                (users, pacing)
            }
            Load::Open(open) => {
                (open.max_users, Some(open.rate.unwrap_or(0.0).max(top(&open.stages))))
            }
        };
        add(&mut self.users, users);
        add(&mut self.connections, users.saturating_mul(peak.connections()));
        add(&mut self.files, users.saturating_mul(peak.files));
        let sum = |so_far: Option<f64>, more: Option<f64>| Some(so_far? + more?);
        self.requests = sum(self.requests, iterations.map(|rate| rate * peak.requests as f64));
        if per_iteration {
            self.new_connections = sum(self.new_connections, iterations);
        }
    }

    /// The resources that are needed, with advice where one is not sufficient. `asked`: the number of
    /// workers, if one was asked for.
    pub fn needs(&self, has: &Available, asked: Option<u32>) -> Vec<Need> {
        [self.files(has, asked), self.ports(has), self.memory(has), self.cpus(has)]
            .into_iter()
            .flatten()
            .collect()
    }

    pub(crate) fn files(&self, has: &Available, asked: Option<u32>) -> Option<Need> {
        let RunOptions { workers, own_files, .. } = self.workers(has, asked);
        let needed = self.files_together(has, workers);
        let allowed = count(has.files);
        let (allowed, most) = match own_files {
            false => {
                (format!("{allowed} allowed"), has.room(workers, false, self.builtin) / self.ends())
            }
            // The target's threads have one table.
            true if self.builtin => (
                format!("{allowed} allowed in the table of each worker and of the target"),
                has.room(workers, true, true),
            ),
            true => (
                format!("{allowed} allowed in the table of each of {workers} workers"),
                has.own_room(workers, false).saturating_mul(u64::from(workers)),
            ),
        };
        let most = most.saturating_sub(self.files / self.ends());
        let mut help = Vec::new();
        if has.files > 0 && self.connections > most {
            let ends = self.connections.saturating_add(self.files);
            let more = self.least_workers(has, ends).filter(|_| !self.builtin);
            if let Some(workers) = more.filter(|_| own_files) {
                help.push(format!(
                    "use more workers, each with a table of its own: `-w {workers}`"
                ));
            }
            if most > 0 {
                help.push(format!(
                    "share connections: `connections: {{reuse: pool, pool_size: {most}}}` (this changes what the target sees)"
                ));
            }
            help.push(match needed <= has.files_hard {
                true => format!("or raise the limit: `ulimit -n {needed}` (now {}; only for this shell)", has.files),
                false => format!(
                    "or raise the limit of open files to {needed} (now {}, at most {}), as root in /etc/security/limits.conf or with the service's LimitNOFILE (for all processes of the user), or use more machines",
                    has.files, has.files_hard
                ),
            });
        }
        let text = format!("{} open files if all users are busy, {allowed}", count(needed));
        Some(Need { what: "files", text, help })
    }

    fn ports(&self, has: &Available) -> Option<Need> {
        let (rate, own) = (self.new_connections?, self.sources?);
        let (low, high) = has.ports;
        let range = (high + 1).saturating_sub(low);
        // Ports of open connections, and of closed ones that keep theirs for a minute.
        let waiting = (rate * TIME_WAIT_S).ceil() as u64;
        let needed = self.connections.saturating_add(waiting);
        let there = range * own;
        let mut help = Vec::new();
        if range > 0 && needed > there {
            if waiting > 0 {
                help.push("reuse connections: `connections: {reuse: per_user}`".to_owned());
            }
            let sources = needed.div_ceil(range);
            help.push(format!(
                "or use {sources} source addresses of this machine: `connections: {{source_addresses: [...]}}` (now {own})"
            ));
            let wider = (65_535 + 1 - 1_024) * own;
            if low > 1_024 && needed <= wider {
                help.push(format!(
                    "or `sysctl net.ipv4.ip_local_port_range=\"1024 {}\"` (now {low} {high}; servers on this machine that listen on ports above 1024 may find theirs taken)",
                    high.max(65_535)
                ));
            }
        }
        let text = format!(
            "{} local ports toward a host ({} new connections, each for {TIME_WAIT_S:.0} s), {} available",
            count(needed),
            rate_text(rate),
            count(there)
        );
        Some(Need { what: "ports", text, help })
    }

    pub(crate) fn memory(&self, has: &Available) -> Option<Need> {
        let of_user = USER_BYTES.saturating_add(self.interpreters);
        let needed = BASE_BYTES.saturating_add(self.users.saturating_mul(of_user));
        let mut help = Vec::new();
        if has.memory > 0 && needed > has.memory {
            help.push(format!(
                "use fewer users, or a machine with {} of free memory",
                bytes(needed)
            ));
        }
        let text = format!("about {}, {} available", bytes(needed), bytes(has.memory));
        Some(Need { what: "memory", text, help })
    }

    pub(crate) fn cpus(&self, has: &Available) -> Option<Need> {
        let cost = has.us_per_request?;
        let Some(rate) = self.requests else {
            let text = format!(
                "as many requests as the response times allow, at {cost:.1} µs each: up to {}",
                rate_text(has.cpus as f64 * 1e6 / cost)
            );
            return Some(Need { what: "CPUs", text, help: Vec::new() });
        };
        let needed = rate * cost / 1e6;
        let mut help = Vec::new();
        // The last fifth is for peaks: a saturated CPU sends late.
        if needed > has.cpus as f64 * 0.8 {
            let machines = (needed / (has.cpus as f64 * 0.8)).ceil();
            help.push(format!("use a lower rate, or {machines:.0} machines like this one"));
        }
        let text = format!(
            "{needed:.2} CPUs for {} requests at {cost:.1} µs each, {} available",
            rate_text(rate),
            has.cpus
        );
        Some(Need { what: "CPUs", text, help })
    }
}

#[cfg(test)]
pub(crate) mod tests;
