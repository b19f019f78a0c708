//! Pages with their resources against real sockets.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};

use serde_json::Value;

use crate::common::peer::{Peer, header, response};
use crate::common::{End, Steps, all_good, counter, kinds, options, result, target};

/// A peer that serves these texts by path, each with its content type and other lines of the head.
fn site(pages: &'static [(&'static str, &'static str, &'static str)]) -> Peer {
    Peer::start("127.0.0.1", move |mut client| {
        while let Some(head) = client.request() {
            let path = head.split(' ').nth(1).unwrap_or_default();
            let found = pages.iter().find(|(own, ..)| *own == path);
            client.send(match found {
                Some((_, lines, body)) => {
                    let length = body.len();
                    format!("HTTP/1.1 200 OK\r\n{lines}\r\nContent-Length: {length}\r\n\r\n{body}")
                }
                None => response("404 Not Found", "no"),
            });
        }
    })
}

const HTML: &str = "Content-Type: text/html; charset=utf-8";
const CSS: &str = "Content-Type: text/css";

/// The paths that a peer was asked for, sorted.
fn paths(peer: &Peer) -> Vec<String> {
    let path = |head: &str| head.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut paths: Vec<String> = peer.seen().iter().map(|seen| path(&seen.head)).collect();
    paths.sort();
    paths
}

fn count(json: &Value, name: &str) -> u64 {
    json["requests"][name]["count"].as_u64().unwrap_or_else(|| panic!("{name}: {json}"))
}

