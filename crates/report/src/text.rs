//! A run as text for a terminal, at most 100 columns wide.

use std::fmt::Write as _;

use squall_analysis::{
    Bounded, Durations, Interval, Latencies, ThroughputGap, Validity, definition,
};
use squall_base::units::{bytes, count, percent, rate, time};
use squall_metrics::{Counters, MetricKind, RequestStats, THOUSANDTHS, TimeAccount, UserState};

use crate::run::Run;

const NAME: usize = 30;
/// Most metrics of the plan's own that are shown.
const MAX_METRICS_SHOWN: usize = 30;

/// The result as a person reads it, with colours for a terminal if `color` is set.
pub fn text(run: &Run, color: bool) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let counters = run.totals.counters();
    let workers = run.meta.workers;
    let _ = writeln!(
        out,
        "\n{}: {}, {workers} worker{}, at most {} virtual user{}\n",
        shorten(&run.meta.plan, 60),
        time(run.elapsed_s * 1e6),
        plural(workers),
        count(counters.users_active),
        plural(counters.users_active)
    );
    table(&mut out, run);
    phases(&mut out, &run.totals.all());
    time_accounting(&mut out, &run.time_account());
    metrics(&mut out, run);
    generator(&mut out, run);
    steady(&mut out, run);
    thresholds(&mut out, run, color);
    validity(&mut out, run, color);
    errors(&mut out, run);
    retries(&mut out, &counters);
    if counters.checks_failed + counters.checks_passed > 0 {
        let _ = writeln!(
            out,
            " checks      {} passed, {} failed",
            count(counters.checks_passed),
            count(counters.checks_failed)
        );
    }
    for warning in &run.warnings {
        paragraph(&mut out, " warning     ", warning);
    }
    outcome(&mut out, run, color);
    let latency = definition("latency").unwrap_or_default();
    paragraph(&mut out, " latency     ", latency);
    let all = run.totals.all();
    if !all.waited.is_empty() || run.totals.groups().any(|(_, row)| !row.waited.is_empty()) {
        paragraph(
            &mut out,
            " ≥           ",
            definition("latency_with_timeouts").unwrap_or_default(),
        );
    }
    if !Durations::corrected(&all).is_empty() {
        paragraph(&mut out, " corrected   ", definition("corrected_latency").unwrap_or_default());
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
        "request", "count", "rate", "errors", "mean", "p50", "p99", "max"
    );
    let requests = || run.totals.requests().chain(run.totals.programs());
    for (name, row) in requests() {
        line(out, name, row, run.elapsed_s);
    }
    let all = run.totals.all();
    if requests().count() != 1 {
        line(out, "all", &all, run.elapsed_s);
    }
    if run.totals.groups().next().is_some() {
        out.push_str(" group\n");
    }
    for (name, row) in run.totals.groups() {
        line(out, name, row, run.elapsed_s);
        if row.cut_off > 0 {
            let _ = writeln!(out, " {:NAME$} {:>10}", "  cut off by the end", count(row.cut_off));
        }
    }
    let _ = writeln!(out);
}

fn line(out: &mut String, name: &str, row: &RequestStats, elapsed_s: f64) {
    let per_second = if elapsed_s > 0.0 { row.count as f64 / elapsed_s } else { 0.0 };
    let _ = write!(
        out,
        " {:NAME$} {:>10} {:>8} {:>7}",
        shorten(name, NAME),
        count(row.count),
        rate(per_second),
        count(row.errors)
    );
    let _ = writeln!(out, "{}", times(Durations::of(row)));
    let mut more = |label: &str, durations: Durations<'_>| {
        let _ = writeln!(out, " {label:NAME$} {:>10} {:>8} {:>7}{}", "", "", "", times(durations));
    };
    if !row.waited.is_empty() && !row.latency.is_empty() {
        let none = squall_metrics::Histogram::new();
        more("  responses alone", Durations { complete: &row.latency, waited: &none });
    }
    if !Durations::corrected(row).is_empty() {
        more("  corrected latency", Durations::corrected(row));
    }
}

/// Mean, median, p99 and the largest value.
fn times(durations: Durations<'_>) -> String {
    let shown = |value: Option<Bounded>| match value {
        None => "-".to_owned(),
        Some(Bounded { value, at_least: true }) => format!("≥{}", time(value)),
        Some(Bounded { value, at_least: false }) => time(value),
    };
    let (p50, p99) = (durations.percentile(50.0), durations.percentile(99.0));
    let [mean, p50, p99, max] = [durations.mean(), p50, p99, durations.max()].map(shown);
    format!(" {mean:>8} {p50:>8} {p99:>8} {max:>8}")
}

