//! What numbers cannot show as they are: of a target that changed, gave no responses or stood still, of a
//! network that lost something, of a name server and of the plan's own pool, of too few responses.

use super::facts::{Facts, Validity};
use super::reason::Reason;
use super::weight::{Effect, Moved, Shift, weight_of_share};
use crate::steady::Unsteady;
use crate::threshold::Statistic;
use squall_base::units::{count, counted, percent, time};
use squall_metrics::{Histogram, RequestStats};

/// The share of requests with a retransmission.
const MAX_RETRANSMITS: f64 = 0.001;
/// What a retransmission adds at least, in µs: Linux waits so long for the first one (TCP_RTO_MIN; RFC 6298
/// asks for more).
const RETRANSMIT_US: f64 = 200_000.0;

pub(super) fn retransmits(facts: &Facts<'_>) -> Option<Reason> {
    let repeated = facts.totals.counters().segments_retransmitted;
    let share = repeated as f64 / facts.all.count.max(1) as f64;
    if share <= MAX_RETRANSMITS {
        return None;
    }
    let latency = &facts.all.latency;
    // A loss that cost that much is in a latency of at least as much; others were made good sooner.
    let waited = repeated.min(latency.count_above(RETRANSMIT_US as u64 - 1));
    let observed = format!(
        "squall's connections retransmitted {} segments, {} of the number of requests (limit {}); {} took {} or more, as one does that waits for a retransmission",
        count(repeated),
        percent(share),
        percent(MAX_RETRANSMITS),
        counted(latency.count_above(RETRANSMIT_US as u64 - 1), "response"),
        time(RETRANSMIT_US)
    );
    let shift = Shift { latency: Some(slowest(waited)), ..Shift::default() };
    let advice = "check the network and the target's accept queue (backlog)".to_owned();
    Some(Reason::weighed(facts, "retransmits", &shift, observed, advice))
}

/// What was lost on the way from the target is sent again by it. Of that squall only sees what came before it, and of the
/// whole machine: enough to name a cause.
pub(super) fn packets_lost(facts: &Facts<'_>) -> Option<Reason> {
    let early = facts.host.during_run().out_of_order;
    let share = early as f64 / facts.all.count.max(1) as f64;
    let observed = || {
        format!(
            "{} segments reached this machine before one that they follow, {} of the number of requests (limit {}): what was lost on the way from the target came late, because the target had to send it again",
            count(early),
            percent(share),
            percent(MAX_RETRANSMITS)
        )
    };
    let advice = "latencies include this, as they do for users of this network: to know the target alone, look at the network, or measure nearer to it";
    (share > MAX_RETRANSMITS).then(|| Reason::note("packets_lost", observed(), advice.to_owned()))
}

/// What it adds that the slowest so many of all responses would have taken as long as the median one.
fn slowest<'a>(number: u64) -> Moved<'a> {
    Box::new(move |durations, statistic| {
        let count = durations.count();
        let number = number.min(count);
        let median = durations.percentile(50.0) as f64;
        match statistic {
            Statistic::Mean => {
                let mut left = number;
                let buckets: Vec<(u64, u64, u64)> = durations.buckets().collect();
                let added = buckets.iter().rev().map(|(low, _, of)| {
                    let own = left.min(*of);
                    left -= own;
                    (*low as f64 - median).max(0.0) * own as f64
                });
                added.sum::<f64>() / count.max(1) as f64
            }
            Statistic::Percentile(p) => {
                let rank = squall_metrics::rank(p, count);
                let before = durations.at_rank(rank.saturating_sub(number).max(1));
                durations.at_rank(rank).saturating_sub(before) as f64
            }
            Statistic::Max => (durations.max() as f64 - median).max(0.0),
            Statistic::Min => 0.0,
        }
    })
}

/// The share of requests that may be repeated on a new connection.
const MAX_RETRIES: f64 = 0.01;

pub(super) fn retries(facts: &Facts<'_>) -> Option<Reason> {
    let retries = facts.totals.counters().stale_retries;
    let share = retries as f64 / facts.all.count.max(1) as f64;
    if share <= MAX_RETRIES {
        return None;
    }
    let observed = format!(
        "{} requests ({}, limit {}) were sent again on a new connection, because the target had closed the old one; their latency includes both attempts",
        count(retries),
        percent(share),
        percent(MAX_RETRIES)
    );
    let advice = "the target closes idle connections sooner than they are used: raise its keep-alive timeout, or leave it as clients will meet it; `retry_stale: false` makes them errors";
    Some(Reason {
        effect: Some(Effect { p99: share.min(1.0), ..Effect::NONE }),
        weight: weight_of_share(share).min(Validity::Questionable),
        ..Reason::note("retries", observed, advice.to_owned())
    })
}

