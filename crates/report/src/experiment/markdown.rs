//! An experiment as Markdown, for a pull request: what it shows and the values of the variants; the rest folded.

use std::fmt::Write as _;

use squall_base::units::percent;

use super::document::{ExperimentDifference, ExperimentMeasure, ExperimentResult};
use super::words::{SHARES, TOGETHER, VALUES};
use crate::markup::plain;

/// Most rows of a table: a comment has room for some 60,000 characters.
const MAX_ROWS: usize = 50;

/// The experiment as Markdown (GitHub's: tables, and `details`).
pub fn experiment_markdown(result: &ExperimentResult) -> String {
    let mut out = format!("### {}\n\n{}\n\n", plain(&result.about.name), plain(&result.summary()));
    for measure in &result.measures {
        for sentence in &measure.sentences {
            let _ = writeln!(out, "- {}", plain(sentence));
        }
    }
    for warning in &result.about.warnings {
        let _ = writeln!(out, "- ⚠️ {}", plain(warning));
    }
    values(&mut out, result);
    for variant in &result.variants {
        if let Some(trouble) = variant.trouble() {
            let _ = writeln!(out, "- ❌ {}: {}", plain(&variant.name), plain(&trouble));
        }
        if let Some(counted) = variant.counted() {
            let _ = writeln!(out, "- ⚠️ {}: {}", plain(&variant.name), plain(&counted));
        }
    }
    for measure in &result.measures {
        let _ = writeln!(
            out,
            "\n<details><summary>{}: effects and comparisons</summary>\n",
            plain(&measure.name)
        );
        effects(&mut out, result, measure);
        comparisons(&mut out, result, measure);
        out.push_str("\n</details>\n");
    }
    out.push('\n');
    for line in result.server_lines() {
        let _ = writeln!(out, "- {}", plain(&line));
    }
    let _ =
        writeln!(out, "- {}\n- {}", plain(&result.versions_line()), plain(&result.machine_line()));
    let _ = writeln!(out, "\n<sub>{VALUES} {TOGETHER} {SHARES}</sub>");
    out
}

fn values(out: &mut String, result: &ExperimentResult) {
    let head: Vec<String> = result.measures.iter().map(|own| plain(&own.name)).collect();
    let _ = writeln!(out, "\n| variant | repeats | {} |", head.join(" | "));
    let _ = writeln!(out, "| --- | ---: |{}", " --- |".repeat(head.len()));
    for variant in result.variants.iter().take(MAX_ROWS) {
        let cells =
            variant.cells.iter().zip(&result.measures).map(|(cell, measure)| match cell.value {
                Some(value) => format!("{} ({})", measure.shown(value), measure.interval(cell))
                    .replace(" ()", ""),
                None => "-".to_owned(),
            });
        let cells = cells.collect::<Vec<_>>().join(" | ");
        let _ = writeln!(out, "| {} | {} | {cells} |", plain(&variant.name), variant.repeats);
    }
    out.push('\n');
}

fn effects(out: &mut String, result: &ExperimentResult, measure: &ExperimentMeasure) {
    let own = || result.effects.iter().filter(|effect| effect.measure == measure.name);
    if !result.has_factors() || own().next().is_none() {
        return;
    }
    out.push_str("| effect | levels | difference | 95% interval | | share of variation |\n| --- | --- | ---: | --- | --- | ---: |\n");
    for effect in own() {
        let share = effect.share.map_or("-".to_owned(), percent);
        for (at, contrast) in effect.contrasts.iter().take(MAX_ROWS).enumerate() {
            let first = |text: &str| if at == 0 { plain(text) } else { String::new() };
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} |",
                first(&effect.factors.join(" x ")),
                plain(&contrast.label()),
                cells(measure, contrast.difference.as_ref()),
                first(&share)
            );
        }
    }
    for own in measure.other_shares(result) {
        let _ = writeln!(out, "| {} | | | | | {} |", own.label, percent(own.share));
    }
    out.push('\n');
}

fn comparisons(out: &mut String, result: &ExperimentResult, measure: &ExperimentMeasure) {
    let own = || result.comparisons.iter().filter(|own| own.measure == measure.name);
    if own().next().is_none() {
        return;
    }
    out.push_str(
        "| variant | beside | difference | 95% interval | |\n| --- | --- | ---: | --- | --- |\n",
    );
    for one in own().take(MAX_ROWS) {
        let _ = writeln!(
            out,
            "| {} | {} | {} |",
            plain(&one.second),
            plain(&one.first),
            cells(measure, one.difference.as_ref())
        );
    }
    let others = own().count().saturating_sub(MAX_ROWS);
    if others > 0 {
        let _ = writeln!(out, "\nand {others} more, in the JSON");
    }
}

fn cells(measure: &ExperimentMeasure, own: Option<&ExperimentDifference>) -> String {
    let [value, interval] = measure.difference(own);
    let word = match own {
        Some(own) if own.is_real => "**real**".to_owned(),
        Some(own) => own.word(),
        None => String::new(),
    };
    format!("{value} | {interval} | {word}")
}
