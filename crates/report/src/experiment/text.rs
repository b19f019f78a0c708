//! An experiment as text for a terminal of 80 to 200 columns: what it shows, the values of the variants, what the factors do,
//! comparisons, and at the end the order of the runs and the machine.

use std::fmt::Write as _;

use squall_base::units::{counted, percent};

use super::document::{
    ExperimentComparison, ExperimentContrast, ExperimentEffect, ExperimentMeasure, ExperimentResult,
};
use super::words::{SHARES, TOGETHER, VALUES};
use crate::text::{Show, pad, paragraph, shorten, text_width};

/// Most columns of a variant's or a contrast's name.
const MAX_NAME: usize = 40;
/// Most contrasts of an effect, most comparisons of a measure, and most blocks whose order is shown.
const MAX_CONTRASTS: usize = 12;
const MAX_COMPARISONS: usize = 15;
const MAX_BLOCKS: usize = 20;
/// Columns of a label in a table.
const MAX_LABEL: usize = 43;
/// Columns before what follows a label.
const LABEL: usize = 12;

/// The experiment as a person reads it.
pub fn experiment_text(result: &ExperimentResult, show: &Show) -> String {
    let mut out = String::new();
    let width = show.width();
    paragraph(&mut out, "", &format!("{}: {}", result.about.name, result.summary()), width);
    out.push('\n');
    for measure in &result.measures {
        for sentence in &measure.sentences {
            paragraph(&mut out, " - ", sentence, width);
        }
    }
    for warning in &result.about.warnings {
        labelled(&mut out, "warning", warning, width);
    }
    values(&mut out, result, width);
    for (number, variant) in result.variants.iter().enumerate() {
        if let Some(trouble) = variant.trouble() {
            let text = format!("{} {}: {trouble}", number + 1, variant.name);
            let label = if variant.failed > 0 { "failed" } else { "missing" };
            labelled(&mut out, label, &text, width);
        }
        if let Some(counted) = variant.counted() {
            labelled(
                &mut out,
                "careful",
                &format!("{} {}: {counted}", number + 1, variant.name),
                width,
            );
        }
    }
    for measure in &result.measures {
        if result.has_factors() {
            effects(&mut out, result, measure, show);
        }
        comparisons(&mut out, result, measure, show);
    }
    out.push('\n');
    drift(&mut out, result, width);
    order(&mut out, result, width);
    labelled(&mut out, "plan", &result.about.plan, width);
    for line in result.server_lines() {
        labelled(&mut out, "server", &line, width);
    }
    labelled(&mut out, "made by", &result.versions_line(), width);
    labelled(&mut out, "machine", &result.machine_line(), width);
    out.push('\n');
    for note in [VALUES, TOGETHER, SHARES] {
        paragraph(&mut out, " ", note, width);
    }
    out
}

fn labelled(out: &mut String, label: &str, text: &str, width: usize) {
    if !text.is_empty() {
        paragraph(out, &format!(" {}", pad(label, LABEL)), text, width);
    }
}

/// The variants with the value of each measure, in as many tables as the width asks for.
fn values(out: &mut String, result: &ExperimentResult, width: usize) {
    let names: Vec<String> = (result.variants.iter().enumerate())
        .map(|(number, own)| shorten(&format!("{} {}", number + 1, own.name), MAX_NAME))
        .collect();
    let name = names.iter().map(|own| text_width(own)).max().unwrap_or(0).max(7);
    let columns: Vec<Vec<String>> = (result.measures.iter().enumerate())
        .map(|(at, measure)| {
            let cells =
                result.variants.iter().map(|variant| value(result, variant.cells.get(at), measure));
            std::iter::once(shorten(&measure.name, 30)).chain(cells).collect()
        })
        .collect();
    let widths: Vec<usize> = columns
        .iter()
        .map(|own| own.iter().map(|cell| text_width(cell)).max().unwrap_or(0))
        .collect();
    let mut from = 0;
    while from < columns.len() {
        let mut used = name + 1;
        let fitting = widths[from..].iter().take_while(|own| {
            used += *own + 2;
            used <= width
        });
        let to = from + fitting.count().max(1);
        out.push('\n');
        for row in 0..=names.len() {
            let label = row.checked_sub(1).map_or("variant", |at| names[at].as_str());
            let mut line = format!(" {}", pad(label, name));
            for (column, width) in columns[from..to].iter().zip(&widths[from..to]) {
                let gap = 2 + width - text_width(&column[row]);
                let _ = write!(line, "{}{}", " ".repeat(gap), column[row]);
            }
            let _ = writeln!(out, "{}", line.trim_end());
        }
        from = to;
    }
}

