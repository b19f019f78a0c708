//! Whether the numbers of a run can be trusted, and if not, why. Each rule is a function from what is
//! known about a run to a reason or none. The limits are constants, each with its justification;
//! `docs/measurement.md` lists them.

use crate::error_kind::ErrorKind;
use crate::host_metrics::HostMetrics;
use crate::request_stats::RequestStats;
use crate::series::{Series, SeriesRow};
use crate::steady::{Steady, Unsteady};
use crate::threshold::Threshold;
use crate::totals::Totals;
use crate::units::{count, percent, time};

/// How far the numbers of a run can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Validity {
    /// They describe the target.
    Valid,
    /// Some of them partly describe the generator.
    Questionable,
    /// They describe the generator more than the target.
    Invalid,
}

impl Validity {
    /// Its name in results.
    pub fn label(self) -> &'static str {
        match self {
            Validity::Valid => "valid",
            Validity::Questionable => "questionable",
            Validity::Invalid => "invalid",
        }
    }
}

/// Why numbers are questionable or invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// Name of the rule.
    pub rule: &'static str,
    /// How severe it is.
    pub validity: Validity,
    /// What was observed: the value, the limit, and when.
    pub observed: String,
    /// What to do about it.
    pub advice: String,
}

/// What is known about a run.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// What was recorded.
    pub totals: &'a Totals,
    /// The same second by second.
    pub series: &'a Series,
    /// All its requests together.
    pub all: &'a RequestStats,
    /// Samples of the host that squall ran on.
    pub host: &'a HostMetrics,
    /// Its steady part, if its load has one.
    pub steady: Option<Steady>,
    /// The run's thresholds: they say which percentiles were asked for.
    pub thresholds: &'a [Threshold],
}

