//! A comparison as text for a terminal of 80 to 200 columns: first what keeps the runs from being compared, then
//! what is found, then all the numbers, and the gates last.

use std::fmt::Write as _;

use super::document::{ComparedRow, ComparedValue, ComparisonDocument, Pair};
use super::plot::{Axis, curves, reach};
use super::target::ABOUT;
use super::words::{Caution, more_rows};
use crate::text::{Show, pad, paragraph, shorten, text_width};

/// Most rows that are shown with all their numbers, and most that are shown in a line.
const MAX_FULL: usize = 20;
const MAX_LINES: usize = 60;
/// Most rows whose distribution is shown.
const MAX_SHIFTS: usize = 3;
/// Columns of what is left of the picture in a table, and in a shift function.
const TABLE: usize = 78;
const SHIFT: usize = 60;
/// The narrowest picture, and the widest.
const PICTURE: (usize, usize) = (16, 61);
/// What a row's line shows.
const IN_LINE: [&str; 6] = ["rate", "error_rate", "mean", "p50", "p95", "p99"];
/// Columns of what monitors sampled of the target in a run.
const TARGET: usize = 14;
/// Columns of each of these.
const CELL: usize = 9;

/// The comparison as a person reads it.
pub fn compare_text(document: &ComparisonDocument, show: &Show) -> String {
    let mut out = String::from("\n");
    let width = show.width();
    let widest = document.runs.iter().map(|run| text_width(&run.name)).max().unwrap_or(0);
    let name = widest.clamp(4, 40);
    for side in &document.sides {
        if side.runs.len() > 1 {
            let _ = writeln!(out, " {}: {} runs", shorten(&side.name, 40), side.runs.len());
        }
        for run in side.runs.iter().map(|at| &document.runs[*at as usize]) {
            let label = format!(" {}  ", pad(&shorten(&run.name, name), name));
            paragraph(&mut out, &label, &run.described(), width);
        }
    }
    let cautions = document.cautions();
    if !cautions.is_empty() {
        out.push('\n');
    }
    for (caution, text) in cautions {
        let word = match caution {
            Caution::Invalid => " INVALID  ",
            Caution::Careful => " careful  ",
            Caution::Note => " note     ",
        };
        paragraph(&mut out, word, &text, width);
    }
    for pair in &document.pairs {
        one(&mut out, document, pair, show);
    }
    for pair in &document.pairs {
        conclusion(&mut out, document, pair, show);
    }
    out
}

fn one(out: &mut String, document: &ComparisonDocument, pair: &Pair, show: &Show) {
    let (before, after) = (&document.side(pair.before).name, &document.side(pair.after).name);
    if document.pairs.len() > 1 {
        let _ = writeln!(out, "\n {after} against {before}");
    }
    let named = pair.has_scenarios();
    let is_full = |row: &&ComparedRow| row.is_all() || row.changed().next().is_some();
    let full: Vec<&ComparedRow> = match pair.rows.as_slice() {
        [only] => vec![only],
        rows => rows.iter().filter(is_full).collect(),
    };
    if !full.is_empty() {
        head(out, before, after);
    }
    let picture = (show.width().saturating_sub(TABLE)).min(PICTURE.1);
    for row in full.iter().take(MAX_FULL) {
        table(out, row, named, picture, show);
    }
    left_out(out, full.len(), MAX_FULL);
    let others: Vec<&ComparedRow> =
        pair.rows.iter().filter(|row| !full.iter().any(|own| std::ptr::eq(*own, *row))).collect();
    lines(out, &others, named, show.width());
    let is_moved =
        |row: &&&ComparedRow| row.changed().any(|own| own.unit == "us") && !row.shift.is_empty();
    for why in pair.unclear() {
        paragraph(out, " unclear  ", &why, show.width());
    }
    for why in pair.whys() {
        paragraph(out, " unknown  ", &why, show.width());
    }
    let changed = full.iter().filter(is_moved);
    for row in changed.take(MAX_SHIFTS) {
        shift(out, row, named, (before, after), show.width());
    }
    target(out, pair, (before, after), show.width());
    for (names, run) in [(&pair.only_before, before), (&pair.only_after, after)] {
        if !names.is_empty() {
            paragraph(
                out,
                &format!(" only in {}: ", shorten(run, 40)),
                &names.join(", "),
                show.width(),
            );
        }
    }
}

/// What monitors sampled of the target of both.
fn target(out: &mut String, pair: &Pair, names: (&str, &str), width: usize) {
    if pair.target.is_empty() {
        return;
    }
    let [before, after] = [names.0, names.1].map(|name| shorten(name, TARGET));
    let label = pair.target.iter().map(|own| text_width(&own.measure)).max().unwrap_or(0);
    let label = label.clamp(6, width.saturating_sub(3 * TARGET + 5).max(6));
    let right = |cell: &str| format!("{}{cell}", " ".repeat(TARGET - text_width(cell).min(TARGET)));
    out.push('\n');
    let mut line = |name: &str, cells: [&str; 3]| {
        let cells = cells.map(right);
        let _ = writeln!(
            out,
            " {} {} {} {}",
            pad(&shorten(name, label), label),
            cells[0],
            cells[1],
            cells[2]
        );
    };
    line("target", [&before, &after, "change"]);
    for own in &pair.target {
        line(&own.measure, own.cells().each_ref().map(String::as_str));
    }
    paragraph(out, " note     ", ABOUT, width);
}

fn left_out(out: &mut String, all: usize, shown: usize) {
    if all > shown {
        let _ = writeln!(out, " and {}, in the JSON", more_rows(all - shown));
    }
}

