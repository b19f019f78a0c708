//! A run as text for a terminal of 80 to 200 columns: what was tested, requests, groups and checks, what is
//! behind the numbers, thresholds, how far they can be trusted, and whether the run passed, which is last.

mod columns;
mod paragraph;
mod table;
mod width;

use std::fmt::Write as _;

use squall_analysis::definition;
use squall_base::units::{bytes, count, counted, percent, rate, time};
use squall_metrics::ErrorKind;

use crate::document::{Known, MetricRow, NONE, PhaseTimes, RunDocument};
use crate::run::RunPhase;
pub(crate) use paragraph::paragraph;
use paragraph::{log_line, verdict};
pub(crate) use width::{begin, pad, shorten, text_width};

/// Most metrics of the plan's own that are shown.
const MAX_METRICS_SHOWN: usize = 30;
/// Most lines of the log that are shown.
const MAX_LOG_SHOWN: usize = 10;
/// The narrowest and the widest text, in columns.
const WIDTHS: (usize, usize) = (80, 200);

/// How a run is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Show {
    /// Columns of the terminal; what is less than 80 or more than 200 counts as that.
    pub columns: usize,
    /// Whether it has colours.
    pub color: bool,
    /// Whether the numbers are defined.
    pub explain: bool,
}

impl Show {
    pub(crate) fn width(&self) -> usize {
        self.columns.clamp(WIDTHS.0, WIDTHS.1) - 1
    }

    /// A word in a colour, if there are any; `code` is that of the terminal.
    pub(crate) fn word(&self, word: &str, code: &str) -> String {
        if self.color { format!("\x1b[{code}m{word}\x1b[0m") } else { word.to_owned() }
    }
}

/// The result as a person reads it.
pub fn text(run: &RunDocument, show: &Show) -> String {
    let mut out = String::from("\n");
    let width = show.width();
    head(&mut out, run, width);
    failed_phases(&mut out, run, show);
    if run.validity != NONE {
        load(&mut out, run, show);
    }
    for warning in &run.warnings {
        paragraph(&mut out, " warning     ", warning, width);
    }
    if show.explain {
        definitions(&mut out, run, width);
    }
    thresholds(&mut out, run, show);
    validity(&mut out, run, show);
    outcome(&mut out, run, show);
    out
}

