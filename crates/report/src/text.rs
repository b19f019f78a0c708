//! A run as a table for a terminal, at most 100 columns wide.

use std::fmt::Write as _;

use squall_measure::{Ledger, Row, State, Trust, definition};

use crate::run::Run;
use crate::units::{bytes, count, rate, shorten, time};

const NAME: usize = 30;

/// The result as a person reads it; with colours if a terminal shows it.
pub fn text(run: &Run, color: bool) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let counters = run.totals.counters();
    let workers = run.meta.workers;
    let _ = writeln!(
        out,
        "\n{}: {:.1} s, {workers} worker{}, at most {} user{}\n",
        shorten(&run.meta.plan, 60),
        run.elapsed_s,
        plural(workers),
        count(counters.users_active),
        plural(counters.users_active)
    );
    table(&mut out, run);
    phases(&mut out, &run.totals.all());
    ledger(&mut out, &run.ledger());
    generator(&mut out, run);
    steady(&mut out, run);
    judgements(&mut out, run, color);
    verdict(&mut out, run, color);
    errors(&mut out, run);
    if counters.checks_failed + counters.checks_ok > 0 {
        let _ = writeln!(
            out,
            " checks      {} held, {} did not",
            count(counters.checks_ok),
            count(counters.checks_failed)
        );
    }
    for warning in &run.warnings {
        paragraph(&mut out, " warning     ", warning);
    }
    let latency = definition("latency").unwrap_or_default();
    paragraph(&mut out, " latency     ", latency);
    if run.totals.requests().any(|(_, row)| !row.due_latency.is_empty()) {
        paragraph(&mut out, " due         ", definition("due_latency").unwrap_or_default());
    }
    out
}

/// The ending of a word after a number.
fn plural(number: u64) -> &'static str {
    if number == 1 { "" } else { "s" }
}

fn table(out: &mut String, run: &Run) {
    let _ = writeln!(
        out,
        " {:NAME$} {:>10} {:>8} {:>7} {:>8} {:>8} {:>8} {:>8}",
        "request", "count", "rate/s", "errors", "mean", "p50", "p99", "max"
    );
    for (name, row) in run.totals.requests() {
        line(out, name, row, run.elapsed_s);
    }
    let all = run.totals.all();
    if run.totals.requests().count() != 1 {
        line(out, "all", &all, run.elapsed_s);
    }
    if run.totals.groups().next().is_some() {
        out.push_str(" group\n");
    }
    for (name, row) in run.totals.groups() {
        line(out, name, row, run.elapsed_s);
    }
    let _ = writeln!(out);
}

fn line(out: &mut String, name: &str, row: &Row, elapsed_s: f64) {
    let per_second = if elapsed_s > 0.0 { row.count as f64 / elapsed_s } else { 0.0 };
    let _ = write!(
        out,
        " {:NAME$} {:>10} {:>8} {:>7}",
        shorten(name, NAME),
        count(row.count),
        rate(per_second),
        count(row.errors)
    );
    let _ = writeln!(out, "{}", times(&row.latency));
    if !row.due_latency.is_empty() {
        let _ = writeln!(
            out,
            " {:NAME$} {:>10} {:>8} {:>7}{}",
            "  from when it was due",
            "",
            "",
            "",
            times(&row.due_latency)
        );
    }
}

fn times(histogram: &squall_measure::Histogram) -> String {
    if histogram.is_empty() {
        return format!(" {:>8} {:>8} {:>8} {:>8}", "-", "-", "-", "-");
    }
    let p = |p: f64| time(histogram.percentile(p) as f64);
    format!(
        " {:>8} {:>8} {:>8} {:>8}",
        time(histogram.mean()),
        p(50.0),
        p(99.0),
        time(histogram.max() as f64)
    )
}

fn phases(out: &mut String, all: &Row) {
    let named = squall_measure::PHASES
        .iter()
        .zip(&all.phases)
        .filter(|(_, histogram)| !histogram.is_empty());
    let parts: Vec<String> = named
        .map(|(name, h)| {
            format!(
                "{} {} (p99 {})",
                name.replace('_', " "),
                time(h.mean()),
                time(h.percentile(99.0) as f64)
            )
        })
        .collect();
    if !parts.is_empty() {
        paragraph(out, " phases      ", &parts.join(", "));
    }
    let _ = writeln!(out, " bytes       {} in, {} out", bytes(all.bytes_in), bytes(all.bytes_out));
    let status: Vec<String> =
        all.status.iter().map(|(status, n)| format!("{status}: {}", count(*n))).collect();
    if !status.is_empty() {
        paragraph(out, " status      ", &status.join(", "));
    }
}

/// Where the users' time went, and the two rates. There is nothing to say where all of it went into
/// requests, or where there is no closed load.
fn ledger(out: &mut String, ledger: &Ledger) {
    let Some(deviation) = ledger.deviation() else { return };
    let total = ledger.total() as f64;
    let parts = State::ALL.map(|state| (state, ledger.time(state) as f64 / total));
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(_, share)| *share >= 0.000_5)
        .map(|(state, share)| format!("{} {:.1} %", state.label().replace('_', " "), share * 100.0))
        .collect();
    paragraph(out, " users' time ", &parts.join(", "));
    paragraph(out, " rates       ", &deviation.text());
}

