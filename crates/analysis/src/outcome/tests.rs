//! What makes a run fail, what does not, and with which exit code.

use super::*;
use squall_metrics::ErrorKind;

fn evidence<'a>(all: &'a RequestStats, checks: &'a [(String, CheckCounts)]) -> Evidence<'a> {
    Evidence {
        thresholds: &[],
        all,
        requests: all,
        checks,
        counters: Counters::default(),
        has_metrics: false,
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
    assert_eq!(texts, ["check fast failed 3 times of 10", "3 of 10 requests were errors (30%)"]);
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
    let uncounted =
        Evidence { counters: Counters { connections_opened: 1, ..Counters::default() }, ..with };
    assert!(text(&uncounted).contains("requests were sent, but none is counted"));
    assert_eq!(kinds(&Evidence { has_metrics: true, ..with }), []);
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
    assert_eq!(cut(0, 0, 1), ["no request was finished: the end of the load cut off the only one"]);
    assert_eq!(
        cut(2, 2, 3),
        ["every request that was finished failed, 2 of them; the end of the load cut off 3 more"]
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
    assert_eq!(found.reasons[0].text, "threshold error_rate < 5% aborted the load after 31s (12%)");
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
        counters: Counters { expressions_failed: 2, marked_failed: 1, ..Counters::default() },
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
            FailureKind::MarkedFailed,
            FailureKind::StoppedByPlan
        ]
    );
}

/// Thresholds tolerate exceptions of scripts, as they do errors; the outcome says so all the same.
#[test]
fn exceptions_of_scripts_fail_a_run_without_thresholds() {
    let (all, passed) = (requests(10, 0), [threshold(true)]);
    let counters = Counters { exceptions: 2, ..Counters::default() };
    let without = Evidence { counters, ..evidence(&all, &[]) };
    assert_eq!(kinds(&without), [FailureKind::Exceptions]);
    let with = outcome(&Evidence { thresholds: &passed, ..without });
    assert!(with.passed(), "{with:?}");
    assert_eq!(with.caveats, ["the script threw 2 exceptions"]);
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
        let failure = |kind| FailureReason { kind, name: None, count: None, text: String::new() };
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
