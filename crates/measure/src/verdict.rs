//! Whether the numbers of a run can be trusted, and why not. Each rule is a function from what is
//! known of a run to a reason or none; the limits are constants with their grounds, and
//! `docs/measurement.md` lists them.

use crate::kind::ErrorKind;
use crate::machine::Surroundings;
use crate::row::Row;
use crate::steady::{Steady, Unsteady};
use crate::threshold::Threshold;
use crate::totals::{SecondRow, Totals};

/// How far the numbers can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trust {
    /// They say what the target did.
    Ok,
    /// Some of them say something of the generator too.
    Degraded,
    /// They say more of the generator than of the target.
    Invalid,
}

impl Trust {
    /// The word in results.
    pub fn label(self) -> &'static str {
        match self {
            Trust::Ok => "ok",
            Trust::Degraded => "degraded",
            Trust::Invalid => "invalid",
        }
    }
}

/// Why numbers cannot be trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// Name of the rule.
    pub rule: &'static str,
    /// How bad it is.
    pub trust: Trust,
    /// What was seen: the figure, the limit, and when.
    pub seen: String,
    /// What to do.
    pub help: String,
}

/// What is known of a run.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// What was recorded.
    pub totals: &'a Totals,
    /// All requests of it together.
    pub all: &'a Row,
    /// What the machine looked like.
    pub surroundings: &'a Surroundings,
    /// Its steady part, if its load has one.
    pub steady: Option<Steady>,
    /// Rules that judge the run: they say which percentiles were asked for.
    pub thresholds: &'a [Threshold],
}

