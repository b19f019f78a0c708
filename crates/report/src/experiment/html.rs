//! An experiment as one HTML page without anything from elsewhere: what it shows, the values of the variants, what the factors
//! do, comparisons, the runs in their order with links to their reports, and with what all that was made.

use std::fmt::Write as _;

use squall_base::units::percent;

use super::document::{ExperimentDifference, ExperimentMeasure, ExperimentResult, ExperimentRun};
use super::pictures::{Part, color, intervals, order, shares};
use super::words::{SHARES, TOGETHER, VALUES, escaped, length};

/// What all pages with pictures have, and what this one has of its own.
const STYLE: &str = concat!(include_str!("../compare/page.css"), include_str!("page.css"));
/// Most rows of comparisons of a measure, and of runs; the rest is in the JSON.
const MAX_COMPARISONS: usize = 200;
const MAX_RUNS: usize = 2_000;

/// The experiment as a page. Links to the reports of its runs are relative to its folder.
pub fn experiment_html(result: &ExperimentResult) -> String {
    let title = escaped(&result.about.name);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style></head><body><main>\n<h1>{title}</h1>\n\
         <p class=\"summary\">{}</p>\n",
        escaped(&result.summary())
    );
    sentences(&mut out, result);
    let pictures = |draw: fn(&ExperimentResult, usize) -> String| -> String {
        (0..result.measures.len()).map(|at| draw(result, at)).collect()
    };
    let _ = write!(
        out,
        "<h2>Variants</h2>\n<p class=\"note\">{VALUES} Small points are the runs.</p>\n<div class=\"pictures\">\n{}</div>\n",
        pictures(intervals)
    );
    values(&mut out, result);
    for measure in &result.measures {
        let _ = writeln!(out, "<h2>{}</h2>", escaped(&measure.name));
        effects(&mut out, result, measure);
        comparisons(&mut out, result, measure);
    }
    let _ = write!(
        out,
        "<h2>Runs in their order</h2>\n<p class=\"note\">A dashed line is between two blocks. In a block each variant is run once.</p>\n\
         {}<div class=\"pictures\">\n{}</div>\n",
        legend(result),
        pictures(order)
    );
    drift(&mut out, result);
    runs(&mut out, result);
    about(&mut out, result);
    out.push_str("</main></body></html>\n");
    out
}

/// What is to be said, by measure, and what went wrong.
fn sentences(out: &mut String, result: &ExperimentResult) {
    for measure in result.measures.iter().filter(|own| !own.sentences.is_empty()) {
        let _ = write!(out, "<div class=\"result\"><h2>{}</h2><ul>", escaped(&measure.name));
        for sentence in &measure.sentences {
            let own = sentence.strip_prefix(&measure.name).and_then(|own| own.strip_prefix(": "));
            let _ = write!(out, "<li>{}</li>", escaped(own.unwrap_or(sentence)));
        }
        out.push_str("</ul></div>\n");
    }
    let troubles = result.variants.iter().flat_map(|own| {
        let both = [own.trouble(), own.counted()].into_iter().flatten();
        both.map(|said| format!("{}: {said}", own.name))
    });
    let wrong: Vec<String> = result.about.warnings.iter().cloned().chain(troubles).collect();
    if !wrong.is_empty() {
        out.push_str("<ul>\n");
        for own in wrong {
            let _ = writeln!(out, "<li class=\"careful\">{}</li>", escaped(&own));
        }
        out.push_str("</ul>\n");
    }
}

