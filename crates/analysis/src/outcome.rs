//! Whether a run passed, and if not, why: one pure function. How far its numbers can be trusted is another
//! question ([`crate::assess`]).
//!
//! Thresholds decide where there are any: a plan that tolerates some errors, or some failed checks, says how
//! many (`error_rate < 1%`, `checks_failed < 10`). Without one, every failed check, every request that was
//! an error and every one that could not be sent fails the run, and every exception of a script.
//! Whatever the plan says, a run fails in which nothing was measured, whose every request failed, in
//! which an expression could not be evaluated, which a script marked as failed, which the plan stopped, whose teardown was interrupted, or which is
//! incomplete.
//!
//! Where the load was not what the plan asked for, the outcome says so, whether the run passed or not: what was dropped,
//! not sent or sent again is a caveat.

use std::time::Duration;

use squall_base::units::{count, counted, percent, print_duration};
use squall_metrics::{CheckCounts, Counters, RequestStats};

use crate::threshold::{MAX_UNNAMED, ThresholdResult};
use crate::validity::Validity;

/// Most checks that are named.
const MAX_CHECKS_NAMED: usize = 20;
/// What decides whether a run passed.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    /// Results of its thresholds.
    pub thresholds: &'a [ThresholdResult],
    /// All requests, resources and programs together.
    pub all: &'a RequestStats,
    pub requests: &'a RequestStats,
    /// What each check came to, with its name.
    pub checks: &'a [(String, CheckCounts)],
    /// What is counted besides requests.
    pub counters: Counters,
    /// Whether steps or scripts have recorded metrics.
    pub has_metrics: bool,
    /// The threshold that ended the load, and when.
    pub aborted: Option<&'a Abort>,
    /// Whether the plan stopped the run.
    pub stopped_by_plan: bool,
    /// Whether the load started: setup may have been interrupted before.
    pub load_started: bool,
    /// What could not be done or written, a sentence each: a worker that broke off, a teardown that failed.
    pub incomplete: &'a [String],
    /// What became of a teardown that was interrupted or not run, in a sentence.
    pub teardown_lost: Option<&'a str>,
}

/// A load that a threshold ended, because what was recorded by then violated it.
#[derive(Debug, Clone, PartialEq)]
pub struct Abort {
    /// The threshold as it was written.
    pub threshold: String,
    /// When, in seconds after the start of the load.
    pub at_s: f64,
    /// The value that it had then, as a person reads it.
    pub shown: String,
}

impl Abort {
    pub fn text(&self) -> String {
        let after = print_duration(Duration::from_secs_f64(self.at_s.max(0.0)));
        format!("threshold {} aborted the load after {after} ({})", self.threshold, self.shown)
    }
}

/// A kind of reason for which runs fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// A threshold ended the load.
    Aborted,
    Threshold,
    Check,
    Errors,
    EveryRequest,
    /// No request was sent, no program run and no metric recorded, or none was finished, and nothing else says why.
    NothingMeasured,
    /// Requests could not be sent.
    NotSent,
    /// Expressions could not be evaluated.
    Expressions,
    /// Calls of scripts ended with an exception.
    Exceptions,
    /// A script marked the run as failed.
    MarkedFailed,
    /// The plan stopped the run.
    StoppedByPlan,
    /// Something could not be done or written.
    Incomplete,
    /// The teardown was interrupted, or not run.
    TeardownLost,
}

impl FailureKind {
    /// Its name in results.
    pub fn label(self) -> &'static str {
        match self {
            FailureKind::Aborted => "aborted",
            FailureKind::Threshold => "threshold",
            FailureKind::Check => "check",
            FailureKind::Errors => "errors",
            FailureKind::EveryRequest => "every_request",
            FailureKind::NothingMeasured => "nothing_measured",
            FailureKind::NotSent => "not_sent",
            FailureKind::Expressions => "expressions",
            FailureKind::Exceptions => "exceptions",
            FailureKind::MarkedFailed => "marked_failed",
            FailureKind::StoppedByPlan => "stopped_by_plan",
            FailureKind::Incomplete => "incomplete",
            FailureKind::TeardownLost => "teardown_lost",
        }
    }
}

/// A reason for which a run failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailureReason {
    pub kind: FailureKind,
    /// Which threshold or check.
    pub name: Option<String>,
    pub count: Option<u64>,
    pub text: String,
}