#[test]
fn a_page_loads_what_it_names_and_then_what_has_changed() {
    let server = target();
    let step = "{get: /page/20, name: home, resources: true}";
    let json = Steps { iterations: 2, ..Steps::one(&server.url(), step) }.run(End::Passed);
    all_good(&json, 21 + 16);
    assert_eq!(server.stats().requests, 21 + 16);
    assert_eq!(counter(&json, "cache_hits"), 5);
    assert_eq!(count(&json, "home"), 2);
    assert_eq!(count(&json, "home (image)"), 10 + 5, "of which the uncached are loaded again");
    assert_eq!(json["requests"]["home (image)"]["status"].to_string(), r#"{"200":15}"#);
    for kind in ["style", "script"] {
        let status = &json["requests"][format!("home ({kind})")]["status"];
        assert_eq!(status.to_string(), r#"{"200":5,"304":5}"#, "{kind}");
    }
    let group = &json["groups"]["home"];
    assert_eq!((group["count"].as_u64(), group["errors"].as_u64()), (Some(2), Some(0)));
    let step = "{get: /page/20, resources: {cache: false}}";
    all_good(&Steps { iterations: 2, ..Steps::one(&server.url(), step) }.run(End::Passed), 42);
    let head = "defaults: {resources: true}";
    let steps = "\n      - {get: /page/4, name: a}\n      - {get: /page/4, name: b, resources: false}\n      - get: /echo";
    all_good(&Steps { head, ..Steps::one(&server.url(), steps) }.run(End::Passed), 7);
}

/// An open load's users begin each iteration without anything: their cache is empty, too.
#[test]
fn a_new_session_has_nothing_in_its_cache() {
    let server = target();
    let folder = tempfile::tempdir().expect("a folder");
    let plan = format!(
        "target: {}\nscenarios: {{a: {{load: {{rate: 1/s, total_iterations: 2, max_users: 1}}, steps: [{{get: /page/4, resources: true}}]}}}}\n",
        server.url()
    );
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    let json = result(folder.path(), &options(), End::Passed);
    assert_eq!(counter(&json, "cache_hits"), 0);
    all_good(&json, 10);
}

#[test]
fn what_resources_name_is_loaded_too() {
    let peer = site(&[
        (
            "/a/page",
            HTML,
            "<base href='/b/'><link rel=stylesheet href=s.css><img src=i.png#x><img src='i.png'>\
             <iframe src=/f1></iframe><img src='http://elsewhere.test/no.png'><img src='data:x'>\
             <a href=/not-this></a><script src='javascript:1'></script><link rel=icon href=/icon>",
        ),
        ("/b/s.css", CSS, "@import 'more.css'; a { b: url(../c.png) }"),
        ("/b/more.css", CSS, "a { b: url(/too-deep.png) }"),
        ("/b/i.png", "Content-Type: image/png", "x"),
        ("/c.png", "Content-Type: image/png", "x"),
        ("/icon", "Content-Type: image/png", "x"),
        ("/f1", HTML, "<iframe src=/f2></iframe><img src=/a1.png>"),
        ("/f2", HTML, "<iframe src=/f3></iframe><iframe src=/f1></iframe>"),
        ("/f3", HTML, "<iframe src=/f4></iframe><img src=/a1.png>"),
        ("/a1.png", "Content-Type: image/png", "x"),
    ]);
    let step = "{get: /a/page, resources: {hosts: all}}";
    let json = Steps::one(&peer.url(), step).run(End::Passed);
    let asked = paths(&peer);
    let all = [
        "/a/page",
        "/a1.png",
        "/b/i.png",
        "/b/more.css",
        "/b/s.css",
        "/c.png",
        "/f1",
        "/f2",
        "/f3",
        "/icon",
    ];
    assert_eq!(asked, all);
    all_good(&json, 10);
    for (kind, times) in [("image", 2), ("style", 2), ("asset", 1), ("frame", 3), ("icon", 1)] {
        assert_eq!(count(&json, &format!("GET /a/page ({kind})")), times, "{kind}");
    }
    let step = "{get: /a/page, resources: {include: '(png|css)$', exclude: '/b/i'}}";
    Steps::one(&peer.url(), step).run(End::Passed);
    assert_eq!(paths(&peer), ["/a/page", "/b/more.css", "/b/s.css", "/c.png"]);
    // What styles name is left out, but for styles.
    let step = "{get: /a/page, resources: {include: '(png|css)$', css_urls: false}}";
    Steps::one(&peer.url(), step).run(End::Passed);
    assert_eq!(paths(&peer), ["/a/page", "/b/i.png", "/b/more.css", "/b/s.css"]);
}

#[test]
fn what_a_fresh_style_names_is_known_without_it() {
    let peer = site(&[
        ("/", HTML, "<link rel=stylesheet href=/s.css>"),
        ("/s.css", "Content-Type: text/css\r\nCache-Control: max-age=60", "a { b: url(c.png) }"),
        ("/c.png", "Content-Type: image/png\r\nCache-Control: no-store", "x"),
    ]);
    let step = "{get: /, resources: true}";
    let json = Steps { iterations: 3, ..Steps::one(&peer.url(), step) }.run(End::Passed);
    assert_eq!(counter(&json, "cache_hits"), 2);
    assert_eq!(paths(&peer), ["/", "/", "/", "/c.png", "/c.png", "/c.png", "/s.css"]);
}

#[test]
fn a_resource_that_fails_fails_the_group_of_its_page() {
    let peer = site(&[("/", HTML, "<img src=/gone><img src=/gone-too>")]);
    let steps = "
      - group: all
        steps: [{get: /, name: home, resources: true}]";
    let json = Steps::one(&peer.url(), steps).run(End::Failed);
    assert_eq!(kinds(&json), r#"{"status":2}"#);
    assert_eq!(json["requests"]["home"]["errors"].as_u64(), Some(0));
    for name in ["home", "all"] {
        assert_eq!(json["groups"][name]["errors"].as_u64(), Some(1), "{name}");
    }
}

/// Checks and extracts that look at what the page loads: the page goes first, then what it names first.
#[test]
fn what_a_page_loads_is_looked_at_where_the_plan_says_so() {
    let peer = site(&[
        ("/", HTML, "<link rel=stylesheet href=/a.css><script src=/b.js></script>x=0 page"),
        ("/a.css", CSS, "id=1 x=1"),
        ("/b.js", "Content-Type: text/javascript", "id=2 x=2 late=2"),
        ("/0/1/2/none/none", HTML, "page"),
    ]);
    let steps = "
      - get: /
        resources: true
        extract:
          x: {regex: 'x=(.)', resources: true, default: none}
          id: {regex: 'id=(.)', resources: true, default: none}
          late: {regex: 'late=(.)', resources: true, default: none}
          never: {regex: 'never=(.)', resources: true, default: none}
          of_page: {regex: 'id=(.)', default: none}
        check:
          - {expr: 'body.contains(\"page\")'}
          - {expr: '!body.contains(\"late\")', resources: true}
          - {expr: 'status == 200', resources: true}
      - get: /${x}/${id}/${late}/${never}/${of_page}";
    let json = Steps::one(&peer.url(), steps).run(End::Failed);
    assert_eq!(paths(&peer), ["/", "/0/1/2/none/none", "/a.css", "/b.js"]);
    assert_eq!(kinds(&json), r#"{"check":1}"#);
    let errors = |name: &str| json["requests"][name]["errors"].to_string();
    assert_eq!([errors("GET / (style)"), errors("GET / (script)")], ["0", "1"]);
    assert_eq!(json["groups"]["GET /"]["errors"].as_u64(), Some(1));
}

#[test]
fn as_many_as_the_limit_are_loaded_at_the_same_time() {
    const PAGE: &str = "<img src=/1><img src=/2><img src=/3><img src=/4><img src=/5><img src=/6>";
    let (now, most) = (Mutex::new(0), Arc::new(AtomicUsize::new(0)));
    let (met, seen) = (Condvar::new(), most.clone());
    // Images are sent when three were there at the same time.
    let peer = Peer::start("127.0.0.1", move |mut client| {
        while let Some(head) = client.request() {
            if head.starts_with("GET / ") {
                let length = PAGE.len();
                client.send(format!(
                    "HTTP/1.1 200 OK\r\n{HTML}\r\nContent-Length: {length}\r\n\r\n{PAGE}"
                ));
                continue;
            }
            let mut count = now.lock().expect("no panic");
            *count += 1;
            seen.fetch_max(*count, Ordering::SeqCst);
            met.notify_all();
            let mut count =
                met.wait_while(count, |_| seen.load(Ordering::SeqCst) < 3).expect("no panic");
            *count -= 1;
            drop(count);
            client.send(response("200 OK", "x"));
        }
    });
    let step = "{get: /, resources: {limit: 3}}";
    all_good(&Steps::one(&peer.url(), step).run(End::Passed), 7);
    assert_eq!((most.load(Ordering::SeqCst), peer.connections()), (3, 3));
}

#[test]
fn conditions_and_credentials_go_where_they_belong() {
    let peer = site(&[
        ("/", HTML, "<img src=/a.png>"),
        ("/a.png", "Content-Type: image/png\r\nETag: \"1\"\r\nCache-Control: no-cache", "x"),
    ]);
    let head = "defaults: {headers: {X-Own: yes}, auth: {bearer: secret}}";
    let step = "{get: /, headers: {X-Page: yes}, resources: true}";
    Steps { head, iterations: 2, ..Steps::one(&peer.url(), step) }.run(End::Passed);
    let heads: Vec<String> = peer.seen().into_iter().map(|seen| seen.head).collect();
    let images: Vec<&String> = heads.iter().filter(|head| head.contains("/a.png")).collect();
    let values = |name| images.iter().map(|head| header(head, name)).collect::<Vec<_>>();
    assert_eq!(values("if-none-match"), [None, Some("\"1\"")]);
    assert_eq!(values("x-own"), [Some("yes"); 2]);
    assert_eq!(values("x-page"), [None; 2]);
    assert_eq!(values("authorization"), [Some("Bearer secret"); 2]);
}

/// So long that another thread reads it.
#[test]
fn a_long_page_names_resources_too() {
    let page = format!("<img src=/1>{}<img src=/2>", "<p>text</p>".repeat(50_000));
    let peer = Peer::start("127.0.0.1", move |mut client| {
        while let Some(head) = client.request() {
            client.send(match head.starts_with("GET / ") {
                true => format!(
                    "HTTP/1.1 200 OK\r\n{HTML}\r\nContent-Length: {}\r\n\r\n{page}",
                    page.len()
                ),
                false => response("200 OK", "x"),
            });
        }
    });
    let step = "{get: /, extract: {last: {css: 'img:last-of-type', attr: src}}, resources: true, check: last == \"/2\"}";
    all_good(&Steps::one(&peer.url(), step).run(End::Passed), 3);
    assert_eq!(paths(&peer), ["/", "/1", "/2"]);
}

/// A request of the plan's own has a cache too, and a page's headers go to what it names, if the plan says so.
#[test]
fn requests_have_a_cache_as_the_plan_says() {
    const FRESH: &str = "ETag: \"1\"\r\nCache-Control: max-age=60";
    let peer =
        site(&[("/fresh", FRESH, "x"), ("/", HTML, "<img src=/i.png>"), ("/i.png", FRESH, "x")]);
    let steps = r#"
      - {get: /fresh, cache: true, name: full}
      - {get: /fresh, cache: true, name: full}
      - {get: /fresh, cache: revalidate, name: asked}
      - clear_cache: true
      - {get: /fresh, cache: revalidate, name: forgotten}
      - get: /
        headers: {X-Page: own}
        resources: {headers: true, cache: revalidate}
        extract: {kind: {regex: "Content-Type: (\\w+)", in: head}}
        check: ['kind == "text"', reason == "OK", head_bytes > 20, 'head.startsWith("HTTP/1.1 200 OK\n")']
      - get: /
        resources: {headers: true, cache: revalidate}
"#;
    let json = Steps { url: &peer.url(), head: "", users: 1, iterations: 1, steps, files: &[] };
    let json = json.run(End::Passed);
    assert_eq!(counter(&json, "cache_hits"), 1);
    assert_eq!([count(&json, "full"), count(&json, "asked"), count(&json, "forgotten")], [1; 3]);
    let heads: Vec<String> = peer.seen().into_iter().map(|seen| seen.head).collect();
    let values = |path: &str, name| {
        let of_path = heads.iter().filter(|head| head.contains(&format!("{path} ")));
        of_path.map(|head| header(head, name)).collect::<Vec<_>>()
    };
    assert_eq!(values("/fresh", "if-none-match"), [None, Some("\"1\""), None]);
    assert_eq!(values("/i.png", "if-none-match"), [None, Some("\"1\"")]);
    assert_eq!(values("/i.png", "x-page"), [Some("own"), None]);
}
