//! Where calls go: as steps have it, and as redirects do.

use squall_metrics::ErrorKind;

use super::*;
use crate::sample::message::{Form, message};
use crate::sample::testing::Bench;

/// The call of the first request of a plan.
fn first(bench: &Bench) -> Call<'_, '_> {
    let scope = UserScope::new(&bench.worker.program, bench.core());
    Call::of(&bench.worker, &bench.request().call, &scope).expect("a call")
}

/// Where a redirect of a call leads.
fn redirected<'b>(
    bench: &'b Bench,
    call: &Call<'b, 'b>,
    status: u16,
    location: &str,
) -> Result<Call<'b, 'b>, SampleFailure> {
    call.redirected(&bench.worker, &bench.request().policy, status, location.as_bytes())
}

/// What a call sends over HTTP/1.1.
fn text(bench: &Bench, call: &Call<'_, '_>) -> String {
    let message = message(&bench.worker, bench.core(), call, &bench.request().policy, false);
    let bytes = message.expect("a message").form.with_slices(|slices| slices.concat());
    String::from_utf8(bytes).expect("a text")
}

#[test]
fn each_redirect_changes_the_method_as_the_rfc_says() {
    for (method, status, becomes, with_body) in [
        ("post", 301, "GET", false),
        ("post", 302, "GET", false),
        ("put", 302, "PUT", true),
        ("put", 303, "GET", false),
        ("head", 303, "HEAD", true),
        ("post", 307, "POST", true),
        ("post", 308, "POST", true),
        ("get", 302, "GET", true),
    ] {
        let bench = Bench::with(&format!("[{{{method}: /}}]"), "");
        let next = redirected(&bench, &first(&bench), status, "/next").expect("a call");
        assert_eq!((next.method, next.with_body), (becomes, with_body), "{method}, {status}");
        assert!(next.is_redirected);
    }
}

#[test]
fn all_redirects_but_of_head_become_gets_where_the_plan_says_so() {
    for (method, becomes) in [("put", "GET"), ("post", "GET"), ("head", "HEAD")] {
        let bench = Bench::with(&format!("[{{{method}: /, redirect_to_get: true}}]"), "");
        let next = redirected(&bench, &first(&bench), 308, "/next").expect("a call");
        assert_eq!(next.method, becomes, "{method}");
    }
}

#[test]
fn locations_are_taken_from_where_they_stand() {
    let bench = Bench::with("[{get: '/a/b?c=d'}]", "allow_hosts: b.test");
    for (location, url) in [
        ("/x", "http://a.test/x"),
        ("x?y=z", "http://a.test/a/x?y=z"),
        ("?y", "http://a.test/a/b?y"),
        ("", "http://a.test/a/b?c=d"),
        ("../../x", "http://a.test/x"),
        ("//b.test/x", "http://b.test/x"),
        ("http://b.test", "http://b.test/"),
    ] {
        let next = redirected(&bench, &first(&bench), 302, location).expect(location);
        assert_eq!(next.url(), url, "{location}");
    }
}

#[test]
fn what_has_left_its_origin_is_never_trusted_again() {
    let bench = Bench::with("[{get: /}]", "allow_hosts: b.test");
    let same = redirected(&bench, &first(&bench), 302, "/x").expect("a call");
    assert!(same.trusted);
    let other = redirected(&bench, &same, 302, "http://b.test/").expect("a call");
    assert!(!other.trusted);
    let back = redirected(&bench, &other, 302, "http://a.test/").expect("a call");
    assert!(back.origin == same.origin && !back.trusted);
}

#[test]
fn another_port_or_scheme_is_another_origin() {
    let bench = Bench::with("[{get: /}]", "allow_hosts: 'a.test:81'");
    let next = redirected(&bench, &first(&bench), 302, "http://a.test:81/").expect("a call");
    assert!(!next.trusted);
}