/// Whether a run passed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outcome {
    /// Why it failed, the most important reason first; none: it passed.
    pub reasons: Vec<FailureReason>,
    /// How its load was other than the plan asked for, whether it passed or not: clauses that can follow "but".
    pub caveats: Vec<String>,
}

impl Outcome {
    /// Whether the run passed.
    pub fn passed(&self) -> bool {
        self.reasons.is_empty()
    }

    /// The exit code of a run: 130 if it was interrupted, 3 if it is incomplete, or if its numbers are
    /// invalid and that is to fail it (`strict`), 1 if it failed, 0 if it passed.
    pub fn exit_code(&self, interrupted: bool, strict: bool, validity: Validity) -> u8 {
        let is_incomplete = self.reasons.iter().any(|own| own.kind == FailureKind::Incomplete);
        match () {
            () if is_incomplete => 3,
            () if interrupted => 130,
            () if strict && validity == Validity::Invalid => 3,
            () if !self.passed() => 1,
            () => 0,
        }
    }
}

/// Whether a run passed, and if not, why: the most important reason first.
pub fn outcome(evidence: &Evidence<'_>) -> Outcome {
    let mut failures = Vec::new();
    let mut fail = |kind, name: Option<&str>, count: Option<u64>, text: String| {
        failures.push(FailureReason { kind, name: name.map(str::to_owned), count, text });
    };
    for text in evidence.incomplete {
        fail(FailureKind::Incomplete, None, None, text.clone());
    }
    if let Some(text) = nothing_measured(evidence) {
        fail(FailureKind::NothingMeasured, None, None, text);
    }
    if let Some(all) = all_failed(evidence) {
        fail(FailureKind::EveryRequest, None, Some(all.count), nothing_succeeded(all));
    }
    if let Some(abort) = evidence.aborted {
        fail(FailureKind::Aborted, Some(&abort.threshold), None, abort.text());
    }
    let is_new = |own: &&ThresholdResult| {
        !own.passed && evidence.aborted.is_none_or(|abort| abort.threshold != own.text)
    };
    for own in evidence.thresholds.iter().filter(is_new) {
        let text = format!("threshold {} failed ({})", own.text, own.shown);
        fail(FailureKind::Threshold, Some(&own.text), None, text);
    }
    let failed = evidence.counters.expressions_failed;
    if failed > 0 {
        let text = format!("{} could not be evaluated", counted(failed, "expression"));
        fail(FailureKind::Expressions, None, Some(failed), text);
    }
    let marks = evidence.counters.marked_failed;
    if marks > 0 {
        let text = "the script marked the run as failed".to_owned();
        fail(FailureKind::MarkedFailed, None, Some(marks), text);
    }
    if evidence.thresholds.is_empty() {
        judge_without_thresholds(evidence, &mut fail);
    }
    if evidence.stopped_by_plan {
        fail(FailureKind::StoppedByPlan, None, None, "the plan stopped the run".to_owned());
    }
    if let Some(text) = evidence.teardown_lost {
        fail(FailureKind::TeardownLost, None, None, text.to_owned());
    }
    Outcome { reasons: failures, caveats: caveats(evidence) }
}

/// Why nothing was measured of a run in which no request has ended. `None`: one has, or something else says why.
fn nothing_measured(evidence: &Evidence<'_>) -> Option<String> {
    let has_none = |own: &&RequestStats| own.count == 0 && own.cut_off.max(own.not_sent) > 0;
    if let Some(own) = [evidence.requests, evidence.all].into_iter().find(has_none) {
        let (cut_off, not_sent) = (count(own.cut_off), count(own.not_sent));
        let kinds = not_sent_kinds(own);
        return Some(match (own.cut_off, own.not_sent) {
            (1, 0) => {
                "no request was finished: the end of the load cut off the only one".to_owned()
            }
            (_, 0) => {
                format!("no request was finished: the end of the load cut off all {cut_off}")
            }
            (0, 1) => format!("the only request could not be sent ({kinds})"),
            (0, _) => format!("none of {not_sent} requests could be sent ({kinds})"),
            _ => format!(
                "no request was finished: the end of the load cut off {cut_off}, and {not_sent} could not be sent ({kinds})"
            ),
        });
    }
    let has_any = evidence.all.count > 0 || evidence.has_metrics;
    if has_any || !evidence.incomplete.is_empty() || evidence.stopped_by_plan {
        return None;
    }
    let text = match (evidence.load_started, evidence.counters.connections_opened) {
        (false, _) => "nothing was measured: the load had not started",
        (true, 0) => "nothing was measured: no request was sent and no program was run",
        (true, _) => {
            "nothing was measured: requests were sent, but none is counted (`counted: false`)"
        }
    };
    Some(text.to_owned())
}

