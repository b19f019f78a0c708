//! How long a user's session lasts, and the cookies that steps set and clear: against a peer that notes
//! what it was sent.

use crate::common::peer::{Peer, header, response};
use crate::common::{End, Steps, all_good, counter, kinds, result, workers};

/// A peer that gives every request without a cookie a session of its own, and asks for digest
/// credentials on `/secret`.
fn shop() -> Peer {
    Peer::start("127.0.0.1", |mut client| {
        let mut sessions = 0;
        while let Some(head) = client.request() {
            let challenge =
                "WWW-Authenticate: Digest realm=\"shop\", nonce=\"n\", qop=\"auth\"\r\n";
            let (status, line) = match (header(&head, "cookie"), header(&head, "authorization")) {
                (_, None) if head.contains(" /secret ") => {
                    ("401 Unauthorized", challenge.to_owned())
                }
                (None, _) => {
                    sessions += 1;
                    ("200 OK", format!("Set-Cookie: sid={sessions}; Path=/\r\n"))
                }
                _ => ("200 OK", String::new()),
            };
            client.send(format!("HTTP/1.1 {status}\r\n{line}Content-Length: 0\r\n\r\n"));
        }
    })
}

/// The requests that a peer was sent, in order.
fn seen(peer: &Peer) -> Vec<String> {
    peer.seen().iter().map(|seen| shown(&seen.head)).collect()
}

/// The path of a request, a star if it has credentials, and its cookies.
fn shown(head: &str) -> String {
    let path = head.split(' ').nth(1).unwrap_or_default();
    let star = if header(head, "authorization").is_some() { "*" } else { "" };
    format!("{path}{star} {}", header(head, "cookie").unwrap_or("-"))
}

/// Three iterations of one user, which goes to the start page as a guest unless it knows better, and then
/// to a page that wants credentials.
fn three(load: &str, plan: &str, scenario: &str) -> Vec<String> {
    let (peer, folder) = (shop(), tempfile::tempdir().expect("a folder"));
    let text = format!(
        "
target: {}
{plan}
scenarios:
  a:
    load: {load}
    {scenario}
    steps:
      - get: \"/${{has(name) ? name : 'guest'}}\"
      - set: {{name: ada}}
      - get: /secret
        auth: {{digest: {{user: u, password: p}}}}
",
        peer.url()
    );
    std::fs::write(folder.path().join("plan.yaml"), text).expect("writable");
    let json = result(folder.path(), &workers(1), End::Passed);
    all_good(&json, 6);
    assert_eq!(counter(&json, "connections_opened"), 1, "connections are no part of a session");
    seen(&peer)
}

const USERS: &str = "{users: 1, iterations: 3}";
/// Each arrival finds its user free, even if that is late.
const RATE: &str = "{rate: 1/s, total_iterations: 3, max_users: 1}";

#[test]
fn a_session_lasts_as_long_as_the_plan_says() {
    let once = [
        "/guest -",
        "/secret sid=1",
        "/secret* sid=1",
        "/ada sid=1",
        "/secret* sid=1",
        "/ada sid=1",
        "/secret* sid=1",
    ];
    let each: Vec<String> = (1..=3)
        .flat_map(|n| {
            ["/guest -".to_owned(), format!("/secret sid={n}"), format!("/secret* sid={n}")]
        })
        .collect();
    let cases = [
        (USERS, "", "", false),
        (USERS, "session: per_iteration", "", true),
        (USERS, "session: per_user", "session: per_iteration", true),
        (USERS, "session: per_iteration", "session: per_user", false),
        (RATE, "", "", true),
        (RATE, "session: per_user", "", false),
        (RATE, "", "session: per_user", false),
    ];
    // At the same time, as they mostly wait.
    std::thread::scope(|scope| {
        for (load, plan, scenario, fresh) in cases {
            let (once, each) = (&once, &each);
            scope.spawn(move || {
                let found = three(load, plan, scenario);
                let case = format!("{load} {plan} {scenario}");
                match fresh {
                    true => assert_eq!(found, *each, "{case}"),
                    false => assert_eq!(found, *once, "{case}"),
                }
            });
        }
    });
}