/// How late squall was, and what it took.
fn generator(out: &mut String, run: &Run) {
    let own = run.totals.own();
    let named = [
        ("reads late by", &own.receive_delay),
        ("sends late by", &own.send_delay),
        ("turns of", &own.turn),
    ];
    let by = (!run.meta.io.is_empty()).then(|| format!("by {}", run.meta.io));
    let delays =
        named.into_iter().filter(|(_, histogram)| !histogram.is_empty()).map(|(name, h)| {
            let (p99, max) = (time(h.percentile(99.0) as f64), time(h.max() as f64));
            format!("{name} {} (p99 {p99}, max {max})", time(h.mean()))
        });
    let mut parts: Vec<String> = delays.chain(by).collect();
    let cpu = run.generator.cpu_user_s + run.generator.cpu_sys_s;
    if cpu > 0.0 {
        parts.push(format!("{cpu:.2} s CPU, {}", bytes(run.generator.peak_rss_bytes)));
    }
    if !parts.is_empty() {
        paragraph(out, " generator   ", &parts.join(", "));
    }
}

fn judgements(out: &mut String, run: &Run, color: bool) {
    for judgement in &run.judgements {
        let (word, code) = if judgement.passed { ("held", "32") } else { ("FAILED", "31;1") };
        let word = if color { format!("\x1b[{code}m{word:6}\x1b[0m") } else { format!("{word:6}") };
        let _ = writeln!(
            out,
            " threshold   {word} {} ({})",
            shorten(&judgement.text, 40),
            shorten(&judgement.shown, 36)
        );
    }
}

/// The steady part, and how well its numbers are known.
fn steady(out: &mut String, run: &Run) {
    let (Some(steady), Some(batches)) = (run.steady, run.batches()) else { return };
    let all = batches.all();
    if all.is_empty() {
        return;
    }
    let p99 = all.percentile(99.0) as f64;
    let mut parts = vec![match batches.rate_interval() {
        Some(own) => {
            format!("{}/s ({} to {})", rate(batches.rate()), rate(own.low), rate(own.high))
        }
        None => format!("{}/s", rate(batches.rate())),
    }];
    let values = [
        ("mean", all.mean(), batches.mean()),
        ("p50", all.percentile(50.0) as f64, batches.percentile(50.0)),
        ("p99", p99, batches.percentile(99.0)),
    ];
    for (name, value, interval) in values {
        parts.push(match interval {
            Some(own) => {
                format!("{name} {} ({} to {})", time(value), time(own.low), time(own.high))
            }
            None => format!("{name} {} (too few for an interval)", time(value)),
        });
    }
    let longer = values[2].2.map_or(0.0, |interval| batches.longer_s(p99, &interval));
    if longer >= 1.0 {
        parts.push(format!("run {longer:.0} s longer to know p99 to ±5 %"));
    }
    let seconds = format!("seconds {} to {}: {}", steady.from, steady.to, parts.join(", "));
    paragraph(out, " steady      ", &seconds);
}

/// How far the numbers can be trusted, and why not.
fn verdict(out: &mut String, run: &Run, color: bool) {
    let (word, code) = match run.trust() {
        Trust::Ok => ("ok", "32"),
        Trust::Degraded => ("DEGRADED", "33;1"),
        Trust::Invalid => ("INVALID", "31;1"),
    };
    let shown = if color { format!("\x1b[{code}m{word}\x1b[0m") } else { word.to_owned() };
    let meaning = match run.trust() {
        Trust::Ok => "nothing that squall knows of makes these numbers doubtful",
        Trust::Degraded => "some of these numbers say something of the generator too",
        Trust::Invalid => "these numbers say more of the generator than of the target",
    };
    let _ = writeln!(out, " verdict     {shown}: {meaning}");
    for reason in &run.reasons {
        let text = format!("{}: {}; what helps: {}", reason.rule, reason.seen, reason.help);
        paragraph(out, "             ", &text);
    }
}

fn errors(out: &mut String, run: &Run) {
    for (kind, number) in &run.totals.all().error_kinds {
        paragraph(
            out,
            " errors      ",
            &format!("{} {}: {}", count(*number), kind.label(), kind.explain()),
        );
    }
    for line in run.log.iter().take(10) {
        let _ = writeln!(out, "             {}", shorten(line, 86));
    }
}

/// A text behind a word, broken at 99 columns, later lines indented.
pub(crate) fn paragraph(out: &mut String, word: &str, text: &str) {
    let indent = word.chars().count();
    out.push_str(word);
    let mut column = indent;
    for (at, part) in text.split_whitespace().enumerate() {
        let width = part.chars().count();
        if at > 0 && column + 1 + width > 99 {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            column = indent;
        } else if at > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(part);
        column += width;
    }
    out.push('\n');
}