/// Why requests were not sent.
fn not_sent_kinds(own: &RequestStats) -> String {
    let kinds = own.error_kinds.iter().filter(|(kind, _)| kind.is_of_making());
    let labels: Vec<&str> = kinds.map(|(kind, _)| kind.label()).collect();
    labels.join(", ")
}

/// How the load was other than the plan asked for.
fn caveats(evidence: &Evidence<'_>) -> Vec<String> {
    let (all, counters) = (evidence.all, &evidence.counters);
    let mut caveats = Vec::new();
    let mut note = |number: u64, of: u64, what: &str| {
        let share = number as f64 / of.max(1) as f64;
        if share > MAX_UNNAMED {
            caveats.push(format!("{} {what} ({} of {})", percent(share), count(number), count(of)));
        }
    };
    let (dropped, due) = (counters.arrivals_dropped, counters.arrivals_due);
    note(dropped, due, "of the arrivals were dropped");
    let again = "of the requests were sent again because the target had closed their connection";
    note(all.retries, all.count, again);
    // Without thresholds they are a reason, and without others the run has failed.
    if !evidence.thresholds.is_empty() && all.count > 0 {
        let asked = all.count.saturating_add(all.not_sent);
        note(all.not_sent, asked, "of the requests could not be sent");
    }
    if !evidence.thresholds.is_empty() && counters.exceptions > 0 {
        caveats.push(exceptions(counters.exceptions));
    }
    caveats
}

/// The requests, if each of them was an error; a program that did its work is no request.
fn all_failed<'a>(evidence: &Evidence<'a>) -> Option<&'a RequestStats> {
    let all_failed = |own: &&RequestStats| own.count > 0 && own.errors >= own.count;
    [evidence.requests, evidence.all].into_iter().find(all_failed)
}

/// Why a run fails whose every request was an error. What the end of the load cut off says nothing about the target.
fn nothing_succeeded(all: &RequestStats) -> String {
    let (failed, cut_off) = (count(all.count), count(all.cut_off));
    match (all.count, all.cut_off) {
        (1, 0) => "the only request failed".to_owned(),
        (_, 0) => format!("every request failed, {failed} of them"),
        (1, _) => format!(
            "the only request that was finished failed; the end of the load cut off {cut_off} more"
        ),
        _ => format!(
            "every request that was finished failed, {failed} of them; the end of the load cut off {cut_off} more"
        ),
    }
}

/// Failed checks, errors, requests that could not be sent, and exceptions.
fn judge_without_thresholds(
    evidence: &Evidence<'_>,
    fail: &mut impl FnMut(FailureKind, Option<&str>, Option<u64>, String),
) {
    let failed = || evidence.checks.iter().filter(|(_, counts)| counts.failed > 0);
    for (name, counts) in failed().take(MAX_CHECKS_NAMED) {
        let text = format!(
            "check {name} failed {} of {}",
            counted(counts.failed, "time"),
            count(counts.count())
        );
        fail(FailureKind::Check, Some(name), Some(counts.failed), text);
    }
    let more = failed().count().saturating_sub(MAX_CHECKS_NAMED) as u64;
    if more > 0 {
        let text = format!("{} failed as well", counted(more, "further check"));
        fail(FailureKind::Check, None, Some(more), text);
    }
    let RequestStats { count: requests, errors, not_sent, .. } = *evidence.all;
    if errors > 0 && all_failed(evidence).is_none() {
        let share = errors as f64 / requests as f64;
        let text = format!(
            "{} of {} requests were errors ({})",
            count(errors),
            count(requests),
            percent(share)
        );
        fail(FailureKind::Errors, None, Some(errors), text);
    }
    if not_sent > 0 && requests > 0 {
        let (number, kinds) = (counted(not_sent, "request"), not_sent_kinds(evidence.all));
        let text = format!("{number} could not be sent ({kinds})");
        fail(FailureKind::NotSent, None, Some(not_sent), text);
    }
    let thrown = evidence.counters.exceptions;
    if thrown > 0 {
        fail(FailureKind::Exceptions, None, Some(thrown), exceptions(thrown));
    }
}

fn exceptions(thrown: u64) -> String {
    format!("the script threw {}", counted(thrown, "exception"))
}

#[cfg(test)]
mod tests;
