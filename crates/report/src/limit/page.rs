//! The search as one HTML page without anything from elsewhere: its conclusions, its steps, and what the load did and what
//! monitors sampled over the levels, drawn as SVG.

use std::fmt::Write as _;

use squall_base::units::{percent, rate, time};
use squall_limit::{LevelCurve, LevelPoint, Limit, LoadStep, level_text};

use super::conclusions::conclusions;
use crate::html::escaped;
use crate::meta::Meta;

const STYLE: &str = include_str!("page.css");
/// Most curves of monitors that are drawn.
const MAX_CURVES: usize = 60;
/// Size of a picture, in its own units, and the room for its labels at the left, at the top and below.
const SIZE: (f64, f64) = (420.0, 200.0);
const ROOM: (f64, f64, f64) = (76.0, 12.0, 26.0);

/// The search as a page; `failures`: why it broke off, or what is incomplete, a sentence each.
pub fn limit_html(limit: &Limit, meta: &Meta, failures: &[String]) -> String {
    let title = line(&format!("{}: sustained maximum, by {}", limit.plan, limit.by.label()));
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style></head><body><main>\n<h1>{title}</h1>\n"
    );
    let target = meta.target.as_deref().unwrap_or("the hosts that the plan names");
    let about = format!("at {target}, seed {}, squall {}", meta.seed, meta.squall);
    let _ = writeln!(out, "<p>{}</p>\n<dl>", line(&about));
    let mut before = "";
    for (word, text) in conclusions(limit, failures) {
        let head = if word == before { String::new() } else { format!("<dt>{word}</dt>") };
        let _ = writeln!(out, "{head}<dd>{}</dd>", line(&text));
        before = word;
    }
    out.push_str("</dl>\n");
    pictures(&mut out, limit);
    table(&mut out, limit);
    out.push_str("</main></body></html>\n");
    out
}

/// The load, then what was full, then the rest.
fn pictures(out: &mut String, limit: &Limit) {
    let most = limit.steps.iter().map(|step| step.level).fold(0.0, f64::max);
    if most <= 0.0 {
        return;
    }
    let of_load = |name: &str, of: fn(&LoadStep) -> f64| {
        let point = |step: &LoadStep| LevelPoint {
            level: step.level,
            value: of(step),
            is_violated: !step.met(),
        };
        let mut points: Vec<LevelPoint> = limit.steps.iter().map(point).collect();
        points.sort_by(|a, b| a.level.total_cmp(&b.level));
        LevelCurve { name: name.to_owned(), points, bound: None, is_full: false }
    };
    out.push_str("<h2>The load</h2>\n<div class=\"pictures\">\n");
    let scale = Scale { by: limit.by, most };
    out.push_str(&picture(&of_load("requests per second", |step| step.requests), scale, rate));
    out.push_str(&picture(&of_load("p99 of latency", |step| step.p99_us), scale, time));
    out.push_str("</div>\n");
    let mut curves = LevelCurve::of(&limit.steps, limit.saturation.as_ref());
    if curves.is_empty() {
        return;
    }
    curves.sort_by_key(|own| !own.is_full);
    out.push_str("<h2>The target</h2>\n<div class=\"pictures\">\n");
    for own in curves.iter().take(MAX_CURVES) {
        out.push_str(&picture(own, scale, |value| own.shown(value)));
    }
    out.push_str("</div>\n");
    if curves.len() > MAX_CURVES {
        let rest = curves.len() - MAX_CURVES;
        let _ = writeln!(out, "<p>{rest} more are in limit.json.</p>");
    }
}

/// What pictures lie over: all have the same levels.
#[derive(Clone, Copy)]
struct Scale {
    by: squall_limit::LevelKind,
    most: f64,
}

/// A curve over the levels: full circles where the requirements were met, empty ones where one was violated; its bound as a
/// broken line.
fn picture(curve: &LevelCurve, scale: Scale, show: impl Fn(f64) -> String) -> String {
    let (width, height) = SIZE;
    let (left, top, below) = ROOM;
    let values = curve.points.iter().map(|own| own.value).chain(curve.bound);
    let highest = values.fold(0.0, f64::max).max(1e-9);
    let x = |level: f64| left + 10.0 + level / scale.most * (width - left - 30.0);
    let y = |value: f64| height - below - value.max(0.0) / highest * (height - below - top);
    let name = line(&curve.name);
    let class = if curve.is_full { " class=\"full\"" } else { "" };
    let mut out = format!(
        "<figure{class}><figcaption>{name}</figcaption><svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{name}\">"
    );
    for share in [0.0, 0.5, 1.0] {
        let (at, label) = (y(share * highest), line(&show(share * highest)));
        let _ = write!(
            out,
            "<path class=\"grid\" d=\"M{left} {at:.1}H{width}\"/><text x=\"{}\" y=\"{:.1}\" class=\"left\">{label}</text>",
            left - 5.0,
            at + 4.0
        );
    }
    for share in [0.0, 0.5, 1.0] {
        let label = level_text(scale.by, share * scale.most);
        let at = x(share * scale.most).min(width - 24.0);
        let _ = write!(
            out,
            "<text x=\"{at:.1}\" y=\"{}\" class=\"below\">{label}</text>",
            height - 8.0
        );
    }
    if let Some(bound) = curve.bound {
        let _ = write!(out, "<path class=\"bound\" d=\"M{left} {:.1}H{width}\"/>", y(bound));
    }
    let points: Vec<String> =
        curve.points.iter().map(|own| format!("{:.1},{:.1}", x(own.level), y(own.value))).collect();
    let _ = write!(out, "<polyline points=\"{}\"/>", points.join(" "));
    for own in &curve.points {
        let class = if own.is_violated { "violated" } else { "met" };
        let _ = write!(
            out,
            "<circle class=\"{class}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.5\"><title>{} at {}: {class}</title></circle>",
            x(own.level),
            y(own.value),
            line(&show(own.value)),
            level_text(scale.by, own.level)
        );
    }
    out.push_str("</svg></figure>\n");
    out
}

fn table(out: &mut String, limit: &Limit) {
    out.push_str(
        "<h2>The steps</h2>\n<div class=\"wide\"><table><thead><tr><th scope=\"col\">level</th>\
         <th scope=\"col\">iterations</th><th scope=\"col\">requests</th><th scope=\"col\">in flight</th>\
         <th scope=\"col\">mean</th><th scope=\"col\">p50</th><th scope=\"col\">p99</th><th scope=\"col\">errors</th>\
         <th scope=\"col\">outcome</th></tr></thead><tbody>\n",
    );
    for step in &limit.steps {
        let cells = [
            level_text(limit.by, step.level),
            rate(step.throughput),
            rate(step.requests),
            format!("{:.1}", step.concurrency),
            time(step.mean_us),
            time(step.p50_us),
            time(step.p99_us),
            percent(step.error_rate),
            step.outcome().label().to_owned(),
        ];
        let cells = cells.map(|cell| format!("<td>{cell}</td>")).concat();
        let _ = writeln!(out, "<tr class=\"{}\">{cells}</tr>", step.outcome().label());
    }
    out.push_str("</tbody></table></div>\n");
}

/// A text as HTML shows it, on one line.
fn line(text: &str) -> String {
    escaped(&text.replace(char::is_control, " "))
}