/// A value with its interval, and of how many repeats it is where that is not all.
fn value(
    result: &ExperimentResult,
    cell: Option<&super::document::ExperimentCell>,
    measure: &ExperimentMeasure,
) -> String {
    let Some((cell, value)) = cell.and_then(|own| Some((own, own.value?))) else {
        return "-".to_owned();
    };
    let most = result.variants.iter().map(|own| own.repeats).max().unwrap_or(0);
    let few = match cell.repeats < most {
        true => format!(" ({} of {most})", cell.repeats),
        false => String::new(),
    };
    let half = measure.half(cell);
    let half = if half.is_empty() { half } else { format!(" {}", pad(&half, 8)) };
    format!("{}{half}{few}", measure.shown(value))
}

/// What the factors do to a measure, and how much of the variation is due to what.
fn effects(out: &mut String, result: &ExperimentResult, measure: &ExperimentMeasure, show: &Show) {
    let own: Vec<&ExperimentEffect> =
        result.effects.iter().filter(|effect| effect.measure == measure.name).collect();
    if own.is_empty() {
        return;
    }
    let title = format!("effects on {}", measure.name);
    head(out, &title, ["difference", "95% interval", "share of variation"]);
    for effect in own {
        let share = effect.share.map_or("-".to_owned(), percent);
        let label = effect.factors.join(" x ");
        match effect.contrasts.as_slice() {
            [one] => {
                contrast(out, measure, (&format!("{label}: {}", one.label()), &share), one, show)
            }
            contrasts => {
                line(out, &label, ["", "", &share], "");
                let mut contrasts: Vec<&ExperimentContrast> = contrasts.iter().collect();
                let size = |own: &ExperimentContrast| {
                    own.difference.as_ref().map_or(0.0, |own| own.value.abs())
                };
                let all = contrasts.len();
                if all > MAX_CONTRASTS {
                    contrasts.sort_by(|a, b| size(b).total_cmp(&size(a)));
                    contrasts.truncate(MAX_CONTRASTS);
                }
                for one in &contrasts {
                    contrast(out, measure, (&format!("  {}", one.label()), ""), one, show);
                }
                left_out(out, all - contrasts.len(), "smaller one");
            }
        }
    }
    for own in measure.other_shares(result) {
        line(out, own.label, ["", "", &percent(own.share)], "");
    }
}

fn contrast(
    out: &mut String,
    measure: &ExperimentMeasure,
    (label, share): (&str, &str),
    own: &ExperimentContrast,
    show: &Show,
) {
    let [value, interval] = measure.difference(own.difference.as_ref());
    let word = own.difference.as_ref().map_or(String::new(), |own| own.word());
    line(out, label, [&value, &interval, share], &colored(&word, show));
}

fn colored(word: &str, show: &Show) -> String {
    if word == "real" { show.word(word, "1") } else { word.to_owned() }
}

