//! Whether a run passed, and if not, why: one pure function. How far its numbers can be trusted is another
//! question ([`crate::assess`]).
//!
//! Thresholds decide where there are any: a plan that tolerates some errors, or some failed checks, says how
//! many (`error_rate < 1%`, `checks_failed < 10`). Without one, every failed check, every request that was
//! an error and every one that could not be sent fails the run.
//! Whatever the plan says, a run fails in which nothing was measured, whose every request failed, in
//! which an expression could not be evaluated, which the plan stopped, whose teardown was interrupted, or which is
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
    /// No request was sent and no program run, or none was finished, and nothing else says why.
    NothingMeasured,
    /// Requests could not be sent.
    NotSent,
    /// Expressions could not be evaluated.
    Expressions,
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
    if evidence.all.count > 0 || !evidence.incomplete.is_empty() || evidence.stopped_by_plan {
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

/// Failed checks, errors, and requests that could not be sent.
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use squall_metrics::ErrorKind;

    fn evidence<'a>(all: &'a RequestStats, checks: &'a [(String, CheckCounts)]) -> Evidence<'a> {
        Evidence {
            thresholds: &[],
            all,
            requests: all,
            checks,
            counters: Counters::default(),
            aborted: None,
            stopped_by_plan: false,
            load_started: true,
            incomplete: &[],
            teardown_lost: None,
        }
    }

    fn requests(count: u64, errors: u64) -> RequestStats {
        RequestStats { count, errors, ..RequestStats::default() }
    }

    fn threshold(passed: bool) -> ThresholdResult {
        let totals = crate::Totals::new();
        let text = if passed { "count >= 0" } else { "count > 0" };
        crate::Threshold::parse(text).expect("a threshold").evaluate(&totals, 1.0)
    }

    fn kinds(evidence: &Evidence<'_>) -> Vec<FailureKind> {
        outcome(evidence).reasons.iter().map(|failure| failure.kind).collect()
    }

    #[test]
    fn without_thresholds_checks_and_errors_decide() {
        let checks = [
            ("fast".to_owned(), CheckCounts { passed: 7, failed: 3, warned: 0 }),
            ("slow".to_owned(), CheckCounts { passed: 7, failed: 0, warned: 3 }),
        ];
        let all = requests(10, 3);
        let found = outcome(&evidence(&all, &checks));
        let texts: Vec<&str> = found.reasons.iter().map(|failure| failure.text.as_str()).collect();
        assert_eq!(
            texts,
            ["check fast failed 3 times of 10", "3 of 10 requests were errors (30%)"]
        );
        assert_eq!(found.reasons[0].name.as_deref(), Some("fast"));
        assert_eq!(kinds(&evidence(&requests(10, 0), &[])), []);
    }

    #[test]
    fn a_run_that_sent_nothing_fails_unless_something_else_says_why() {
        let (all, passed) = (requests(0, 0), [threshold(true)]);
        let with = Evidence { thresholds: &passed, ..evidence(&all, &[]) };
        assert_eq!(kinds(&with), [FailureKind::NothingMeasured]);
        assert_eq!(outcome(&with).exit_code(false, false, Validity::Valid), 1);
        let text = |with: &Evidence<'_>| outcome(with).reasons[0].text.clone();
        assert_eq!(text(&with), "nothing was measured: no request was sent and no program was run");
        let uncounted = Evidence {
            counters: Counters { connections_opened: 1, ..Counters::default() },
            ..with
        };
        assert!(text(&uncounted).contains("requests were sent, but none is counted"));
        let in_setup = Evidence { load_started: false, ..with };
        assert_eq!(text(&in_setup), "nothing was measured: the load had not started");
        let stopped = Evidence { stopped_by_plan: true, ..with };
        assert_eq!(kinds(&stopped), [FailureKind::StoppedByPlan]);
        let incomplete = ["the setup failed".to_owned()];
        let incomplete = Evidence { incomplete: &incomplete, ..with };
        assert_eq!(kinds(&incomplete), [FailureKind::Incomplete]);
    }

    /// What the setup has made may still be there.
    #[test]
    fn a_teardown_that_was_lost_fails_the_run_and_leaves_its_exit_code() {
        let (all, passed) = (requests(10, 0), [threshold(true)]);
        let with = Evidence {
            thresholds: &passed,
            teardown_lost: Some("the teardown was not run"),
            ..evidence(&all, &[])
        };
        assert_eq!(kinds(&with), [FailureKind::TeardownLost]);
        assert_eq!(outcome(&with).exit_code(true, false, Validity::Valid), 130);
    }

    #[test]
    fn what_the_end_of_the_load_cut_off_is_no_failure_unless_nothing_else_was() {
        let cut = |count, errors, cut_off| {
            let all = RequestStats { cut_off, ..requests(count, errors) };
            outcome(&evidence(&all, &[]))
                .reasons
                .into_iter()
                .map(|failure| failure.text)
                .collect::<Vec<_>>()
        };
        assert!(cut(100, 0, 4).is_empty());
        assert_eq!(cut(100, 1, 4), ["1 of 100 requests were errors (1%)"]);
        assert_eq!(cut(0, 0, 4), ["no request was finished: the end of the load cut off all 4"]);
        assert_eq!(
            cut(0, 0, 1),
            ["no request was finished: the end of the load cut off the only one"]
        );
        assert_eq!(
            cut(2, 2, 3),
            [
                "every request that was finished failed, 2 of them; the end of the load cut off 3 more"
            ]
        );
        assert_eq!(cut(4, 4, 0), ["every request failed, 4 of them"]);
        let all = RequestStats { cut_off: 2, ..requests(0, 0) };
        assert_eq!(kinds(&evidence(&all, &[])), [FailureKind::NothingMeasured]);
    }

    #[test]
    fn what_could_not_be_sent_fails_a_run_without_thresholds() {
        let of = |count, not_sent| {
            let error_kinds = vec![(ErrorKind::Status, 0), (ErrorKind::Variable, not_sent)];
            RequestStats { not_sent, error_kinds, ..requests(count, 0) }
        };
        let text = |all: &RequestStats| outcome(&evidence(all, &[])).reasons[0].text.clone();
        assert_eq!(text(&of(10, 2)), "2 requests could not be sent (variable)");
        assert_eq!(text(&of(0, 40)), "none of 40 requests could be sent (variable)");
        let (all, passed) = (of(10, 2), [threshold(true)]);
        let found = outcome(&Evidence { thresholds: &passed, ..evidence(&all, &[]) });
        assert_eq!(found.reasons, []);
        assert_eq!(found.caveats, ["16.7% of the requests could not be sent (2 of 12)"]);
        assert_eq!(outcome(&evidence(&all, &[])).caveats, [""; 0], "it is the reason already");
    }

    #[test]
    fn a_load_that_was_less_than_asked_for_is_a_caveat() {
        let all = RequestStats { retries: 2, ..requests(100, 0) };
        let counters = Counters { arrivals_due: 500, arrivals_dropped: 400, ..Counters::default() };
        let found = outcome(&Evidence { counters, ..evidence(&all, &[]) });
        assert!(found.passed());
        assert_eq!(
            found.caveats,
            [
                "80% of the arrivals were dropped (400 of 500)",
                "2% of the requests were sent again because the target had closed their connection (2 of 100)"
            ]
        );
        let few = RequestStats { retries: 1, ..requests(100, 0) };
        assert_eq!(outcome(&evidence(&few, &[])).caveats, [""; 0]);
    }

    #[test]
    fn thresholds_decide_where_there_are_any() {
        let checks = [("fast".to_owned(), CheckCounts { passed: 7, failed: 3, warned: 0 })];
        let all = requests(10, 3);
        let passed = [threshold(true)];
        let with = Evidence { thresholds: &passed, ..evidence(&all, &checks) };
        assert_eq!(kinds(&with), []);
        let failed = [threshold(true), threshold(false)];
        let with = Evidence { thresholds: &failed, ..evidence(&all, &checks) };
        assert_eq!(kinds(&with), [FailureKind::Threshold]);
        assert_eq!(outcome(&with).reasons[0].text, "threshold count > 0 failed (0)");
    }

    #[test]
    fn a_threshold_that_ended_the_load_fails_the_run_whatever_it_says_at_the_end() {
        let abort =
            |text: &str| Abort { threshold: text.to_owned(), at_s: 31.0, shown: "12%".to_owned() };
        let (all, passed, failed) = (requests(10, 1), [threshold(true)], [threshold(false)]);
        let own = abort("error_rate < 5%");
        let with = Evidence { aborted: Some(&own), thresholds: &passed, ..evidence(&all, &[]) };
        let found = outcome(&with);
        assert_eq!(
            found.reasons[0].text,
            "threshold error_rate < 5% aborted the load after 31s (12%)"
        );
        assert_eq!(found.exit_code(false, false, Validity::Valid), 1);
        assert_eq!(kinds(&with), [FailureKind::Aborted]);
        let with = Evidence { thresholds: &failed, ..with };
        assert_eq!(kinds(&with), [FailureKind::Aborted, FailureKind::Threshold]);
        // One reason is enough for one threshold.
        let own = abort("count > 0");
        assert_eq!(kinds(&Evidence { aborted: Some(&own), ..with }), [FailureKind::Aborted]);
    }

    #[test]
    fn what_no_plan_can_tolerate() {
        let (all, passed) = (requests(10, 10), [threshold(true)]);
        let incomplete = ["run.json: no space left".to_owned()];
        let with = Evidence {
            thresholds: &passed,
            counters: Counters { expressions_failed: 2, ..Counters::default() },
            stopped_by_plan: true,
            incomplete: &incomplete,
            ..evidence(&all, &[])
        };
        assert_eq!(
            kinds(&with),
            [
                FailureKind::Incomplete,
                FailureKind::EveryRequest,
                FailureKind::Expressions,
                FailureKind::StoppedByPlan
            ]
        );
    }

    #[test]
    fn a_program_that_did_its_work_is_no_request() {
        let (all, failed, passed) = (requests(10, 9), requests(9, 9), [threshold(true)]);
        let with = Evidence { thresholds: &passed, requests: &failed, ..evidence(&all, &[]) };
        assert_eq!(kinds(&with), [FailureKind::EveryRequest]);
        assert_eq!(kinds(&Evidence { thresholds: &[], ..with }), [FailureKind::EveryRequest]);
        // Programs that failed beside requests that did not are as many errors.
        let fine = requests(1, 0);
        let with = Evidence { requests: &fine, ..evidence(&all, &[]) };
        assert_eq!(kinds(&with), [FailureKind::Errors]);
    }

    #[test]
    fn exit_codes() {
        let of = |kind: Option<FailureKind>| {
            let failure =
                |kind| FailureReason { kind, name: None, count: None, text: String::new() };
            Outcome { reasons: kind.map(failure).into_iter().collect(), ..Outcome::default() }
        };
        let (valid, invalid) = (Validity::Valid, Validity::Invalid);
        assert_eq!(of(None).exit_code(false, true, valid), 0);
        assert_eq!(of(None).exit_code(false, false, invalid), 0);
        assert_eq!(of(None).exit_code(false, true, invalid), 3);
        assert_eq!(of(None).exit_code(true, false, valid), 130);
        assert_eq!(of(Some(FailureKind::Threshold)).exit_code(false, false, valid), 1);
        assert_eq!(of(Some(FailureKind::Threshold)).exit_code(true, false, valid), 130);
        assert_eq!(of(Some(FailureKind::Incomplete)).exit_code(false, false, valid), 3);
    }
}
