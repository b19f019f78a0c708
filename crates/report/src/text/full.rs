//! Everything that is known of a run, for those who ask for it (`--full`): all requests, groups and checks, what is behind
//! the numbers, and what squall itself had to do with them.

use std::fmt::Write as _;

use squall_analysis::definition;
use squall_base::units::{bytes, count, counted, percent, rate, time};
use squall_metrics::ErrorKind;

use super::brief::exceptions;
use super::paragraph::{log_line, paragraph, verdict};
use super::show::{MAX_LOG_SHOWN, Show, more, of_kind};
use super::table;
use super::width::shorten;
use crate::document::{Known, MetricRow, NONE, RunDocument};
use crate::generator::PhaseTimes;
use crate::target::monitor_of;

/// Most metrics that are shown.
const MAX_METRICS_SHOWN: usize = 30;

/// What the load came to.
pub(super) fn load(out: &mut String, run: &RunDocument, show: &Show) {
    let width = show.width();
    table::requests(out, run, show);
    table::checks(out, run, show);
    outcomes(out, run, width);
    errors(out, run, show);
    time_accounting(out, run, width);
    metrics(out, run, width);
    steady(out, run, width);
    generator(out, run, width);
}

/// Phases, bytes and statuses of all requests.
fn outcomes(out: &mut String, run: &RunDocument, width: usize) {
    let all = &run.totals;
    let named =
        squall_metrics::PHASES.iter().filter_map(|name| Some((name, all.phases.get(*name)?)));
    let parts: Vec<String> = named
        .map(|(name, own)| {
            format!("{} {} (p99 {})", name.replace('_', " "), time(own.mean), time(own.p99))
        })
        .collect();
    if !parts.is_empty() {
        paragraph(out, " phases      ", &parts.join(", "), width);
    }
    let _ = writeln!(out, " bytes       {} in, {} out", bytes(all.bytes_in), bytes(all.bytes_out));
    let status: Vec<String> =
        all.status.iter().map(|(status, n)| format!("{status}: {}", count(*n))).collect();
    if !status.is_empty() {
        paragraph(out, " status      ", &status.join(", "), width);
    }
    retries(out, run, width);
}

/// What the target did to connections while they were idle: closed them, or sent something.
fn retries(out: &mut String, run: &RunDocument, width: usize) {
    let of = |name: &str| run.counters.get(name).copied().unwrap_or(0);
    let mut parts = Vec::new();
    let (stale, unsolicited) = (of("stale_retries"), of("unsolicited_responses"));
    if stale > 0 {
        let text = "sent again on a new connection because the target had closed the old one";
        parts.push(format!("{} {text}", counted(stale, "request")));
    }
    if unsolicited > 0 {
        let text = "without a request: connection closed";
        parts.push(format!("{} {text}", counted(unsolicited, "response")));
    }
    if !parts.is_empty() {
        paragraph(out, " retries     ", &parts.join("; "), width);
    }
}

/// Errors by kind, and why requests were not sent, each with what to look at; what a kind means beyond that is for those who want it explained.
fn errors(out: &mut String, run: &RunDocument, show: &Show) {
    let width = show.width();
    for (label, number) in &run.totals.error_kinds {
        let kind = ErrorKind::from_label(label);
        let shown = kind.filter(|kind| show.explain || kind.has_hint());
        let text = match shown {
            Some(kind) => format!("{} {label}: {}", count(*number), kind.explain()),
            None => format!("{} {label}", count(*number)),
        };
        paragraph(out, of_kind(run, kind), &text, width);
    }
    exceptions(out, run, show);
    for line in run.log.iter().take(MAX_LOG_SHOWN) {
        log_line(out, line, width);
    }
    more(out, run.log.len().saturating_sub(MAX_LOG_SHOWN), "lines of the log");
}

/// Time accounting, and throughput, measured and by Little's law; nothing without a closed workload.
fn time_accounting(out: &mut String, run: &RunDocument, width: usize) {
    let Some(gap) = &run.throughput_gap else { return };
    let account = &run.time_accounting;
    let states = [
        ("requests", account.requests),
        ("think", account.think),
        ("pacing", account.pacing),
        ("waiting for users", account.waiting),
        ("not started", account.not_started),
        ("waiting for squall", account.generator),
        ("idle after last iteration", account.finished),
    ];
    let parts: Vec<String> = states
        .into_iter()
        .map(|(label, time)| (label, time / account.users_s))
        .filter(|(_, share)| *share >= 0.000_5)
        .map(|(label, share)| format!("{label} {}", percent(share)))
        .collect();
    paragraph(out, " time spent  ", &parts.join(", "), width);
    paragraph(out, " throughput  ", &gap.text, width);
}

