//! What a plan will need of the machine, and what the machine has: worked out before anything is sent.
//! For what is missing, the least change that helps: one of the plan first, then one of the system.
//! Nothing here changes anything.

use std::fmt;

use squall_engine::RunOptions;
use squall_plan::model::{ConnectionReuse, Connections, Load, Plan, Stage, Step, StepKind};

/// Files that a process has open beside its connections.
const OWN_FILES: u64 = 40;
/// How long a connection that was closed keeps its local port, in s (TIME_WAIT, which Linux fixes at
/// 60 s: TCP_TIMEWAIT_LEN).
const TIME_WAIT_S: f64 = 60.0;
/// Memory of a process without users, and of a user with a connection between its requests, in bytes, as
/// measured (docs/benchmarks.md: 10,000 users).
const OWN_BYTES: u64 = 12 << 20;
const USER_BYTES: u64 = 1_300;

/// What the machine has.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Has {
    /// Files that the process may have open now, and as many as it may raise that to.
    pub files: u64,
    pub files_hard: u64,
    /// Whether threads can have tables of open files of their own, each with that limit (Linux).
    pub tables: bool,
    /// First and last local port that the system gives out.
    pub ports: (u64, u64),
    /// Connections in TIME_WAIT now.
    pub time_wait: u64,
    /// Memory that is available, in bytes.
    pub memory: u64,
    /// Processors that the process may use.
    pub processors: u64,
    /// Processor time of a request, in µs, if it was measured.
    pub us_per_request: Option<f64>,
}

impl Has {
    /// Connections that fit into a table of files beside what else is open.
    fn room(&self) -> u64 {
        self.files.saturating_sub(OWN_FILES)
    }
}

/// What a plan asks for at its height, as far as it says so.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Demand {
    /// Users at a time.
    pub users: u64,
    /// Connections at a time, to all hosts.
    pub connections: u64,
    /// Those of them that users of closed loads hold: open loads rarely need all they may have.
    pub held: u64,
    /// New connections a second toward one host; `None`: as many as the answers allow.
    pub new_connections: Option<f64>,
    /// Requests a second; `None`: as many as the answers allow.
    pub requests: Option<f64>,
    /// Source addresses, at least 1.
    pub sources: u64,
    /// Whether the built-in target runs in the same process, and has the other end of each connection.
    pub builtin: bool,
}

