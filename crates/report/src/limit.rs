//! The result of `squall limit` as people and programs read it.

mod conclusions;
mod page;

use std::fmt::Write as _;

use serde_json::{Value, json as value};
use squall_limit::{Limit, LoadStep, Saturation, StepMetric, level_text};

use squall_base::units::{percent, rate, time};

use crate::document::RunPhase;
use crate::meta::Meta;
use crate::text::{paragraph, phase_text, shorten};
use conclusions::conclusions;
pub use page::limit_html;

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
            "monitored": step.monitored.iter().map(monitored).collect::<Vec<_>>(),
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
        "saturation": limit.saturation.as_ref().map(saturation_json),
        "recoveries": recoveries.collect::<Vec<_>>(), "steps": steps.collect::<Vec<_>>(),
    })
}

fn monitored(own: &StepMetric) -> Value {
    value!({"monitor": own.monitor, "name": own.name, "tags": tags(&own.tags), "samples": own.count,
        "mean": own.mean, "max": own.max})
}

fn tags(tags: &[(String, String)]) -> Value {
    tags.iter().map(|(key, value)| (key.clone(), Value::from(value.as_str()))).collect()
}

fn saturation_json(own: &Saturation) -> Value {
    let findings = own.findings.iter().map(|one| {
        value!({"monitor": one.monitor, "metric": one.metric, "tags": tags(&one.tags),
            "certain": one.is_certain, "level": one.level, "bound": one.bound, "text": one.text,
            "values": one.values})
    });
    value!({"text": own.words(), "findings": findings.collect::<Vec<_>>()})
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
    let mut before = "";
    for (word, text) in conclusions(limit, around.failures) {
        let shown = if word == before { "" } else { word };
        paragraph(&mut out, &format!(" {shown:<15}"), &text, 99);
        before = word;
    }
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
