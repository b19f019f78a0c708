//! Proxies, against real sockets: which request goes through which, and what they get to see.

use crate::common::peer::{Peer, Seen, header};
use crate::common::proxy::proxy;
use crate::common::{End, Steps, all_good, counter, kinds, options, refused, target};
use crate::connection::{get, peer, secure, tls_target};

/// What the target says of a request that came through a tunnel: nothing of what the proxy was told.
const TUNNELLED: &str =
    r#"json("$.tls.server_name") == "shop.test" && !body.matches("(?i)proxy-auth")"#;

#[test]
fn https_goes_through_a_tunnel_of_the_proxy() {
    let server = tls_target(None);
    let proxy = proxy();
    let connection = format!("proxy: 'http://ada:secret@{}', tls: {{ca: ca.pem}}", proxy.address);
    let json = secure(&server, "shop.test", &connection, &[], TUNNELLED, End::Passed);
    all_good(&json, 5);
    let to = server.url().replace("https://127.0.0.1", "shop.test");
    let heads: Vec<String> = proxy.seen().into_iter().map(|seen| seen.head).collect();
    assert_eq!(heads.len(), 5);
    for head in heads {
        assert!(head.starts_with(&format!("CONNECT {to} HTTP/1.1\r\n")), "{head}");
        assert_eq!(header(&head, "host"), Some(&*to));
        assert_eq!(header(&head, "proxy-authorization"), Some("Basic YWRhOnNlY3JldA=="));
    }
    assert_eq!(server.stats().requests, 5);
}

#[test]
fn http_goes_to_the_proxy_in_absolute_form() {
    let proxy = peer("127.0.0.1", "200 OK");
    let connection = format!("proxy: 'http://{}'", proxy.address);
    all_good(&get("http://shop.test:81", 1, &connection, End::Passed), 1);
    let head = &proxy.seen()[0].head;
    assert!(head.starts_with("GET http://shop.test:81/page?q=1 HTTP/1.1\r\n"), "{head}");
    assert_eq!(header(head, "host"), Some("shop.test:81"));
    assert_eq!(header(head, "proxy-authorization"), None);
}

#[test]
fn http_shows_its_credentials_to_the_proxy_with_each_request() {
    let proxy = peer("127.0.0.1", "200 OK");
    let url = &format!("http://ada:${{word}}@{}", proxy.address);
    let head = &format!("vars: {{word: secret}}\nconnections: {{proxy: '{url}'}}");
    // One request is prepared before the run, the other is made while it runs.
    let steps = "\n      - get: /page\n      - get: '/${iteration}'";
    all_good(&Steps { head, ..Steps::one("http://shop.test", steps) }.run(End::Passed), 2);
    let seen = proxy.seen();
    assert_eq!(seen.len(), 2);
    for Seen { head, .. } in seen {
        assert_eq!(header(&head, "proxy-authorization"), Some("Basic YWRhOnNlY3JldA=="), "{head}");
    }
}