/// The metrics that the plan records itself, and those of monitors.
fn metrics(out: &mut String, run: &RunDocument, width: usize) {
    // What nodes of a fleet recorded has a table of its own.
    // So has what monitors sampled of the target.
    let is_shown =
        |own: &&MetricRow| monitor_of(own).is_none() && (run.fleet.is_none() || !is_of_node(own));
    let metrics: Vec<&MetricRow> = run.metrics.iter().filter(is_shown).collect();
    for own in metrics.iter().take(MAX_METRICS_SHOWN) {
        let tags: Vec<String> =
            own.tags.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let tags = if tags.is_empty() { String::new() } else { format!("{{{}}}", tags.join(",")) };
        let has_scenario = run.meta.scenarios.len() > 1 && !own.scenario.is_empty();
        let scenario = if has_scenario { format!("{} / ", own.scenario) } else { String::new() };
        let label = shorten(&format!("{scenario}{}{tags}", own.name), 40);
        paragraph(out, " metric      ", &format!("{label}: {}", values(own)), width);
    }
    more(out, metrics.len().saturating_sub(MAX_METRICS_SHOWN), "metrics");
}

/// Whether a metric says what a node or a zone of a fleet did.
fn is_of_node(own: &MetricRow) -> bool {
    let is_named = own.name.starts_with("node_") || own.name.starts_with("zone_");
    is_named && own.scenario.is_empty() && !own.tags.is_empty()
}

/// What a metric recorded.
fn values(own: &MetricRow) -> String {
    let number = |value: Option<f64>| {
        value.map_or("-".to_owned(), |value| ((value * 1e3).round() / 1e3).to_string())
    };
    match own.kind.as_str() {
        "counter" => number(own.sum),
        "rate" => format!("{} of {} true", percent(own.share.unwrap_or(0.0)), count(own.count)),
        "gauge" => {
            let [last, mean] = [own.last, own.mean].map(number);
            format!("{last} (mean {mean}, min {}, max {})", number(own.min), number(own.max))
        }
        _ => format!(
            "mean {}, p50 {}, p90 {}, p95 {}, p99 {}, max {}, of {}",
            number(own.mean),
            number(own.p50),
            number(own.p90),
            number(own.p95),
            number(own.p99),
            number(own.max),
            count(own.count)
        ),
    }
}

/// The steady part, with 95% confidence intervals.
fn steady(out: &mut String, run: &RunDocument, width: usize) {
    let Some(steady) = &run.steady else { return };
    if steady.latency_us.count == 0 {
        return;
    }
    let mut parts = Vec::new();
    for (name, key, show) in [
        ("", "rate", rate as fn(f64) -> String),
        ("mean ", "mean", time as fn(f64) -> String),
        ("p50 ", "p50", time as fn(f64) -> String),
        ("p99 ", "p99", time as fn(f64) -> String),
    ] {
        parts.extend(steady.confidence.get(key).map(|own| known(name, own, show)));
    }
    let corrected = steady.corrected_confidence.get("p99");
    parts.extend(corrected.map(|own| known("corrected p99 ", own, time)));
    if let Some(p99) = steady.confidence.get("p99")
        && let Some(longer_s) = p99.longer_s.filter(|longer_s| *longer_s >= 1.0)
    {
        let longer = about(longer_s);
        parts.push(match (p99.low, p99.high) {
            (Some(_), None) => {
                format!("p99 has no upper bound yet: a run of about {longer} more would give one")
            }
            _ => format!("a run of about {longer} more would give p99 to ±5%"),
        });
    }
    // What is given up has no time of its own by second.
    let given_up = run.totals.latency_with_timeouts_us.is_some();
    let of = if given_up { ", complete responses only" } else { "" };
    let text = format!("seconds {} to {}{of}: {}", steady.from_s, steady.to_s, parts.join(", "));
    paragraph(out, " steady      ", &text, width);
}

/// A length of time, roughly: `45 s`, `72 min`, `3 h`.
fn about(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 120.0 => format!("{seconds:.0} s"),
        seconds if seconds < 7_200.0 => format!("{:.0} min", seconds / 60.0),
        seconds => format!("{:.0} h", seconds / 3_600.0),
    }
}

/// A value with what is known about its true value.
fn known(name: &str, own: &Known, show: fn(f64) -> String) -> String {
    let (value, why) = (show(own.value), own.why.as_deref().unwrap_or("unknown"));
    match (own.low, own.high) {
        (Some(low), Some(high)) => format!("{name}{value} ({} to {})", show(low), show(high)),
        (Some(low), None) => {
            format!("{name}{value} (at least {}, with no upper bound: {why})", show(low))
        }
        _ => format!("{name}{value} (no interval: {why})"),
    }
}

/// The generator's own delays, each with the key of its definition.
fn generator_delays(
    run: &RunDocument,
) -> impl Iterator<Item = (&'static str, &'static str, &PhaseTimes)> {
    let own = &run.generator;
    let always = [
        ("receive delay", "receive_delay", &own.receive_delay_us),
        ("send delay", "send_delay", &own.send_delay_us),
        ("event loop", "loop_iteration", &own.loop_iteration_us),
    ];
    let collection = own.garbage_collection_us.as_ref();
    let collection = collection.map(|own| ("garbage collection", "garbage_collection", own));
    always.into_iter().chain(collection)
}

