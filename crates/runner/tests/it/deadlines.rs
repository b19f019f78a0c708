//! Deadlines are the target's to meet: each exchange has its own, and time in which squall or the plan
//! holds a request up does not count.

use std::sync::Barrier;
use std::thread::sleep;
use std::time::Duration;

use crate::common::peer::{Conversation, Peer, response};
use crate::common::{
    End, Steps, all_good, counter, folder, kinds, options, plan, refused, result, target,
};

const REDIRECTS: u32 = 21;

/// Redirects many times, each after a while that is far within a limit of 2 s; all together are not.
fn redirects_slowly(mut client: Conversation) {
    let mut left = REDIRECTS;
    while client.request().is_some() {
        sleep(Duration::from_millis(100));
        if left == 0 {
            client.send(response("200 OK", "there"));
            left = REDIRECTS;
        } else {
            client.send(format!(
                "HTTP/1.1 302 Found\r\nLocation: /{left}\r\nContent-Length: 0\r\n\r\n"
            ));
            left -= 1;
        }
    }
}

#[test]
fn each_exchange_of_a_redirect_has_its_own_deadline() {
    let server = Peer::start("127.0.0.1", redirects_slowly);
    let get = |limit: &str| {
        format!("{{get: /, redirects: 30, timeout: {{{limit}: 2s}}, check: body == \"there\"}}")
    };
    // At the same time.
    let steps = format!("parallel: [{}, {}]", get("total"), get("first_byte"));
    let json = Steps::one(&server.url(), &steps).run(End::Passed);
    all_good(&json, 2);
    let latency = json["totals"]["latency_us"]["min"].as_f64().expect("a number");
    assert!(latency >= 2_200_000.0, "the request is all of them: {latency}");
}

