//! What a tester asks first, in few lines: what was tested, the errors, and how far the numbers can be trusted.

use std::cmp::Reverse;

use squall_base::units::{count, counted, time};
use squall_metrics::ErrorKind;

use super::paragraph::{INDENT, paragraph, verdict};
use super::show::{Show, more, of_kind, phase_text};
use super::width::{begin, text_width};
use crate::document::RunPhase;
use crate::document::{NONE, Row, RunDocument, ValidityReason};

/// Most kinds of errors that are shown.
const MAX_KINDS: usize = 5;
/// Most lines that a kind of error takes.
const LINES_OF_ERROR: usize = 2;
/// Where reasons to doubt numbers are explained.
const EXPLAINED: &str = "docs/howto/questionable.md";

/// What was tested, for how long and with how many users at once.
pub(super) fn head(out: &mut String, run: &RunDocument, width: usize) {
    let meta = &run.meta;
    let of_url = meta.target.as_ref().filter(|target| !meta.plan.starts_with(target.as_str()));
    let mut parts = vec![match of_url {
        Some(target) => format!("{} at {target}", meta.plan),
        None => meta.plan.clone(),
    }];
    if run.validity == NONE {
        parts.push(
            if run.finished { "no load ran" } else { "no result was written yet" }.to_owned(),
        );
    } else {
        let users = run.counters.get("users_active").copied().unwrap_or(0);
        parts.push(time(run.elapsed_s * 1e6));
        parts.push(format!("peak users {}", count(users)));
    }
    if !run.finished {
        parts.push("broken off".to_owned());
    }
    let is_told =
        |phase: &&RunPhase| phase.phase != "load" && (phase.end != "done" || phase.errors > 0);
    let around = run.run_phases.iter().filter(is_told);
    parts.extend(around.map(|phase| format!("{}: {}", phase.phase, phase_text(phase))));
    paragraph(out, " test        ", &parts.join(", "), width);
}

/// Errors by kind, the most frequent first: where they occurred most, with an example.
pub(super) fn errors(out: &mut String, run: &RunDocument, show: &Show) {
    let mut kinds: Vec<(&String, &u64)> = run.totals.error_kinds.iter().collect();
    kinds.sort_by_key(|(label, number)| (Reverse(**number), label.as_str()));
    for (label, number) in kinds.iter().take(MAX_KINDS) {
        let text = error(run, label, **number);
        let room = (show.width() - text_width(INDENT)) * LINES_OF_ERROR - 8;
        let kind = ErrorKind::from_label(label);
        paragraph(out, of_kind(run, kind), &begin(&text, room), show.width());
        let kind = kind.filter(|kind| kind.has_hint());
        let hint = match label.as_str() {
            // The command line was the plan.
            "tls" if run.meta.file.is_none() => Some("-k accepts any certificate"),
            _ => kind.and_then(|kind| kind.explain().split_once(": ")).map(|(_, hint)| hint),
        };
        if let Some(hint) = hint {
            paragraph(out, INDENT, &format!("hint: {hint}"), show.width());
        }
    }
    more(out, kinds.len().saturating_sub(MAX_KINDS), "kinds of errors");
    let has_exceptions = exceptions(out, run, show);
    if !kinds.is_empty() || has_exceptions {
        out.push('\n');
    }
}

/// How many exceptions a script threw, and the first one. Whether there were any.
pub(super) fn exceptions(out: &mut String, run: &RunDocument, show: &Show) -> bool {
    let number = run.counters.get("exceptions").copied().unwrap_or(0);
    if number == 0 {
        return false;
    }
    let begin = format!(": {}: ", ErrorKind::Script.label());
    let first = run.log.iter().find_map(|line| Some(line.split_once(&begin)?.1));
    let first = first.map(|first| format!(": {first}")).unwrap_or_default();
    paragraph(out, " exceptions  ", &format!("{}{first}", count(number)), show.width());
    true
}