/// The head of the table: the names of the runs above their columns.
fn head(out: &mut String, before: &str, after: &str) {
    let right = |name: &str| {
        let name = shorten(name, 11);
        format!("{}{name}", " ".repeat(11 - text_width(&name)))
    };
    let (before, after) = (right(before), right(after));
    let _ = writeln!(out, "\n {:<14} {before} {after} {:>9}  95% interval", "", "change");
}

/// All numbers of a row.
fn table(out: &mut String, row: &ComparedRow, named: bool, picture: usize, show: &Show) {
    let _ = writeln!(out, " {}", shorten(&row.label(named), show.width() - 1));
    let ratios = || row.values.iter().filter(|own| own.unit != "share");
    let axis = axis(ratios());
    for own in &row.values {
        let [measure, before, after, change, interval] = own.cells();
        let mut line =
            format!("   {measure:<12} {before:>11} {after:>11} {change:>9}  {interval:<19} ");
        line.push_str(&colored(own, show));
        // A picture is on the scale of ratios.
        if let (true, Some(change), "us" | "per_second") =
            (picture >= PICTURE.0, own.change, own.unit.as_str())
        {
            line.push_str(&" ".repeat(9 - own.word().chars().count()));
            line.push_str(&axis.interval(change, (own.low, own.high), picture));
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
}

fn axis<'v>(values: impl Iterator<Item = &'v ComparedValue> + Clone) -> Axis {
    let (low, high) = reach(values);
    Axis::around([low, high].into_iter())
}

fn colored(own: &ComparedValue, show: &Show) -> String {
    match (own.is_changed(), own.worse) {
        (true, true) => show.word(own.word(), "31;1"),
        (true, false) => show.word(own.word(), "32"),
        _ => own.word().to_owned(),
    }
}

/// A line for each row in which nothing changed.
fn lines(out: &mut String, rows: &[&ComparedRow], named: bool, width: usize) {
    if rows.is_empty() {
        return;
    }
    let name = (width - 1).saturating_sub(IN_LINE.len() * CELL).min(70);
    let _ = write!(out, "\n {:name$}", "no change found");
    for measure in IN_LINE {
        let title = if measure == "error_rate" { "errors" } else { measure };
        let _ = write!(out, "{title:>CELL$}");
    }
    out.push('\n');
    for row in rows.iter().take(MAX_LINES) {
        let _ = write!(out, " {}", pad(&shorten(&row.label(named), name), name));
        for measure in IN_LINE {
            let cell = row.value(measure).map_or("-".to_owned(), |own| {
                let is_open =
                    own.result == "unclear" || own.result == "unknown" && own.change.is_some();
                let doubt = if is_open { "?" } else { "" };
                format!("{}{doubt}", own.its_change().replace(" pp", "pp"))
            });
            let _ = write!(out, "{cell:>CELL$}");
        }
        out.push('\n');
    }
    left_out(out, rows.len(), MAX_LINES);
    let unclear = |row: &&&ComparedRow| row.values.iter().any(|own| own.result == "unclear");
    if rows.iter().any(|row| unclear(&row)) {
        let text = "a change of 5% (of errors, half a percentage point, pp) is not ruled out";
        paragraph(out, " ? ", text, width);
    }
}

/// How the whole distribution of a row moved, and its mean over time.
fn shift(out: &mut String, row: &ComparedRow, named: bool, names: (&str, &str), width: usize) {
    let title = format!(
        "{}: how each percentile moved, with bands that hold all together with 95% confidence",
        row.label(named)
    );
    out.push('\n');
    paragraph(out, " ", &title, width);
    let room = (width - SHIFT).clamp(PICTURE.0, PICTURE.1);
    let axis = axis(row.shift.iter());
    for own in &row.shift {
        let picture = own
            .change
            .map_or(String::new(), |change| axis.interval(change, (own.low, own.high), room));
        let [measure, before, after, change, interval] = own.cells();
        let _ = writeln!(
            out,
            "   {measure:<6} {before:>9} {after:>9} {change:>8}  {interval:<18} {picture}"
        );
    }
    let (before, after) = (&row.curves.0, &row.curves.1);
    if before.len() > 1 && after.len() > 1 {
        let name = text_width(names.0).max(text_width(names.1)).min(24);
        let drawn = curves(&[before, after], (width - name - 16).min(60));
        for (at, (own, curve)) in [names.0, names.1].into_iter().zip(drawn).enumerate() {
            let what = if at == 0 { "mean in time" } else { "" };
            let _ = writeln!(out, "   {what:<12} {} {curve}", pad(&shorten(own, name), name));
        }
    }
}

/// The gates of a pair, and what is found.
fn conclusion(out: &mut String, document: &ComparisonDocument, pair: &Pair, show: &Show) {
    out.push('\n');
    for gate in &pair.gates {
        let plain = gate.word();
        let color = match (gate.fails(), gate.is_undecided()) {
            (true, _) => "31;1",
            (_, true) => "33",
            _ => "32",
        };
        let word = show.word(plain, color);
        // Colours are no columns.
        let extra = word.chars().count() - plain.chars().count();
        let text = format!("{word} {}: {}", gate.text, gate.found());
        paragraph(out, " gate     ", &text, show.width() + extra);
    }
    let after = match document.pairs.len() {
        1 => String::new(),
        _ => format!("{}: ", document.side(pair.after).name),
    };
    paragraph(out, " result   ", &format!("{after}{}", pair.summary()), show.width());
}