/// Two variants beside each other: all of them where there is one factor, otherwise those that differ.
fn comparisons(
    out: &mut String,
    result: &ExperimentResult,
    measure: &ExperimentMeasure,
    show: &Show,
) {
    let all: Vec<&ExperimentComparison> =
        result.comparisons.iter().filter(|own| own.measure == measure.name).collect();
    let is_real =
        |own: &ExperimentComparison| own.difference.as_ref().is_some_and(|own| own.is_real);
    let is_shown = |own: &&ExperimentComparison| !result.has_factors() || is_real(own);
    let mut shown: Vec<&ExperimentComparison> = all.iter().copied().filter(is_shown).collect();
    if all.is_empty() {
        return;
    }
    if shown.is_empty() {
        let is_known =
            all.iter().any(|own| own.difference.as_ref().is_some_and(|own| own.low.is_some()));
        let none = match is_known {
            true => format!("none of {} is real", counted(all.len() as u64, "comparison")),
            false => "one repeat says nothing about chance".to_owned(),
        };
        let _ = writeln!(out, "\n variants by {}: {none}", measure.name);
        return;
    }
    head(out, &format!("variants by {}", measure.name), ["difference", "95% interval", ""]);
    let size =
        |own: &ExperimentComparison| own.difference.as_ref().map_or(0.0, |own| own.value.abs());
    shown.sort_by(|a, b| is_real(b).cmp(&is_real(a)).then(size(b).total_cmp(&size(a))));
    for own in shown.iter().take(MAX_COMPARISONS) {
        let [value, interval] = measure.difference(own.difference.as_ref());
        let word = own.difference.as_ref().map_or(String::new(), |own| own.word());
        let label = format!("{} beside {}", own.second, own.first);
        line(out, &label, [&value, &interval, ""], &colored(&word, show));
    }
    left_out(out, shown.len().saturating_sub(MAX_COMPARISONS), "smaller difference");
    if result.has_factors() && all.len() > shown.len() {
        let others = counted((all.len() - shown.len()) as u64, "other comparison");
        let _ = writeln!(out, "   {others}: no difference is seen");
    }
}

fn left_out(out: &mut String, number: usize, what: &str) {
    if number > 0 {
        let _ = writeln!(out, "   and {}, in the JSON", counted(number as u64, what));
    }
}

fn head(out: &mut String, title: &str, columns: [&str; 3]) {
    out.push('\n');
    let [value, interval, share] = columns;
    let line = format!(" {} {value:>10}  {interval:<20} {share}", pad(&shorten(title, 45), 45));
    let _ = writeln!(out, "{}", line.trim_end());
}

/// A line of a table. A label that is too long has lines of its own before it, so that no two labels look alike.
fn line(out: &mut String, label: &str, [value, interval, share]: [&str; 3], word: &str) {
    let mut lines = label_lines(label);
    let last = pad(&lines.pop().unwrap_or_default(), MAX_LABEL);
    for own in lines {
        let _ = writeln!(out, "   {own}");
    }
    let line = format!("   {last} {value:>10}  {} {} {word}", pad(interval, 20), pad(share, 6));
    let _ = writeln!(out, "{}", line.trim_end());
}

/// A label in lines that fit, the later ones indented.
fn label_lines(label: &str) -> Vec<String> {
    let whole = shorten(label, usize::MAX);
    if text_width(&whole) <= MAX_LABEL {
        return vec![whole];
    }
    let indent = " ".repeat(label.len() - label.trim_start().len());
    let mut text = String::new();
    paragraph(&mut text, &indent, label.trim_start(), MAX_LABEL - 2);
    let lines = text.lines().enumerate();
    lines.map(|(at, own)| if at == 0 { own.to_owned() } else { format!("  {own}") }).collect()
}

/// How much the last block has more than the first, of each measure.
fn drift(out: &mut String, result: &ExperimentResult, width: usize) {
    let all = result.measures.iter().filter_map(|measure| {
        let drift = measure.drift.as_ref()?;
        let [value, interval] = measure.difference(Some(drift));
        Some(format!("{} {value} ({interval}, {})", measure.name, drift.word()))
    });
    let all: Vec<String> = all.collect();
    if !all.is_empty() {
        let text = format!("last block beside first: {}", all.join("; "));
        labelled(out, "drift", &text, width);
    }
}

/// Which variant was run when, by the variants' numbers.
fn order(out: &mut String, result: &ExperimentResult, width: usize) {
    let blocks = result.runs.iter().map(|run| run.block + 1).max().unwrap_or(0);
    let mut parts = Vec::new();
    for block in 0..blocks.min(MAX_BLOCKS as u64) {
        let own = result.runs.iter().filter(|run| run.block == block);
        let numbers = own.map(|run| {
            format!("{}{}", run.variant + 1, if run.failed.is_some() { "!" } else { "" })
        });
        parts.push(numbers.collect::<Vec<_>>().join(" "));
    }
    let mut text = parts.join(" | ");
    if blocks > MAX_BLOCKS as u64 {
        text.push_str(" | and so on");
    }
    if result.runs.iter().any(|run| run.failed.is_some()) {
        text.push_str(" (!: failed)");
    }
    labelled(out, "order", &text, width);
}
