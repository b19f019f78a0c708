//! A comparison as Markdown, for a pull request: what keeps the runs from being compared and what is found, the numbers
//! of what changed, the rest folded.

use std::fmt::Write as _;

use super::document::{ComparedRow, ComparisonDocument, GateRow, Pair};
use super::target::ABOUT;
use super::words::Caution;
use crate::markup::plain;

/// Most rows of a table: a comment has room for some 60,000 characters.
const MAX_ROWS: usize = 50;

/// The comparison as Markdown (GitHub's: tables, and `details`).
pub fn compare_markdown(document: &ComparisonDocument) -> String {
    let names: Vec<String> = document.sides.iter().map(|side| plain(&side.name)).collect();
    let mut out = match names.split_first() {
        Some((first, others)) => format!("### {} against {first}\n\n", others.join(", ")),
        None => String::new(),
    };
    let cautions = document.cautions();
    for (caution, text) in &cautions {
        let mark = match caution {
            Caution::Invalid => "❌ ",
            Caution::Careful => "⚠️ ",
            Caution::Note => "",
        };
        let _ = writeln!(out, "- {mark}{}", plain(text));
    }
    if !cautions.is_empty() {
        out.push('\n');
    }
    for pair in &document.pairs {
        let name = match document.pairs.len() {
            1 => String::new(),
            _ => format!("{}: ", plain(&document.side(pair.after).name)),
        };
        let _ = writeln!(out, "**{name}{}**\n", plain(&pair.summary()));
        gates(&mut out, &pair.gates);
    }
    for run in &document.runs {
        let _ = writeln!(out, "- {}: {}", plain(&run.name), plain(&run.described()));
    }
    for pair in &document.pairs {
        rows(&mut out, document, pair);
    }
    out
}

fn gates(out: &mut String, gates: &[GateRow]) {
    if gates.is_empty() {
        return;
    }
    out.push_str("| gate | row | change | 95% interval | |\n| --- | --- | ---: | --- | --- |\n");
    for gate in gates {
        let word = match (gate.fails(), gate.is_undecided()) {
            (true, _) => format!("❌ **{}**", gate.word().to_lowercase()),
            (_, true) => format!("⚠️ {}", gate.word()),
            _ => format!("✅ {}", gate.word()),
        };
        let (change, interval) = gate
            .value
            .as_ref()
            .map_or(Default::default(), |own| (own.its_change(), own.interval()));
        let (text, row) = (plain(&gate.text), plain(gate.row.as_deref().unwrap_or_default()));
        let _ = writeln!(
            out,
            "| {text} | {row} | {change} | {interval} | {word}: {} |",
            plain(&gate.why)
        );
    }
    out.push('\n');
}

fn rows(out: &mut String, document: &ComparisonDocument, pair: &Pair) {
    let (before, after) = (document.side(pair.before), document.side(pair.after));
    let head = format!(
        "| row | | {} | {} | change | 95% interval | |\n| --- | --- | ---: | ---: | ---: | --- | --- |\n",
        plain(&before.name),
        plain(&after.name)
    );
    let is_shown = |row: &&ComparedRow| row.is_all() || row.changed().next().is_some();
    let (shown, others): (Vec<&ComparedRow>, Vec<&ComparedRow>) =
        pair.rows.iter().partition(is_shown);
    let named = pair.has_scenarios();
    if !shown.is_empty() {
        let _ = write!(out, "\n{head}");
        shown.iter().take(MAX_ROWS).for_each(|row| values(out, row, named));
    }
    if !others.is_empty() {
        let _ = write!(
            out,
            "\n<details><summary>{} rows without a change</summary>\n\n{head}",
            others.len()
        );
        others.iter().take(MAX_ROWS).for_each(|row| values(out, row, named));
        out.push_str("\n</details>\n");
    }
    target(out, pair, (&before.name, &after.name));
}

/// What monitors sampled of the target of both.
fn target(out: &mut String, pair: &Pair, names: (&str, &str)) {
    if pair.target.is_empty() {
        return;
    }
    let (before, after) = (plain(names.0), plain(names.1));
    let _ = writeln!(
        out,
        "\n{ABOUT}\n\n| target | {before} | {after} | change |\n| --- | ---: | ---: | ---: |"
    );
    for own in &pair.target {
        let _ = writeln!(out, "| {} | {} |", plain(&own.measure), own.cells().join(" | "));
    }
}

fn values(out: &mut String, row: &ComparedRow, named: bool) {
    let label = plain(&row.label(named));
    for (at, own) in row.values.iter().enumerate() {
        let label = if at == 0 { label.as_str() } else { "" };
        let word = if own.is_changed() {
            format!("**{}**", own.word().to_lowercase())
        } else {
            own.word().to_owned()
        };
        let _ = writeln!(out, "| {label} | {} | {word} |", own.cells().join(" | "));
    }
}