/// The reasons why a run's numbers are questionable or invalid, the most severe first; none: they are
/// valid.
pub fn assess(facts: &Facts<'_>) -> Vec<Reason> {
    const RULES: [fn(&Facts<'_>) -> Option<Reason>; 12] = [
        cpu_bound,
        starved,
        stalled,
        send_delay,
        receive_delay,
        arrivals_dropped,
        ports,
        files,
        steal,
        retransmits,
        link,
        unsteady,
    ];
    let mut reasons: Vec<Reason> = RULES.iter().filter_map(|rule| rule(facts)).collect();
    reasons.extend(too_short(facts));
    reasons.sort_by_key(|reason| std::cmp::Reverse(reason.validity));
    reasons
}

/// The validity of a run with these reasons.
pub fn worst(reasons: &[Reason]) -> Validity {
    reasons.iter().map(|reason| reason.validity).max().unwrap_or(Validity::Valid)
}

/// A worker that used this share of a second's CPU time had none left for more load.
const BUSY_SHARE: f64 = 0.95;
/// A worker that was busy in this share of the seconds was busy as a rule.
const MIN_BUSY_SECONDS: f64 = 0.1;

fn cpu_bound(facts: &Facts<'_>) -> Option<Reason> {
    let busy = |row: &SeriesRow| row.busiest_ns as f64 / 1e9 >= BUSY_SHARE;
    let (seconds, all) = (seconds(facts, busy), facts.series.rows().len());
    if seconds.is_empty() || (seconds.len() as f64) < MIN_BUSY_SECONDS * all as f64 {
        return None;
    }
    Some(Reason {
        rule: "cpu_bound",
        validity: Validity::Questionable,
        observed: format!(
            "squall was the bottleneck: a worker used {} or more of its CPU {}",
            percent(BUSY_SHARE),
            when(&seconds, all)
        ),
        advice: "use more workers (-w), another machine or less load; the target may be capable of more than this rate".to_owned(),
    })
}

/// The share of the run that a worker may spend waiting for a CPU. A few µs at each wake-up are normal,
/// and far less than this.
const MAX_STARVED: f64 = 0.05;
/// Above this share the run is invalid.
const MAX_STARVED_QUESTIONABLE: f64 = 0.25;

fn starved(facts: &Facts<'_>) -> Option<Reason> {
    let waited = facts.totals.self_metrics().starved_ns as f64;
    let seconds_all: f64 = facts.series.rows().iter().map(|row| f64::from(row.seconds)).sum();
    let share = waited / (seconds_all * facts.totals.workers() as f64 * 1e9).max(1.0);
    if share < MAX_STARVED {
        return None;
    }
    let worst =
        |row: &SeriesRow| row.starved_ns as f64 > MAX_STARVED * 1e9 * f64::from(row.seconds.max(1));
    let seconds = seconds(facts, worst);
    let at = match seconds.is_empty() {
        true => String::new(),
        false => format!(", worst {}", when(&seconds, facts.series.rows().len())),
    };
    Some(Reason {
        rule: "starved",
        validity: if share < MAX_STARVED_QUESTIONABLE {
            Validity::Questionable
        } else {
            Validity::Invalid
        },
        observed: format!(
            "workers were ready to run but had no CPU for {}, {} of their time (limit {}){at}",
            time(waited / 1e3),
            percent(share),
            percent(MAX_STARVED)
        ),
        advice: "something else uses the CPUs: give squall CPUs of its own (taskset, the container's CPU limits) or use fewer workers".to_owned(),
    })
}

/// A generator that stands still for this long, in µs, has changed the load and missed what the target
/// did meanwhile.
const MAX_STALL_US: u64 = 100_000;

fn stalled(facts: &Facts<'_>) -> Option<Reason> {
    let worst = facts.series.rows().iter().map(|row| row.longest_delay_us).max().unwrap_or(0);
    if worst < MAX_STALL_US {
        return None;
    }
    let seconds = seconds(facts, |row| row.longest_delay_us >= MAX_STALL_US);
    Some(Reason {
        rule: "stalled",
        validity: Validity::Questionable,
        observed: format!(
            "squall stood still for up to {} (limit {}) {}",
            time(worst as f64),
            time(MAX_STALL_US as f64),
            when(&seconds, facts.series.rows().len())
        ),
        advice: "squall was stopped, had no CPU, or the machine was suspended: run it on a machine that does nothing else".to_owned(),
    })
}

/// A delay of the generator matters if it exceeds both this share of the target's median latency and
/// this many µs: a shorter one does not change the load, and clocks do not compare that precisely.
const MAX_DELAY_SHARE: f64 = 0.05;
const MAX_DELAY_US: f64 = 1_000.0;
/// The share of requests that may be sent later than that.
const MAX_LATE_REQUESTS: f64 = 0.01;

fn send_delay(facts: &Facts<'_>) -> Option<Reason> {
    let all = facts.all;
    let median = all.latency.percentile(50.0) as f64;
    let delays = &facts.totals.self_metrics().send_delay;
    let limit = MAX_DELAY_US.max(MAX_DELAY_SHARE * median);
    let late = delays.count_above(limit as u64) as f64 / all.count.max(1) as f64;
    if late <= MAX_LATE_REQUESTS {
        return None;
    }
    let very = MAX_DELAY_US.max(0.5 * median);
    let very_late = delays.count_above(very as u64) as f64 / all.count.max(1) as f64;
    let seconds = seconds(facts, |row| row.send_delay_p99_us as f64 > limit);
    Some(Reason {
        rule: "send_delay",
        validity: if very_late > 0.1 { Validity::Invalid } else { Validity::Questionable },
        observed: format!(
            "{} of the requests were sent more than {} behind schedule (limit {}), {} at p99, {}",
            percent(late),
            time(limit),
            percent(MAX_LATE_REQUESTS),
            time(delays.percentile(99.0) as f64),
            when(&seconds, facts.series.rows().len())
        ),
        advice: "the load was not the plan's: use more workers or machines, a lower rate, or a longer ramp".to_owned(),
    })
}

fn receive_delay(facts: &Facts<'_>) -> Option<Reason> {
    let median = facts.all.latency.percentile(50.0) as f64;
    let delays = &facts.totals.self_metrics().receive_delay;
    let delay = delays.percentile(50.0) as f64;
    // Half the limit of the send delay: this concerns half of all responses, not one in a hundred.
    if delays.is_empty() || delay <= (MAX_DELAY_SHARE * median).max(MAX_DELAY_US / 2.0) {
        return None;
    }
    Some(Reason {
        rule: "receive_delay",
        validity: if delay > median { Validity::Invalid } else { Validity::Questionable },
        observed: format!(
            "half of the responses waited in the kernel for more than {} before squall read them, {} of the median latency (limit {})",
            time(delay),
            percent(delay / median.max(1.0)),
            percent(MAX_DELAY_SHARE)
        ),
        advice: "use more workers or machines, or fewer users; the latencies are right, as the kernel timestamps arrivals, but virtual users continued late".to_owned(),
    })
}

/// The share of arrivals that may be dropped, and the one above which the run is invalid.
const MAX_DROPPED: f64 = 0.001;
const MAX_DROPPED_QUESTIONABLE: f64 = 0.01;

fn arrivals_dropped(facts: &Facts<'_>) -> Option<Reason> {
    let counters = facts.totals.counters();
    let share = counters.arrivals_dropped as f64 / counters.arrivals_due.max(1) as f64;
    if share <= MAX_DROPPED {
        return None;
    }
    let seconds = seconds(facts, |row| row.arrivals_dropped > 0);
    Some(Reason {
        rule: "arrivals_dropped",
        validity: if share > MAX_DROPPED_QUESTIONABLE {
            Validity::Invalid
        } else {
            Validity::Questionable
        },
        observed: format!(
            "{} of {} arrivals ({}, limit {}) were dropped because no virtual user was free, {}",
            count(counters.arrivals_dropped),
            count(counters.arrivals_due),
            percent(share),
            percent(MAX_DROPPED),
            when(&seconds, facts.series.rows().len())
        ),
        advice: "the load was not the plan's: raise max_users, unless the target is too slow for this rate".to_owned(),
    })
}

/// The share of a resource that may be in use, and the time in s for which the rest must last.
const MAX_RESOURCE_USE: f64 = 0.8;
const MIN_TIME_LEFT_S: f64 = 600.0;

fn ports(facts: &Facts<'_>) -> Option<Reason> {
    let peak = facts.host.peak();
    let resource = Resource {
        rule: "ports",
        name: "local ports",
        used: peak.ports_used,
        limit: peak.ports_limit,
        growth: facts.host.growth(|sample| sample.ports_used),
        advice: "reuse connections (`connections: {reuse: per_user}`) or use several source addresses (`connections: {source_addresses: [...]}`); widen net.ipv4.ip_local_port_range only if that is not enough",
    };
    resource.exhausted(failed(facts, ErrorKind::NoFreePort), |failed| {
        format!(
            "{failed} requests found no free local port: squall's machine was the bottleneck, not the target"
        )
    })
}

fn files(facts: &Facts<'_>) -> Option<Reason> {
    let peak = facts.host.peak();
    let resource = Resource {
        rule: "files",
        name: "open files",
        used: peak.open_files,
        limit: peak.open_files_limit,
        growth: facts.host.growth(|sample| sample.open_files),
        advice: "use fewer users or shared connections (`connections: {reuse: pool, pool_size: ...}`), or raise the limit of open files (ulimit -n)",
    };
    resource.exhausted(failed(facts, ErrorKind::TooManyOpenFiles), |failed| {
        format!(
            "{failed} requests could not open a socket: squall had reached its limit of open files ({})",
            count(peak.open_files_limit)
        )
    })
}

/// How many requests failed with this kind of error, with commas; `None`: none did.
fn failed(facts: &Facts<'_>, kind: ErrorKind) -> Option<String> {
    let kinds = &facts.all.error_kinds;
    kinds.iter().find(|(own, _)| *own == kind).map(|(_, number)| count(*number))
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
    /// Whether requests failed for lack of it, or it is nearly exhausted or soon will be.
    fn exhausted(&self, failed: Option<String>, words: impl Fn(&str) -> String) -> Option<Reason> {
        let (validity, observed) = match failed {
            Some(failed) => (Validity::Invalid, words(&failed)),
            None => (Validity::Questionable, self.running_out()?),
        };
        Some(Reason { rule: self.rule, validity, observed, advice: self.advice.to_owned() })
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

fn steal(facts: &Facts<'_>) -> Option<Reason> {
    let run = facts.host.during_run();
    let share = run.steal_ticks as f64 / run.cpu_ticks.max(1) as f64;
    // A few ticks are the resolution of the counter.
    if share <= MAX_STEAL || run.steal_ticks < 10 {
        return None;
    }
    Some(Reason {
        rule: "steal",
        validity: if share > 0.1 { Validity::Invalid } else { Validity::Questionable },
        observed: format!(
            "other guests on the same hypervisor took {} of this machine's CPU time (limit {})",
            percent(share),
            percent(MAX_STEAL)
        ),
        advice: "use a machine or an instance type with dedicated CPUs".to_owned(),
    })
}

/// The share of TCP segments that may be retransmitted.
const MAX_RETRANSMITS: f64 = 0.001;

fn retransmits(facts: &Facts<'_>) -> Option<Reason> {
    let run = facts.host.during_run();
    let share = run.retransmits as f64 / run.segments_sent.max(1) as f64;
    if share <= MAX_RETRANSMITS || run.retransmits < 10 {
        return None;
    }
    Some(Reason {
        rule: "retransmits",
        validity: Validity::Questionable,
        observed: format!(
            "{} of the {} TCP segments that this machine sent were retransmitted ({}, limit {})",
            count(run.retransmits),
            count(run.segments_sent),
            percent(share),
            percent(MAX_RETRANSMITS)
        ),
        advice: "check the network and the target's accept queue (backlog): each loss adds at least 200 ms to a latency".to_owned(),
    })
}

/// The share of a network link's speed, in thousandths, that it may carry: the rest goes to the headers of
/// the lower layers (5% with full Ethernet frames) and to bursts within the second.
const MAX_LINK_PERMILLE: u64 = 800;

fn link(facts: &Facts<'_>) -> Option<Reason> {
    let used = facts.host.peak().link_used_permille;
    (used >= MAX_LINK_PERMILLE).then(|| Reason {
        rule: "link",
        validity: Validity::Questionable,
        observed: format!(
            "a network link of this machine carried {} of its speed in its busiest second (limit {})",
            percent(used as f64 / 1e3),
            percent(MAX_LINK_PERMILLE as f64 / 1e3)
        ),
        advice: "use a faster link, more machines, smaller bodies or less load: the target may be capable of more than this rate".to_owned(),
    })
}

fn unsteady(facts: &Facts<'_>) -> Option<Reason> {
    let steady = facts.steady?;
    let why = match steady.unsteady? {
        Unsteady::Short => format!(
            "the warm-up ends at second {} and leaves too little of the run, which ends at second {}",
            steady.from, steady.to
        ),
        Unsteady::Step { of, at, change } => format!(
            "the {of} {} by {} at second {at} and stayed so until second {} (limit {})",
            if change > 0.0 { "rose" } else { "fell" },
            percent(change.abs()),
            steady.to,
            percent(crate::change::MIN_CHANGE)
        ),
        Unsteady::Drift { of, change } => format!(
            "the {of} kept {} from second {} to {}, by {} (limit {})",
            if change > 0.0 { "rising" } else { "falling" },
            steady.from,
            steady.to,
            percent(change.abs()),
            percent(crate::change::MIN_CHANGE)
        ),
    };
    Some(Reason {
        rule: "unsteady",
        validity: Validity::Questionable,
        observed: why,
        advice: "run longer, or find out what changes in the target (caches, garbage collection, a growing queue)".to_owned(),
    })
}

/// How many values a percentile needs for an upper bound at 95% confidence: the largest of n values lies
/// above the quantile p with probability 1 - p^n, which must be 97.5% (order statistics; David and
/// Nagaraja, "Order Statistics", 3rd edition, section 7.1).
pub fn samples_needed(percentile: f64) -> u64 {
    let p = (percentile / 100.0).clamp(0.0, 0.999_999_9);
    if p <= 0.0 { 1 } else { (0.025f64.ln() / p.ln()).ceil() as u64 }
}

fn too_short<'a>(facts: &'a Facts<'_>) -> impl Iterator<Item = Reason> + 'a {
    facts.thresholds.iter().filter_map(|threshold| {
        let (percentile, responses) = threshold.percentile_of(facts.totals)?;
        let needed = samples_needed(percentile);
        // A threshold without any response has failed, and says so itself.
        (0 < responses && responses < needed).then(|| Reason {
            rule: "too_short",
            validity: Validity::Questionable,
            observed: format!(
                "`{}` is based on {} responses; p{percentile} needs at least {}",
                threshold.text(),
                count(responses),
                count(needed)
            ),
            advice: "run longer, use more load, or ask for a lower percentile".to_owned(),
        })
    })
}

/// The seconds for which a condition is true.
fn seconds(facts: &Facts<'_>, is: impl Fn(&SeriesRow) -> bool) -> Vec<u32> {
    facts.series.rows().iter().filter(|row| is(row)).map(|row| row.second).collect()
}

/// Seconds in words.
fn when(seconds: &[u32], of: usize) -> String {
    match seconds {
        [] => String::new(),
        [one] => format!("in second {one}"),
        [first, .., last] if (last - first) as usize == seconds.len() - 1 => {
            format!("in seconds {first} to {last} of {of}")
        }
        [first, ..] => format!("in {} of {of} seconds, first in second {first}", seconds.len()),
    }
}