/// Opens a table that may be wider than the page.
fn table(out: &mut String, label: &str, head: &[(&str, &str)]) {
    let _ = write!(
        out,
        "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"{}\"><table>\n<thead><tr>",
        escaped(label)
    );
    for (class, title) in head {
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        let _ = write!(out, "<th scope=\"col\"{class}>{}</th>", escaped(title));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
}

const END_OF_TABLE: &str = "</tbody></table></div>\n";

fn values(out: &mut String, result: &ExperimentResult) {
    let mut head = vec![("text", "variant"), ("", "repeats")];
    head.extend(result.measures.iter().map(|own| ("", own.name.as_str())));
    table(out, "Values", &head);
    for (number, variant) in result.variants.iter().enumerate() {
        let _ = write!(
            out,
            "<tr><th scope=\"row\"><span class=\"{}\">●</span> {}</th><td>{}</td>",
            color(number),
            escaped(&variant.name),
            variant.repeats
        );
        for (cell, measure) in variant.cells.iter().zip(&result.measures) {
            let value = cell.value.map_or("-".to_owned(), |value| measure.shown(value));
            let _ = write!(
                out,
                "<td>{}<small>{}</small></td>",
                escaped(&value),
                escaped(&measure.interval(cell))
            );
        }
        out.push_str("</tr>\n");
    }
    out.push_str(END_OF_TABLE);
}

/// What the factors do to a measure, and how much of the variation is due to what.
fn effects(out: &mut String, result: &ExperimentResult, measure: &ExperimentMeasure) {
    let own = || result.effects.iter().filter(|effect| effect.measure == measure.name);
    let mut parts: Vec<Part> = own()
        .enumerate()
        .map(|(at, effect)| Part {
            label: effect.factors.join(" x "),
            class: color(at),
            share: effect.share.unwrap_or(0.0),
        })
        .collect();
    parts.extend(measure.other_shares(result).into_iter().map(|own| Part {
        label: own.label.to_owned(),
        class: own.kind.to_owned(),
        share: own.share,
    }));
    parts.retain(|part| part.share > 0.0);
    out.push_str(&shares(&parts));
    if !result.has_factors() || own().next().is_none() {
        return;
    }
    table(
        out,
        "Effects",
        &[
            ("text", "effect"),
            ("text", "levels"),
            ("", "difference"),
            ("", "95% interval"),
            ("text", ""),
            ("", "share of variation"),
            ("", "p"),
        ],
    );
    for effect in own() {
        for (at, contrast) in effect.contrasts.iter().enumerate() {
            let is_first = at == 0;
            let name = if is_first { effect.factors.join(" x ") } else { String::new() };
            let share = effect.share.filter(|_| is_first).map_or(String::new(), percent);
            let p = effect.p.filter(|_| is_first).map_or(String::new(), probability);
            let _ = writeln!(
                out,
                "<tr><th scope=\"row\">{}</th><td class=\"text levels\">{}</td>{}<td>{share}</td><td>{p}</td></tr>",
                escaped(&name),
                escaped(&contrast.label()),
                difference(measure, contrast.difference.as_ref())
            );
        }
    }
    out.push_str(END_OF_TABLE);
}

fn comparisons(out: &mut String, result: &ExperimentResult, measure: &ExperimentMeasure) {
    let own = || result.comparisons.iter().filter(|own| own.measure == measure.name);
    if own().next().is_none() {
        return;
    }
    let needed = format!("repeats to see {}", measure.relevant());
    table(
        out,
        "Comparisons",
        &[
            ("text", "variant"),
            ("text", "beside"),
            ("", "difference"),
            ("", "95% interval"),
            ("text", ""),
            ("", &needed),
        ],
    );
    for one in own().take(MAX_COMPARISONS) {
        let needed = one.difference.as_ref().and_then(|own| own.repeats_needed);
        let needed = needed.map_or(String::new(), squall_base::units::count);
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\">{}</th><td class=\"text levels\">{}</td>{}<td>{needed}</td></tr>",
            escaped(&one.second),
            escaped(&one.first),
            difference(measure, one.difference.as_ref())
        );
    }
    out.push_str(END_OF_TABLE);
    let others = own().count().saturating_sub(MAX_COMPARISONS);
    if others > 0 {
        let _ = writeln!(out, "<p>And {others} more, in the JSON.</p>");
    }
}

/// Three cells: how much more, its interval, and whether it is real.
fn difference(measure: &ExperimentMeasure, own: Option<&ExperimentDifference>) -> String {
    let [value, interval] = measure.difference(own);
    let word = own.map_or(String::new(), ExperimentDifference::word);
    let class = if own.is_some_and(|own| own.is_real) { " real" } else { "" };
    format!(
        "<td class=\"{}\">{}</td><td>{}</td><td class=\"text{class}\">{word}</td>",
        class.trim(),
        escaped(&value),
        escaped(&interval)
    )
}

fn probability(p: f64) -> String {
    if p < 0.001 { "< 0.001".replace('<', "&lt;") } else { format!("{p:.3}") }
}

fn legend(result: &ExperimentResult) -> String {
    let variants = result.variants.iter().enumerate().map(|(number, variant)| {
        format!("<li class=\"{}\">● <span>{}</span></li>", color(number), escaped(&variant.name))
    });
    format!("<ul class=\"legend\">{}</ul>\n", variants.collect::<String>())
}

