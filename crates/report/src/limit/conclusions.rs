//! What follows from a search, in words.

use std::fmt::Write as _;

use squall_base::units::{count, percent, rate};
use squall_limit::{
    LevelKind, Limit, LoadStep, Recovery, Saturation, SearchEnd, StepOutcome, level_text,
};

/// The conclusions, each with the word that it stands under; what `failures` are, first.
pub(super) fn conclusions(limit: &Limit, failures: &[String]) -> Vec<(&'static str, String)> {
    let mut all: Vec<(&str, String)> = Vec::new();
    all.extend(failures.iter().map(|failure| ("failed", failure.clone())));
    all.push(("result", result(limit)));
    if let Some(last) = limit.steps.last().filter(|_| limit.confirmed) {
        let level = level_text(limit.by, last.level);
        let how = by_how_little(last.outcome() == StepOutcome::Borderline);
        let words = format!("{level} met the requirements once more at the end{how}");
        all.push(("confirmed", words));
    }
    all.extend(limit.violated_first().map(|words| ("violated first", words)));
    all.extend(limit.knee().map(|knee| ("knee", knee_words(limit.by, knee))));
    let full = limit.saturation.iter().flat_map(Saturation::words);
    all.extend(full.map(|words| ("full", words)));
    all.extend(scaling(limit).map(|words| ("scaling", words)));
    for step in limit.steps.iter().filter(|step| step.outcome() == StepOutcome::Generator) {
        let why = format!("at {}: {}", level_text(limit.by, step.level), step.generator.join("; "));
        all.push(("squall", why));
    }
    let full = |step: &&LoadStep| step.machine_full.is_some();
    if let Some(step) = limit.steps.iter().filter(full).min_by(|a, b| a.level.total_cmp(&b.level)) {
        let words = step.machine_full.as_deref().unwrap_or_default();
        all.push(("machine", format!("from {} on, {words}", level_text(limit.by, step.level))));
    }
    all.extend(recovery(limit).map(|words| ("recovery", words)));
    all
}

fn knee_words(by: LevelKind, knee: f64) -> String {
    match by {
        LevelKind::Rate => {
            format!("from {} on, throughput no longer keeps up with the load", level_text(by, knee))
        }
        LevelKind::Users | LevelKind::Factor => format!(
            "with about {} requests in flight, throughput stops growing linearly",
            count(knee.round() as u64)
        ),
    }
}

/// How long the target took to recover at most.
fn recovery(limit: &Limit) -> Option<String> {
    let took = |one: &Recovery| one.seconds.unwrap_or(f64::INFINITY);
    let one = limit.recoveries.iter().max_by(|a, b| took(a).total_cmp(&took(b)))?;
    let after = level_text(limit.by, one.from);
    let at = level_text(limit.by, one.at);
    Some(match one.seconds {
        Some(seconds) => {
            format!("after {after}, latency was back to normal within {seconds:.1} s at {at}")
        }
        None => format!(
            "after {after}, latency was not back to normal within {:.0} s at {at}",
            one.watched_s
        ),
    })
}

/// What is known of a search that was interrupted, or broke off.
fn so_far(limit: &Limit) -> String {
    let of = |outcome| limit.steps.iter().filter(move |step| step.outcome() == outcome);
    let highest = of(StepOutcome::Met).map(|step| step.level).reduce(f64::max);
    let lowest = of(StepOutcome::Violated).map(|step| step.level).reduce(f64::min);
    let met = highest.map(|highest| format!("met at {}", level_text(limit.by, highest)));
    let violated = lowest.map(|lowest| format!("violated at {}", level_text(limit.by, lowest)));
    match (met, violated) {
        (None, None) => "interrupted: no result".to_owned(),
        (met, violated) => {
            let known: Vec<String> = met.into_iter().chain(violated).collect();
            format!("interrupted: no result; so far the requirements were {}", known.join(", and "))
        }
    }
}

