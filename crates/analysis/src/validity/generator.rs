//! What squall's workers lacked, and what came of it.

use super::{Effect, Facts, Reason, seconds, when};
use crate::series::SeriesRow;
use squall_base::units::{count, percent, time};
use squall_metrics::UserState;
use squall_metrics::{COARSE, Histogram};

/// A delay of the generator matters if it exceeds both this share of the target's median latency and
/// this many µs: a shorter one does not change the load, and clocks do not compare that precisely.
const MAX_DELAY_SHARE: f64 = 0.05;
const MAX_DELAY_US: f64 = 1_000.0;
/// The share of requests that may be sent later than that.
const MAX_LATE_REQUESTS: f64 = 0.01;

/// What any client needs between a response and the next request, in ns: to wake a thread that sleeps takes
/// 30 to 50 µs on a virtual machine.
const WAKE_UP_NS: f64 = 50_000.0;

/// The share of the time of users of closed loads in which they could have continued and squall had not
/// resumed them, beyond what any client needs: by so much more requests would they have made; 0: there is no
/// closed load.
fn own_share(facts: &Facts<'_>) -> f64 {
    let account = facts.totals.time_account(facts.elapsed_s);
    let total = account.total() as f64;
    let waited = account.time(UserState::Ready) as f64 - WAKE_UP_NS * account.requests as f64;
    if total <= 0.0 { 0.0 } else { (waited / total).max(0.0) }
}

/// The effect of sending late: on latencies from the schedule.
fn lateness(facts: &Facts<'_>) -> Effect {
    let delays = &facts.totals.self_metrics().send_delay;
    let corrected = &facts.all.corrected_latency;
    if corrected.is_empty() || late_share(facts) <= MAX_LATE_REQUESTS {
        return Effect::NONE;
    }
    let share = |of: f64, all: f64| (of / all.max(1.0)).clamp(0.0, 1.0);
    Effect {
        rate: 0.0,
        mean: share(delays.sum(), corrected.sum()),
        p99: share(delays.percentile(99.0) as f64, corrected.percentile(99.0) as f64),
    }
}

/// The effect of a worker that was held up: users of closed loads would have made more requests, and those with a
/// schedule were late.
pub(super) fn lost_time(facts: &Facts<'_>) -> Effect {
    Effect::on_rate(own_share(facts)).or(lateness(facts))
}

/// By how much a request may be late, in µs.
fn late_limit(facts: &Facts<'_>) -> f64 {
    MAX_DELAY_US.max(MAX_DELAY_SHARE * facts.all.latency.percentile(50.0) as f64)
}

fn late_share(facts: &Facts<'_>) -> f64 {
    let delays = &facts.totals.self_metrics().send_delay;
    delays.count_above(late_limit(facts) as u64) as f64 / facts.all.count.max(1) as f64
}

/// The share of the users' time that may be the generator's before it is a reason of its own.
const MAX_OWN_SHARE: f64 = 0.01;

pub(super) fn generator_time(facts: &Facts<'_>) -> Option<Reason> {
    let share = own_share(facts);
    (share > MAX_OWN_SHARE).then(|| Reason {
        rule: "generator_time",
        effect: Some(Effect::on_rate(share)),
        observed: format!(
            "users of closed workloads spent {} of their time waiting for squall, beyond 50 µs a request (limit {})",
            percent(share),
            percent(MAX_OWN_SHARE)
        ),
        advice: "squall was stopped, had too little CPU, or the plan's extracts and checks take long: use more workers (-w) or a machine that does nothing else".to_owned(),
    })
}

/// A worker that used this share of a second's CPU time had none left for more load.
const BUSY_SHARE: f64 = 0.95;
/// A worker that was busy in this share of the seconds was busy as a rule.
const MIN_BUSY_SECONDS: f64 = 0.1;

pub(super) fn cpu_bound(facts: &Facts<'_>) -> Option<Reason> {
    let busy = |row: &SeriesRow| row.busiest_ns as f64 / 1e9 >= BUSY_SHARE;
    let (seconds, all) = (seconds(facts, busy), facts.series.rows().len());
    if seconds.is_empty() || (seconds.len() as f64) < MIN_BUSY_SECONDS * all as f64 {
        return None;
    }
    Some(Reason {
        rule: "cpu_bound",
        // Users that wait for squall would have made more requests with more CPU.
        effect: Some(lost_time(facts)),
        observed: format!(
            "squall was the bottleneck: a worker used {} or more of its CPU {}",
            percent(BUSY_SHARE),
            when(facts, &seconds)
        ),
        advice: "use more workers (-w), another machine or less load; the target may be capable of more than this rate".to_owned(),
    })
}