/// What the load came to.
fn load(out: &mut String, run: &RunDocument, show: &Show) {
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

/// What a setup or a teardown that failed, or had errors, did: its requests and its log.
fn failed_phases(out: &mut String, run: &RunDocument, show: &Show) {
    let failed = |phase: &&RunPhase| phase.end == "failed" || phase.errors > 0;
    for phase in run.run_phases.iter().filter(|phase| phase.phase != "load").filter(failed) {
        table::phase(out, phase, show);
        for line in phase.log.iter().take(MAX_LOG_SHOWN) {
            log_line(out, line, show.width());
        }
        more(out, phase.log.len().saturating_sub(MAX_LOG_SHOWN), "lines");
        out.push('\n');
    }
}

/// So much more than is shown.
fn more(out: &mut String, number: usize, what: &str) {
    if number > 0 {
        let _ = writeln!(out, "             and {} more {what}, in run.json", count(number as u64));
    }
}

fn head(out: &mut String, run: &RunDocument, width: usize) {
    let meta = &run.meta;
    let users = run.counters.get("users_active").copied().unwrap_or(0);
    let (workers, end) = (meta.workers, if run.finished { "" } else { ", broken off" });
    let end = if run.interrupted { ", interrupted" } else { end };
    let plan = shorten(&meta.plan, 60);
    let first = match run.validity == NONE {
        true if !run.finished => format!("{plan}: no result was written yet{end}"),
        true => format!("{plan}: no load ran{end}"),
        false => format!(
            "{plan}: {}{end}, {}, at most {}",
            time(run.elapsed_s * 1e6),
            counted(workers, "worker"),
            counted(users, "virtual user")
        ),
    };
    paragraph(out, "", &first, width);
    if let Some(target) = &meta.target {
        paragraph(out, " target      ", target, width);
    }
    for scenario in &meta.scenarios {
        let text = match meta.scenarios.len() {
            1 => scenario.load.clone(),
            _ => format!("{}: {}", scenario.name, scenario.load),
        };
        paragraph(out, " load        ", &text, width);
    }
    for phase in run.run_phases.iter().filter(|phase| phase.phase != "load") {
        let label = format!(" {:<12}", phase.phase);
        paragraph(out, &label, &phase_text(phase), width);
    }
    if run.interrupted {
        let text = "the run was interrupted: these are the results up to then";
        paragraph(out, " note        ", text, width);
    }
    out.push('\n');
}

/// What became of the setup or the teardown.
pub(crate) fn phase_text(phase: &RunPhase) -> String {
    let (requests, errors) = (phase.requests, phase.errors);
    let mut text = counted(requests, "request");
    if errors > 0 {
        let _ = write!(text, ", {}", counted(errors, "error"));
    }
    let _ = match phase.end.as_str() {
        "done" => write!(text, ", {}", time(phase.elapsed_s * 1e6)),
        end => write!(text, ", {}", end.replace('_', " ")),
    };
    text
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
        let is_not_sent = run.totals.not_sent > 0 && kind.is_some_and(ErrorKind::is_of_making);
        let word = if is_not_sent { " not sent    " } else { " errors      " };
        paragraph(out, word, &text, width);
    }
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
        ("generator", account.generator),
        ("finished", account.finished),
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

/// The metrics that the plan records itself.
fn metrics(out: &mut String, run: &RunDocument, width: usize) {
    for own in run.metrics.iter().take(MAX_METRICS_SHOWN) {
        let tags: Vec<String> =
            own.tags.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let tags = if tags.is_empty() { String::new() } else { format!("{{{}}}", tags.join(",")) };
        let scenario = match run.meta.scenarios.len() {
            0 | 1 => String::new(),
            _ => format!("{} / ", own.scenario),
        };
        let label = shorten(&format!("{scenario}{}{tags}", own.name), 40);
        paragraph(out, " metric      ", &format!("{label}: {}", values(own)), width);
    }
    more(out, run.metrics.len().saturating_sub(MAX_METRICS_SHOWN), "metrics");
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
            format!("{} (min {}, max {})", number(own.last), number(own.min), number(own.max))
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
        let what = match (p99.low, p99.high) {
            (Some(_), None) => "to bound p99 above",
            _ => "to know p99 to ±5%",
        };
        parts.push(format!("run about {longer_s:.0} s longer {what}"));
    }
    // What is given up has no time of its own by second.
    let given_up = run.totals.latency_with_timeouts_us.is_some();
    let of = if given_up { ", complete responses only" } else { "" };
    let text = format!("seconds {} to {}{of}: {}", steady.from_s, steady.to_s, parts.join(", "));
    paragraph(out, " steady      ", &text, width);
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
fn generator_delays(run: &RunDocument) -> [(&'static str, &'static str, &PhaseTimes); 3] {
    let own = &run.generator;
    [
        ("receive delay", "receive_delay", &own.receive_delay_us),
        ("send delay", "send_delay", &own.send_delay_us),
        ("event loop", "loop_iteration", &own.loop_iteration_us),
    ]
}

/// The generator's own delays and the resources that it used.
fn generator(out: &mut String, run: &RunDocument, width: usize) {
    let own = &run.generator;
    let named = generator_delays(run).into_iter().filter(|(.., times)| times.count > 0);
    let delays = named.map(|(name, _, times)| {
        format!("{name} {} (p99 {}, max {})", time(times.mean), time(times.p99), time(times.max))
    });
    let io = (!run.meta.io.is_empty()).then(|| format!("I/O backend {}", run.meta.io));
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
fn definitions(out: &mut String, run: &RunDocument, width: usize) {
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
    for (name, key, _) in generator_delays(run).into_iter().filter(|(.., own)| own.count > 0) {
        let text = format!("{name}: {}", definition(key).unwrap_or_default());
        paragraph(out, " generator   ", &text, width);
    }
}

fn thresholds(out: &mut String, run: &RunDocument, show: &Show) {
    for own in &run.thresholds {
        let word = if own.passed { show.word("passed", "32") } else { show.word("FAILED", "31;1") };
        let room = show.width() - 23;
        // What one does not need is the other's.
        let rest = room.saturating_sub(text_width(&own.shown) + 1);
        let text = shorten(&own.text, rest.max(room / 2));
        let shown = shorten(&own.shown, room - 1 - text_width(&text));
        let _ = writeln!(out, " threshold   {word} {text} ({shown})");
    }
}

/// How far the numbers can be trusted, and if not, why.
fn validity(out: &mut String, run: &RunDocument, show: &Show) {
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

/// Whether the run passed, and if not, why; of one that was interrupted, whether it did up to then.
fn outcome(out: &mut String, run: &RunDocument, show: &Show) {
    let reasons: Vec<&str> = run.outcome.reasons.iter().map(|own| own.text.as_str()).collect();
    let ((plain, color), why) = match reasons.split_first() {
        Some((first, _)) => (("FAILED", "31;1"), *first),
        None if !run.thresholds.is_empty() => (("passed", "32"), "all thresholds passed"),
        None if run.validity == NONE => (("passed", "32"), "there was nothing to judge"),
        None => (("passed", "32"), "no check failed and no request was an error"),
    };
    let caveats = &run.outcome.caveats;
    // Of a run that passed they belong to the sentence that says so.
    let (why, caveats) = match caveats.is_empty() || !reasons.is_empty() {
        true => (why.to_owned(), caveats.as_slice()),
        false => (format!("{why}, but {}", caveats.join(", and ")), Default::default()),
    };
    let ((plain, color), why) = match run.interrupted {
        true if run.outcome.lacks_teardown_alone() => {
            (("INTERRUPTED", "33;1"), format!("up to then the run passed, but {why}"))
        }
        true => (("INTERRUPTED", "33;1"), format!("up to then the run {plain}: {why}")),
        false => ((plain, color), why),
    };
    verdict(out, " run         ", (plain, color), &why, show);
    let more = reasons.iter().skip(1).copied();
    for reason in more.chain(caveats.iter().map(String::as_str)) {
        paragraph(out, "             ", reason, show.width());
    }
    if run.meta.strict
        && run.validity == "invalid"
        && run.outcome.exit_code == 3
        && !is_incomplete(run)
    {
        let text = "`--strict` refuses these numbers, as they are invalid: exit code 3";
        paragraph(out, "             ", text, show.width());
    }
}

/// Whether something is missing, which is more than what the numbers say.
fn is_incomplete(run: &RunDocument) -> bool {
    run.outcome.reasons.iter().any(|own| own.kind == "incomplete")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_strict_refuses_are_said_last() {
        let mut run = RunDocument { validity: "invalid".to_owned(), ..RunDocument::default() };
        (run.outcome.passed, run.outcome.exit_code) = (true, 3);
        let last = |run: &RunDocument| {
            let shown = text(run, &Show { columns: 80, color: false, explain: false });
            shown.lines().last().unwrap_or_default().to_owned()
        };
        assert!(!last(&run).contains("--strict"), "{}", last(&run));
        run.meta.strict = true;
        let refused =
            "             `--strict` refuses these numbers, as they are invalid: exit code 3";
        assert_eq!(last(&run), refused);
        run.outcome.exit_code = 130;
        assert!(!last(&run).contains("--strict"), "{}", last(&run));
    }

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