/// The generator's own delays and the resources that it used.
fn generator(out: &mut String, run: &RunDocument, width: usize) {
    let own = &run.generator;
    let named = generator_delays(run).filter(|(.., times)| times.count > 0);
    let delays = named.map(|(name, _, times)| {
        format!("{name} {} (p99 {}, max {})", time(times.mean), time(times.p99), time(times.max))
    });
    let io = run.meta.machines(|own| own.io.clone());
    let io = (!io.is_empty()).then(|| format!("I/O backend {io}"));
    let mut parts: Vec<String> = delays.chain(io).collect();
    let cpu = own.cpu_user_s + own.cpu_sys_s;
    if cpu > 0.0 {
        parts.push(format!("{} CPU, {}", time(cpu * 1e6), bytes(own.peak_rss_bytes)));
    }
    if !parts.is_empty() {
        paragraph(out, " generator   ", &parts.join(", "), width);
    }
}

/// What the words mean that the report shows, in the order in which it shows them.
pub(super) fn definitions(out: &mut String, run: &RunDocument, width: usize) {
    let all = &run.totals;
    let rows = || run.requests.iter().chain(&run.groups).chain(&run.iterations);
    let bounded = rows().any(|row| row.latency_with_timeouts_us.is_some());
    let mut define = |word: &str, key: &str, is_shown: bool| {
        if let (true, Some(text)) = (is_shown, definition(key)) {
            paragraph(out, &format!(" {word:<12}"), text, width);
        }
    };
    define("rate", "rate", true);
    define("errors", "error_rate", true);
    define("latency", "latency", true);
    define("p50, p99", "percentile", true);
    define("≥", "latency_with_timeouts", bounded);
    define("corrected", "corrected_latency", all.corrected_latency_us.is_some());
    define("group", "group", !run.groups.is_empty());
    define("iterations", "iteration", !run.iterations.is_empty());
    define("cut off", "cut_off", rows().any(|row| row.cut_off > 0));
    define("not sent", "not_sent", rows().any(|row| row.not_sent > 0));
    let mut detail = |word: &str, key: &str| {
        let text = format!("{}: {}", key.replace('_', " "), definition(key).unwrap_or_default());
        paragraph(out, word, &text, width);
    };
    for phase in squall_metrics::PHASES.iter().filter(|phase| all.phases.contains_key(**phase)) {
        detail(" phase       ", phase);
    }
    if run.throughput_gap.is_some() {
        let of = |key| definition(key).unwrap_or_default();
        paragraph(out, " time spent  ", of("time_accounting"), width);
        for key in ["measured", "littles_law"] {
            paragraph(out, " throughput  ", of(key), width);
        }
    }
    for (name, key, _) in generator_delays(run).filter(|(.., own)| own.count > 0) {
        let text = format!("{name}: {}", definition(key).unwrap_or_default());
        paragraph(out, " generator   ", &text, width);
    }
}

/// How far the numbers can be trusted, and if not, why.
pub(super) fn validity(out: &mut String, run: &RunDocument, show: &Show) {
    let ((word, color), meaning) = match run.validity.as_str() {
        "invalid" => {
            (("INVALID", "31;1"), "do not judge the target by these numbers, for these reasons")
        }
        "questionable" => {
            (("QUESTIONABLE", "33;1"), "read these numbers with these reasons in mind")
        }
        NONE if !run.finished => ((NONE, ""), "no result was written yet: the run did not finish"),
        NONE => ((NONE, ""), "no load ran, so there are no numbers"),
        _ => (("valid", "32"), "squall found no reason to doubt these numbers"),
    };
    verdict(out, " validity    ", (word, color), meaning, show);
    for own in &run.validity_reasons {
        let note = if own.validity == "valid" { "note: " } else { "" };
        let text = format!(
            "{note}{}: {}; effect on the numbers: {}; hint: {}",
            own.rule, own.observed, own.effect_text, own.advice
        );
        paragraph(out, "             ", &text, show.width());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_say_what_is_known_of_them() {
        let between =
            Known { value: 1_000.0, low: Some(900.0), high: Some(1_200.0), ..Known::default() };
        assert_eq!(known("mean ", &between, time), "mean 1.00 ms (900 µs to 1.20 ms)");
        let why = Some("too short".to_owned());
        let at_least = Known { high: None, why: why.clone(), ..between };
        assert_eq!(
            known("p99 ", &at_least, time),
            "p99 1.00 ms (at least 900 µs, with no upper bound: too short)"
        );
        let none = Known { value: 5.0, why, ..Known::default() };
        assert_eq!(known("", &none, rate), "5.00/s (no interval: too short)");
    }
}