/// The share of the run that a worker may spend waiting for a CPU. A few µs at each wake-up are normal,
/// and far less than this.
const MAX_STARVED: f64 = 0.05;

pub(super) fn starved(facts: &Facts<'_>) -> Option<Reason> {
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
        false => format!(", worst {}", when(facts, &seconds)),
    };
    Some(Reason {
        rule: "starved",
        effect: Some(lost_time(facts)),
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

pub(super) fn stalled(facts: &Facts<'_>) -> Option<Reason> {
    let rows = facts.series.rows();
    let stalls = rows.iter().map(|row| row.longest_delay_us).filter(|stall| *stall >= MAX_STALL_US);
    let worst = stalls.clone().max()?;
    let seconds = seconds(facts, |row| row.longest_delay_us >= MAX_STALL_US);
    // A stall is seen in the second in which it ends, and no second has more than one of this length that
    // would not overlap with it.
    let lost = stalls.map(|stall| stall as f64 / 1e6).sum::<f64>() / facts.elapsed_s.max(0.001);
    Some(Reason {
        rule: "stalled",
        effect: Some(Effect::on_rate(lost).or(lateness(facts))),
        observed: format!(
            "squall stalled for up to {} (limit {}) {}",
            time(worst as f64),
            time(MAX_STALL_US as f64),
            when(facts, &seconds)
        ),
        advice: "squall was stopped, had no CPU, or the machine was suspended: run it on a machine that does nothing else".to_owned(),
    })
}

pub(super) fn send_delay(facts: &Facts<'_>) -> Option<Reason> {
    let limit = late_limit(facts);
    let late = late_share(facts);
    if late <= MAX_LATE_REQUESTS {
        return None;
    }
    let delays = &facts.totals.self_metrics().send_delay;
    let seconds = seconds(facts, |row| row.send_delay_p99_us as f64 > limit);
    Some(Reason {
        rule: "send_delay",
        effect: Some(lateness(facts)),
        observed: format!(
            "{} of the requests were sent more than {} behind schedule (limit {}), {} at p99, {}",
            percent(late),
            time(limit),
            percent(MAX_LATE_REQUESTS),
            time(delays.percentile(99.0) as f64),
            when(facts, &seconds)
        ),
        advice: "this was not the load that the plan asks for: use more workers or machines, a lower rate, or a longer ramp".to_owned(),
    })
}

pub(super) fn receive_delay(facts: &Facts<'_>) -> Option<Reason> {
    let delays = &facts.totals.self_metrics().receive_delay;
    let observed = too_long(facts, delays, |delay| {
        format!(
            "half of the responses waited in the kernel for more than {delay} before squall read them"
        )
    })?;
    Some(Reason {
        rule: "receive_delay",
        effect: Some(Effect::on_rate(own_share(facts))),
        observed,
        advice: "use more workers or machines, or fewer users; latencies end at the arrival that the kernel timestamped, but virtual users continued late".to_owned(),
    })
}

pub(super) fn connect_delay(facts: &Facts<'_>) -> Option<Reason> {
    let delays = &facts.totals.self_metrics().connect_delay;
    let observed = too_long(facts, delays, |delay| {
        format!(
            "half of the new connections had been open for more than {delay} before squall noticed"
        )
    })?;
    Some(Reason {
        rule: "connect_delay",
        effect: Some(Effect::on_rate(own_share(facts))),
        observed,
        advice: "many connections are opened at the same moment: use a ramp, more workers, or reuse connections; this time is not included in latencies, but virtual users continued late".to_owned(),
    })
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
    let seconds = seconds(facts, |row| row.arrivals_dropped > 0);
    Some(Reason {
        rule: "arrivals_dropped",
        effect: Some(Effect::on_rate(share)),
        observed: format!(
            "{} of {} arrivals ({}, limit {}) were dropped because no virtual user was free, {}",
            count(counters.arrivals_dropped),
            count(counters.arrivals_due),
            percent(share),
            percent(MAX_DROPPED),
            when(facts, &seconds)
        ),
        advice: "this was not the load that the plan asks for: raise `max_users`, unless the target is too slow for this rate".to_owned(),
    })
}