/// One thing that is needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Need {
    /// What it is.
    pub what: &'static str,
    /// How much of it is needed, and how much there is, in words.
    pub text: String,
    /// What helps, the least change first; empty: there is enough.
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
    /// What a plan asks for. `hosts`: how many origins it talks to.
    pub fn of(plan: &Plan, hosts: usize, builtin: bool) -> Demand {
        let mut demand = Demand {
            sources: plan.connections.source_addresses.len().max(1) as u64,
            builtin,
            new_connections: Some(0.0),
            requests: Some(0.0),
            ..Demand::default()
        };
        if let Some(load) = &plan.load {
            let most = plan.scenarios.iter().map(|scenario| requests(&scenario.steps)).max();
            demand.add(&load.value, most.unwrap_or(0), &plan.connections);
        }
        for scenario in &plan.scenarios {
            if let Some(load) = &scenario.load {
                demand.add(&load.value, requests(&scenario.steps), &plan.connections);
            }
        }
        let hosts = hosts.max(1) as u64;
        let most = match plan.connections.reuse {
            ConnectionReuse::Pool(size) => u64::from(size) * hosts,
            ConnectionReuse::PerUser | ConnectionReuse::PerIteration => u64::MAX,
        };
        demand.connections = (demand.users * hosts).min(most);
        demand.held = (demand.held * hosts).min(most);
        demand
    }

    /// Who makes this load. `asked`: as many workers and no others; otherwise one a processor, or as many
    /// as it takes for their files.
    pub fn crew(&self, has: &Has, asked: Option<u32>) -> RunOptions {
        let usual = asked.unwrap_or(has.processors as u32).max(1);
        if !has.tables || self.files_together() <= has.files {
            return RunOptions { workers: usual, own_files: false };
        }
        let needed = self.held.div_ceil(has.room().max(1));
        let needed = u32::try_from(needed).unwrap_or(u32::MAX);
        RunOptions { workers: asked.unwrap_or(usual.max(needed)), own_files: true }
    }

    /// Files that are open if all have one table.
    fn files_together(&self) -> u64 {
        self.connections * self.ends() + OWN_FILES
    }

    /// How many ends of each connection are in this process.
    fn ends(&self) -> u64 {
        if self.builtin { 2 } else { 1 }
    }

    fn add(&mut self, load: &Load, requests: u64, connections: &Connections) {
        let top = |stages: &[Stage]| stages.iter().map(|stage| stage.level).fold(0.0, f64::max);
        let (users, iterations) = match load {
            Load::Closed(closed) => {
                let users = closed.users.unwrap_or(0).max(top(&closed.stages).ceil() as u64);
                let pacing = closed.pacing.map(|pacing| users as f64 / pacing.as_secs_f64());
                self.held += users;
                (users, pacing)
            }
            Load::Open(open) => {
                (open.max_users, Some(open.rate.unwrap_or(0.0).max(top(&open.stages))))
            }
        };
        self.users += users;
        let sum = |own: Option<f64>, more: Option<f64>| Some(own? + more?);
        self.requests = sum(self.requests, iterations.map(|rate| rate * requests as f64));
        if connections.reuse == ConnectionReuse::PerIteration {
            self.new_connections = sum(self.new_connections, iterations);
        }
    }

    /// What is needed, each with what helps where there is not enough.
    pub fn needs(&self, has: &Has) -> Vec<Need> {
        [self.files(has), self.ports(has), self.memory(has), self.processors(has)]
            .into_iter()
            .flatten()
            .collect()
    }

    fn files(&self, has: &Has) -> Option<Need> {
        let needed = self.files_together();
        let crew = self.crew(has, None);
        let (allowed, most) = match crew.own_files {
            false => (format!("{} allowed", has.files), has.room() / self.ends()),
            // The target's threads have one table.
            true if self.builtin => (
                format!("{} allowed in each worker's table, and in the target's", has.files),
                has.room(),
            ),
            true => (
                format!("{} allowed in the table of each of {} workers", has.files, crew.workers),
                has.room() * u64::from(crew.workers),
            ),
        };
        let mut help = Vec::new();
        if has.files > 0 && self.connections > most {
            if crew.own_files && !self.builtin {
                let workers = self.connections.div_ceil(has.room().max(1));
                help.push(format!("more workers, each with a table of its own: `-w {workers}`"));
            }
            help.push(format!(
                "share a pool of connections: `connections: {{reuse: pool, pool_size: {most}}}` (changes what the target sees)"
            ));
            help.push(match needed <= has.files_hard {
                true => format!("or raise the limit: `ulimit -n {needed}` (now {}; of this shell only)", has.files),
                false => format!(
                    "or raise the limit of open files to {needed} (now {}, at most {}): as root in /etc/security/limits.conf or the service's LimitNOFILE (for all of the user's processes), or use more machines",
                    has.files, has.files_hard
                ),
            });
        }
        let text = format!("{needed} open files if all users are busy, {allowed}");
        Some(Need { what: "files", text, help })
    }

    fn ports(&self, has: &Has) -> Option<Need> {
        let rate = self.new_connections?;
        let (low, high) = has.ports;
        let range = (high + 1).saturating_sub(low);
        // Those that are open, and those that have been closed and keep their port for a minute.
        let waiting = (rate * TIME_WAIT_S).ceil() as u64;
        let needed = self.connections + waiting;
        let there = range * self.sources;
        let mut help = Vec::new();
        if range > 0 && needed > there {
            if waiting > 0 {
                help.push("reuse connections: `connections: {reuse: per_user}`".to_owned());
            }
            let sources = needed.div_ceil(range);
            help.push(format!(
                "or use {sources} source addresses of this machine: `connections: {{source_addresses: [...]}}` (now {})",
                self.sources
            ));
            let wider = (65_535 + 1 - 1_024) * self.sources;
            if low > 1_024 && needed <= wider {
                help.push(format!(
                    "or `sysctl net.ipv4.ip_local_port_range=\"1024 {}\"` (now {low} {high}; servers on this machine that listen above 1024 may find their port taken)",
                    high.max(65_535)
                ));
            }
        }
        let text = format!(
            "{needed} local ports toward a host ({rate:.0} new connections a second, each for {TIME_WAIT_S:.0} s), {there} there are"
        );
        Some(Need { what: "ports", text, help })
    }

    fn memory(&self, has: &Has) -> Option<Need> {
        let needed = OWN_BYTES + self.users * USER_BYTES;
        let mib = |bytes: u64| bytes.div_ceil(1 << 20);
        let mut help = Vec::new();
        if has.memory > 0 && needed > has.memory {
            help.push(format!("use fewer users, or a machine with {} MiB free", mib(needed)));
        }
        let text = format!("about {} MiB, {} MiB available", mib(needed), mib(has.memory));
        Some(Need { what: "memory", text, help })
    }

    fn processors(&self, has: &Has) -> Option<Need> {
        let cost = has.us_per_request?;
        let Some(rate) = self.requests else {
            let text = format!(
                "as many requests as the answers allow, at {cost:.1} µs each: up to {:.0}/s",
                has.processors as f64 * 1e6 / cost
            );
            return Some(Need { what: "processors", text, help: Vec::new() });
        };
        let needed = rate * cost / 1e6;
        let mut help = Vec::new();
        // The last fifth is for peaks: a full processor sends late.
        if needed > has.processors as f64 * 0.8 {
            let machines = (needed / (has.processors as f64 * 0.8)).ceil();
            help.push(format!("a lower rate, or {machines:.0} machines like this one"));
        }
        let text = format!(
            "{needed:.2} processors for {rate:.0} requests a second at {cost:.1} µs each, {} there are",
            has.processors
        );
        Some(Need { what: "processors", text, help })
    }
}