#[test]
fn a_proxy_that_refuses_the_tunnel_is_an_error_of_the_proxy() {
    for status in ["407 Proxy Authentication Required", "503 Service Unavailable"] {
        let connection = format!("proxy: 'http://{}'", peer("127.0.0.1", status).address);
        let json = get("https://shop.test", 2, &connection, End::Failed);
        assert_eq!(kinds(&json), r#"{"proxy":2}"#, "{status}");
        let said = format!("CONNECT shop.test:443: status {}", &status[..3]);
        assert!(json.to_string().contains(&said), "{said}: {json}");
        // To a request in absolute form it is a response like any other.
        let json = get("http://shop.test", 2, &connection, End::Failed);
        assert_eq!(kinds(&json), r#"{"status":2}"#, "{status}");
    }
}

#[test]
fn a_proxy_that_is_down_or_stalls_is_named() {
    let connection = "proxy: 'http://127.0.0.1:1'";
    for url in ["https://shop.test", "http://shop.test"] {
        let json = get(url, 1, connection, End::Failed);
        assert_eq!(kinds(&json), r#"{"connect_refused":1}"#);
        assert!(json.to_string().contains("the proxy 127.0.0.1:1: "), "{json}");
    }
    let stalls = Peer::start("127.0.0.1", |mut client| {
        client.head();
        client.send("HTTP/1.1 200 Conn");
        while client.head().is_some() {}
    });
    let head = &format!(
        "connections: {{proxy: '{}'}}\ndefaults: {{timeout: {{connect: 200ms}}}}",
        stalls.url()
    );
    let json = Steps { head, ..Steps::one("https://shop.test", "get: /") }.run(End::Failed);
    assert_eq!(kinds(&json), r#"{"connect_timeout":1}"#);
}

#[test]
fn requests_go_through_proxies_of_their_own_or_none() {
    let [plan, own, other, direct] = [(); 4].map(|()| peer("127.0.0.1", "200 OK"));
    let head = &format!(
        "connections: {{proxy: '{}', no_proxy: [near.test, 127.0.0.1], resolve: {{near.test: '{}'}}}}\n\
         vars: {{own: '{}', nothing: ''}}\nallow_hosts: ['*']",
        plan.url(),
        direct.address,
        own.address,
    );
    let steps = format!(
        "
      - get: /1
      - {{get: '/2/${{iteration}}'}}
      - {{get: /3, proxy: 'http://${{own}}'}}
      - {{get: '/4/${{iteration}}', proxy: 'http://u${{iteration}}:p%40ss@{0}'}}
      - {{get: 'http://near.test/5'}}
      - {{get: 'http://near.test/6', proxy: 'http://{0}'}}
      - {{get: '{1}/7'}}
      - {{get: 'http://${{\"near\"}}.test/8', proxy: none}}
      - {{get: /9, proxy: '${{nothing}}'}}
      - {{get: /10, proxy: 'http://{0}'}}",
        other.address,
        direct.url(),
    );
    let json = Steps { head, ..Steps::one("http://shop.test", &steps) }.run(End::Passed);
    all_good(&json, 10);
    let lines = |peer: &Peer| -> Vec<String> {
        let line = |seen: Seen| seen.head.split(' ').nth(1).unwrap_or_default().to_owned();
        peer.seen().into_iter().map(line).collect()
    };
    let shop = |path: &str| format!("http://shop.test{path}");
    assert_eq!(lines(&plan), ["/1", "/2/0", "/9"].map(shop));
    assert_eq!(lines(&own), [shop("/3")]);
    assert_eq!(lines(&direct), ["/5", "/7", "/8"]);
    let seen = other.seen();
    let shown: Vec<_> = seen.iter().map(|own| header(&own.head, "proxy-authorization")).collect();
    assert_eq!(shown, [Some("Basic dTA6cEBzcw=="), None, None]);
    let connections: Vec<usize> = seen.iter().map(|seen| seen.connection).collect();
    assert_eq!(connections, [0, 1, 2], "kept by host and proxy");
    assert!(!json.to_string().contains("p%40ss"), "{json}");
}

/// What a response names gets to see credentials no sooner as a proxy than as a target.
#[test]
fn a_proxy_that_a_response_names_has_to_be_allowed() {
    let (server, other) = (target(), peer("127.0.0.1", "200 OK"));
    let found = "{get: '/echo?p=OTHER', extract: {p: {json: $.query.p}}}";
    for (proxy, allow, errors) in [
        ("http://${p}", "[]", r#"{"host_not_allowed":1}"#),
        ("http://u:w@${p}", "[]", r#"{"host_not_allowed":1}"#),
        ("http://${p}@OTHER", "[]", "{}"),
        ("http://${p}", "['127.0.0.1']", "{}"),
        ("http://${rows.p}", "[]", "{}"),
    ] {
        let step = format!(
            "\n      - {found}\n      - {{get: /a, proxy: '{proxy}', auth: {{bearer: t}}}}"
        );
        let step = step.replace("OTHER", &other.address.to_string());
        let head = &format!("allow_hosts: {allow}\ndata: {{rows: {{csv: rows.csv}}}}");
        let rows = format!("p\n{}\n", other.address);
        let files: &[(&str, &[u8])] = &[("rows.csv", rows.as_bytes())];
        let end = if errors == "{}" { End::Passed } else { End::Failed };
        let json = Steps { head, files, ..Steps::one(&server.url(), &step) }.run(end);
        assert_eq!(kinds(&json), errors, "{proxy} {allow}");
        assert_eq!(other.seen().len(), usize::from(errors == "{}"), "{proxy} {allow}");
    }
}

#[test]
fn connections_to_a_proxy_are_kept() {
    let proxy = peer("127.0.0.1", "200 OK");
    let head = &format!("connections: {{proxy: '{}'}}", proxy.url());
    let one = Steps::one("http://shop.test", "get: /");
    all_good(&Steps { head, iterations: 5, ..one }.run(End::Passed), 5);
    assert_eq!(proxy.connections(), 1);
}

#[test]
fn redirects_resources_and_logins_go_through_the_proxy_as_well() {
    let (server, proxy) = (target(), proxy());
    for steps in [
        "{get: /redirect/2, redirects: 5}",
        "{get: /auth/digest/ada/word, auth: {digest: {user: ada, password: word}}}",
        "{get: /page/2, resources: true}",
    ] {
        let before = server.stats().requests;
        let step = format!("{{proxy: 'http://eve:well@{}', {}", proxy.address, &steps[1..]);
        let json = Steps::one(&server.url(), &step).run(End::Passed);
        assert_eq!(kinds(&json), "{}", "{steps}");
        let seen = proxy.seen();
        let made = server.stats().requests - before;
        assert!(made >= 2 && seen.len() as u64 == made, "{steps}: {made}, {seen:?}");
        let shown = |seen: &Seen| header(&seen.head, "proxy-authorization").map(str::to_owned);
        assert!(seen.iter().all(|own| shown(own).as_deref() == Some("Basic ZXZlOndlbGw=")));
    }
}

#[test]
fn a_proxy_that_is_none_is_told_without_its_password() {
    for (proxy, expected) in [
        ("ftp://ada:swordfish@a", "invalid proxy `...@a`: it does not begin with http://"),
        ("http://ada:swordfish@a:x", "invalid proxy `...@a:x`: its port must be a number"),
    ] {
        let step = &format!("{{get: /, proxy: '{proxy}'}}");
        let plan = Steps::one("http://127.0.0.1:1", step).folder();
        let error = refused(plan.path(), &options());
        assert!(error.contains(expected) && !error.contains("swordfish"), "{error}");
    }
    let server = target();
    let step = "{get: /, proxy: 'ftp://ada:swordfish@a${iteration}'}";
    let json = Steps::one(&server.url(), step).run(End::Failed);
    assert_eq!(kinds(&json), r#"{"render":1}"#);
    assert!(json.to_string().contains("invalid proxy `...@a0`"), "{json}");
    assert_eq!(counter(&json, "connections_opened"), 0);
    let head = "connections: {no_proxy: ['a b']}";
    let plan = Steps { head, ..Steps::one("http://127.0.0.1:1", "get: /") }.folder();
    assert!(refused(plan.path(), &options()).contains("invalid host `a b`"));
}

#[test]
fn a_unix_socket_leaves_no_room_for_a_proxy() {
    let proxy = "proxy: 'http://127.0.0.1:2'";
    for (connections, of_step, expected) in [
        (format!("unix: x, {proxy}"), String::new(), "leave out one of them"),
        (
            "unix: x, source_addresses: [127.0.0.1]".to_owned(),
            String::new(),
            "leave out one of them",
        ),
        ("unix: /a/b".to_owned(), format!(", {proxy}"), "and through the Unix socket /a/b"),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let plan = format!(
            "target: http://127.0.0.1:1\nconnections: {{{connections}}}\nscenarios: {{u: {{load: {{users: 1, iterations: 1}}, steps: [{{get: /{of_step}}}]}}}}\n"
        );
        std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
        let error = refused(folder.path(), &options());
        assert!(error.contains(expected), "{error}");
    }
}