/// A peer that answers everything alike.
fn quiet() -> Peer {
    Peer::start("127.0.0.1", |mut client| {
        while client.request().is_some() {
            client.send(response("200 OK", ""));
        }
    })
}

/// What a peer called `shop.test` was sent by one user.
fn cookies(steps: &str, end: End) -> (serde_json::Value, Vec<String>) {
    let peer = quiet();
    let url = format!("http://shop.test:{}", peer.address.port());
    let head = "vars: {lang: en}\nallow_hosts: '*.shop.test'\nconnections: {resolve: {shop.test: 127.0.0.1, www.shop.test: 127.0.0.1}}";
    let steps = steps.replace("www.shop.test/", &format!("www.shop.test:{}/", peer.address.port()));
    let json = Steps { head, ..Steps::one(&url, &steps) }.run(end);
    (json, seen(&peer))
}

#[test]
fn steps_set_and_clear_cookies() {
    let (json, seen) = cookies(
        "
      - set_cookie: {name: own, value: '${lang}'}
      - set_cookie: {name: below, value: b, domain: shop.test}
      - set_cookie: {name: tls, value: t, domain: shop.test, secure: true}
      - set_cookie: {name: path, value: c, path: /cart}
      - set_cookie: {name: page, value: d, url: 'http://www.shop.test/cart/items?x=1'}
      - get: /
      - get: /cart/1
      - get: http://www.shop.test/
      - get: http://www.shop.test/cart/
      - set_cookie: {name: own, value: '${user + 7}'}
      - get: /
      - clear_cookies: true
      - get: /",
        End::Passed,
    );
    all_good(&json, 6);
    assert_eq!(
        seen,
        [
            "/ own=en; below=b",
            "/cart/1 path=c; own=en; below=b",
            "/ below=b",
            "/cart/ page=d; below=b",
            "/ own=7; below=b",
            "/ -",
        ]
    );
    assert_eq!(counter(&json, "expressions_failed"), 0, "{}", json["log"]);
}