/// Half of the users have little time, and two waits; what is no time fails where it is needed.
#[test]
fn times_may_be_values_of_the_user() {
    // Whoever has little time gets no response, and the others get theirs when those have given up.
    let given_up = Barrier::new(4);
    let patient = Peer::start("127.0.0.1", move |mut client| {
        let is_short = client.request().is_some_and(|head| head.starts_with("GET /1s "));
        let closed = is_short && client.request().is_none();
        given_up.wait();
        if !closed {
            client.send(response("200 OK", ""));
            client.end();
        }
    });
    let time = "{set: {t: '${user % 2 == 0 ? \"1s\" : \"1h\"}', pause: '${user * 300}'}}";
    for timeout in ["'${t}'", "{first_byte: '${t}'}"] {
        let steps = format!("{time}\n      - {{get: '/${{t}}', name: a, timeout: {timeout}}}");
        let url = patient.url();
        let steps = Steps { users: 4, head: "on_error: continue", ..Steps::one(&url, &steps) };
        let json = steps.run(End::Failed);
        assert_eq!(kinds(&json), r#"{"timeout_first_byte":2}"#, "{timeout}: {json}");
        assert_eq!(json["requests"]["a"]["count"].as_u64(), Some(4), "{timeout}: {json}");
    }
    let server = target();
    let url = server.url();
    let defaults = Steps {
        head: "vars: {limit: 1h}\ndefaults: {timeout: '${limit}'}",
        ..Steps::one(&url, "{set: {limit: 1s}}\n      - {get: /delay/10000}")
    };
    assert_eq!(
        kinds(&defaults.run(End::Failed)),
        r#"{"timeout_first_byte":1}"#,
        "as a step set it"
    );
    let steps =
        format!("{time}\n      - {{think: '${{pause}}ms..${{pause}}ms'}}\n      - {{get: /}}");
    let json = Steps { users: 3, ..Steps::one(&url, &steps) }.run(End::Passed);
    let thought = json["time_accounting"]["think"].as_f64().expect("a number");
    assert!((thought - 0.9).abs() < 1e-6, "0, 300 and 600 ms: {thought}");
}

#[test]
fn a_value_that_is_no_time_is_said() {
    let server = target();
    let url = server.url();
    let steps = "{set: {t: soon}}\n      - {get: /, timeout: '${t}'}\n      - {get: /}";
    let json = Steps { head: "on_error: continue", ..Steps::one(&url, steps) }.run(End::Failed);
    assert_eq!(kinds(&json), r#"{"render":1}"#);
    assert!(json["log"].to_string().contains("timeout: invalid duration `soon`"), "{json}");
    let json = Steps::one(&url, "{set: {t: 5}}\n      - {think: '${t}'}\n      - {get: /}")
        .run(End::Failed);
    assert_eq!((kinds(&json), counter(&json, "expressions_failed")), ("{}".to_owned(), 1));
    assert!(json["log"].to_string().contains("think: invalid duration `5`"), "{json}");
    // What is known before the run is an error then, and so is a name that nothing has.
    let refused = |steps: &str| {
        let text = plan(&url, "vars: {t: soon}", steps);
        let folder = folder(&[("plan.yaml", &text)]);
        refused(folder.path(), &options())
    };
    for steps in ["{get: /, timeout: '${t}'}", "{think: '${t}'}, {get: /}"] {
        let text = refused(steps);
        assert!(text.contains("invalid duration `soon`") && text.contains("plan.yaml:"), "{text}");
    }
    assert!(refused("{get: /, timeout: '${u}'}").contains("unknown variable `u`"));
}

#[test]
fn a_redirect_to_another_scheme_has_a_kind_of_its_own() {
    let server = Peer::start("127.0.0.1", |mut client| {
        client.request();
        client.send(
            "HTTP/1.1 302 Found\r\nLocation: com.app:/callback?code=1\r\nContent-Length: 0\r\n\r\n",
        );
        client.end();
    });
    let json = Steps::one(&server.url(), "{get: /, redirects: 3}").run(End::Failed);
    assert_eq!(kinds(&json), r#"{"bad_redirect":1}"#);
    // It was not followed.
    assert_eq!(counter(&json, "redirects"), 0);
    assert!(json["log"].to_string().contains("its scheme is `com.app`"), "{json}");
}

/// The target responds at once; the plan lets the user read it for three seconds.
#[test]
fn a_throttled_user_does_not_run_into_its_own_bandwidth() {
    let step = "{get: /bytes/60k, timeout: {total: 2500ms}}";
    let server = target();
    let url = server.url();
    let steps = Steps { head: "bandwidth: {down: 20kB/s}", ..Steps::one(&url, step) };
    all_good(&steps.run(End::Passed), 1);
}

/// A target that stalls still runs into the deadline, throttled or not.
#[test]
fn a_throttled_user_times_out_when_the_target_does_not_respond() {
    let server = Peer::start("127.0.0.1", |mut client| while client.request().is_some() {});
    let step = "{get: /, timeout: {total: 1s}}";
    let url = server.url();
    let steps = Steps { head: "bandwidth: {down: 20kB/s}", ..Steps::one(&url, step) };
    assert_eq!(kinds(&steps.run(End::Failed)), r#"{"timeout_first_byte":1}"#);
}

#[test]
fn groups_that_the_end_of_the_load_cuts_off_are_no_errors() {
    let server = target();
    let folder = tempfile::tempdir().expect("a folder");
    let plan = format!(
        "target: {}\nscenarios:\n  user:\n    load: {{users: 20, for: 2s}}\n    steps:\n      - group: pair\n        steps: [{{get: /}}, {{think: 1h}}, {{get: /}}]\n",
        server.url()
    );
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    let json = result(folder.path(), &options(), End::Passed);
    let group = &json["groups"]["pair"];
    assert_eq!((group["count"].as_u64(), group["errors"].as_u64()), (Some(0), Some(0)), "{group}");
    assert_eq!(
        (group["cut_off"].as_u64(), group["latency_us"]["count"].as_u64()),
        (Some(20), Some(0))
    );
    assert_eq!((counter(&json, "iterations_started"), counter(&json, "iterations_done")), (20, 0));
}