/// The verdict on a run: its reasons, the worst first.
pub fn verdict(facts: &Facts<'_>) -> Vec<Reason> {
    const RULES: [fn(&Facts<'_>) -> Option<Reason>; 12] = [
        cpu_bound,
        starved,
        stalled,
        sends_late,
        reads_late,
        arrivals_missed,
        ports,
        files,
        steal,
        retransmits,
        link,
        unsteady,
    ];
    let mut reasons: Vec<Reason> = RULES.iter().filter_map(|rule| rule(facts)).collect();
    reasons.extend(too_short(facts));
    reasons.sort_by_key(|reason| std::cmp::Reverse(reason.trust));
    reasons
}

/// The trust that reasons leave.
pub fn trust(reasons: &[Reason]) -> Trust {
    reasons.iter().map(|reason| reason.trust).max().unwrap_or(Trust::Ok)
}

/// A worker that used so much of a second's processor time had nothing left for more load.
const BUSY: f64 = 0.95;
/// From this part of the seconds on it is the rule and not the exception.
const OFTEN: f64 = 0.1;

fn cpu_bound(facts: &Facts<'_>) -> Option<Reason> {
    let busy = |row: &SecondRow| row.busiest_ns as f64 / 1e9 >= BUSY;
    let (seconds, all) = (seconds(facts, busy), facts.totals.series().count());
    if seconds.is_empty() || (seconds.len() as f64) < OFTEN * all as f64 {
        return None;
    }
    Some(Reason {
        rule: "cpu_bound",
        trust: Trust::Degraded,
        seen: format!(
            "squall was the limit: a worker used {:.0} % of its processor or more {}",
            BUSY * 100.0,
            when(&seconds, all)
        ),
        help: "more workers (-w), another machine, or less load; the target may be able to do more than this rate".to_owned(),
    })
}

/// Part of the run that a worker may wait for a processor. Some µs each time that it is woken are
/// normal, and far less than this.
const STARVED: f64 = 0.05;

fn starved(facts: &Facts<'_>) -> Option<Reason> {
    let waited = facts.totals.own().starved_ns as f64;
    let seconds_all: f64 = facts.totals.series().map(|row| f64::from(row.seconds)).sum();
    let share = waited / (seconds_all * facts.totals.workers() as f64 * 1e9).max(1.0);
    if share < STARVED {
        return None;
    }
    let worst =
        |row: &SecondRow| row.own.starved_ns as f64 > STARVED * 1e9 * f64::from(row.seconds.max(1));
    let seconds = seconds(facts, worst);
    Some(Reason {
        rule: "starved",
        trust: if share < 0.25 { Trust::Degraded } else { Trust::Invalid },
        seen: format!(
            "workers were ready to run and had no processor for {:.1} s, {:.0} % of their time (limit {:.0} %){}",
            waited / 1e9,
            share * 100.0,
            STARVED * 100.0,
            if seconds.is_empty() { String::new() } else { format!(", worst {}", when(&seconds, facts.totals.series().count())) }
        ),
        help: "processors of squall's own (taskset, CPU limits of the container), or fewer workers: something else uses them too".to_owned(),
    })
}

/// A generator that stands still for so long, in µs, has changed the load, and hidden what the target
/// did meanwhile.
const STALL_US: u64 = 100_000;

fn stalled(facts: &Facts<'_>) -> Option<Reason> {
    let longest = |row: &SecondRow| {
        row.own.receive_delay.max().max(row.own.send_delay.max()).max(row.own.turn.max())
    };
    let worst = facts.totals.series().map(longest).max().unwrap_or(0);
    if worst < STALL_US {
        return None;
    }
    let seconds = seconds(facts, |row| longest(row) >= STALL_US);
    Some(Reason {
        rule: "stalled",
        trust: Trust::Degraded,
        seen: format!(
            "squall stood still for up to {} ms (limit {} ms) {}",
            worst / 1_000,
            STALL_US / 1_000,
            when(&seconds, facts.totals.series().count())
        ),
        help: "a machine that is left alone: squall was stopped, had no processor, or the machine slept".to_owned(),
    })
}

/// A delay of the generator matters above this part of the target's median latency, and above this
/// many µs: below it no load is changed by it, and no clock that is compared is that good.
const LATE_PART: f64 = 0.05;
const LATE_US: f64 = 1_000.0;
/// Part of the requests that may be later than that.
const LATE_SHARE: f64 = 0.01;

fn sends_late(facts: &Facts<'_>) -> Option<Reason> {
    let all = facts.all;
    let median = all.latency.percentile(50.0) as f64;
    let delays = &facts.totals.own().send_delay;
    let limit = LATE_US.max(LATE_PART * median);
    let late = delays.count_above(limit as u64) as f64 / all.count.max(1) as f64;
    if late <= LATE_SHARE {
        return None;
    }
    let very = LATE_US.max(0.5 * median);
    let very_late = delays.count_above(very as u64) as f64 / all.count.max(1) as f64;
    let seconds = seconds(facts, |row| row.own.send_delay.percentile(99.0) as f64 > limit);
    Some(Reason {
        rule: "sends_late",
        trust: if very_late > 0.1 { Trust::Invalid } else { Trust::Degraded },
        seen: format!(
            "{:.1} % of the requests were sent more than {:.1} ms after they were due (limit {:.0} %), at p99 {:.1} ms {}",
            late * 100.0,
            limit / 1e3,
            LATE_SHARE * 100.0,
            delays.percentile(99.0) as f64 / 1e3,
            when(&seconds, facts.totals.series().count())
        ),
        help: "more workers or machines, a lower rate, or a longer ramp: the load was not the one of the plan".to_owned(),
    })
}

fn reads_late(facts: &Facts<'_>) -> Option<Reason> {
    let median = facts.all.latency.percentile(50.0) as f64;
    let delays = &facts.totals.own().receive_delay;
    let delay = delays.percentile(50.0) as f64;
    // Half the send limit: half of all answers are concerned, not one in a hundred.
    if delays.is_empty() || delay <= (LATE_PART * median).max(LATE_US / 2.0) {
        return None;
    }
    Some(Reason {
        rule: "reads_late",
        trust: if delay > median { Trust::Invalid } else { Trust::Degraded },
        seen: format!(
            "half of the answers lay in their sockets for more than {:.2} ms before squall read them, {:.0} % of the median latency (limit {:.0} %)",
            delay / 1e3,
            delay / median.max(1.0) * 100.0,
            LATE_PART * 100.0
        ),
        help: "more workers or machines, or fewer users; latencies are right, as the kernel stamps arrivals, but users went on later than they could".to_owned(),
    })
}

/// Parts of the arrivals that may be missed.
const MISSED: f64 = 0.001;
const MISSED_MANY: f64 = 0.01;

fn arrivals_missed(facts: &Facts<'_>) -> Option<Reason> {
    let counters = facts.totals.counters();
    let share = counters.arrivals_missed as f64 / counters.arrivals_due.max(1) as f64;
    if share <= MISSED {
        return None;
    }
    let seconds = seconds(facts, |row| row.counters.arrivals_missed > 0);
    Some(Reason {
        rule: "arrivals_missed",
        trust: if share > MISSED_MANY { Trust::Invalid } else { Trust::Degraded },
        seen: format!(
            "{} of {} arrivals ({:.1} %, limit {:.1} %) found no free user {}",
            counters.arrivals_missed,
            counters.arrivals_due,
            share * 100.0,
            MISSED * 100.0,
            when(&seconds, facts.totals.series().count())
        ),
        help: "a larger max_users, unless the target is too slow for this rate: the load was not the one of the plan".to_owned(),
    })
}

/// Part of a resource that may be in use, and the time in s for which what is left must last.
const FULL: f64 = 0.8;
const LASTS_S: f64 = 600.0;

fn ports(facts: &Facts<'_>) -> Option<Reason> {
    let help = "connections that are used again (`connections: {reuse: per_user}`), or several source addresses (`connections: {source_addresses: [...]}`); only then a wider net.ipv4.ip_local_port_range";
    let most = facts.surroundings.most();
    let resource = Resource {
        rule: "ports",
        name: "local ports",
        used: most.ports_used,
        limit: most.ports_limit,
        rise: facts.surroundings.rise(|machine| machine.ports_used),
        help,
    };
    resource.used_up(failed(facts, ErrorKind::NoFreePort), |failed| {
        format!(
            "{failed} requests found no free local port: squall's machine was the limit, not the target"
        )
    })
}

fn files(facts: &Facts<'_>) -> Option<Reason> {
    let help = "fewer users, shared connections (`connections: {reuse: pool, pool_size: ...}`), or a higher limit of open files (ulimit -n)";
    let most = facts.surroundings.most();
    let resource = Resource {
        rule: "files",
        name: "open files",
        used: most.open_files,
        limit: most.open_files_limit,
        rise: facts.surroundings.rise(|machine| machine.open_files),
        help,
    };
    resource.used_up(failed(facts, ErrorKind::TooManyOpenFiles), |failed| {
        format!(
            "{failed} requests could open no socket: squall may have no more files open (limit {})",
            most.open_files_limit
        )
    })
}

fn failed(facts: &Facts<'_>, kind: ErrorKind) -> Option<u64> {
    facts.all.error_kinds.iter().find(|(own, _)| *own == kind).map(|(_, count)| *count)
}

/// Something of which the machine has only so much.
struct Resource<'a> {
    rule: &'static str,
    name: &'a str,
    used: u64,
    limit: u64,
    /// How fast its use rises, a second.
    rise: f64,
    help: &'a str,
}

