//! A comparison as one HTML page without anything from elsewhere: what keeps the runs from being compared, what is found,
//! the numbers, and for each row that changed its shift function, both distributions and both means over time, drawn as SVG.

use std::fmt::Write as _;

use super::document::{ComparedRow, ComparedValue, ComparisonDocument, Pair};
use super::plot::reach;
use super::words::Caution;

const STYLE: &str = include_str!("page.css");

/// Size of a picture, in its own units, and the room for its labels at the left and below.
const SIZE: (f64, f64) = (420.0, 240.0);
const ROOM: (f64, f64) = (58.0, 26.0);

/// The comparison as a page.
pub fn compare_html(document: &ComparisonDocument) -> String {
    let names: Vec<&str> = document.sides.iter().map(|side| side.name.as_str()).collect();
    let title = match names.split_first() {
        Some((first, others)) => format!("{} against {first}", others.join(", ")),
        None => "squall compare".to_owned(),
    };
    let title = escaped(&title);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style></head><body><main>\n<h1>{title}</h1>\n"
    );
    cautions(&mut out, document);
    for pair in &document.pairs {
        conclusion(&mut out, document, pair);
    }
    out.push_str("<h2>The runs</h2>\n<ul>\n");
    for run in &document.runs {
        let _ =
            writeln!(out, "<li><b>{}</b>: {}</li>", escaped(&run.name), escaped(&run.described()));
    }
    out.push_str("</ul>\n");
    for pair in &document.pairs {
        one(&mut out, document, pair);
    }
    out.push_str(ABOUT);
    out.push_str("</main></body></html>\n");
    out
}

const ABOUT: &str = "<h2>How to read it</h2>\n<p>A change counts if it is more than random variation among all that are looked \
    at together: of two equal runs 5% at most show any. Intervals are those of 95% confidence, from how much the \
    seconds of each run differ and how much neighbours have in common. The bands of a shift function hold all \
    together. Latencies are those of complete responses.</p>\n";

fn cautions(out: &mut String, document: &ComparisonDocument) {
    let all = document.cautions();
    if all.is_empty() {
        return;
    }
    out.push_str("<ul>\n");
    for (caution, text) in all {
        let class = if caution == Caution::Note { "" } else { " class=\"careful\"" };
        let _ = writeln!(out, "<li{class}>{}</li>", escaped(&text));
    }
    out.push_str("</ul>\n");
}

fn conclusion(out: &mut String, document: &ComparisonDocument, pair: &Pair) {
    let name = match document.pairs.len() {
        1 => String::new(),
        _ => format!("{}: ", escaped(&document.side(pair.after).name)),
    };
    let _ = writeln!(out, "<p class=\"result\">{name}{}</p>", escaped(&pair.summary()));
    if pair.gates.is_empty() {
        return;
    }
    out.push_str("<ul>\n");
    for gate in &pair.gates {
        let class = match (gate.fails(), gate.is_undecided()) {
            (true, _) => " class=\"worse\"",
            (_, true) => "",
            _ => " class=\"better\"",
        };
        let _ = writeln!(
            out,
            "<li><b{class}>{}</b> {}: {}</li>",
            gate.word().to_lowercase(),
            escaped(&gate.text),
            escaped(&gate.found())
        );
    }
    out.push_str("</ul>\n");
}

fn one(out: &mut String, document: &ComparisonDocument, pair: &Pair) {
    let (before, after) = (&document.side(pair.before).name, &document.side(pair.after).name);
    let named = pair.has_scenarios();
    let _ = writeln!(
        out,
        "<h2>{} against {}</h2>\n<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Numbers\"><table>\n\
         <thead><tr><th scope=\"col\">row</th><th scope=\"col\">measure</th><th scope=\"col\">{}</th>\
         <th scope=\"col\">{}</th><th scope=\"col\">change</th><th scope=\"col\">95% interval</th>\
         <th scope=\"col\">result</th></tr></thead>",
        escaped(after),
        escaped(before),
        escaped(before),
        escaped(after)
    );
    for row in &pair.rows {
        out.push_str("<tbody>\n");
        for (at, own) in row.values.iter().enumerate() {
            value(out, own, (at == 0).then(|| (row.label(named), row.values.len())));
        }
        out.push_str("</tbody>\n");
    }
    out.push_str("</table></div>\n");
    target(out, pair, (before, after));
    for (names, run) in [(&pair.only_before, before), (&pair.only_after, after)] {
        if !names.is_empty() {
            let _ =
                writeln!(out, "<p>Only in {}: {}</p>", escaped(run), escaped(&names.join(", ")));
        }
    }
    let drawn = |row: &&ComparedRow| {
        !row.shift.is_empty()
            && (row.is_all() || row.changed().next().is_some() || pair.rows.len() == 1)
    };
    for row in pair.rows.iter().filter(drawn) {
        pictures(out, row, named, (before, after));
    }
}