/// How often a kind of error occurred, in which requests, and an example: `12 status: POST /pay: status 503, 28 bytes, ...`.
fn error(run: &RunDocument, label: &str, number: u64) -> String {
    let of = |row: &&Row| row.error_kinds.get(label).copied().unwrap_or(0);
    let mut rows: Vec<&Row> = run.requests.iter().filter(|row| of(row) > 0).collect();
    rows.sort_by_key(|row| Reverse(of(row)));
    let Some(most) = rows.first() else { return format!("{} {label}", count(number)) };
    let others = match rows.len() - 1 {
        0 => String::new(),
        others => format!(" and {}", counted(others as u64, "more request")),
    };
    let begin = format!("{}: {label}", most.name);
    let example =
        run.log.iter().find_map(|line| line.strip_prefix(begin.as_str())?.strip_prefix(": "));
    let example = example.map(|example| format!(": {example}")).unwrap_or_default();
    format!("{} {label}: {}{others}{example}", count(number), most.name)
}

/// How far the numbers can be trusted, and if not, the most important reason why.
pub(super) fn validity(out: &mut String, run: &RunDocument, show: &Show) {
    let doubts: Vec<&ValidityReason> =
        run.validity_reasons.iter().filter(|own| own.validity != "valid").collect();
    let why = match doubts.split_first() {
        None => String::new(),
        Some((first, rest)) => {
            let rest = match rest.len() as u64 {
                0 => String::new(),
                rest => format!(", and {}", counted(rest, "more reason")),
            };
            format!("{}{rest} (--full; {EXPLAINED})", plainly(first))
        }
    };
    let (word, color, text) = match run.validity.as_str() {
        "invalid" => ("INVALID", "31;1", why.as_str()),
        "questionable" => ("QUESTIONABLE", "33;1", why.as_str()),
        NONE if !run.finished => (NONE, "", "no result was written yet: the run did not finish"),
        NONE => (NONE, "", "no load ran, so there are no numbers"),
        _ => ("valid", "32", "squall found no reason to doubt these numbers"),
    };
    verdict(out, " validity    ", (word, color), text, show);
    // No reason to doubt numbers, but what a tester looks for when they are high.
    if let Some(own) = run.validity_reasons.iter().find(|own| own.rule == "machine_full") {
        paragraph(out, " machine     ", &own.observed, show.width());
    }
}

/// A reason to doubt numbers, as a tester would say it.
fn plainly(own: &ValidityReason) -> &str {
    match own.rule.as_str() {
        "cpu_bound" => "squall used all of its CPU: the target may be capable of more",
        "starved" => "other programs took CPU time from squall",
        "stalled" => "squall stood still for a moment",
        "generator_time" => "users waited for squall instead of the target",
        "send_delay" => "requests were sent later than planned",
        "receive_delay" => "responses waited until squall read them",
        "connect_delay" => "new connections waited until squall used them",
        "ports" => "this machine ran short of local ports",
        "files" => "squall ran short of open files",
        "steal" => "other virtual machines took CPU time from this one",
        "host_busy" => "other programs kept this machine busy",
        "swapping" => "squall's memory was swapped to disk",
        "clock_step" => "the system clock was changed during the run",
        "link" => "this machine's network link was full",
        "arrivals_dropped" => "arrivals were dropped because no virtual user was free",
        "retransmits" => "packets were lost on the network",
        "retries" => "the target closed idle connections just before they were used",
        "name_lookups" => "host names were slow to resolve",
        "pool_waits" => "requests waited for a connection of the plan's own pool",
        "timeouts" => "some requests got no response, so high percentiles are lower bounds",
        "cut_off" => "the end of the load cut requests off, so high percentiles are lower bounds",
        "hidden_stall" => "the target stalled while hardly any request was waiting for it",
        "unsteady" => "the rate or the latency kept changing during the run",
        "too_short" => "there were too few responses for a percentile that a threshold asks for",
        _ => &own.observed,
    }
}