impl Resource<'_> {
    /// Whether requests found none of it, or it is nearly used up, or will be soon.
    fn used_up(&self, failed: Option<u64>, words: impl Fn(u64) -> String) -> Option<Reason> {
        let (trust, seen) = match failed {
            Some(failed) => (Trust::Invalid, words(failed)),
            None => (Trust::Degraded, self.running_out()?),
        };
        Some(Reason { rule: self.rule, trust, seen, help: self.help.to_owned() })
    }

    fn running_out(&self) -> Option<String> {
        let Resource { name, used, limit, rise, .. } = *self;
        let share = used as f64 / limit.max(1) as f64;
        let left_s = limit.saturating_sub(used) as f64 / rise;
        let soon = rise > 0.0 && share > 0.5 && left_s < LASTS_S;
        if limit == 0 || (share < FULL && !soon) {
            return None;
        }
        let left = match rise > 0.0 {
            true => format!("; at this rate the rest lasts {left_s:.0} s"),
            false => String::new(),
        };
        Some(format!(
            "{used} of {limit} {name} in use ({:.0} %, limit {:.0} %){left}",
            share * 100.0,
            FULL * 100.0
        ))
    }
}

/// Part of the machine's processor time that other guests may take.
const STEAL: f64 = 0.01;

fn steal(facts: &Facts<'_>) -> Option<Reason> {
    let whole = facts.surroundings.whole();
    let share = whole.steal_ticks as f64 / whole.cpu_ticks.max(1) as f64;
    // A few ticks are the resolution of the count.
    if share <= STEAL || whole.steal_ticks < 10 {
        return None;
    }
    Some(Reason {
        rule: "steal",
        trust: if share > 0.1 { Trust::Invalid } else { Trust::Degraded },
        seen: format!(
            "other guests of the same host took {:.1} % of the machine's processor time (limit {:.0} %)",
            share * 100.0,
            STEAL * 100.0
        ),
        help: "a machine, or an instance type, whose processors are its own".to_owned(),
    })
}

