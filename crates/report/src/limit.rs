//! The result of `squall limit` as people and programs read it.

use std::fmt::Write as _;

use serde_json::{Value, json as value};
use squall_limit::{LevelKind, Limit, LoadStep, Recovery, SearchEnd, StepOutcome};

use squall_base::units::{count, percent, rate, time};

use crate::document::RunPhase;
use crate::meta::Meta;
use crate::text::{paragraph, phase_text, shorten};

/// Version of the JSON form of a search.
pub const LIMIT_SCHEMA: &str = "squall-limit/1";

/// What goes with a search: what became of its setup and teardown, as far as the plan has them and they are over, and
/// why it broke off, or what is incomplete, a sentence each.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Around<'a> {
    pub phases: &'a [RunPhase],
    pub failures: &'a [String],
}

/// The search as JSON; its keys are described in `docs/limit.md`.
pub fn limit_json(limit: &Limit, meta: &Meta, around: Around<'_>) -> Value {
    let steps = limit.steps.iter().map(|step| {
        let requirements = step.requirements.iter().map(|result| {
            value!({"text": result.text, "met": result.met, "certain": result.certain,
                "used": result.used, "error": result.error, "shown": result.shown})
        });
        value!({
            "level": step.level, "outcome": step.outcome().label(), "measured_s": step.seconds,
            "throughput": step.throughput, "requests": step.requests, "concurrency": step.concurrency,
            "mean_us": step.mean_us, "p50_us": step.p50_us, "p99_us": step.p99_us,
            "error_rate": step.error_rate, "keeps_up": step.keeps_up,
            "arrivals_due": step.arrivals.due, "arrivals_dropped": step.arrivals.dropped,
            "requirements": requirements.collect::<Vec<_>>(), "generator": step.generator,
            "machine_full": step.machine_full,
        })
    });
    let recoveries = limit.recoveries.iter().map(|one| {
        value!({"from": one.from, "at": one.at, "seconds": one.seconds, "watched_s": one.watched_s})
    });
    value!({
        "schema": LIMIT_SCHEMA, "meta": meta, "plan": limit.plan, "by": limit.by.label(),
        "end": limit.end.label(), "run_phases": around.phases, "failures": around.failures,
        "sustained_maximum": limit.sustained_max.map(|maximum| value!({
            "level": maximum.level, "low": maximum.low, "high": maximum.high, "fitted": maximum.fitted,
        })),
        "at_least": limit.at_least, "confirmed": limit.confirmed,
        "knee": limit.knee(), "violated_first": limit.violated_first(),
        "scaling": limit.scaling.map(|law| value!({
            "lambda": law.lambda, "alpha": law.alpha, "beta": law.beta,
            "peak": law.peak(), "highest": law.highest(),
        })),
        "recoveries": recoveries.collect::<Vec<_>>(), "steps": steps.collect::<Vec<_>>(),
    })
}

/// The search as a person reads it, at most 100 columns wide.
pub fn limit_text(limit: &Limit, meta: &Meta, around: Around<'_>) -> String {
    let mut out = head(limit, meta, around);
    out.push('\n');
    if !limit.steps.is_empty() {
        table(&mut out, limit);
    }
    if limit.steps.len() > 1 {
        let p99 = Curve { name: "p99", of: |step| step.p99_us, show: time, logarithmic: true };
        chart(&mut out, limit, &p99);
        let done =
            Curve { name: "requests", of: |step| step.requests, show: rate, logarithmic: false };
        chart(&mut out, limit, &done);
    }
    for failure in around.failures {
        paragraph(&mut out, " failed         ", failure, 99);
    }
    paragraph(&mut out, " result         ", &result(limit), 99);
    if let Some(last) = limit.steps.last().filter(|_| limit.confirmed) {
        let words = format!(
            "{} met the requirements once more at the end{}",
            level_text(limit.by, last.level),
            by_how_little(last.outcome() == StepOutcome::Borderline)
        );
        paragraph(&mut out, " confirmed      ", &words, 99);
    }
    if let Some(words) = limit.violated_first() {
        paragraph(&mut out, " violated first ", &words, 99);
    }
    if let Some(knee) = limit.knee() {
        let words = match limit.by {
            LevelKind::Rate => {
                format!(
                    "from {} on, throughput no longer keeps up with the load",
                    level_text(limit.by, knee)
                )
            }
            LevelKind::Users | LevelKind::Factor => format!(
                "with about {} requests in flight, throughput stops growing linearly",
                count(knee.round() as u64)
            ),
        };
        paragraph(&mut out, " knee           ", &words, 99);
    }
    scaling(&mut out, limit);
    for step in limit.steps.iter().filter(|step| step.outcome() == StepOutcome::Generator) {
        let why = format!("at {}: {}", level_text(limit.by, step.level), step.generator.join("; "));
        paragraph(&mut out, " squall         ", &why, 99);
    }
    let full = |step: &&LoadStep| step.machine_full.is_some();
    if let Some(step) = limit.steps.iter().filter(full).min_by(|a, b| a.level.total_cmp(&b.level)) {
        let words = step.machine_full.as_deref().unwrap_or_default();
        let words = format!("from {} on, {words}", level_text(limit.by, step.level));
        paragraph(&mut out, " machine        ", &words, 99);
    }
    recovery(&mut out, limit);
    out
}

