//! Tests of thresholds.

use super::requirement::*;
use crate::totals::Totals;
use squall_metrics::{
    ErrorKind, MetricKey, MetricKind, NameId, Phases, RowKey, RowKind, Sample, Slice,
};

fn totals() -> Totals {
    let mut slice = Slice::new(0, 0);
    slice.announce(NameId(0), RowKey::new(RowKind::Request, "buyer", "login"));
    slice.announce(NameId(1), RowKey::new(RowKind::Group, "buyer", "check out"));
    for n in 1..=100u64 {
        slice.record(
            NameId(0),
            &Sample {
                corrected_latency_ns: Some(n * 2_000_000),
                status: if n == 1 { 500 } else { 200 },
                error: (n == 1).then_some(ErrorKind::Status),
                phases: Phases([None, None, None, None, Some(900_000), Some(n * 100_000)]),
                ..Sample::ok(n * 1_000)
            },
        );
    }
    slice.record_span(NameId(1), 5_000_000_000, false);
    slice.counters.arrivals_dropped = 2;
    let mut totals = Totals::new();
    totals.add(&slice);
    totals
}

#[test]
fn thresholds_pass_or_fail() {
    let totals = totals();
    for (text, passed) in [
        ("p99(login) < 300ms", true),
        ("p99(login) < 50ms", false),
        ("p50(login) <= 50.1ms", true),
        ("error_rate <= 1%", true),
        ("error_rate < 0.01", false),
        ("rate(login) >= 10/s", true),
        ("rate > 601/min", false),
        ("count == 100", true),
        ("errors(login) == 1", true),
        ("errors_status == 1", true),
        ("errors_reset > 0", false),
        ("max(\"check out\") > 4s", true),
        ("corrected_max > 199ms", true),
        ("mean ( login ) < 51ms", true),
        ("arrivals_dropped == 0", false),
        ("count(nobody) == 0", false),
        ("count(login, scenario: buyer) == 100", true),
        ("count(login, scenario: guest) == 100", false),
        ("count(scenario: buyer) == 100", true),
        ("max(check out, kind: group, scenario: buyer) > 4s", true),
        ("count(login, kind: group) == 1", false),
        ("count(kind: group) == 1", true),
        ("p99(login, phase: body) < 2s", true),
        ("p99(phase: connect) < 2s", false),
        ("max(group check out) > 4s", true),
        ("max(group check out, scenario: buyer) > 4s", true),
        ("max(group login) < 4s", false),
        ("max(\"group check out\") > 4s", false),
        ("apdex(25ms) >= 0.61", true),
        ("apdex(login, 25ms) >= 0.62", false),
        ("cut_off == 0", true),
    ] {
        let result = Threshold::parse(text).expect(text).evaluate(&totals, 10.0);
        assert_eq!(result.passed, passed, "{text}: {}", result.shown);
    }
}

#[test]
fn of_no_requests_there_is_no_error_rate() {
    let none = Totals::new();
    let result = |text| Threshold::parse(text).expect("good").evaluate(&none, 10.0);
    for text in ["error_rate < 1%", "error_rate >= 0"] {
        let result = result(text);
        assert_eq!((result.passed, result.value), (false, None), "{text}");
        assert_eq!(result.shown, "nothing was counted");
    }
    assert!(result("errors == 0").passed, "a count of nothing is 0");
}