fn drift(out: &mut String, result: &ExperimentResult) {
    let all = result.measures.iter().filter_map(|measure| {
        let [value, interval] = measure.difference(Some(measure.drift.as_ref()?));
        let word = measure.drift.as_ref()?.word();
        Some(format!(
            "<li>{}: {} ({}), {word}</li>",
            escaped(&measure.name),
            escaped(&value),
            escaped(&interval)
        ))
    });
    let all: String = all.collect();
    if !all.is_empty() {
        let _ = writeln!(out, "<p>Drift, the last block beside the first:</p>\n<ul>{all}</ul>");
    }
}

fn runs(out: &mut String, result: &ExperimentResult) {
    let mut head = vec![("", "run"), ("", "block"), ("text", "variant")];
    head.extend(result.measures.iter().map(|own| ("", own.name.as_str())));
    head.extend([("", "took"), ("text", "")]);
    table(out, "Runs", &head);
    for run in result.runs.iter().take(MAX_RUNS) {
        let name = result.variants.get(run.variant as usize).map_or("", |own| own.name.as_str());
        let number = match &run.folder {
            Some(folder) => {
                format!("<a href=\"{}/report.html\">{}</a>", address(folder), run.number)
            }
            None => run.number.to_string(),
        };
        let _ = write!(
            out,
            "<tr><td>{number}</td><td>{}</td><th scope=\"row\"><span class=\"{}\">●</span> {}</th>",
            run.block + 1,
            color(run.variant as usize),
            escaped(name)
        );
        for (at, measure) in result.measures.iter().enumerate() {
            let value = run.values.get(at).copied().flatten();
            let value = value.map_or("-".to_owned(), |value| measure.shown(value));
            let _ = write!(out, "<td>{}</td>", escaped(&value));
        }
        let _ = writeln!(out, "<td>{}</td>{}</tr>", length(run.took_s), remark(run));
    }
    out.push_str(END_OF_TABLE);
    let others = result.runs.len().saturating_sub(MAX_RUNS);
    if others > 0 {
        let _ = writeln!(out, "<p>And {others} more, in the JSON.</p>");
    }
}

/// Why a run has no values, or what is to be known of it.
fn remark(run: &ExperimentRun) -> String {
    match &run.failed {
        Some(why) => format!("<td class=\"failed\">failed: {}</td>", escaped(why)),
        None => format!("<td class=\"text\">{}</td>", escaped(&run.warnings.join("; "))),
    }
}

fn about(out: &mut String, result: &ExperimentResult) {
    out.push_str("<h2>How it was made</h2>\n<dl>\n");
    let mut row = |what: &str, text: &str| {
        if !text.is_empty() {
            let _ = writeln!(out, "<dt>{what}</dt><dd>{}</dd>", escaped(text));
        }
    };
    row("Experiment", &result.about.file);
    row("Plan", &result.about.plan);
    for line in result.factor_lines() {
        row("Factor", &line);
    }
    for line in result.server_lines() {
        row("Server", &line);
    }
    row("Warm-up", &result.about.warmup);
    row("Made by", &result.versions_line());
    row("Machine", &result.machine_line());
    row("Command", &result.about.command.join(" "));
    let _ =
        write!(out, "</dl>\n<p class=\"note\">{TOGETHER}</p>\n<p class=\"note\">{SHARES}</p>\n");
}

/// A folder as a relative address: each part of it with what is no letter, digit, or one of `-._~` encoded. It cannot leave the
/// experiment's folder.
fn address(folder: &str) -> String {
    let parts = folder.split('/').filter(|part| !matches!(*part, "" | "." | ".."));
    let encoded = parts.map(|part| {
        part.bytes().fold(String::new(), |mut out, byte| {
            match byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                true => out.push(char::from(byte)),
                false => {
                    let _ = write!(out, "%{byte:02X}");
                }
            }
            out
        })
    });
    encoded.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_stay_below_the_folder() {
        assert_eq!(address("runs/001-own, \"x\""), "runs/001-own%2C%20%22x%22");
        assert_eq!(address("../../etc//passwd"), "etc/passwd");
        assert_eq!(address("javascript:alert(1)"), "javascript%3Aalert%281%29");
    }
}