/// The share of the time of all requests that may go into looking up names.
const MAX_LOOKUP_SHARE: f64 = 0.01;

/// Names that the plan has are looked up before the run. One that a user makes is looked up by its first request, whose
/// latency holds it.
pub(super) fn name_lookups(facts: &Facts<'_>) -> Option<Reason> {
    let RequestStats { phases: [_, lookups, ..], latency, .. } = facts.all;
    let share = lookups.sum() / latency.sum().max(1.0);
    if share <= MAX_LOOKUP_SHARE {
        return None;
    }
    let users_us = facts.totals.time_account(facts.elapsed_s).total() as f64 / 1e3;
    let took: Moved<'_> = Box::new(|_, statistic| match statistic {
        Statistic::Mean => lookups.sum() / latency.count().max(1) as f64,
        // What fewer requests had than are above a percentile is not in it.
        Statistic::Percentile(p)
            if lookups.count() as f64 <= (1.0 - p / 100.0) * latency.count() as f64 =>
        {
            0.0
        }
        _ => statistic.of(lookups).unwrap_or(0.0),
    });
    // In an open workload nobody waits for the response before.
    let rate = if users_us > 0.0 { lookups.sum() / users_us } else { 0.0 };
    let shift = Shift { latency: Some(took), ..Shift::of_rate(rate) };
    let observed = format!(
        "{} requests looked up the name of their host, which took {} each on average: {} of the time of all requests (limit {}) was spent waiting for the name server",
        count(lookups.count()),
        time(lookups.mean()),
        percent(share),
        percent(MAX_LOOKUP_SHARE)
    );
    let advice = "give the names' addresses with `resolve`, name the hosts in the plan (they are then looked up before the run), or use fewer names";
    Some(Reason::weighed(facts, "name_lookups", &shift, observed, advice.to_owned()))
}

/// The share of the time between being due and being answered that requests may wait for the plan's own pool.
const MAX_POOL_SHARE: f64 = 0.05;

/// What waits for the plan's own pool is not sent, and has no latency yet: the pool is the limit, and no latency shows
/// it.
pub(super) fn pool_waits(facts: &Facts<'_>) -> Option<Reason> {
    let RequestStats { phases: [waits, ..], latency, .. } = facts.all;
    let share = waits.sum() / (waits.sum() + latency.sum()).max(1.0);
    let observed = || {
        format!(
            "{} requests waited for one of the connections that the plan lets users share, for {} on average, which is {} of their time (limit {}) and not included in latency: the pool limits the rate",
            count(waits.count()),
            time(waits.mean()),
            percent(share),
            percent(MAX_POOL_SHARE)
        )
    };
    let advice = "raise `pool_size`, unless the pool is what the test is about";
    (share > MAX_POOL_SHARE).then(|| Reason::note("pool_waits", observed(), advice.to_owned()))
}

/// The share of requests without a response from which on p99 is no longer a time.
const MAX_GIVEN_UP: f64 = 0.01;

/// Requests that were given up, those of them that the end of the load cut off, and their share of all; `None`: they are
/// few.
fn given_up(facts: &Facts<'_>) -> Option<(u64, u64, f64)> {
    let RequestStats { waited, latency, cut_off, .. } = facts.all;
    let given_up = waited.count();
    let share = given_up as f64 / (given_up + latency.count()).max(1) as f64;
    let cut_off = (*cut_off).min(given_up);
    (share > MAX_GIVEN_UP).then_some((given_up, cut_off, share))
}

pub(super) fn timeouts(facts: &Facts<'_>) -> Option<Reason> {
    let (given_up, cut_off, share) = given_up(facts)?;
    let number = counted(given_up, "request");
    let (what, advice) = match cut_off {
        // The target had no more time to respond.
        _ if cut_off == given_up => return None,
        0 => (
            format!("{number} timed out ({})", percent(share)),
            "find out why the target does not respond, or allow more time (`timeout`)",
        ),
        _ => (
            format!(
                "{number} timed out or were cut off by the end of the load ({}; {} cut off)",
                percent(share),
                count(cut_off)
            ),
            "find out why the target does not respond, or allow more time (`timeout`, and `graceful_stop` for those cut off)",
        ),
    };
    let observed = format!("{what}: {}", unknown_percentiles(share));
    Some(Reason::note("timeouts", observed, advice.to_owned()))
}

pub(super) fn cut_off(facts: &Facts<'_>) -> Option<Reason> {
    let (given_up, cut_off, share) = given_up(facts)?;
    let observed = || {
        format!(
            "the end of the load cut off {} ({}): {}",
            counted(cut_off, "request"),
            percent(share),
            unknown_percentiles(share)
        )
    };
    let advice = "let requests finish (`graceful_stop`), or run longer";
    (cut_off == given_up).then(|| Reason::note("cut_off", observed(), advice.to_owned()))
}

