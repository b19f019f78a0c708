//! Who had the CPUs of the machine: other programs, which take them from squall and from a target that runs beside it,
//! or squall and the target themselves.

use super::facts::{Facts, Validity};
use super::lateness::{lost_time, starved_share};
use super::reason::Reason;
use super::seconds::seconds_in_words;
use super::weight::{Moved, Shift};
use crate::threshold::Statistic;
use squall_base::units::{percent, time};
use squall_metrics::{CpuShares, HostSample};

/// The share of the machine's CPU time that other programs may take: a desktop at rest takes a few percent.
const MAX_OTHERS: f64 = 0.1;
/// With this share they are a neighbour who is worth naming.
const MANY_OTHERS: f64 = 0.2;
/// A machine whose CPUs were busy for this share of the time was full, ...
const FULL: f64 = 0.95;
/// ... if something was waiting for a CPU for this share of the time (`/proc/pressure/cpu`), ...
const MAX_PRESSURE: f64 = 0.2;
/// ... or squall's workers for this share of theirs.
const MAX_STARVED: f64 = 0.05;
/// The share of the seconds in which a machine must be full to be called so.
const MIN_FULL_SECONDS: f64 = 0.1;
/// Clock ticks count 10 ms: less than this many seconds of samples say nothing.
const MIN_SAMPLED_S: f64 = 1.0;

/// Who had the CPUs during the run; `None`: it was not sampled, or for too short a time.
fn shares(facts: &Facts<'_>) -> Option<(CpuShares, HostSample)> {
    let run = facts.host.during_run();
    let sampled = facts.host.sampled_s() >= MIN_SAMPLED_S;
    Some((run.cpu_shares().filter(|_| sampled)?, run))
}

/// Whether the target runs on this machine, and nobody could see how long its threads waited for a CPU.
pub(super) fn shares_cpus_unseen(facts: &Facts<'_>) -> bool {
    let peak = facts.host.peak();
    peak.target_is_local > 0 && peak.target_processes == 0
}

/// That other programs kept the machine busy, in words; `None`: they did not.
pub(super) fn busy(facts: &Facts<'_>) -> Option<String> {
    let (cpu, _) = shares(facts)?;
    (cpu.others >= MANY_OTHERS).then(|| {
        format!("the machine is busy: other programs took {} of its CPU time", percent(cpu.others))
    })
}

pub(super) fn host_busy(facts: &Facts<'_>) -> Option<Reason> {
    let (cpu, run) = shares(facts)?;
    if cpu.others < MAX_OTHERS {
        return None;
    }
    let pressure = run.cpu_pressure_us as f64 / 1e6 / facts.host.sampled_s();
    let starved = starved_share(facts);
    let is_short = starved >= MAX_STARVED || (cpu.busy >= FULL && pressure >= MAX_PRESSURE);
    let peak = facts.host.peak();
    let observed = format!(
        "other programs took {} of this machine's CPU time (limit {}), which was {} busy",
        percent(cpu.others),
        percent(MAX_OTHERS),
        percent(cpu.busy)
    );
    let advice = "stop the other programs, or give squall and the target CPUs or machines of their own; if these programs belong to the target (a database, a server behind a proxy), it was the target that filled the machine";
    if shares_cpus_unseen(facts) {
        return is_short.then(|| {
            let observed = format!("{observed}; the target runs here too, and squall cannot see whether it is one of them or had to wait for them");
            Reason::of_unknown_effect("host_busy", observed, advice.to_owned())
        });
    }
    if peak.target_is_local == 0 {
        // The target has CPUs of its own, and what squall waited for is known.
        return is_short.then(|| {
            let shift = lost_time(facts);
            capped(Reason::weighed(facts, "host_busy", &shift, observed, advice.to_owned()))
        });
    }
    // Of the time for which the target was ready to run and did not, others are to blame for as much as they had of the
    // CPUs that were busy.
    let blame = cpu.others / (cpu.others + cpu.own + cpu.target).max(1e-9);
    let waited_us = run.target_waited_us as f64 * blame;
    let each = waited_us / facts.all.latency.count().max(1) as f64;
    let shift = Shift { latency: Some(waits(each)), is_assumed: true, ..lost_time(facts) };
    // How the waits are distributed is an assumption, so they never make numbers worthless.
    let reason = capped(Reason::weighed(
        facts,
        "host_busy",
        &shift,
        format!(
            "{observed}, and the target, which runs here too, waited for a CPU because of them for about {}, {} a response",
            time(waited_us),
            time(each)
        ),
        advice.to_owned(),
    ));
    (is_short || reason.weight > Validity::Valid).then_some(reason)
}

/// Never more than questionable: what squall itself lost has reasons of its own, which weigh as much as it moved.
fn capped(reason: Reason) -> Reason {
    Reason { weight: reason.weight.min(Validity::Questionable), ..reason }
}

/// What waits for a CPU add to latencies that hold so many µs of them on average: all of that to the mean. A percentile p
/// holds the most if the slowest 1 - p of the requests have waited for all of it, and no more than what is above the
/// median.
fn waits<'a>(mean_us: f64) -> Moved<'a> {
    Box::new(move |durations, statistic| {
        let value = statistic.of(durations).unwrap_or(0.0);
        let above_median = value - durations.percentile(50.0) as f64;
        match statistic {
            Statistic::Mean | Statistic::Min => mean_us,
            Statistic::Max => above_median,
            Statistic::Percentile(p) if p <= 50.0 => mean_us,
            Statistic::Percentile(p) => {
                (mean_us / (1.0 - p / 100.0).max(1e-9)).min(above_median.max(mean_us))
            }
        }
    })
}

/// The target's machine was full, by its own work and squall's: no reason to doubt the numbers, but a finding.
pub(super) fn machine_full(facts: &Facts<'_>) -> Option<Reason> {
    if facts.host.peak().target_processes == 0 {
        return None;
    }
    let rows: Vec<(u32, CpuShares)> = facts
        .host
        .series()
        .iter()
        .filter_map(|(second, sample)| Some((*second, sample.cpu_shares()?)))
        .collect();
    let full: Vec<&(u32, CpuShares)> = rows.iter().filter(|(_, cpu)| cpu.busy >= FULL).collect();
    let mean = |of: fn(&CpuShares) -> f64| {
        full.iter().map(|(_, cpu)| of(cpu)).sum::<f64>() / full.len().max(1) as f64
    };
    let few = (full.len() as f64) < MIN_FULL_SECONDS * rows.len() as f64;
    if full.is_empty() || few || mean(|cpu| cpu.others) >= MAX_OTHERS {
        return None;
    }
    let seconds = facts.host.seconds_per_row();
    let span = |second: u32| (second, seconds);
    let at: Vec<(u32, u32)> = full.iter().map(|(second, _)| span(*second)).collect();
    let all: Vec<(u32, u32)> = rows.iter().map(|(second, _)| span(*second)).collect();
    let (own, target) = (mean(|cpu| cpu.own), mean(|cpu| cpu.target));
    let who = match target > 0.0 {
        true => format!("{} with the target and {} with squall", percent(target), percent(own)),
        false => format!("{} with squall and its built-in target", percent(own)),
    };
    Some(Reason::note(
        "machine_full",
        format!("the target's machine was full: all its CPUs were busy {}, {who}", seconds_in_words(&at, &all)),
        "this is as much as the target can do beside squall on this machine; with squall on another one it would have these CPUs to itself".to_owned(),
    ))
}