/// Of 1,000 requests 43 get no response within a second, all others within 2 ms.
#[test]
fn what_never_came_is_not_below_a_limit() {
    let mut slice = Slice::new(0, 0);
    slice.announce(NameId(0), RowKey::new(RowKind::Request, "buyer", "login"));
    for n in 0..1_000u64 {
        let given_up = n % 23 == 0 && n < 989;
        let sample = Sample::ok(if given_up { 1_000_000 } else { 1_000 + n });
        let error = given_up.then_some(ErrorKind::TimeoutFirstByte);
        let latency = Some(2 * sample.latency_ns);
        let sample = Sample { complete: !given_up, error, corrected_latency_ns: latency, ..sample };
        slice.record(NameId(0), &sample);
    }
    let mut totals = Totals::new();
    assert!(totals.add(&slice));
    for (text, passed, shown) in [
        ("p95 < 100ms", true, "1.99 ms"),
        ("p99 < 100ms", false, "at least 1.00 s"),
        // Nobody knows how long they would have taken.
        ("p99 < 5s", false, "at least 1.00 s"),
        ("p99(login) > 100ms", true, "at least 1.00 s"),
        ("corrected_p99 <= 1m", false, "at least 2.00 s"),
        ("max < 5s", false, "at least 1.00 s"),
        ("mean < 50ms", true, "at least 44.4 ms"),
        ("min < 2ms", true, "1.00 ms"),
    ] {
        let result = Threshold::parse(text).expect(text).evaluate(&totals, 10.0);
        assert_eq!((result.passed, result.shown.as_str()), (passed, shown), "{text}");
    }
    let p99 = Threshold::parse("p99 < 1s").expect("good");
    assert_eq!(p99.percentile_of(&totals), Some((99.0, 1_000)));
}

/// Requests to `login` with these fates: responses, errors with this kind, times in ms.
fn with_failures(responses: u64, failed: &[(ErrorKind, u64, u64)]) -> Totals {
    let mut slice = Slice::new(0, 0);
    slice.announce(NameId(0), RowKey::new(RowKind::Request, "buyer", "login"));
    (0..responses).for_each(|_| slice.record(NameId(0), &Sample::ok(1_000)));
    for (kind, number, ms) in failed {
        let sample = Sample { error: Some(*kind), complete: false, ..Sample::ok(ms * 1_000) };
        (0..*number).for_each(|_| slice.record(NameId(0), &sample));
    }
    let mut totals = Totals::new();
    assert!(totals.add(&slice));
    totals
}

/// A tenth of the requests wait for half a second, and then come to nothing.
#[test]
fn a_failure_that_came_late_took_at_least_that_long() {
    for kind in [ErrorKind::Reset, ErrorKind::ClosedEarly, ErrorKind::MalformedResponse] {
        let totals = with_failures(90, &[(kind, 10, 500)]);
        for (text, passed, shown) in [
            ("p90 < 100ms", true, "1.00 ms"),
            ("p95 < 100ms", false, "at least 500 ms"),
            ("mean(login) < 10ms", false, "at least 50.9 ms"),
            ("error_rate < 1%", false, "10%"),
        ] {
            let result = Threshold::parse(text).expect(text).evaluate(&totals, 10.0);
            assert_eq!((result.passed, result.shown.as_str()), (passed, shown), "{kind:?} {text}");
        }
    }
    let at_once = with_failures(90, &[(ErrorKind::ConnectRefused, 10, 0)]);
    assert!(Threshold::parse("max < 2ms").expect("good").evaluate(&at_once, 10.0).passed);
}

#[test]
fn what_squall_cut_off_or_could_not_make_is_no_request() {
    let (cut, not_made) = ((ErrorKind::Interrupted, 50, 300), (ErrorKind::Variable, 40, 0));
    let totals = with_failures(350, &[cut, not_made]);
    for (text, shown) in [
        ("count == 350", "350"),
        ("rate == 35/s", "35.0/s"),
        ("errors == 0", "0"),
        ("error_rate == 0%", "0%"),
        ("cut_off == 50", "50"),
        ("not_sent(login) == 40", "40"),
        ("errors_variable == 40", "40"),
    ] {
        let result = Threshold::parse(text).expect(text).evaluate(&totals, 10.0);
        assert_eq!((result.passed, result.shown.as_str()), (true, shown), "{text}");
    }
    assert!(Threshold::parse("errors_interrupted == 0").is_err());
    // It waited all the same.
    let p99 = Threshold::parse("p99 < 10ms").expect("good").evaluate(&totals, 10.0);
    assert!(!p99.passed && p99.at_least, "{}", p99.shown);
}