fn phases(out: &mut String, all: &RequestStats) {
    let named = squall_metrics::PHASES
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

/// Time accounting, and throughput, measured and by Little's law; nothing without a closed workload.
fn time_accounting(out: &mut String, account: &TimeAccount) {
    let Some(gap) = ThroughputGap::of(account) else { return };
    let total = account.total() as f64;
    let parts = UserState::ALL.map(|state| (state, account.time(state) as f64 / total));
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(_, share)| *share >= 0.000_5)
        .map(|(state, share)| format!("{} {}", state.label().replace('_', " "), percent(share)))
        .collect();
    paragraph(out, " time spent  ", &parts.join(", "));
    paragraph(out, " throughput  ", &gap.text());
}

/// The metrics that the plan records itself.
fn metrics(out: &mut String, run: &Run) {
    let number = |value: f64| ((value * THOUSANDTHS).round() / THOUSANDTHS).to_string();
    for (key, stats) in run.totals.metrics().take(MAX_METRICS_SHOWN) {
        let h = &stats.trend;
        let p = |p: f64| number(h.percentile(p) as f64 / THOUSANDTHS);
        let values = match (key.kind, stats.gauge()) {
            (MetricKind::Counter, _) => number(stats.sum()),
            (MetricKind::Rate, _) => {
                format!("{} of {} true", percent(stats.share()), count(stats.count))
            }
            (MetricKind::Gauge, Some(gauge)) => {
                let (last, min, max) = (number(gauge.last), number(gauge.min), number(gauge.max));
                format!("{last} (min {min}, max {max})")
            }
            (MetricKind::Gauge, None) => "no value".to_owned(),
            (MetricKind::Trend, _) => format!(
                "mean {}, p50 {}, p99 {}, max {}, of {}",
                number(h.mean() / THOUSANDTHS),
                p(50.0),
                p(99.0),
                number(h.max() as f64 / THOUSANDTHS),
                count(stats.count)
            ),
        };
        paragraph(out, " metric      ", &format!("{}: {values}", shorten(&key.label(), 40)));
    }
    let more = run.totals.metrics().count().saturating_sub(MAX_METRICS_SHOWN);
    if more > 0 {
        let _ = writeln!(out, "             and {more} more in run.json");
    }
}

/// The generator's own delays and the resources that it used.
fn generator(out: &mut String, run: &Run) {
    let own = run.totals.self_metrics();
    let named = [
        ("receive delay", &own.receive_delay),
        ("send delay", &own.send_delay),
        ("event loop", &own.loop_iteration),
    ];
    let by = (!run.meta.io.is_empty()).then(|| format!("I/O backend {}", run.meta.io));
    let delays =
        named.into_iter().filter(|(_, histogram)| !histogram.is_empty()).map(|(name, h)| {
            let (p99, max) = (time(h.percentile(99.0) as f64), time(h.max() as f64));
            format!("{name} {} (p99 {p99}, max {max})", time(h.mean()))
        });
    let mut parts: Vec<String> = delays.chain(by).collect();
    let cpu = run.generator.cpu_user_s + run.generator.cpu_sys_s;
    if cpu > 0.0 {
        parts.push(format!("{} CPU, {}", time(cpu * 1e6), bytes(run.generator.peak_rss_bytes)));
    }
    if !parts.is_empty() {
        paragraph(out, " generator   ", &parts.join(", "));
    }
}

fn thresholds(out: &mut String, run: &Run, color: bool) {
    for result in &run.threshold_results {
        let (word, code) = if result.passed { ("passed", "32") } else { ("FAILED", "31;1") };
        let word = if color { format!("\x1b[{code}m{word:6}\x1b[0m") } else { format!("{word:6}") };
        let _ = writeln!(
            out,
            " threshold   {word} {} ({})",
            shorten(&result.text, 40),
            shorten(&result.shown, 36)
        );
    }
}

/// The steady part, with 95% confidence intervals.
fn steady(out: &mut String, run: &Run) {
    let (Some(steady), Some(batches)) = (run.steady, &run.batches) else { return };
    let (latency, corrected) = (batches.latency(), batches.corrected_latency());
    if latency.all().is_empty() {
        return;
    }
    let percentile =
        |latencies: &Latencies, p| (latencies.all().percentile(p) as f64, latencies.percentile(p));
    let (p99, p99_known) = percentile(latency, 99.0);
    let (p50, p50_known) = percentile(latency, 50.0);
    let mut parts = vec![
        known("", batches.rate(), batches.rate_interval(), rate),
        known("mean ", latency.all().mean(), latency.mean(), time),
        known("p50 ", p50, p50_known, time),
        known("p99 ", p99, p99_known, time),
    ];
    if !corrected.all().is_empty() {
        let (value, interval) = percentile(corrected, 99.0);
        parts.push(known("corrected p99 ", value, interval, time));
    }
    let longer_s = p99_known.longer_s(p99, batches.seconds()).unwrap_or(0.0);
    if longer_s >= 1.0 {
        let what = match p99_known {
            Interval::AtLeast { .. } => "to bound p99 above",
            Interval::Between { .. } | Interval::None { .. } => "to know p99 to ±5%",
        };
        parts.push(format!("run about {longer_s:.0} s longer {what}"));
    }
    // What is given up has no time of its own by second.
    let of = if run.totals.all().waited.is_empty() { "" } else { ", responses alone" };
    let seconds = format!("seconds {} to {}{of}: {}", steady.from, steady.to, parts.join(", "));
    paragraph(out, " steady      ", &seconds);
}