/// What monitors sampled of the target of both.
fn target(out: &mut String, pair: &Pair, names: (&str, &str)) {
    if pair.target.is_empty() {
        return;
    }
    let _ = writeln!(
        out,
        "<h3>Target</h3>\n<p>{}</p>\n<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Target\"><table>\n\
         <thead><tr><th scope=\"col\">metric</th><th scope=\"col\">{}</th><th scope=\"col\">{}</th><th scope=\"col\">change</th></tr></thead><tbody>",
        super::target::ABOUT,
        escaped(names.0),
        escaped(names.1)
    );
    for own in &pair.target {
        let cells = own.cells().map(|cell| format!("<td>{cell}</td>")).concat();
        let _ = writeln!(out, "<tr><th scope=\"row\">{}</th>{cells}</tr>", escaped(&own.measure));
    }
    out.push_str("</tbody></table></div>\n");
}

fn value(out: &mut String, own: &ComparedValue, first: Option<(String, usize)>) {
    let head = first.map_or(String::new(), |(label, rows)| {
        format!("<th scope=\"rowgroup\" rowspan=\"{rows}\">{}</th>", escaped(&label))
    });
    let class = match (own.is_changed(), own.worse) {
        (true, true) => " class=\"worse\"",
        (true, false) => " class=\"better\"",
        _ => "",
    };
    let why = own.why.as_ref().map_or(String::new(), |why| format!(" title=\"{}\"", escaped(why)));
    let cells = own.cells().map(|cell| format!("<td>{cell}</td>")).concat();
    let word = own.word().to_lowercase();
    let _ = writeln!(out, "<tr{class}>{head}{cells}<td{why}>{word}</td></tr>");
}

fn pictures(out: &mut String, row: &ComparedRow, named: bool, names: (&str, &str)) {
    let label = escaped(&row.label(named));
    let _ = writeln!(
        out,
        "<h3>{label}</h3>\n<p class=\"legend\"><span class=\"before\">■ {}</span> <span class=\"after\">■ {}</span></p>\n\
         <div class=\"pictures\">",
        escaped(names.0),
        escaped(names.1)
    );
    out.push_str(&shift(row, &label));
    let points = |of: fn(&ComparedValue) -> Option<f64>| -> Vec<(f64, f64)> {
        row.shift.iter().filter_map(|own| Some((position(own)?, of(own)?))).collect()
    };
    let both = [points(|own| own.before), points(|own| own.after)];
    out.push_str(&lines(&format!("Percentiles of {label}"), &both, true));
    let over = |curve: &[f64]| {
        let last = (curve.len().max(2) - 1) as f64;
        curve.iter().enumerate().map(|(at, own)| (at as f64 / last, *own)).collect()
    };
    let curves: [Vec<(f64, f64)>; 2] = [over(&row.curves.0), over(&row.curves.1)];
    out.push_str(&lines(
        &format!("Mean latency of {label} from the first second that is compared to the last"),
        &curves,
        false,
    ));
    out.push_str("</div>\n");
}

/// Where a percentile lies from left to right: tails are drawn as wide as they matter.
fn position(own: &ComparedValue) -> Option<f64> {
    let p: f64 = own.measure.strip_prefix('p')?.parse().ok()?;
    let nines = |p: f64| -(1.0 - p / 100.0).log10();
    Some((nines(p) - nines(10.0)) / (nines(99.9) - nines(10.0)))
}

/// A frame with a caption, a scale from `low` to `high`, and what is drawn in it.
fn picture(caption: &str, ticks: &[(f64, String)], below: &[(f64, &str)], drawn: &str) -> String {
    let (width, height) = SIZE;
    let mut out = format!(
        "<figure><figcaption>{caption}</figcaption><svg viewBox=\"0 0 {width} {height}\" role=\"img\" \
         aria-label=\"{caption}\">"
    );
    for (share, label) in ticks {
        let y = vertical(*share);
        let _ = write!(
            out,
            "<path class=\"grid\" d=\"M{} {y:.1}H{width}\"/><text x=\"{}\" y=\"{:.1}\" class=\"left\">{label}</text>",
            ROOM.0,
            ROOM.0 - 5.0,
            y + 4.0
        );
    }
    for (share, label) in below {
        let _ = write!(
            out,
            "<text x=\"{:.1}\" y=\"{}\" class=\"below\">{label}</text>",
            horizontal(*share),
            height - 8.0
        );
    }
    let _ = writeln!(out, "{drawn}</svg></figure>");
    out
}