/// What was tested, and what became of setup and teardown.
fn head(limit: &Limit, meta: &Meta, around: Around<'_>) -> String {
    let plan = shorten(&limit.plan, 60);
    let mut out = format!("\n{plan}: sustained maximum, by {}\n", limit.by.label());
    let target = meta.target.as_deref().unwrap_or("the hosts that the plan names");
    let about = format!("at {target}, seed {}, squall {}", meta.seed, meta.squall);
    paragraph(&mut out, "", &about, 99);
    for phase in around.phases {
        paragraph(&mut out, &format!(" {:<15}", phase.phase), &phase_text(phase), 99);
    }
    out
}

fn recovery(out: &mut String, limit: &Limit) {
    let took = |one: &Recovery| one.seconds.unwrap_or(f64::INFINITY);
    let longest = limit.recoveries.iter().max_by(|a, b| took(a).total_cmp(&took(b)));
    if let Some(one) = longest {
        let after = level_text(limit.by, one.from);
        let at = level_text(limit.by, one.at);
        let words = match one.seconds {
            Some(seconds) => {
                format!("after {after}, latency was back to normal within {seconds:.1} s at {at}")
            }
            None => format!(
                "after {after}, latency was not back to normal within {:.0} s at {at}",
                one.watched_s
            ),
        };
        paragraph(out, " recovery       ", &words, 99);
    }
}

/// A load level in words, such as `50/s`, `200` or `1.50x`.
pub fn level_text(by: LevelKind, level: f64) -> String {
    match by {
        LevelKind::Rate => rate(level),
        LevelKind::Users => count(level.round() as u64),
        LevelKind::Factor => factor(level),
    }
}

/// A factor of the plan's loads: three digits that mean something.
fn factor(factor: f64) -> String {
    let digits = (2 - factor.abs().max(1e-9).log10().floor() as i32).clamp(0, 6);
    format!("{factor:.*}x", digits as usize)
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

fn table(out: &mut String, limit: &Limit) {
    let _ = writeln!(
        out,
        " {:>10} {:>10} {:>10} {:>9} {:>8} {:>8} {:>8} {:>8}  outcome",
        "level", "iterations", "requests", "in flight", "mean", "p50", "p99", "errors"
    );
    for step in &limit.steps {
        let _ = writeln!(
            out,
            " {:>10} {:>10} {:>10} {:>9.1} {:>8} {:>8} {:>8} {:>8}  {}",
            level_text(limit.by, step.level),
            rate(step.throughput),
            rate(step.requests),
            step.concurrency,
            time(step.mean_us),
            time(step.p50_us),
            time(step.p99_us),
            percent(step.error_rate),
            step.outcome().label()
        );
    }
    out.push('\n');
}

fn scaling(out: &mut String, limit: &Limit) {
    let Some(law) = limit.scaling else { return };
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
    paragraph(out, " scaling        ", &format!("{words} (universal scalability law)"), 99);
}

/// A value that is charted over the levels.
struct Curve {
    name: &'static str,
    of: fn(&LoadStep) -> f64,
    show: fn(f64) -> String,
    /// Whether its scale may be logarithmic.
    logarithmic: bool,
}

const WIDTH: usize = 64;
const HEIGHT: usize = 9;

/// A chart of a value over the levels, from 0, or on a logarithmic scale if latencies differ by more than
/// a factor of 50.
fn chart(out: &mut String, limit: &Limit, curve: &Curve) {
    let Curve { name, of, show, .. } = curve;
    let values = limit.steps.iter().map(of).filter(|value| *value > 0.0);
    let (least, most) = values.fold((f64::INFINITY, 0.0), |(a, b), v| (a.min(v), f64::max(b, v)));
    let widest = limit.steps.iter().map(|step| step.level).fold(0.0, f64::max);
    if most <= 0.0 || widest <= 0.0 {
        return;
    }
    let logarithmic = curve.logarithmic && most > 50.0 * least;
    let height = |value: f64| match logarithmic {
        true => (value.max(least) / least).ln() / (most / least).ln(),
        false => value / most,
    };
    let mut cells = [[' '; WIDTH]; HEIGHT];
    for step in &limit.steps {
        let column = (step.level / widest * (WIDTH - 1) as f64).round() as usize;
        let row = (height(of(step)) * (HEIGHT - 1) as f64).round() as usize;
        let mark = if step.met() { '●' } else { '✗' };
        cells[HEIGHT - 1 - row.min(HEIGHT - 1)][column.min(WIDTH - 1)] = mark;
    }
    let bottom = if logarithmic { show(least) } else { show(0.0) };
    for (at, row) in cells.iter().enumerate() {
        let label = match at {
            0 => show(most),
            _ if at == HEIGHT - 1 => bottom.clone(),
            1 => (*name).to_owned(),
            _ => String::new(),
        };
        let line: String = row.iter().collect();
        let _ = writeln!(out, " {label:>11} ┤{}", line.trim_end());
    }
    let _ = writeln!(out, " {:>11} └{}", "", "─".repeat(WIDTH));
    let right = level_text(limit.by, widest);
    let _ = writeln!(out, " {:>12}0{right:>width$}\n", "", width = WIDTH - 1);
}