/// A value with what is known about its true value.
fn known(name: &str, value: f64, interval: Interval, show: fn(f64) -> String) -> String {
    let value = show(value);
    match interval {
        Interval::Between { low, high } => {
            format!("{name}{value} ({} to {})", show(low), show(high))
        }
        Interval::AtLeast { low, why, .. } => {
            format!("{name}{value} (at least {}, with no upper bound: {})", show(low), why.text())
        }
        Interval::None { why } => format!("{name}{value} (no interval: {})", why.text()),
    }
}

/// How far the numbers can be trusted, and if not, why.
fn validity(out: &mut String, run: &Run, color: bool) {
    let (word, code) = match run.validity() {
        Validity::Valid => ("valid", "32"),
        Validity::Questionable => ("QUESTIONABLE", "33;1"),
        Validity::Invalid => ("INVALID", "31;1"),
    };
    let shown = if color { format!("\x1b[{code}m{word}\x1b[0m") } else { word.to_owned() };
    let meaning = match run.validity() {
        Validity::Valid => "squall found no reason to doubt these numbers",
        Validity::Questionable => "some of these numbers partly describe the generator",
        Validity::Invalid => "these numbers describe the generator more than the target",
    };
    let _ = writeln!(out, " validity    {shown}: {meaning}");
    for reason in &run.reasons {
        let note = if reason.validity() == Validity::Valid { "note: " } else { "" };
        let (rule, effect) = (reason.rule, reason.effect_text());
        let (observed, advice) = (&reason.observed, &reason.advice);
        let text =
            format!("{note}{rule}: {observed}; effect on the numbers: {effect}; hint: {advice}");
        paragraph(out, "             ", &text);
    }
}

/// Whether the run passed, and if not, why.
fn outcome(out: &mut String, run: &Run, color: bool) {
    let failures = run.failures();
    let (word, code) = if failures.is_empty() { ("passed", "32") } else { ("FAILED", "31;1") };
    let why = match failures.is_empty() {
        true if run.threshold_results.is_empty() => ": the plan has no thresholds".to_owned(),
        true => ": all thresholds passed".to_owned(),
        false => format!(": {}", failures.join("; ")),
    };
    let word = if color { format!("\x1b[{code}m{word}\x1b[0m") } else { word.to_owned() };
    let _ = writeln!(out, " run         {word}{why}");
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
        paragraph(out, "             ", &shorten(line, 258));
    }
}

/// What the target did to connections while they were idle: closed them, or sent something.
fn retries(out: &mut String, counters: &Counters) {
    let mut parts = Vec::new();
    let (stale, unsolicited) = (counters.stale_retries, counters.unsolicited_responses);
    if stale > 0 {
        let text = "sent again on a new connection, as the target had closed the old one";
        parts.push(format!("{} request{} {text}", count(stale), plural(stale)));
    }
    if unsolicited > 0 {
        let text = "without a request: connection closed";
        parts.push(format!("{} response{} {text}", count(unsolicited), plural(unsolicited)));
    }
    if !parts.is_empty() {
        paragraph(out, " retries     ", &parts.join("; "));
    }
}

/// A text after a label, wrapped at 99 columns, with later lines indented.
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

/// A text in at most `width` characters, shortened in its middle.
pub(crate) fn shorten(text: &str, width: usize) -> String {
    let chars: Vec<char> = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if chars.len() <= width {
        return chars.into_iter().collect();
    }
    let left = (width - 1) / 2;
    let right = width - 1 - left;
    chars[..left].iter().chain(&['…']).chain(&chars[chars.len() - right..]).collect()
}

#[cfg(test)]
mod tests {
    use squall_analysis::Unknown;

    use super::*;

    #[test]
    fn values_say_what_is_known_of_them() {
        let between = Interval::Between { low: 900.0, high: 1_200.0 };
        assert_eq!(known("mean ", 1_000.0, between, time), "mean 1.00 ms (900 µs to 1.20 ms)");
        let why = Unknown::Together;
        let at_least = Interval::AtLeast { low: 900.0, why, longer_s: 30.0 };
        assert_eq!(
            known("p99 ", 1_000.0, at_least, time),
            format!("p99 1.00 ms (at least 900 µs, with no upper bound: {})", why.text())
        );
        let none = Interval::None { why: Unknown::Seconds };
        assert_eq!(known("", 5.0, none, rate), "5.00/s (no interval: fewer than 5 steady seconds)");
    }

    #[test]
    fn long_names_are_shortened_in_their_middle() {
        assert_eq!(shorten("abcdefgh", 5), "ab…gh");
        assert_eq!(shorten("abcde", 5), "abcde");
    }
}