/// How many requests an iteration makes, at most, where no loop repeats them.
pub fn requests(steps: &[Step]) -> u64 {
    let in_one = |step: &Step| match &step.kind {
        StepKind::Request(_) => 1,
        StepKind::Group { steps, .. }
        | StepKind::Repeat { steps, .. }
        | StepKind::While { steps, .. }
        | StepKind::ForEach { steps, .. }
        | StepKind::OncePerUser(steps) => requests(steps),
        StepKind::If { then, otherwise, .. } => requests(then) + requests(otherwise),
        StepKind::Choose(choices) => choices.iter().map(|choice| requests(&choice.steps)).sum(),
        StepKind::RoundRobin(branches) => branches.iter().map(|steps| requests(steps)).sum(),
        _ => 0,
    };
    steps.iter().map(in_one).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn needs(plan: &str, has: &Has) -> Vec<Need> {
        let options = squall_plan::vars::LoadOptions::default();
        let loaded = squall_plan::yaml::load_str("p", plan, Path::new(""), &options);
        Demand::of(&loaded.expect("a good plan").plan, 1, false).needs(has)
    }

    const HAS: Has = Has {
        files: 1_024,
        files_hard: 4_096,
        tables: false,
        ports: (32_768, 60_999),
        time_wait: 0,
        memory: 1 << 30,
        processors: 2,
        us_per_request: Some(10.0),
    };

    fn plan(load: &str, connections: &str) -> String {
        format!(
            "target: http://a\nconnections: {connections}\nscenarios: {{a: {{load: {load}, steps: [{{get: /}}, {{get: /}}]}}}}"
        )
    }

    #[test]
    fn a_modest_plan_needs_little() {
        let needs = needs(&plan("{users: 100, for: 1m}", "{}"), &HAS);
        assert!(needs.iter().all(|need| need.help.is_empty()), "{needs:?}");
        assert_eq!(needs[0].text, "140 open files if all users are busy, 1024 allowed");
        assert_eq!(
            needs[3].text,
            "as many requests as the answers allow, at 10.0 µs each: up to 200000/s"
        );
    }

    #[test]
    fn what_is_missing_has_the_least_change_first() {
        let users = needs(&plan("{users: 2000, for: 1m}", "{}"), &HAS);
        assert!(users[0].help[0].contains("size: 984"), "{users:?}");
        assert!(users[0].help[1].contains("`ulimit -n 2040` (now 1024"), "{users:?}");
        let more = needs(&plan("{users: 9000, for: 1m}", "{}"), &HAS);
        assert!(more[0].help[1].contains("to 9040 (now 1024, at most 4096)"), "{more:?}");
        let closing = plan("{rate: 900/s, for: 1m, max_users: 10}", "{reuse: per_iteration}");
        let ports = needs(&closing, &HAS);
        assert!(ports[1].text.starts_with("54010 local ports"), "{ports:?}");
        assert_eq!(ports[1].help.len(), 3);
        assert!(ports[1].help[1].contains("use 2 source addresses"), "{ports:?}");
        assert!(ports[1].help[2].contains("1024 65535"), "{ports:?}");
        let fast = needs(&plan("{rate: 90000/s, for: 1m, max_users: 10}", "{}"), &HAS);
        assert!(fast[3].text.starts_with("1.80 processors for 180000 requests"), "{fast:?}");
        assert_eq!(fast[3].help, ["a lower rate, or 2 machines like this one"]);
    }

    /// With tables of their own, workers have room for the users of closed loads: there are as many as it
    /// takes, unless their number is given.
    #[test]
    fn workers_have_tables_of_their_own_where_one_is_too_small() {
        let has = Has { tables: true, ..HAS };
        let demand = |load: &str, builtin| {
            let options = squall_plan::vars::LoadOptions::default();
            let plan = plan(load, "{}");
            let loaded = squall_plan::yaml::load_str("p", &plan, Path::new(""), &options);
            Demand::of(&loaded.expect("a good plan").plan, 1, builtin)
        };
        let few = demand("{users: 900, for: 1m}", false);
        assert_eq!(few.crew(&has, None), RunOptions { workers: 2, own_files: false });
        let many = demand("{users: 9000, for: 1m}", false);
        assert_eq!(many.crew(&has, None), RunOptions { workers: 10, own_files: true });
        assert_eq!(many.crew(&has, Some(3)), RunOptions { workers: 3, own_files: true });
        assert_eq!(many.crew(&HAS, None), RunOptions { workers: 2, own_files: false });
        let needs = many.needs(&has);
        assert!(needs[0].help.is_empty(), "{needs:?}");
        assert_eq!(
            needs[0].text,
            "9040 open files if all users are busy, 1024 allowed in the table of each of 10 workers"
        );
        let open = demand("{rate: 5/s, for: 1m, max_users: 9000}", false);
        assert_eq!(open.crew(&has, None), RunOptions { workers: 2, own_files: true });
        assert!(open.needs(&has)[0].help[0].ends_with("`-w 10`"), "{:?}", open.needs(&has));
        let builtin = demand("{users: 9000, for: 1m}", true).needs(&has);
        assert!(builtin[0].help[0].contains("size: 984"), "{builtin:?}");
    }

    /// Advice never asks for less than there is.
    #[test]
    fn nothing_is_made_smaller() {
        let wide = Has { ports: (1_024, 65_535), ..HAS };
        let closing = plan("{rate: 2000/s, for: 1m, max_users: 10}", "{reuse: per_iteration}");
        let ports = needs(&closing, &wide);
        assert!(!ports[1].help.iter().any(|help| help.contains("sysctl")), "{ports:?}");
        let shared = needs(&plan("{users: 5000, for: 1m}", "{reuse: pool, pool_size: 100}"), &HAS);
        assert!(shared[0].help.is_empty(), "{shared:?}");
    }
}
