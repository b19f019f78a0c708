//! What squall's workers lacked, and what came of it.

use super::facts::Facts;
use super::lateness::{
    MAX_DELAY_SHARE, MAX_DELAY_US, MAX_LATE_REQUESTS, late_limit, late_share, lateness, lost_time,
    own_share, starved_share,
};
use super::neighbours;
use super::reason::Reason;
use super::seconds::when;
use super::weight::Shift;
use crate::series::SeriesRow;
use squall_base::units::{count, percent, time};
use squall_metrics::{COARSE, Histogram};

/// What would help squall to be in time here: it had no CPU because others had it, because it used all of it, or because
/// it waited for one; otherwise much was due at once, or took long.
fn what_helps(facts: &Facts<'_>) -> String {
    if let Some(busy) = neighbours::busy(facts) {
        return format!("{busy}: stop them, or run squall on another machine");
    }
    if is_busy(facts) {
        return "squall used all of its CPU: use more workers (-w), another machine or less load"
            .to_owned();
    }
    if starved_share(facts) >= MAX_STARVED {
        return "squall waited for a CPU: give it CPUs of its own (taskset, the container's CPU limits), or use fewer workers".to_owned();
    }
    "squall had CPU to spare, so it was stopped or delayed for moments, or much was due at the same moment (a ramp spreads it), or the plan's extracts and checks take long".to_owned()
}

/// The share of the users' time that may be the generator's before it is a reason of its own.
const MAX_OWN_SHARE: f64 = 0.01;

pub(super) fn generator_time(facts: &Facts<'_>) -> Option<Reason> {
    let share = own_share(facts);
    if share <= MAX_OWN_SHARE {
        return None;
    }
    let observed = format!(
        "users of closed workloads spent {} of their time waiting for squall, beyond 50 µs a request (limit {})",
        percent(share),
        percent(MAX_OWN_SHARE)
    );
    let shift = Shift::of_rate(share);
    Some(Reason::weighed(facts, "generator_time", &shift, observed, what_helps(facts)))
}

/// A worker that used this share of a second's CPU time had none left for more load.
const BUSY_SHARE: f64 = 0.95;
/// A worker that was busy in this share of the seconds was busy as a rule.
const MIN_BUSY_SECONDS: f64 = 0.1;

fn uses_its_cpu(row: &SeriesRow) -> bool {
    row.busiest_worker >= BUSY_SHARE
}

/// Whether a worker was busy as a rule.
fn is_busy(facts: &Facts<'_>) -> bool {
    let rows = facts.series.rows();
    let busy = rows.iter().filter(|row| uses_its_cpu(row)).count();
    busy > 0 && busy as f64 >= MIN_BUSY_SECONDS * rows.len() as f64
}

pub(super) fn cpu_bound(facts: &Facts<'_>) -> Option<Reason> {
    if !is_busy(facts) {
        return None;
    }
    let observed = format!(
        "squall was the bottleneck: a worker used {} or more of its CPU {}",
        percent(BUSY_SHARE),
        when(facts, uses_its_cpu)
    );
    let advice = "use more workers (-w), another machine or less load; the target may be capable of more than this rate";
    // Users that wait for squall would have made more requests with more CPU.
    Some(Reason::weighed(facts, "cpu_bound", &lost_time(facts), observed, advice.to_owned()))
}

/// The share of the run that a worker may spend waiting for a CPU. A few µs at each wake-up are normal,
/// and far less than this.
const MAX_STARVED: f64 = 0.05;
pub(super) fn starved(facts: &Facts<'_>) -> Option<Reason> {
    let share = starved_share(facts);
    if share < MAX_STARVED {
        return None;
    }
    let worst =
        |row: &SeriesRow| row.starved_us as f64 > MAX_STARVED * 1e6 * f64::from(row.seconds.max(1));
    let at = match when(facts, worst) {
        at if at.is_empty() => at,
        at => format!(", worst {at}"),
    };
    let observed = format!(
        "workers were ready to run but had no CPU for {}, {} of their time (limit {}){at}",
        time(facts.totals.self_metrics().starved_ns as f64 / 1e3),
        percent(share),
        percent(MAX_STARVED)
    );
    let advice = "something else uses the CPUs: give squall CPUs of its own (taskset, the container's CPU limits) or use fewer workers";
    if neighbours::shares_cpus_unseen(facts) {
        // What squall waited is known, and in no latency. What the target waited is in all of them.
        let observed = format!("{observed}; the target runs on this machine and waited as well");
        return Some(Reason::of_unknown_effect("starved", observed, advice.to_owned()));
    }
    Some(Reason::weighed(facts, "starved", &lost_time(facts), observed, advice.to_owned()))
}

