//! What the host that squall runs on lacked, and what else happened on it.

use super::facts::Facts;
use super::lateness::lost_time;
use super::reason::Reason;
use super::weight::Shift;
use squall_base::units::{count, percent, time};
use squall_metrics::ErrorKind;

/// The share of a resource that may be in use, and the time in s for which the rest must last.
const MAX_RESOURCE_USE: f64 = 0.8;
const MIN_TIME_LEFT_S: f64 = 600.0;

pub(super) fn ports(facts: &Facts<'_>) -> Option<Reason> {
    let peak = facts.host.peak();
    let resource = Resource {
        rule: "ports",
        name: "local ports toward a destination of the plan",
        used: peak.ports_used,
        limit: peak.ports_limit,
        growth: facts.host.growth(|sample| sample.ports_used),
        advice: "reuse connections (`connections: {reuse: per_user}`) or use several source addresses (`connections: {source_addresses: [...]}`); widen net.ipv4.ip_local_port_range only if that is not enough",
    };
    resource.exhausted(facts, ErrorKind::NoFreePort, |failed| {
        format!(
            "{failed} requests found no free local port: squall's machine was the bottleneck, not the target"
        )
    })
}

pub(super) fn files(facts: &Facts<'_>) -> Option<Reason> {
    let peak = facts.host.peak();
    let resource = Resource {
        rule: "files",
        name: "open files",
        used: peak.open_files,
        limit: peak.open_files_limit,
        growth: facts.host.growth(|sample| sample.open_files),
        advice: "use fewer users or shared connections (`connections: {reuse: pool, pool_size: ...}`), or raise the limit of open files (ulimit -n)",
    };
    resource.exhausted(facts, ErrorKind::TooManyOpenFiles, |failed| {
        format!(
            "{failed} requests could not open a socket: squall had reached its limit of open files ({})",
            count(peak.open_files_limit)
        )
    })
}

/// Something that the host has a limited amount of.
struct Resource<'a> {
    rule: &'static str,
    name: &'a str,
    used: u64,
    limit: u64,
    /// How fast its use grows, per second.
    growth: f64,
    advice: &'a str,
}

impl Resource<'_> {
    /// Whether requests failed for lack of it, which the target never saw; or it is nearly exhausted or soon
    /// will be, which has not changed anything yet.
    fn exhausted(
        &self,
        facts: &Facts<'_>,
        kind: ErrorKind,
        words: impl Fn(&str) -> String,
    ) -> Option<Reason> {
        let failed = facts.all.error_kinds.iter().find(|(own, _)| *own == kind);
        let (rule, advice) = (self.rule, self.advice.to_owned());
        let Some((_, failed)) = failed else {
            return Some(Reason::note(rule, self.running_out()?, advice));
        };
        let share = *failed as f64 / facts.all.count.max(1) as f64;
        let shift = Shift { errors: share, ..Shift::of_rate(share) };
        Some(Reason::weighed(facts, rule, &shift, words(&count(*failed)), advice))
    }

    fn running_out(&self) -> Option<String> {
        let Resource { name, used, limit, growth, .. } = *self;
        let share = used as f64 / limit.max(1) as f64;
        let left_s = limit.saturating_sub(used) as f64 / growth;
        let soon = growth > 0.0 && share > 0.5 && left_s < MIN_TIME_LEFT_S;
        if limit == 0 || (share < MAX_RESOURCE_USE && !soon) {
            return None;
        }
        let left = match growth > 0.0 {
            true => format!("; at this rate the rest lasts {}", time(left_s * 1e6)),
            false => String::new(),
        };
        Some(format!(
            "{} of {} {name} in use ({}, limit {}){left}",
            count(used),
            count(limit),
            percent(share),
            percent(MAX_RESOURCE_USE)
        ))
    }
}

/// The share of the host's CPU time that other guests may take.
const MAX_STEAL: f64 = 0.01;

pub(super) fn steal(facts: &Facts<'_>) -> Option<Reason> {
    let run = facts.host.during_run();
    let share = run.steal_ticks as f64 / run.cpu_ticks.max(1) as f64;
    // A few ticks are the resolution of the counter.
    if share <= MAX_STEAL || run.steal_ticks < 10 {
        return None;
    }
    let observed = format!(
        "other guests on the same hypervisor took {} of this machine's CPU time (limit {})",
        percent(share),
        percent(MAX_STEAL)
    );
    let advice = "use a machine or an instance type with dedicated CPUs".to_owned();
    // For so much of the time a processor that squall, or a target on this machine, used was not there.
    Some(Reason::weighed(facts, "steal", &Shift::of_rate(share), observed, advice))
}

/// Page faults per second that required disk access: a process whose memory is there has hardly any once it
/// has begun.
const MAX_MAJOR_FAULTS: f64 = 10.0;
/// What one of them takes at least, in s: a read from a fast disk.
const FAULT_S: f64 = 100e-6;

pub(super) fn swapping(facts: &Facts<'_>) -> Option<Reason> {
    let faults = facts.host.during_run().major_faults;
    let rate = faults as f64 / facts.elapsed_s.max(1.0);
    if rate <= MAX_MAJOR_FAULTS {
        return None;
    }
    let observed = format!(
        "squall had to wait for memory from disk {} times, {}/s (limit {MAX_MAJOR_FAULTS}/s)",
        count(faults),
        rate.round()
    );
    let advice =
        "the machine has too little memory: fewer users, or a machine with more".to_owned();
    // A slow disk takes more: the users' time and late requests show it.
    let shift = lost_time(facts).and_rate(rate * FAULT_S);
    Some(Reason::weighed(facts, "swapping", &shift, observed, advice))
}

/// By how much the system's clock may jump against the steady one, in µs: adjustments of time services are
/// far slower.
const MAX_CLOCK_STEP_US: u64 = 10_000;

pub(super) fn clock_step(facts: &Facts<'_>) -> Option<Reason> {
    let step = facts.host.peak().clock_step_us;
    let observed = || {
        format!(
            "the system's clock was stepped by {} during the run (limit {}): the kernel's timestamps of arrivals, which latencies end with, jumped with it",
            time(step as f64),
            time(MAX_CLOCK_STEP_US as f64)
        )
    };
    let advice =
        "run again, and let the time service slew the clock rather than step it during runs";
    (step > MAX_CLOCK_STEP_US)
        .then(|| Reason::of_unknown_effect("clock_step", observed(), advice.to_owned()))
}

/// The share of a network link's speed, in thousandths, that it may carry: the rest goes to the headers of
/// the lower layers (5% with full Ethernet frames) and to bursts within the second.
const MAX_LINK_PERMILLE: u64 = 800;

pub(super) fn link(facts: &Facts<'_>) -> Option<Reason> {
    let used = facts.host.peak().link_used_permille;
    let observed = || {
        format!(
            "a network link of this machine carried {} of its speed in its busiest second (limit {})",
            percent(used as f64 / 1e3),
            percent(MAX_LINK_PERMILLE as f64 / 1e3)
        )
    };
    let advice = "use a faster link, more machines, smaller bodies or less load: the target may be capable of more than this rate";
    (used >= MAX_LINK_PERMILLE)
        .then(|| Reason::of_unknown_effect("link", observed(), advice.to_owned()))
}