/// Part of the segments that may be sent again.
const RETRANSMITS: f64 = 0.001;

fn retransmits(facts: &Facts<'_>) -> Option<Reason> {
    let whole = facts.surroundings.whole();
    let share = whole.retransmits as f64 / whole.segments_sent.max(1) as f64;
    if share <= RETRANSMITS || whole.retransmits < 10 {
        return None;
    }
    Some(Reason {
        rule: "retransmits",
        trust: Trust::Degraded,
        seen: format!(
            "{} of {} TCP segments that this machine sent were lost and sent again ({:.2} %, limit {:.1} %)",
            whole.retransmits,
            whole.segments_sent,
            share * 100.0,
            RETRANSMITS * 100.0
        ),
        help: "a look at the link, and at the target's accept queue (backlog): each loss costs at least 200 ms, and that is in the latencies".to_owned(),
    })
}

/// Part of a network link's speed, in thousandths, that it may carry: what is left goes into headers of
/// the lower layers (5 % with full Ethernet frames) and into bursts within the second.
const LINK_PERMILLE: u64 = 800;

fn link(facts: &Facts<'_>) -> Option<Reason> {
    let used = facts.surroundings.most().link_used_permille;
    (used >= LINK_PERMILLE).then(|| Reason {
        rule: "link",
        trust: Trust::Degraded,
        seen: format!(
            "a network link of this machine carried {:.0} % of its speed in its fullest second (limit {} %)",
            used as f64 / 10.0,
            LINK_PERMILLE / 10
        ),
        help: "a faster link, more machines, smaller bodies or less load: the target may be able to do more than this rate".to_owned(),
    })
}

fn unsteady(facts: &Facts<'_>) -> Option<Reason> {
    let steady = facts.steady?;
    let why = match steady.unsteady? {
        Unsteady::Late => "rate or latency did not become steady: by MSER the best cut lies in the second half of the run".to_owned(),
        Unsteady::Short => format!("the warm-up ends at second {} and leaves too little of the run, which ends at second {}", steady.from, steady.to),
        Unsteady::Drift { of, change } => format!(
            "the {of} went on {} from second {} to {}, by {:.0} % (limit {:.0} %)",
            if change > 0.0 { "rising" } else { "falling" },
            steady.from,
            steady.to,
            change.abs() * 100.0,
            crate::steady::DRIFT_PART * 100.0
        ),
    };
    Some(Reason {
        rule: "unsteady",
        trust: Trust::Degraded,
        seen: why,
        help: "a longer run, or a look at what changes in the target (caches, garbage, a queue that grows)".to_owned(),
    })
}

/// How many values there must be for a percentile to have an upper bound at 95 % confidence: the
/// largest of n values lies above the quantile p with probability 1 - p^n, which must be 97.5 % (order
/// statistics; David and Nagaraja, "Order Statistics", 3rd edition, section 7.1).
pub fn samples_needed(percentile: f64) -> u64 {
    let p = (percentile / 100.0).clamp(0.0, 0.999_999_9);
    if p <= 0.0 { 1 } else { (0.025f64.ln() / p.ln()).ceil() as u64 }
}

fn too_short<'a>(facts: &'a Facts<'_>) -> impl Iterator<Item = Reason> + 'a {
    facts.thresholds.iter().filter_map(|threshold| {
        let (percentile, count) = threshold.percentile_of(facts.totals)?;
        let needed = samples_needed(percentile);
        // A threshold without any answer has failed, and says so itself.
        (0 < count && count < needed).then(|| Reason {
            rule: "too_short",
            trust: Trust::Degraded,
            seen: format!(
                "`{}` rests on {count} answers; p{percentile} needs at least {needed}",
                threshold.text()
            ),
            help: "a longer run, more load, or a lower percentile".to_owned(),
        })
    })
}

/// The seconds of which something is true.
fn seconds(facts: &Facts<'_>, is: impl Fn(&SecondRow) -> bool) -> Vec<u32> {
    facts.totals.series().filter(|row| is(row)).map(|row| row.second).collect()
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
