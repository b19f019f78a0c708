//! How late squall was, and what that may have changed: what several rules ask.

use squall_metrics::UserState;

use super::facts::Facts;
use super::weight::{Moved, Shift};
use crate::threshold::Statistic;

/// A delay of the generator matters if it exceeds both this share of the target's median latency and
/// this many µs: a shorter one does not change the load, and clocks do not compare that precisely.
pub(super) const MAX_DELAY_SHARE: f64 = 0.05;
pub(super) const MAX_DELAY_US: f64 = 1_000.0;
/// The share of requests that may be sent later than that.
pub(super) const MAX_LATE_REQUESTS: f64 = 0.01;

/// What any client needs between a response and the next request, in ns: to wake a thread that sleeps takes
/// 30 to 50 µs on a virtual machine.
const WAKE_UP_NS: f64 = 50_000.0;

/// The share of the time of users of closed loads in which they could have continued and squall had not
/// resumed them, beyond what any client needs: by so much more requests would they have made; 0: there is no
/// closed load.
pub(super) fn own_share(facts: &Facts<'_>) -> f64 {
    let account = facts.totals.time_account(facts.elapsed_s);
    let total = account.total() as f64;
    let waited = account.time(UserState::Ready) as f64 - WAKE_UP_NS * account.requests as f64;
    if total <= 0.0 { 0.0 } else { (waited / total).max(0.0) }
}

/// The effect of sending late. Latencies from the schedule hold the delay itself, and the rate lacks what was late at the
/// end. Other latencies only hold what requests wait for each other in the target, because those that are due during a
/// delay arrive together.
pub(super) fn lateness<'a>(facts: &'a Facts<'_>) -> Shift<'a> {
    if late_share(facts) <= MAX_LATE_REQUESTS {
        return Shift::default();
    }
    let delays = &facts.totals.self_metrics().send_delay;
    let late = move |statistic, requests: u64| match statistic {
        Statistic::Mean => delays.sum() / requests.max(1) as f64,
        _ => statistic.of(delays).unwrap_or(0.0),
    };
    let scheduled = facts.all.corrected_latency.count();
    let corrected: Moved<'a> = Box::new(move |_, statistic| late(statistic, scheduled));
    // Each arrival is late by no more than the delay, so no response of a queue comes earlier or later than that. At so
    // low a rate that the target mostly has nothing to do, hardly any arrival meets another one: of the requests that
    // become due within the delay there are rate × delay, and each takes a latency, which together is the delay times
    // the requests in flight (Little's law). Arrivals in bunches wait longer than spread ones, never less (Rolski,
    // "Queues with non-stationary input stream: Ross's conjecture", 1981): what is above the shortest latency bounds it.
    let in_flight = facts.all.latency.sum() / 1e6 / facts.elapsed_s.max(0.001);
    let bunched: Moved<'a> = Box::new(move |durations, statistic| {
        let waited = statistic.of(durations).unwrap_or(0.0) - durations.min() as f64;
        (late(statistic, facts.all.count) * in_flight.min(1.0)).min(waited)
    });
    // What is late at the end was not sent in the time of the run.
    let behind = match scheduled {
        0 => 0.0,
        _ => delays.percentile(99.0) as f64 / 1e6 / facts.elapsed_s.max(0.001),
    };
    let (latency, corrected) = (Some(bunched), Some(corrected));
    Shift { latency, corrected, is_assumed: true, ..Shift::of_rate(behind) }
}

/// The effect of a worker that was held up: users of closed loads would have made more requests, and those with a
/// schedule were late.
pub(super) fn lost_time<'a>(facts: &'a Facts<'_>) -> Shift<'a> {
    lateness(facts).and_rate(own_share(facts))
}

/// By how much a request may be late, in µs.
pub(super) fn late_limit(facts: &Facts<'_>) -> f64 {
    MAX_DELAY_US.max(MAX_DELAY_SHARE * facts.all.latency.percentile(50.0) as f64)
}

pub(super) fn late_share(facts: &Facts<'_>) -> f64 {
    let delays = &facts.totals.self_metrics().send_delay;
    delays.count_above(late_limit(facts) as u64) as f64 / facts.all.count.max(1) as f64
}

/// Workers wait a little for a CPU at each wake-up, and in a run that takes no longer than its start that may be a large
/// share: so much it must be, in ns.
const MIN_STARVED_NS: f64 = 50e6;

/// The share of their time for which the workers were ready to run and had no CPU; 0: it is too little to tell.
pub(super) fn starved_share(facts: &Facts<'_>) -> f64 {
    let Some(workers) = facts.workers() else { return 0.0 };
    let waited = facts.totals.self_metrics().starved_ns as f64;
    let seconds: f64 = facts.series.rows().iter().map(|row| f64::from(row.seconds)).sum();
    let all = (seconds * workers as f64 * 1e9).max(1.0);
    if waited < MIN_STARVED_NS { 0.0 } else { waited / all }
}