fn horizontal(share: f64) -> f64 {
    ROOM.0 + 14.0 + share * (SIZE.0 - ROOM.0 - 34.0)
}

fn vertical(share: f64) -> f64 {
    (SIZE.1 - ROOM.1) - share * (SIZE.1 - ROOM.1 - 12.0)
}

const PERCENTILES: [&str; 6] = ["p10", "p50", "p80", "p90", "p99", "p99.9"];

/// How each percentile moved, with its band.
fn shift(row: &ComparedRow, label: &str) -> String {
    let (low, high) = reach(row.shift.iter());
    let span = (high - low).max(0.01);
    let y = |value: f64| vertical((value - low) / span);
    let mut drawn = format!("<path class=\"zero\" d=\"M{} {:.1}H{}\"/>", ROOM.0, y(0.0), SIZE.0);
    for own in &row.shift {
        let (Some(at), Some(change)) = (position(own), own.change) else { continue };
        let x = horizontal(at);
        if own.low.is_some() || own.high.is_some() {
            // One that goes on beyond the picture ends with it.
            let from = own.low.unwrap_or(low).clamp(low, high);
            let to = own.high.unwrap_or(high).clamp(low, high);
            let _ =
                write!(drawn, "<path class=\"band\" d=\"M{x:.1} {:.1}V{:.1}\"/>", y(from), y(to));
        }
        let _ = write!(
            drawn,
            "<circle class=\"after\" cx=\"{x:.1}\" cy=\"{:.1}\" r=\"3.5\"><title>{}: {} ({})</title></circle>",
            y(change),
            own.measure,
            own.its_change(),
            own.interval()
        );
    }
    let mut ticks: Vec<(f64, String)> = [low, high]
        .into_iter()
        .filter(|value| value.abs() > span * 0.08)
        .map(|value| ((value - low) / span, format!("{:+.1}%", value * 100.0)))
        .collect();
    ticks.push(((0.0 - low) / span, "0".to_owned()));
    picture(&format!("How each percentile of {label} moved"), &ticks, &below(row), &drawn)
}

/// The percentiles that are named below a picture.
fn below(row: &ComparedRow) -> Vec<(f64, &str)> {
    let shown = row.shift.iter().filter(|own| PERCENTILES.contains(&own.measure.as_str()));
    shown.filter_map(|own| Some((position(own)?, own.measure.as_str()))).collect()
}

/// Two lines over the same axis: of percentiles on a logarithmic scale, of means from 0 on.
fn lines(caption: &str, both: &[Vec<(f64, f64)>; 2], percentiles: bool) -> String {
    let scaled = |value: f64| if percentiles { value.max(1.0).ln() } else { value };
    let all = || both.iter().flatten().map(|(_, value)| scaled(*value));
    if all().next().is_none() {
        return String::new();
    }
    let least = if percentiles { all().fold(f64::MAX, f64::min) } else { 0.0 };
    let span = (all().fold(f64::MIN, f64::max) - least).max(1e-6);
    let mut drawn = String::new();
    for (class, line) in ["before", "after"].into_iter().zip(both) {
        let points = line.iter().map(|(at, value)| {
            format!("{:.1},{:.1}", horizontal(*at), vertical((scaled(*value) - least) / span))
        });
        let points = points.collect::<Vec<_>>().join(" ");
        let _ = write!(drawn, "<polyline class=\"{class}\" points=\"{points}\"/>");
    }
    let tick = |share: f64| {
        let value = least + share * span;
        (share, squall_base::units::time(if percentiles { value.exp() } else { value }))
    };
    let named: Vec<(f64, &str)> = match percentiles {
        true => PERCENTILES.map(|name| (place(name), name)).to_vec(),
        false => vec![(0.02, "first"), (0.98, "last")],
    };
    picture(caption, &[0.0, 0.5, 1.0].map(tick), &named, &drawn)
}

/// Where a percentile lies from left to right, by its name.
fn place(name: &str) -> f64 {
    let value = ComparedValue { measure: name.to_owned(), ..ComparedValue::default() };
    position(&value).unwrap_or(0.0)
}

/// A text as HTML shows it, on one line.
fn escaped(text: &str) -> String {
    crate::html::escaped(&text.replace(char::is_control, " "))
}