/// What is not known where this share of the requests has no response.
fn unknown_percentiles(share: f64) -> String {
    if share >= 1.0 {
        return "no percentile is known, only that each is at least the time that these had waited"
            .to_owned();
    }
    format!(
        "percentiles above p{} are not known, only that they are at least the time that these had waited",
        ((1.0 - share) * 1e4).floor() / 100.0
    )
}

/// Requests this many times slower than p99 are a stall, ...
const STALL_FACTOR: u64 = 10;
/// ... if they took at least this long, in µs, ...
const MIN_STALL_US: u64 = 100_000;
/// ... and this share of the time of all requests.
const MAX_STALL_SHARE: f64 = 0.02;

/// A closed load sends nothing while its users wait: so few requests meet a target that stands still that no
/// percentile shows it (coordinated omission), unless a schedule says when they should have been sent.
pub(super) fn hidden_stall(facts: &Facts<'_>) -> Option<Reason> {
    let latency = &facts.all.latency;
    if !facts.all.corrected_latency.is_empty() {
        return None;
    }
    let from = (STALL_FACTOR * latency.percentile(99.0)).max(MIN_STALL_US);
    let (number, taken) = above(latency, from);
    let share = taken / latency.sum().max(1.0);
    let observed = || {
        format!(
            "{} took {} or more and {} of the time of all requests, which p99 ({}) does not show: users who wait for a stalled target send nothing",
            counted(number, "request"),
            time(from as f64),
            percent(share),
            time(latency.percentile(99.0) as f64)
        )
    };
    let advice = "look at the largest latency, and use an arrival rate or pacing: then the requests that had to wait count as well (corrected latency)";
    (share > MAX_STALL_SHARE).then(|| Reason::note("hidden_stall", observed(), advice.to_owned()))
}

/// How many values are above one, and their sum, in µs.
fn above(latency: &Histogram, from: u64) -> (u64, f64) {
    let slow = latency.buckets().filter(|(low, ..)| *low >= from);
    slow.fold((0, 0.0), |(number, sum), (low, _, count)| {
        (number + count, sum + low as f64 * count as f64)
    })
}

pub(super) fn unsteady(facts: &Facts<'_>) -> Option<Reason> {
    let steady = facts.steady?;
    let why = match steady.unsteady? {
        Unsteady::Short => format!(
            "the warm-up ends at second {} and leaves too little of the run, which ends at second {}",
            steady.from, steady.to
        ),
        Unsteady::Step { of, at, change } => format!(
            "the {of} {} by {} at second {at} and stayed there until second {} (limit {})",
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
    let advice = "run longer, or find out what changes in the target (caches, garbage collection, a growing queue)";
    Some(Reason::of_unknown_effect("unsteady", why, advice.to_owned()))
}

/// How many values a percentile needs for an upper bound at 95% confidence: the largest of n values lies
/// above the quantile p with probability 1 - p^n, which must be 97.5% (order statistics; David and
/// Nagaraja, "Order Statistics", 3rd edition, section 7.1).
pub fn samples_needed(percentile: f64) -> u64 {
    let p = (percentile / 100.0).clamp(0.0, 0.999_999_9);
    if p <= 0.0 { 1 } else { (0.025f64.ln() / p.ln()).ceil() as u64 }
}

/// So many values in words, some of which are of requests that got no response.
fn based_on(values: u64, given_up: u64) -> String {
    let responses = counted(values.saturating_sub(given_up), "response");
    match given_up {
        0 => responses,
        _ => format!("{responses} and {} without one", counted(given_up, "request")),
    }
}

pub(super) fn too_short<'a>(facts: &'a Facts<'_>) -> impl Iterator<Item = Reason> + 'a {
    facts.thresholds.iter().filter_map(|threshold| {
        let (percentile, responses) = threshold.percentile_of(facts.totals)?;
        let needed = samples_needed(percentile);
        // A moving window has its share of them.
        let share = threshold
            .window()
            .map_or(1.0, |length| (f64::from(length) / facts.elapsed_s.max(0.001)).min(1.0));
        let of_window = |values: u64| (values as f64 * share).ceil() as u64;
        let responses = of_window(responses);
        // A threshold without any response has failed, and says so itself.
        let observed = || {
            format!(
                "`{}` is based on {}{}; p{percentile} needs at least {}",
                threshold.text(),
                based_on(responses, of_window(threshold.given_up(facts.totals))),
                if threshold.window().is_some() { " in each window on average" } else { "" },
                count(needed)
            )
        };
        let advice = "run longer, use more load, or ask for a lower percentile";
        (0 < responses && responses < needed)
            .then(|| Reason::of_unknown_effect("too_short", observed(), advice.to_owned()))
    })
}