/// The result in words.
fn result(limit: &Limit) -> String {
    let highest = limit.steps.iter().map(|step| step.level).fold(0.0, f64::max);
    let cause = || {
        let step = limit.steps.iter().find(|step| step.outcome() == StepOutcome::Generator);
        step.map_or(String::new(), |step| step.generator.join("; "))
    };
    match (limit.end, limit.sustained_max) {
        (SearchEnd::Found | SearchEnd::OutOfSteps, Some(maximum)) if maximum.fitted => format!(
            "the sustained maximum is {} ({} to {} with 95% confidence)",
            level_text(limit.by, maximum.level),
            level_text(limit.by, maximum.low),
            level_text(limit.by, maximum.high)
        ),
        (SearchEnd::Found | SearchEnd::OutOfSteps, Some(maximum))
            if maximum.low < maximum.level =>
        {
            format!(
                "the sustained maximum is about {} ({} to {} with 95% confidence): steps near it scatter, \
                 so longer ones (--step) would say more",
                level_text(limit.by, maximum.level),
                level_text(limit.by, maximum.low),
                level_text(limit.by, maximum.high)
            )
        }
        (SearchEnd::Found | SearchEnd::OutOfSteps, Some(maximum)) => {
            let held = limit.steps.iter().filter(|step| step.level == maximum.low);
            let outcomes: Vec<StepOutcome> = held.map(LoadStep::outcome).collect();
            let is_there = |outcome| outcomes.contains(&outcome);
            let is_borderline = is_there(StepOutcome::Borderline) && !is_there(StepOutcome::Met);
            format!(
                "all requirements are met at {}, and no longer at {}{}",
                level_text(limit.by, maximum.low),
                level_text(limit.by, maximum.high),
                by_how_little(is_borderline)
            )
        }
        (SearchEnd::Generator, _) => match limit.at_least {
            Some(least) => format!(
                "at least {}; above, squall itself was the limit ({})",
                level_text(limit.by, least),
                cause()
            ),
            None => format!(
                "squall itself, not the target, was the bottleneck ({}): the target's maximum is unknown",
                cause()
            ),
        },
        (SearchEnd::NotRecovered, _) => {
            let last = limit.steps.last().map_or(0.0, |step| step.level);
            format!(
                "the target got worse and did not recover: {} met the requirements at first, and no \
                 longer afterwards; so there is no sustained maximum",
                level_text(limit.by, last)
            )
        }
        (SearchEnd::NeverMet, _) => "not even the lowest level met the requirements".to_owned(),
        (SearchEnd::NeverViolated, _) => {
            format!(
                "all requirements are met up to {}, the highest level tried",
                level_text(limit.by, highest)
            )
        }
        (SearchEnd::SetupFailed, _) => "the setup failed: no step was run".to_owned(),
        (SearchEnd::Interrupted, _) => so_far(limit),
        (SearchEnd::Found | SearchEnd::OutOfSteps, None) => {
            let met = limit.steps.iter().all(LoadStep::met);
            if met {
                "all steps met all requirements".to_owned()
            } else {
                "some steps violated a requirement".to_owned()
            }
        }
    }
}

/// What is added where a level was met by so little that chance may have decided.
fn by_how_little(is_borderline: bool) -> &'static str {
    if is_borderline { ", by so little that only longer steps (--step) could be sure" } else { "" }
}

/// How throughput scales.
fn scaling(limit: &Limit) -> Option<String> {
    let law = limit.scaling?;
    let mut words = format!(
        "{} with one request in flight; {} of the work is serialised (contention)",
        rate(law.lambda),
        percent(law.alpha)
    );
    if let Some(highest) = law.highest() {
        let _ = write!(words, "; at most {}", rate(highest));
    }
    if let Some(peak) = law.peak() {
        let _ = write!(words, " with {peak:.0} in flight, and less with more (crosstalk)");
    }
    Some(format!("{words} (universal scalability law)"))
}