/// A generator that stands still for this long, in µs, has changed the load and missed what the target
/// did meanwhile.
const MAX_STALL_US: u64 = 100_000;

pub(super) fn stalled(facts: &Facts<'_>) -> Option<Reason> {
    let stalls = facts.series.rows().iter().map(|row| row.longest_stall_us);
    let stalls = stalls.filter(|stall| *stall >= MAX_STALL_US);
    let worst = stalls.clone().max()?;
    // A stall is seen in the second in which it ends, and no second has more than one of this length that
    // would not overlap with it.
    let lost = stalls.map(|stall| stall as f64 / 1e6).sum::<f64>() / facts.elapsed_s.max(0.001);
    let observed = format!(
        "squall stalled for up to {} (limit {}) {}",
        time(worst as f64),
        time(MAX_STALL_US as f64),
        when(facts, |row| row.longest_stall_us >= MAX_STALL_US)
    );
    let advice = "squall was stopped, had no CPU, or the machine was suspended: run it on a machine that does nothing else";
    let shift = lateness(facts).and_rate(lost);
    Some(Reason::weighed(facts, "stalled", &shift, observed, advice.to_owned()))
}

pub(super) fn send_delay(facts: &Facts<'_>) -> Option<Reason> {
    let limit = late_limit(facts);
    let late = late_share(facts);
    if late <= MAX_LATE_REQUESTS {
        return None;
    }
    let delays = &facts.totals.self_metrics().send_delay;
    let observed = format!(
        "{} of the requests were sent more than {} behind schedule (limit {}), {} at p99, {}",
        percent(late),
        time(limit),
        percent(MAX_LATE_REQUESTS),
        time(delays.percentile(99.0) as f64),
        when(facts, |row| row.send_delay_p99_us as f64 > limit)
    );
    Some(Reason::weighed(facts, "send_delay", &lateness(facts), observed, what_helps(facts)))
}

pub(super) fn receive_delay(facts: &Facts<'_>) -> Option<Reason> {
    let delays = &facts.totals.self_metrics().receive_delay;
    let observed = too_long(facts, delays, |delay| {
        format!(
            "half of the responses waited in the kernel for more than {delay} before squall read them"
        )
    })?;
    let advice = format!(
        "latencies end at the arrival that the kernel timestamped, but virtual users continued late; {}",
        what_helps(facts)
    );
    let shift = Shift::of_rate(own_share(facts));
    Some(Reason::weighed(facts, "receive_delay", &shift, observed, advice))
}

pub(super) fn connect_delay(facts: &Facts<'_>) -> Option<Reason> {
    let delays = &facts.totals.self_metrics().connect_delay;
    let observed = too_long(facts, delays, |delay| {
        format!(
            "half of the new connections had been open for more than {delay} before squall noticed"
        )
    })?;
    let advice = "many connections are opened at the same moment: use a ramp, more workers, or reuse connections; this time is not included in latencies, but virtual users continued late";
    let shift = Shift::of_rate(own_share(facts));
    Some(Reason::weighed(facts, "connect_delay", &shift, observed, advice.to_owned()))
}

/// What was observed if half of some delays were too long, against the target's median latency.
fn too_long(
    facts: &Facts<'_>,
    delays: &Histogram<COARSE>,
    words: impl Fn(String) -> String,
) -> Option<String> {
    let median = facts.all.latency.percentile(50.0) as f64;
    let delay = delays.percentile(50.0) as f64;
    // Half the limit of the send delay: this concerns half of them, not one in a hundred.
    if delays.is_empty() || delay <= (MAX_DELAY_SHARE * median).max(MAX_DELAY_US / 2.0) {
        return None;
    }
    Some(format!(
        "{}, {} of the median latency (limit {})",
        words(time(delay)),
        percent(delay / median.max(1.0)),
        percent(MAX_DELAY_SHARE)
    ))
}

/// The share of arrivals that may be dropped.
const MAX_DROPPED: f64 = 0.001;

pub(super) fn arrivals_dropped(facts: &Facts<'_>) -> Option<Reason> {
    let counters = facts.totals.counters();
    let share = counters.arrivals_dropped as f64 / counters.arrivals_due.max(1) as f64;
    if share <= MAX_DROPPED {
        return None;
    }
    let observed = format!(
        "{} of {} arrivals ({}, limit {}) were dropped because no virtual user was free, {}",
        count(counters.arrivals_dropped),
        count(counters.arrivals_due),
        percent(share),
        percent(MAX_DROPPED),
        when(facts, |row| row.arrivals_dropped > 0)
    );
    let advice = "this was not the load that the plan asks for: raise `max_users`, unless the target is too slow for this rate";
    let shift = Shift::of_rate(share);
    Some(Reason::weighed(facts, "arrivals_dropped", &shift, observed, advice.to_owned()))
}
