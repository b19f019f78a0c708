//! What an exchange makes of made-up responses: where they lead, what they ask for, what is done with the reply.

use squall_metrics::ErrorKind;
use squall_plan::template::BoundTemplate;

use super::*;
use crate::parts::cache::Lookup;
use crate::program::call::{Across, BodyOp, ContentOp, HeaderOp};
use crate::sample::resources;
use crate::sample::sampled::{SampleHead, Sampled};
use crate::sample::testing::{Bench, NOW, after, response};
use crate::scope::UserScope;
use crate::user::Strand;

/// A request of the plan, as it is performed.
struct Taken {
    /// What each response led to.
    received: Vec<Received>,
    sampled: Sampled,
}

/// The call of the first request of a plan.
fn first(bench: &Bench) -> Call<'_, '_> {
    let scope = UserScope::new(&bench.worker.program, bench.core());
    Call::of(&bench.worker, &bench.request().call, &scope).expect("a call")
}

/// Shows responses to exchanges of the first request of a plan, each to the same call.
fn take(bench: &Bench, challenged: Challenged, responses: &[Response<'_>]) -> Taken {
    let op = bench.request();
    let call = first(bench);
    let wanted = match op.policy.resources {
        Some(_) => Wanted::page(),
        None => Wanted::default(),
    };
    take_call(bench, &call, &wanted, challenged, responses)
}

fn take_call(
    bench: &Bench,
    call: &Call<'_, '_>,
    wanted: &Wanted<'_>,
    challenged: Challenged,
    responses: &[Response<'_>],
) -> Taken {
    let policy = &bench.request().policy;
    let exchange = HttpExchange { call, policy, limits: &policy.limits, wanted, challenged };
    let (worker, user) = (&bench.worker, bench.core());
    let in_flight = worker.in_flight.enter();
    let mut strand = Strand::default();
    let mut frame = Frame::new(worker, user, &in_flight, &mut strand, NOW);
    let head = SampleHead::of(&policy.row, call.method, true);
    frame.name = head.name;
    let message = exchange.message(worker, user, false).expect("a message");
    let capture = Capture::start(worker, user, policy.capture.as_ref()).expect("a capture");
    let received = responses.iter().map(|response| {
        exchange.received(&mut frame, response, &after(10), &message.form, capture.as_ref())
    });
    let received: Vec<Received> = received.collect();
    let sampled = frame.close(head, &mut strand, Ok(None));
    Taken { received, sampled }
}

fn one(bench: &Bench, response: Response<'_>) -> (Received, Sampled) {
    let Taken { mut received, sampled } = take(bench, Challenged::Never, &[response]);
    (received.remove(0), sampled)
}

fn redirect_to(location: &str) -> String {
    format!("HTTP/1.1 302 Found\r\nLocation: {location}\r\nSet-Cookie: on=way\r\n\r\n")
}

fn cookies(bench: &Bench) -> String {
    let mut header = Vec::new();
    let call = first(bench);
    bench.core().jar(0).header(call.site(), &mut header);
    String::from_utf8(header).expect("a text")
}

#[test]
fn a_redirect_is_followed_where_the_plan_says_so_and_the_response_says_where_to() {
    let there = redirect_to("/there");
    for (redirects, status, head, follows) in [
        (0, 302, &*there, false),
        (1, 302, &*there, true),
        (1, 301, &*there, true),
        (1, 303, &*there, true),
        (1, 307, &*there, true),
        (1, 308, &*there, true),
        (1, 300, &*there, false),
        (1, 304, &*there, false),
        (1, 201, &*there, false),
        (1, 302, "HTTP/1.1 302 Found\r\n\r\n", false),
    ] {
        let bench = Bench::with(&format!("[{{get: /, redirects: {redirects}}}]"), "");
        let (received, _) = one(&bench, response(status, head, ""));
        match received {
            Received::Redirect { location, .. } => {
                assert!(follows && location == b"/there", "{status} with {redirects} redirects");
            }
            _ => assert!(!follows, "{status} with {redirects} redirects"),
        }
    }
}

#[test]
fn a_307_of_a_post_is_not_followed_where_all_redirects_become_gets() {
    for (method, follows) in [("get", true), ("head", true), ("post", false)] {
        let steps = format!("[{{{method}: /, redirects: 1, redirect_to_get: true}}]");
        let (received, _) = one(&Bench::with(&steps, ""), response(307, &redirect_to("/"), ""));
        assert_eq!(matches!(received, Received::Redirect { .. }), follows, "{method}");
    }
}

#[test]
fn cookies_are_kept_as_the_plan_says() {
    let plain = "HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\n\r\n";
    for (options, status, head, kept) in [
        ("", 200, plain, "a=1"),
        (", cookies: false", 200, plain, ""),
        (", redirects: 1", 302, &*redirect_to("/"), "on=way"),
        (", redirects: 1, redirect_cookies: false", 302, &*redirect_to("/"), ""),
        (", redirect_cookies: false", 302, &*redirect_to("/"), "on=way"),
    ] {
        let bench = Bench::with(&format!("[{{get: /{options}}}]"), "");
        one(&bench, response(status, head, ""));
        assert_eq!(cookies(&bench), kept, "{options}, {status}");
    }
}

#[test]
fn digest_credentials_are_asked_for_once_and_again_only_for_a_stale_nonce() {
    let asks = |more: &str| {
        format!(
            "HTTP/1.1 401 No\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n\"{more}\r\n\r\n"
        )
    };
    let basic = "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"r\"\r\n\r\n".to_owned();
    for (challenged, head, becomes) in [
        (Challenged::Never, asks(""), "challenge"),
        (Challenged::Once, asks(""), "reply"),
        (Challenged::Once, asks(", stale=true"), "challenge"),
        (Challenged::Twice, asks(", stale=true"), "reply"),
        (Challenged::Never, basic.clone(), "unknown"),
        (Challenged::Once, basic, "reply"),
    ] {
        let bench = Bench::with("[{get: /, auth: {digest: {user: u, password: p}}}]", "");
        let taken = take(&bench, challenged, &[response(401, &head, "")]);
        let seen = match taken.received[0] {
            Received::Challenge(_) => "challenge",
            Received::Unknown(_) => "unknown",
            Received::Reply(_) => "reply",
            _ => "something else",
        };
        assert_eq!(seen, becomes, "{challenged:?}: {head}");
        assert_eq!(taken.sampled.failed, seen == "reply", "a 401 that stays is an error");
    }
}

#[test]
fn credentials_of_one_origin_are_not_told_to_another() {
    let bench = Bench::with("[{get: /, auth: {digest: {user: u, password: p}}}]", "");
    let head = "HTTP/1.1 401 No\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n\"\r\n\r\n";
    let mut call = first(&bench);
    call.trusted = false;
    let wanted = Wanted::default();
    let taken = take_call(&bench, &call, &wanted, Challenged::Never, &[response(401, head, "")]);
    assert!(matches!(taken.received[0], Received::Reply(_)));
}

#[test]
fn a_challenge_is_asked_for_at_most_twice() {
    let mut challenged = Challenged::Never;
    let seen = [(); 3].map(|()| {
        challenged = challenged.again();
        challenged
    });
    assert_eq!(seen, [Challenged::Once, Challenged::Twice, Challenged::Twice]);
}

#[test]
fn a_status_from_400_on_is_an_error_unless_the_plan_looks_at_it() {
    for (options, status, error) in [
        ("", 399, None),
        ("", 400, Some(ErrorKind::Status)),
        (", status_errors: false", 500, None),
        (", check: status == 500", 500, None),
        (", check: status == 200", 500, Some(ErrorKind::Check)),
        (", check: body == 'x'", 500, Some(ErrorKind::Status)),
    ] {
        let bench = Bench::with(&format!("[{{get: /{options}}}]"), "");
        let (_, sampled) = one(&bench, response(status, "", ""));
        assert_eq!(sampled.failed, error.is_some(), "{options}, {status}");
        let kinds: Vec<ErrorKind> =
            bench.finish().only().1.error_kinds.iter().map(|(kind, _)| *kind).collect();
        assert_eq!(kinds, Vec::from_iter(error), "{options}, {status}");
    }
}

#[test]
fn a_response_that_leads_on_is_seen_only_by_what_looks_at_such() {
    let steps = "[{get: /, redirects: 1, extract: {seen: {header: X, redirects: true}, last: {header: X, default: none}}}]";
    let bench = Bench::with(steps, "");
    let on = "HTTP/1.1 302 Found\r\nLocation: /\r\nX: on the way\r\n\r\n";
    let end = "HTTP/1.1 200 OK\r\n\r\n";
    let taken = take(&bench, Challenged::Never, &[response(302, on, ""), response(200, end, "")]);
    assert!(!taken.sampled.failed);
    assert_eq!(bench.variable("seen").as_deref(), Some("on the way"));
    assert_eq!(bench.variable("last").as_deref(), Some("none"));
}

#[test]
fn a_hash_takes_the_place_of_the_body_but_of_an_empty_one() {
    let steps = "[{get: /, response_body: {digest: md5}, extract: {seen: body}}]";
    // Nothing is written to the capture here: the hash is that of nothing.
    for (body, seen) in [("abc", "d41d8cd98f00b204e9800998ecf8427e"), ("", "")] {
        let bench = Bench::with(steps, "");
        let (_, sampled) = one(&bench, response(200, "", body));
        assert!(!sampled.failed);
        assert_eq!(bench.variable("seen").as_deref(), Some(seen), "{body}");
    }
}

#[test]
fn a_compressed_body_that_nobody_asked_for_is_named_as_the_reason() {
    let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n";
    for (options, said) in [("", true), (", compression: true", false)] {
        let bench =
            Bench::with(&format!("[{{get: /, extract: {{x: {{json: $.a}}}}{options}}}]"), "");
        one(&bench, response(200, head, "\u{1f}x"));
        let log = bench.finish().log;
        assert_eq!(log[0].contains("`compression: true`"), said, "{}", log[0]);
    }
}

#[test]
fn a_response_that_was_late_is_not_looked_at() {
    let bench = Bench::with("[{get: /, extract: {x: body}}]", "");
    let op = bench.request();
    let (worker, user) = (&bench.worker, bench.core());
    let call = first(&bench);
    let (policy, wanted) = (&op.policy, &Wanted::default());
    let (limits, challenged) = (&policy.limits, Challenged::Never);
    let exchange = HttpExchange { call: &call, policy, limits, wanted, challenged };
    let in_flight = worker.in_flight.enter();
    let mut frame = Frame::new(worker, user, &in_flight, &mut Strand::default(), NOW);
    frame.set_deadlines(1, 1);
    let message = exchange.message(worker, user, false).expect("a message");
    let times = Times { delay_ns: Some(1), ..after(10) };
    let received =
        exchange.received(&mut frame, &response(200, "", "late"), &times, &message.form, None);
    assert!(matches!(received, Received::Late(Phase::FirstByte)));
    assert_eq!(bench.variable("x"), None);
}

#[test]
fn the_resources_of_a_page_are_found_in_html_that_is_no_error() {
    let html = "<link rel=stylesheet href=a.css><img src=/b.png>";
    for (status, kind, number) in
        [(200, "text/html; charset=utf-8", 2), (200, "text/plain", 0), (404, "text/html", 0)]
    {
        let bench = Bench::with("[{get: /dir/page, resources: true, status_errors: false}]", "");
        let head = format!("HTTP/1.1 {status} x\r\nContent-Type: {kind}\r\n\r\n");
        let (received, _) = one(&bench, response(status, &head, html));
        let Received::Reply(found) = received else { panic!("no reply") };
        let items = found.map(|found| found.items(&bench.worker)).unwrap_or_default();
        let urls: Vec<&str> = items.iter().map(|item| &*item.url).collect();
        let all = ["http://a.test/dir/a.css", "http://a.test/b.png"];
        assert_eq!(urls, all[..number], "{status} {kind}");
    }
}

#[test]
fn what_a_page_does_not_have_is_sought_in_its_resources() {
    let steps = "[{get: /, resources: true, extract: {t: {regex: 'token=(\\w+)', resources: true, default: ''}}}]";
    let bench = Bench::with(steps, "");
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n";
    for (html, sought) in [("<img src=x>", 1), ("<img src=x> token=abc", 0)] {
        let (received, _) = one(&bench, response(200, head, html));
        let Received::Reply(Some(found)) = received else { panic!("no resources") };
        assert_eq!(found.sought.len(), sought, "{html}");
    }
}

#[test]
fn a_cache_keeps_what_a_response_allows_and_asks_for_no_more() {
    let bench = Bench::with("[{get: /page, cache: true}]", "");
    let (worker, user, policy) = (&bench.worker, bench.core(), &bench.request().policy);
    let call = first(&bench);
    let look = || resources::look_up(worker, user, policy, &call, &call.url());
    let mut wanted = Wanted::default();
    wanted.keep(call.url(), resources::now());
    assert!(matches!(look(), Lookup::Absent));
    let head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=1000\r\nETag: \"e\"\r\n\r\n";
    take_call(&bench, &call, &wanted, Challenged::Never, &[response(200, head, "")]);
    assert!(matches!(look(), Lookup::Fresh(_)));
    let head = "HTTP/1.1 200 OK\r\nCache-Control: no-cache\r\nETag: \"f\"\r\n\r\n";
    take_call(&bench, &call, &wanted, Challenged::Never, &[response(200, head, "")]);
    let Lookup::Stale(conditions) = look() else { panic!("fresh") };
    assert_eq!(&*conditions[0].1, b"\"f\"");
}

#[test]
fn what_a_redirect_led_to_is_not_kept_for_the_url_that_led_there() {
    let bench = Bench::with("[{get: /page, cache: true}]", "");
    let (worker, user, policy) = (&bench.worker, bench.core(), &bench.request().policy);
    let mut call = first(&bench);
    call.is_redirected = true;
    let mut wanted = Wanted::default();
    wanted.keep(call.url(), resources::now());
    let head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=1000\r\n\r\n";
    take_call(&bench, &call, &wanted, Challenged::Never, &[response(200, head, "")]);
    let known = resources::look_up(worker, user, policy, &call, &call.url());
    assert!(matches!(known, Lookup::Absent));
}

#[test]
fn a_body_that_takes_long_to_search_is_owned_and_searched_elsewhere() {
    let steps = "[{get: /, extract: {x: {css: 'b'}}}]";
    let bench = Bench::with(steps, "");
    let body = format!("{}<b>found</b>", "<p>text</p>".repeat(200_000));
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n";
    let response = response(200, head, &body);
    let (received, _) = one(&bench, response);
    let Received::Long(long, within) = received else { panic!("not long") };
    assert_eq!((long.status, long.body.len()), (200, body.len()));
    assert_eq!(long.response().header("content-type"), Some(&b"text/html"[..]));
    assert_eq!(bench.variable("x"), None, "nothing was searched yet");
    let op = bench.request();
    let (worker, user) = (&bench.worker, bench.core());
    let call = first(&bench);
    let (policy, wanted) = (&op.policy, &Wanted::default());
    let (limits, challenged) = (&policy.limits, Challenged::Never);
    let exchange = HttpExchange { call: &call, policy, limits, wanted, challenged };
    let in_flight = worker.in_flight.enter();
    let mut frame = Frame::new(worker, user, &in_flight, &mut Strand::default(), NOW);
    let searched = bench.block_on(exchange.search(&mut frame, long, within));
    assert!(searched.is_ok_and(|found| found.is_none()));
    assert_eq!(bench.variable("x").as_deref(), Some("found"));
}

/// As a script makes one: nothing of it stands in the plan.
#[test]
fn a_call_made_of_values_goes_through_the_frame() {
    let bench = Bench::with("[{get: /plan}]", "");
    let content = ContentOp {
        headers: vec![HeaderOp {
            name: b"X-Script: ".as_slice().into(),
            value: BoundTemplate::literal("yes"),
            across: Across::Always,
        }],
        body: BodyOp::Text(BoundTemplate::literal("made up")),
        ..ContentOp::default()
    };
    let worker = &bench.worker;
    let call = Call::new(worker, ("POST", worker.named_origin(0), b"/made?up=1"), &content);
    let message = message::message(worker, bench.core(), &call, &bench.request().policy, false);
    let message = message.expect("a message");
    let text = message.form.with_slices(|slices| slices.concat());
    let expected = "POST /made?up=1 HTTP/1.1\r\nHost: a.test\r\nX-Script: yes\r\nContent-Length: 7\r\n\r\nmade up";
    assert_eq!(String::from_utf8_lossy(&text), expected);
    let head = "HTTP/1.1 503 Busy\r\nSet-Cookie: s=1\r\n\r\n";
    let wanted = Wanted::default();
    let taken = take_call(&bench, &call, &wanted, Challenged::Never, &[response(503, head, "no")]);
    assert!(matches!(taken.received[0], Received::Reply(None)) && taken.sampled.failed);
    assert_eq!(cookies(&bench), "s=1");
    assert_eq!(bench.finish().only().1.status, [(503, 1)]);
}