#[test]
fn nothing_leads_where_requests_may_not_go() {
    let bench = Bench::with("[{get: /}]", "");
    for (location, kind) in [
        ("http://b.test/", ErrorKind::HostNotAllowed),
        ("http://[", ErrorKind::BadRedirect),
        ("ftp://a.test/", ErrorKind::BadRedirect),
    ] {
        let refused = redirected(&bench, &first(&bench), 302, location);
        assert_eq!(refused.err().map(|failure| failure.kind), Some(kind), "{location}");
    }
}

#[test]
fn a_plan_may_send_no_credentials_in_a_url() {
    let bench = Bench::with("[{set: {u: ''}}, {get: '${u}'}]", "");
    bench.set("u", "http://u:p@a.test/");
    let scope = UserScope::new(&bench.worker.program, bench.core());
    let refused = Call::of(&bench.worker, &bench.request().call, &scope).err().expect("an error");
    assert_eq!(refused.kind, ErrorKind::Render);
}

#[test]
fn secrets_and_credentials_stay_with_their_origin() {
    let steps =
        "[{post: /, json: {a: 1}, auth: {bearer: t0ken}, headers: {X-Plain: p, X-Api-Key: k}}]";
    let bench = Bench::with(steps, "allow_hosts: b.test");
    let call = first(&bench);
    let own = text(&bench, &call);
    for line in ["Authorization: Bearer t0ken", "X-Plain: p", "X-Api-Key: k", "Content-Type: "] {
        assert!(own.contains(line), "{line} in {own}");
    }
    let there = redirected(&bench, &call, 302, "http://b.test/").expect("a call");
    let there = text(&bench, &there);
    assert!(there.starts_with("GET / HTTP/1.1\r\nHost: b.test\r\n"), "{there}");
    assert!(there.contains("X-Plain: p") && there.ends_with("\r\n\r\n"), "{there}");
    for line in ["Authorization", "X-Api-Key", "Content-"] {
        assert!(!there.contains(line), "{line} in {there}");
    }
}

#[test]
fn a_prepared_request_has_its_users_cookies_before_its_empty_line() {
    let bench = Bench::with("[{post: '/a', query: {q: 1}, body: hello}]", "");
    let call = first(&bench);
    assert!(matches!(call.target, Target::Prepared(_)));
    assert_eq!((call.url().as_str(), call.path()), ("http://a.test/a?q=1", "/a"));
    assert!(!text(&bench, &call).contains("Cookie"));
    bench.core().jar(0).set(b"c=1; Path=/a", call.site());
    let with = text(&bench, &call);
    assert!(with.ends_with("\r\nCookie: c=1\r\n\r\nhello"), "{with}");
}

#[test]
fn one_that_was_not_prepared_says_the_same() {
    let plain = Bench::with("[{post: '/a?b=c', body: hello, headers: {X: y}}]", "");
    let prepared = first(&plain);
    let content = prepared.content;
    let place = ("POST", prepared.origin.clone(), prepared.target());
    let rendered = Call::new(&plain.worker, place, content);
    assert_eq!(text(&plain, &prepared), text(&plain, &rendered));
}

#[test]
fn http2_has_the_same_fields_as_http1_has_lines() {
    let bench =
        Bench::with("[{post: '/a', body: hello, headers: {X-Y: z}}]", "connections: {http: 2}");
    let call = first(&bench);
    bench.core().jar(0).set(b"c=1", call.site());
    let sent = message(&bench.worker, bench.core(), &call, &bench.request().policy, true);
    let sent = sent.expect("a message");
    let Form::Fields(fields, body) = &sent.form else { panic!("not of HTTP/2") };
    let text = String::from_utf8(fields.text().to_vec()).expect("a text");
    for line in ["x-y: z", "cookie: c=1", "content-length: 5"] {
        assert!(text.contains(line), "{line} in {text}");
    }
    assert_eq!(body.bytes(), b"hello");
}