#[test]
fn why_there_is_no_value_is_said() {
    let shown = |text: &str, totals: &Totals| {
        let result = Threshold::parse(text).expect(text).evaluate(totals, 10.0);
        assert_eq!((result.passed, result.value), (false, None), "{text}");
        result.shown
    };
    let failed = with_failures(0, &[(ErrorKind::ConnectRefused, 400, 0)]);
    assert_eq!(
        shown("p95(login) < 1s", &failed),
        "no responses: all 400 requests to `login` failed"
    );
    assert_eq!(shown("p95 < 1s", &failed), "no responses: all 400 requests failed");
    assert_eq!(shown("p95(logout) < 1s", &failed), "nothing was counted under `logout`");
    let one = with_failures(0, &[(ErrorKind::Reset, 1, 0)]);
    assert_eq!(shown("mean < 1s", &one), "no response: the only request failed");
    let not_sent = with_failures(0, &[(ErrorKind::Variable, 40, 0)]);
    assert_eq!(
        shown("error_rate(login) < 1%", &not_sent),
        "none of 40 requests to `login` could be sent"
    );
    let phase = shown("p95(login, phase: connect) < 1s", &with_failures(3, &[]));
    assert_eq!(phase, "no response under `login, phase: connect` had this phase");
}

#[test]
fn many_requests_that_were_sent_again_count_as_errors() {
    let rate = |again: u64| {
        let mut slice = Slice::new(0, 0);
        slice.announce(NameId(0), RowKey::new(RowKind::Request, "buyer", "login"));
        for n in 0..1_000 {
            let retries = u64::from(n < again);
            slice.record(NameId(0), &Sample { retries, ..Sample::ok(1_000) });
        }
        let mut totals = Totals::new();
        assert!(totals.add(&slice));
        Threshold::parse("error_rate < 1%").expect("good").evaluate(&totals, 10.0).shown
    };
    assert_eq!(rate(10), "0%", "connections that were closed while they were idle");
    assert_eq!(rate(20), "2%");
}

#[test]
fn metrics_of_the_plan_have_thresholds() {
    let mut slice = Slice::new(0, 0);
    let mut record = |kind, name: &str, tag: &str, values: &[f64]| {
        let number = squall_metrics::MetricId(slice.metric_keys.len() as u32);
        let tags = vec![("to".to_owned(), tag.to_owned())];
        slice.announce_metric(number, &MetricKey::new(kind, "buyer", name, tags));
        for (at, value) in values.iter().enumerate() {
            assert_eq!(slice.record_metric(number, kind, *value, at as u64), Ok(()));
        }
    };
    record(MetricKind::Counter, "bought", "at", &[2.5, 2.0]);
    record(MetricKind::Counter, "bought", "de", &[1.0]);
    record(MetricKind::Gauge, "stock", "at", &[7.0, -2.0, 3.5]);
    record(MetricKind::Rate, "cached", "at", &[1.0, 1.0, 1.0, 0.0]);
    record(MetricKind::Trend, "render", "at", &[4.0, 8.0]);
    let mut totals = Totals::new();
    assert!(totals.add(&slice));
    for (text, passed) in [
        ("count(bought) > 5", true),
        ("count(bought) == 5.5", true),
        ("count(bought{to=de}) == 1", true),
        ("count(bought, tag.to: de) == 1", true),
        ("count(bought, tag.to: at, scenario: buyer) == 4.5", true),
        ("count(bought, scenario: guest) == 4.5", false),
        ("count(bought, tag.to: '') == 1", false),
        ("rate(bought) >= 0.55/s", true),
        ("count(stock) == 3", true),
        ("last(stock) == 3.5", true),
        ("min(stock) == -2", true),
        ("max(stock) < 7", false),
        ("rate(cached) > 0.7", true),
        ("rate(cached) > 80%", false),
        ("p95(render) < 10ms", true),
        ("max(render) < 8ms", false),
        ("max(render) <= 8", true),
        ("mean(render) == 6", true),
        ("last(bought) > 0", false),
        ("p95(nothing) < 5", false),
    ] {
        let result = Threshold::parse(text).expect(text).evaluate(&totals, 10.0);
        assert_eq!(result.passed, passed, "{text}: {}", result.shown);
    }
    let shown = |text| Threshold::parse(text).expect(text).evaluate(&totals, 10.0).shown;
    assert_eq!(shown("count(bought) > 5"), "5.5");
    assert_eq!(shown("rate(cached) > 0.7"), "75%");
    assert_eq!(
        Threshold::parse("p95(render) < 3").expect("good").percentile_of(&totals),
        Some((95.0, 2))
    );
}