#[test]
fn jars_have_names() {
    let (json, seen) = cookies(
        "
      - set_cookie: {name: who, value: me}
      - set_cookie: {name: who, value: admin, cookie_jar: admin}
      - get: /
      - {get: /a, cookie_jar: admin, check: 'cookie(\"who\") == \"admin\"', extract: {who: {cookie: who}}}
      - {get: /b, cookie_jar: other, check: who == \"admin\"}
      - clear_cookies: admin
      - {get: /c, cookie_jar: admin}
      - get: /d
      - set_cookie: {name: who, value: admin, cookie_jar: admin}
      - clear_cookies: true
      - {get: /e, cookie_jar: admin}
      - get: /f",
        End::Passed,
    );
    all_good(&json, 7);
    assert_eq!(seen, ["/ who=me", "/a who=admin", "/b -", "/c -", "/d who=me", "/e -", "/f -"]);
}

#[test]
fn a_cookie_of_another_host_has_no_value() {
    let peer = shop();
    let other = format!("http://other.test:{}/x", peer.address.port());
    let step = |url: &str, more: &str, value: &str| {
        format!(
            "\n      - {{get: '{url}', {more} extract: {{sid: {{cookie: sid, default: none}}}}, check: ['sid == \"{value}\"', \
             'cookie(\"sid\") == {}']}}",
            if value == "none" { "null".to_owned() } else { format!("\"{value}\"") }
        )
    };
    let steps =
        [step("/", "", "1"), step(&other, "cookies: false,", "none"), step("/y", "", "1")].concat();
    let head = "connections: {resolve: {other.test: 127.0.0.1}}";
    let json = Steps { head, ..Steps::one(&peer.url(), &steps) }.run(End::Passed);
    all_good(&json, 3);
}

#[test]
fn cookies_and_headers_that_are_not_the_plans_can_be_left_out() {
    let (peer, folder) = (shop(), tempfile::tempdir().expect("a folder"));
    let text = format!(
        "
target: {}
defaults: {{cookies: false, default_headers: false}}
scenarios:
  a:
    load: {{users: 1, iterations: 1}}
    steps:
      - get: /one
      - get: /two
        cookies: true
      - get: /three
      - get: /four
        cookies: true
        default_headers: true
",
        peer.url()
    );
    std::fs::write(folder.path().join("plan.yaml"), text).expect("writable");
    let json = result(folder.path(), &workers(1), End::Passed);
    all_good(&json, 4);
    // Of the answers to the first and the third nothing is kept.
    let seen = peer.seen();
    let paths: Vec<String> = seen.iter().map(|seen| shown(&seen.head)).collect();
    assert_eq!(paths, ["/one -", "/two -", "/three -", "/four sid=2"]);
    let named = |head: &str| ["user-agent", "accept"].map(|name| header(head, name).is_some());
    let named: Vec<_> = seen.iter().map(|seen| named(&seen.head)).collect();
    assert_eq!(named, [[false; 2], [false; 2], [false; 2], [true; 2]]);
}

#[test]
fn a_cookie_of_a_step_obeys_what_those_of_servers_obey() {
    for (cookie, word) in [
        ("{name: '${lang + \"=\"}', value: x}", "cookie `en=`: its name has a `=` or a `;`"),
        ("{name: a, value: 'x; Domain=other.test'}", "its value has a `;`"),
        ("{name: a, value: \"x\\r\\nX-Evil: 1\"}", "control characters"),
        ("{name: a, value: '${random_string(5000)}'}", "4096"),
        ("{name: a, value: x, path: cart}", "does not begin with `/`"),
        ("{name: __Host-a, value: x}", "prefix"),
        ("{name: a, value: x, secure: true}", "secure"),
        ("{name: a, value: x, url: 'ftp://a/'}", "its scheme is `ftp`"),
        ("{name: a, value: '${never}'}", "variable `never` has no value"),
    ] {
        let never = "- if: 'false'\n        then: [{set: {never: x}}]";
        let (json, seen) = cookies(
            &format!("\n      {never}\n      - set_cookie: {cookie}\n      - get: /"),
            End::Failed,
        );
        assert_eq!(kinds(&json), "{}");
        assert_eq!(seen, ["/ -"], "{cookie}");
        assert_eq!(counter(&json, "expressions_failed"), 1, "{cookie}: {}", json["log"]);
        assert!(json["log"].to_string().contains(word), "{cookie}: {}", json["log"]);
    }
    let (json, seen) = cookies(
        "\n      - set_cookie: {name: a, value: x, domain: test}\n      - get: /",
        End::Passed,
    );
    assert_eq!(
        (seen, counter(&json, "expressions_failed")),
        (vec!["/ -".to_owned()], 0),
        "a host of that name"
    );
    let steps: String =
        (0..60).map(|n| format!("\n      - set_cookie: {{name: n{n}, value: x}}")).collect();
    let (_, seen) = cookies(&format!("{steps}\n      - get: /"), End::Passed);
    assert_eq!(seen[0].matches('=').count(), 50, "{}", seen[0]);
}

/// What a response says that leads on may be left out of the user's cookies.
#[test]
fn redirects_keep_cookies_only_if_the_plan_says_so() {
    let peer = Peer::start("127.0.0.1", |mut client| {
        while let Some(head) = client.request() {
            let (status, more) = match head.contains(" /go ") {
                true => ("302 Found", "Location: /there\r\n"),
                false => ("200 OK", ""),
            };
            let cookie = if head.contains(" /go ") { "way" } else { "end" };
            let line = format!("{more}Set-Cookie: {cookie}=1; Path=/\r\n");
            client.send(format!("HTTP/1.1 {status}\r\n{line}Content-Length: 0\r\n\r\n"));
        }
    });
    let steps = "
      - {get: /go, redirects: 3, redirect_cookies: false}
      - get: /after
      - {get: /go, redirects: 3}
      - get: /after";
    let url = &peer.url();
    Steps { url, head: "", users: 1, iterations: 1, steps, files: &[] }.run(End::Passed);
    assert_eq!(
        seen(&peer),
        [
            "/go -",
            "/there -",
            "/after end=1",
            "/go end=1",
            "/there end=1; way=1",
            "/after end=1; way=1"
        ]
    );
}

/// Where the plan says so, what any redirect of another method than HEAD leads to is a GET, and a 307 of it leads nowhere.
#[test]
fn redirects_lead_to_gets_where_the_plan_says_so() {
    let peer = Peer::start("127.0.0.1", |mut client| {
        while let Some(head) = client.request() {
            let path = head.split(' ').nth(1).unwrap_or_default();
            let (status, more) = match path.trim_start_matches('/').parse::<u16>() {
                Ok(status) => (status, "Location: /there\r\n"),
                Err(_) => (200, ""),
            };
            client.send(format!("HTTP/1.1 {status} -\r\n{more}Content-Length: 0\r\n\r\n"));
        }
    });
    let steps = "
      - {put: /302, redirects: 3, redirect_to_get: true}
      - {post: /308, redirects: 3, redirect_to_get: true}
      - {head: /301, redirects: 3, redirect_to_get: true}
      - {put: /307, redirects: 3, redirect_to_get: true}
      - {get: /307, redirects: 3, redirect_to_get: true}
      - {put: /302, redirects: 3}";
    let url = &peer.url();
    Steps { url, head: "", users: 1, iterations: 1, steps, files: &[] }.run(End::Passed);
    let lines = peer.seen();
    let line = |head: &str| head.split(" HTTP").next().unwrap_or_default().to_owned();
    let lines: Vec<_> = lines.iter().map(|seen| line(&seen.head)).collect();
    let expected = [
        "PUT /302",
        "GET /there",
        "POST /308",
        "GET /there",
        "HEAD /301",
        "HEAD /there",
        "PUT /307",
        "GET /307",
        "GET /there",
        "PUT /302",
        "PUT /there",
    ];
    assert_eq!(lines, expected);
}

/// What the header says where the user has no cookie for a URL; one that the user has goes in its place.
#[test]
fn a_request_has_a_cookie_where_its_user_has_none() {
    let peer = Peer::start("127.0.0.1", |mut client| {
        while let Some(head) = client.request() {
            let cookie = if head.contains(" /set ") { "Set-Cookie: own=1; Path=/\r\n" } else { "" };
            client.send(format!("HTTP/1.1 200 OK\r\n{cookie}Content-Length: 0\r\n\r\n"));
        }
    });
    let steps = "
      - {get: /set, cookie_otherwise: \"a=b\"}
      - {get: /then, cookie_otherwise: \"a=1\"}
      - clear_cookies: true
      - {get: /again, cookie_otherwise: \"a=1\"}";
    let url = &peer.url();
    Steps { url, head: "", users: 1, iterations: 1, steps, files: &[] }.run(End::Passed);
    assert_eq!(seen(&peer), ["/set a=b", "/then own=1", "/again a=1"]);
}

/// Checks and extracts that look at responses that redirect: what the last one has goes first, then what came first.
#[test]
fn responses_that_redirect_are_looked_at_where_the_plan_says_so() {
    let peer = Peer::start("127.0.0.1", |mut client| {
        while let Some(head) = client.request() {
            let (status, more, body) = if head.contains(" /go ") {
                ("302 Found", "Location: /on\r\n", "id=1 x=1")
            } else if head.contains(" /on ") {
                ("302 Found", "Location: /there\r\n", "id=2 x=2 way")
            } else {
                ("200 OK", "", "x=3")
            };
            let length = body.len();
            client
                .send(format!("HTTP/1.1 {status}\r\n{more}Content-Length: {length}\r\n\r\n{body}"));
        }
    });
    let steps = "
      - get: /go
        redirects: 3
        extract:
          id: {regex: 'id=(.)', redirects: true, default: none}
          x: {regex: 'x=(.)', redirects: true}
          y: {regex: 'id=(.)', default: none}
        check:
          - {expr: 'body.contains(\"x=\")', redirects: true}
          - {expr: '!body.contains(\"way\")'}
      - get: /${id}/${x}/${y}
      - {get: /go, redirects: 3, check: [{expr: '!body.contains(\"way\")', redirects: true}]}";
    let url = &peer.url();
    let json = Steps { url, head: "", users: 1, iterations: 1, steps, files: &[] }.run(End::Failed);
    assert_eq!(seen(&peer)[3], "/1/3/none -");
    assert_eq!(kinds(&json), r#"{"check":1}"#);
}