/// The last whole second counts: of a later one not all workers may have told yet.
#[test]
fn users_are_those_of_the_last_second_that_is_over() {
    let mut totals = Totals::new();
    for (worker, second, users) in [(0, 0, 2), (1, 0, 3), (0, 1, 4), (1, 1, 3), (0, 2, 1)] {
        let mut slice = Slice::new(worker, second);
        slice.counters.users_active = users;
        assert!(totals.add(&slice));
    }
    let shown = |text, at_s| Threshold::parse(text).expect(text).evaluate(&totals, at_s).shown;
    for (at_s, users) in [(1.0, "5"), (2.0, "7"), (2.1, "1"), (60.0, "1")] {
        assert_eq!(shown("last(users_active) > 0", at_s), users, "after {at_s} s");
        assert_eq!(shown("users_active > 0", at_s), "7");
    }
    let nothing = Threshold::parse("last(users_active) > 0").expect("good");
    assert!(!nothing.evaluate(&Totals::new(), 1.0).passed);
}

#[test]
fn errors_say_what_is_wrong() {
    for (text, word) in [
        ("p101 < 1s", "p101"),
        ("speed < 1s", "speed"),
        ("p99(login < 1s", "parenthesis"),
        ("p99(login) 1s", "expected one of"),
        ("p99(login) < 5%", "time"),
        ("rate < 5ms", "rate"),
        ("arrivals_dropped(login) == 0", "takes no name"),
        ("", "unknown metric"),
        ("p99() < 1s", "empty"),
        ("p99 < 5", "time"),
        ("p99 < ", "such as 300ms or 1.5s, found the end"),
        ("last < 5", "gauge"),
        ("corrected_p99(login) < 5", "time"),
        ("p99(login, kind: query) < 1s", "kind"),
        ("p99(login, phase: lunch) < 1s", "phase"),
        ("count(login, phase: body) > 1", "phase"),
        ("p99(login, scenario: ) < 1s", "empty"),
        ("p99(login, scenario: '') < 1s", "empty"),
        ("p99(login, tag.team: ) < 1s", "empty"),
        ("p99(login, scenario: a, scenario: b) < 1s", "twice"),
        ("p99 < 1s over 1500ms", "whole seconds"),
        ("p99 < 1s over 0s", "whole seconds"),
        ("p99 < 1s over 3601s", "1h long at most"),
        ("p99 < 1s over 2h", "1h long at most"),
        ("arrivals_dropped < 5 over 10s", "about the whole run"),
        ("last(stock) < 5 over 10s", "about the whole run"),
        ("p99(render) < 5 over 10s", "about the whole run"),
        ("apdex(login) > 0.9", "target time"),
        ("apdex > 0.9", "target time"),
    ] {
        let error = Threshold::parse(text).expect_err(text);
        assert!(error.message.contains(word), "{text}: {}", error.message);
    }
}

#[test]
fn any_text_is_a_threshold_or_an_error() {
    use proptest::prelude::*;
    proptest!(|(text in ".{0,40}")| { let _ = Threshold::parse(&text); });
}
