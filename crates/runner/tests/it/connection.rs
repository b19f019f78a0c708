//! How connections are made and kept against real sockets: addresses, TLS, who owns a connection.

use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Barrier;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use serde_json::Value;
use squall_target::{Server, TlsCertificate, TlsOptions};

use crate::common::peer::{Peer, header, response};
use crate::common::{
    End, Steps, all_good, checked, counter, kinds, options, refused, result, target, target_at,
};

/// Sends a made-up name to the loopback address.
const RESOLVE: &str = "resolve: {shop.test: 127.0.0.1}";

/// A peer that gives all requests the same response.
pub fn peer(at: &str, status: &'static str) -> Peer {
    Peer::start(at, move |mut client| {
        while client.request().is_some() {
            client.send(response(status, "hello"));
        }
    })
}

/// Gets a page of a URL so often, with a connection each and these settings of connections.
pub fn get(url: &str, iterations: u32, connection: &str, end: End) -> Value {
    let head = &format!("connections: {{reuse: per_iteration, {connection}}}");
    Steps { head, iterations, ..Steps::one(url, "get: /page?q=1") }.run(end)
}

/// A target that speaks TLS, with a certificate for `shop.test`.
pub fn tls_target(client_ca: Option<PathBuf>) -> Server {
    let certificate = TlsCertificate::SelfSigned { names: vec!["shop.test".to_owned()] };
    target_at("127.0.0.1:0", Some(TlsOptions { certificate, client_ca, http2: true }))
}

/// Asks a TLS target called `https://HOST` five times about the connection, with a connection each,
/// its certificate in `ca.pem`, and checks what it says.
pub fn secure(
    server: &Server,
    host: &str,
    connection: &str,
    files: &Files,
    check: &str,
    end: End,
) -> Value {
    let url = server.url().replace("127.0.0.1", host);
    let ca = server.ca_pem().expect("a certificate");
    let head = &format!("connections: {{reuse: per_iteration, {connection}}}");
    let steps = &format!("{{get: /connection, check: '{check}'}}");
    let files = &[files, &[("ca.pem", ca.as_bytes())]].concat();
    Steps { head, iterations: 5, files, ..Steps::one(&url, steps) }.run(end)
}

pub type Files<'a> = [(&'a str, &'a [u8])];

#[test]
fn the_latency_of_a_new_connection_is_what_its_phases_took() {
    let server = target();
    let head = "connections: {reuse: per_iteration}";
    let url = server.url();
    let one = Steps::one(&url, "get: /");
    let json = Steps { head, users: 64, iterations: 50, ..one }.run(End::Passed);
    let totals = &json["totals"];
    let mean = |row: &Value| row["mean"].as_f64().expect("a mean");
    let phases = ["connect", "first_byte", "body"].map(|name| mean(&totals["phases"][name]));
    let (latency, sum) = (mean(&totals["latency_us"]), phases.iter().sum::<f64>());
    // Each of the phases is cut off at whole microseconds.
    assert!(latency <= sum + 3.0, "{latency} µs, of which {phases:?}");
}

// Addresses

#[test]
fn source_addresses_are_used_in_turn() {
    let server = peer("127.0.0.1", "200 OK");
    all_good(&get(&server.url(), 4, "source_addresses: [127.0.0.2, 127.0.0.3]", End::Passed), 4);
    let from: Vec<String> = server.seen().iter().map(|seen| seen.from.to_string()).collect();
    assert_eq!(from, ["127.0.0.2", "127.0.0.3", "127.0.0.2", "127.0.0.3"]);
}

#[test]
fn requests_have_source_addresses_of_their_own() {
    let server = peer("127.0.0.1", "200 OK");
    let head = "connections: {source_addresses: 127.0.0.9}\ndefaults: {source_address: '127.0.0.${iteration + 2}'}";
    let steps = "\n      - get: /\n      - get: '/${iteration}'\n      - {get: /, source_address: 127.0.0.8}\n      - {get: /, source_address: '${\"\"}'}";
    let json = Steps { head, iterations: 2, ..Steps::one(&server.url(), steps) }.run(End::Passed);
    all_good(&json, 8);
    let seen = server.seen();
    let from: Vec<String> = seen.iter().map(|seen| seen.from.to_string()).collect();
    let [two, three, eight, nine] = [2, 3, 8, 9].map(|last| format!("127.0.0.{last}"));
    assert_eq!(from, [&two, &two, &eight, &nine, &three, &three, &eight, &nine].map(String::clone));
    let connections: Vec<usize> = seen.iter().map(|seen| seen.connection).collect();
    assert_eq!(connections, [0, 0, 1, 2, 3, 3, 1, 2], "used again for the same address alone");
}

#[test]
fn what_an_iteration_does_not_use_of_a_users_own_ways_is_closed() {
    // Three addresses, of which the third iteration has that of the first one again.
    let steps = "\n      - {get: /, source_address: '127.0.0.${iteration % 2 + 2}'}\n      \
                 - {get: /, source_address: '${\"127.0.0.4\"}'}\n      - {get: /, source_address: 127.0.0.5}";
    for (reuse, expected) in
        [("per_user", [0, 1, 2, 3, 1, 2, 4, 1, 2]), ("per_iteration", [0, 1, 2, 3, 4, 5, 6, 7, 8])]
    {
        let head = &format!("connections: {{reuse: {reuse}}}");
        let server = peer("127.0.0.1", "200 OK");
        let json =
            Steps { head, iterations: 3, ..Steps::one(&server.url(), steps) }.run(End::Passed);
        all_good(&json, 9);
        let connections: Vec<usize> = server.seen().iter().map(|seen| seen.connection).collect();
        assert_eq!(connections, expected, "{reuse}");
    }
}

#[test]
fn what_comes_to_nothing_is_as_if_it_were_not_given() {
    let server = peer("127.0.0.1", "200 OK");
    let steps = "\n      - get: /\n      - {get: /, source_address: '${iteration > 9 ? \"127.0.0.9\" : \"\"}'}";
    let json = Steps { iterations: 3, ..Steps::one(&server.url(), steps) }.run(End::Passed);
    all_good(&json, 6);
    assert_eq!(server.connections(), 1);
}

#[test]
fn an_address_that_is_not_this_machines_is_told_before_the_run_and_in_it() {
    // TEST-NET-3, RFC 5737
    for (connections, request, at) in [
        ("source_addresses: [127.0.0.2, 203.0.113.9]", "", ":2:45"),
        ("", ", source_address: 203.0.113.9", ":7:"),
    ] {
        let head = &format!("connections: {{{connections}}}");
        let step = &format!("{{get: /{request}}}");
        let plan = Steps { head, ..Steps::one("http://127.0.0.1:1", step) }.folder();
        let error = refused(plan.path(), &options());
        assert!(error.contains("203.0.113.9 is not an address of this machine"), "{error}");
        assert!(error.contains(at) && error.contains("ip address"), "{error}");
        assert!(
            checked(plan.path())[0].contains("203.0.113.9 is not an address"),
            "another may run it"
        );
    }
    let server = peer("127.0.0.1", "200 OK");
    for (text, kind, expected) in [
        (
            "203.0.113.${iteration + 9}",
            "connect_failed",
            "203.0.113.9 is not an address of this machine",
        ),
        ("eth${iteration}", "render", "invalid source address `eth0`: expected an IP address"),
    ] {
        let step = &format!("{{get: /, source_address: '{text}'}}");
        let json = Steps::one(&server.url(), step).run(End::Failed);
        assert_eq!(kinds(&json), format!("{{\"{kind}\":1}}"));
        assert!(json.to_string().contains(expected), "{expected}: {json}");
    }
}

#[test]
fn a_made_up_host_goes_where_the_plan_says() {
    let server = peer("127.0.0.1", "200 OK");
    let port = server.address.port();
    for (name, url, to) in [
        ("shop.test", format!("http://shop.test:{port}"), "127.0.0.1".to_owned()),
        ("shop.test", "http://shop.test".to_owned(), server.address.to_string()),
        ("'shop.test:81'", "http://shop.test:81".to_owned(), server.address.to_string()),
    ] {
        all_good(&get(&url, 1, &format!("resolve: {{{name}: '{to}'}}"), End::Passed), 1);
        assert_eq!(header(&server.seen()[0].head, "host"), url.strip_prefix("http://"));
    }
}

#[test]
fn several_addresses_of_a_name_are_used_in_turn() {
    let server = peer("0.0.0.0", "200 OK");
    let url = format!("http://shop.test:{}", server.address.port());
    all_good(&get(&url, 4, "resolve: {shop.test: [127.0.0.1, 127.0.0.2]}", End::Passed), 4);
    let to: Vec<String> = server.seen().iter().map(|seen| seen.to.to_string()).collect();
    assert_eq!(to, ["127.0.0.1", "127.0.0.2", "127.0.0.1", "127.0.0.2"]);
}

#[test]
fn the_first_of_several_addresses_may_be_preferred() {
    let server = peer("0.0.0.0", "200 OK");
    let url = format!("http://shop.test:{}", server.address.port());
    let first = "resolve: {shop.test: [127.0.0.3, 127.0.0.1]}, dns: {select: first}";
    all_good(&get(&url, 3, first, End::Passed), 3);
    let to: Vec<String> = server.seen().iter().map(|seen| seen.to.to_string()).collect();
    assert_eq!(to, ["127.0.0.3"; 3]);
    let server = peer("127.0.0.1", "200 OK");
    let url = format!("http://shop.test:{}", server.address.port());
    all_good(&get(&url, 3, first, End::Passed), 3);
}

#[test]
fn a_host_may_go_where_another_one_is() {
    let server = peer("127.0.0.1", "200 OK");
    let port = server.address.port();
    let url = format!("http://shop.test:{port}");
    all_good(&get(&url, 2, "resolve: {shop.test: localhost}", End::Passed), 2);
    assert_eq!(header(&server.seen()[0].head, "host"), url.strip_prefix("http://"));
    let other = format!("resolve: {{shop.test: 'localhost:{port}'}}");
    all_good(&get("http://shop.test", 1, &other, End::Passed), 1);
    let json = get(&url, 2, "resolve: {shop.test: none.invalid}", End::Failed);
    assert_eq!(kinds(&json), r#"{"dns":2}"#);
}

#[test]
fn an_address_that_refuses_gives_way_to_the_next() {
    let server = peer("127.0.0.1", "200 OK");
    let url = format!("http://shop.test:{}", server.address.port());
    all_good(&get(&url, 4, "resolve: {shop.test: [127.0.0.2, 127.0.0.1]}", End::Passed), 4);
    let json = get(&url, 2, "resolve: {shop.test: [127.0.0.2, 127.0.0.3]}", End::Failed);
    assert_eq!(kinds(&json), r#"{"connect_refused":2}"#);
}

#[test]
fn a_target_by_its_ipv6_address() {
    if TcpListener::bind("[::1]:0").is_err() {
        eprintln!("skipped: this machine has no ::1");
        return;
    }
    let server = peer("::1", "200 OK");
    all_good(&get(&server.url(), 2, "source_addresses: [127.0.0.2, '::1']", End::Passed), 2);
    let seen = server.seen();
    assert_eq!(header(&seen[0].head, "host"), Some(&*server.address.to_string()));
    assert!(seen.iter().all(|seen| seen.from == server.address.ip()));
}

#[test]
fn a_unix_socket_takes_the_place_of_tcp() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("socket");
    let server = target_at(&format!("unix:{}", path.display()), None);
    let head = &format!("connections: {{unix: {}}}", path.display());
    let steps = r#"
      - get: /echo
        check: 'json("$.headers.host") == "shop.test"'
      - get: /bytes/1m
        check: body_bytes == 1048576
      - post: /upload
        body: hello
        check: 'json("$.bytes") == 5'"#;
    let json =
        Steps { head, iterations: 2, ..Steps::one("http://shop.test", steps) }.run(End::Passed);
    all_good(&json, 6);
    assert_eq!(server.stats().accepted, 1);
    drop(server);
    let json = Steps { head, ..Steps::one("http://shop.test", "get: /") }.run(End::Failed);
    assert_eq!(kinds(&json), r#"{"connect_failed":1}"#, "its file is gone");
}

// TLS

/// An authority in a PEM file, and a certificate and key of a client that it has signed.
fn client_identity(folder: &tempfile::TempDir) -> (PathBuf, String, String) {
    let key = || KeyPair::generate().expect("a key");
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, key()).expect("an authority");
    let path = folder.path().join("clients.pem");
    std::fs::write(&path, authority.pem()).expect("writable");
    let own = key();
    let certificate = CertificateParams::new(vec!["client".to_owned()])
        .and_then(|params| params.signed_by(&own, &authority))
        .expect("a certificate");
    (path, certificate.pem(), own.serialize_pem())
}

#[test]
fn the_certificate_of_a_client_is_shown_and_its_lack_is_an_error_of_tls() {
    let folder = tempfile::tempdir().expect("a folder");
    let (ca, certificate, key) = client_identity(&folder);
    let server = tls_target(Some(ca));
    let files: &Files = &[("own.pem", certificate.as_bytes()), ("key.pem", key.as_bytes())];
    let with = format!("{RESOLVE}, tls: {{ca: ca.pem, cert: own.pem, key: key.pem}}");
    let shown = r#"json("$.tls.client_certificates") == 1"#;
    all_good(&secure(&server, "shop.test", &with, files, shown, End::Passed), 5);
    let without = format!("{RESOLVE}, tls: {{ca: ca.pem}}");
    let json = secure(&server, "shop.test", &without, files, shown, End::Failed);
    assert_eq!(kinds(&json), r#"{"tls":5}"#);
}

/// Certificates that stand in the plan, each for some hosts.
#[test]
fn a_host_is_shown_the_certificate_that_is_for_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let (ca, certificate, key) = client_identity(&folder);
    let server = tls_target(Some(ca));
    let (certificate, key) = (serde_json::json!(certificate), serde_json::json!(key));
    let shown = r#"json("$.tls.client_certificates") == 1"#;
    let with = |hosts: &str| {
        let own = format!("host_certs: [{{{hosts}cert: {certificate}, key: {key}}}]");
        format!("{RESOLVE}, tls: {{ca: ca.pem, {own}}}")
    };
    for hosts in ["", "hosts: [shop.test], ", "hosts: [a.test, '*.test'], "] {
        all_good(&secure(&server, "shop.test", &with(hosts), &[], shown, End::Passed), 5);
    }
    let other = with("hosts: ['*.shop.test'], ");
    let json = secure(&server, "shop.test", &other, &[], shown, End::Failed);
    assert_eq!(kinds(&json), r#"{"tls":5}"#);
}

/// The target's key is one of an elliptic curve.
#[test]
fn no_cipher_suites_are_offered_but_those_of_the_plan() {
    let server = tls_target(None);
    let with = |suite: &str| {
        format!("{RESOLVE}, tls: {{ca: ca.pem, max: '1.2', cipher_suites: [{suite}]}}")
    };
    let always = "status == 200";
    let own = with("TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384");
    all_good(&secure(&server, "shop.test", &own, &[], always, End::Passed), 5);
    let other = with("TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384");
    let json = secure(&server, "shop.test", &other, &[], always, End::Failed);
    assert_eq!(kinds(&json), r#"{"tls":5}"#);
}

#[test]
fn a_redirect_to_https_shows_the_certificate_that_its_request_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let (ca, certificate, key) = client_identity(&folder);
    let secure = tls_target(Some(ca));
    let on = secure.url().replace("127.0.0.1", "shop.test");
    let plain = Peer::start("127.0.0.1", move |mut client| {
        while client.request().is_some() {
            client.send(format!(
                "HTTP/1.1 302 Found\r\nLocation: {on}/connection\r\nContent-Length: 0\r\n\r\n"
            ));
        }
    });
    let authority = secure.ca_pem().expect("a certificate");
    let files: &Files = &[
        ("ca.pem", authority.as_bytes()),
        ("own.pem", certificate.as_bytes()),
        ("key.pem", key.as_bytes()),
    ];
    let certs = "client_certs: {ada: {cert: own.pem, key: key.pem}}";
    let head = &format!(
        "allow_hosts: [shop.test]\nconnections: {{{RESOLVE}, tls: {{ca: ca.pem, {certs}}}}}"
    );
    let shown = r#"json("$.tls.client_certificates") == 1"#;
    let step = &format!("{{get: /, redirects: 1, client_cert: ada, check: '{shown}'}}");
    all_good(&Steps { head, files, ..Steps::one(&plain.url(), step) }.run(End::Passed), 1);
}

#[test]
fn the_name_of_a_server_is_sent_and_verified() {
    let server = tls_target(None);
    let named = r#"json("$.tls.server_name") == "shop.test""#;
    let tls = "tls: {ca: ca.pem, server_name: shop.test}";
    all_good(&secure(&server, "127.0.0.1", tls, &[], named, End::Passed), 5);
    let json = secure(&server, "127.0.0.1", "tls: {ca: ca.pem}", &[], named, End::Failed);
    assert_eq!(kinds(&json), r#"{"tls":5}"#, "the certificate is not for the address");
}

#[test]
fn sessions_are_resumed_unless_the_plan_says_otherwise() {
    let server = tls_target(None);
    for (resume, check) in [
        ("", r#"json("$.tls.resumed") == (iteration > 0)"#),
        (", resume: false", r#"json("$.tls.resumed") == false"#),
    ] {
        let connection = format!("{RESOLVE}, tls: {{ca: ca.pem{resume}}}");
        let json = secure(&server, "shop.test", &connection, &[], check, End::Passed);
        all_good(&json, 5);
        assert_eq!(counter(&json, "connections_opened"), 5);
    }
}

// Who uses a connection again

/// Three users with two iterations of two requests, and how many connections they needed.
fn connections_of_three_users(reuse: &str) -> u64 {
    let server = target();
    let head = &format!("connections: {{reuse: {reuse}}}");
    let steps = "\n      - get: /\n      - get: /items";
    let json = Steps { head, users: 3, iterations: 2, ..Steps::one(&server.url(), steps) }
        .run(End::Passed);
    all_good(&json, 12);
    assert_eq!(counter(&json, "connections_opened"), server.stats().accepted);
    server.stats().accepted
}

#[test]
fn each_user_keeps_its_connection() {
    assert_eq!(connections_of_three_users("per_user"), 3);
}

#[test]
fn each_iteration_has_a_connection_of_its_own() {
    assert_eq!(connections_of_three_users("per_iteration"), 6);
}

#[test]
fn each_request_has_a_connection_of_its_own() {
    assert_eq!(connections_of_three_users("per_request"), 12);
}

#[test]
fn connections_of_a_pool_are_as_many_as_the_plan_says() {
    for size in [1, 3] {
        // All connections respond for the first time only when all are there.
        let all = Barrier::new(size);
        let server = Peer::start("127.0.0.1", move |mut client| {
            let mut first = true;
            while client.request().is_some() {
                if std::mem::take(&mut first) {
                    all.wait();
                }
                client.send(response("200 OK", "hello"));
            }
        });
        let head = &format!("connections: {{reuse: pool, pool_size: {size}}}");
        let url = &server.url();
        let json =
            Steps { head, users: 8, iterations: 5, ..Steps::one(url, "get: /") }.run(End::Passed);
        all_good(&json, 40);
        assert_eq!(server.connections(), size);
    }
}

/// A body that cannot be written fails its request after the connection was borrowed, and gives it back.
#[test]
fn a_request_that_fails_gives_its_connection_back_to_the_pool() {
    let server = peer("127.0.0.1", "200 OK");
    let head = "connections: {reuse: pool, pool_size: 2}";
    let step = "{get: /, response_body: {file: /nonexistent/x}, timeout: {pool: 20s}}";
    let json =
        Steps { head, users: 6, iterations: 4, ..Steps::one(&server.url(), step) }.run(End::Failed);
    assert_eq!(kinds(&json), r#"{"render":24}"#, "{}", json["log"]);
    assert!(json["log"].to_string().contains("/nonexistent/x"), "{}", json["log"]);
}

#[test]
fn who_waits_for_the_pool_waits_for_the_plan_and_not_for_the_target() {
    let server = target();
    let run = |pool: &str, end| {
        let folder = tempfile::tempdir().expect("a folder");
        let plan = format!(
            "target: {}
connections: {{reuse: pool, pool_size: 1}}
scenarios: {{a: {{load: {{users: 10, iterations: 2, pacing: 1ms}}, steps: [{{get: /delay/200, timeout: {{first_byte: 1600ms, pool: {pool}}}}}]}}}}
",
            server.url()
        );
        std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
        result(folder.path(), &options(), end)
    };
    let sum = |row: &Value| {
        let of = |key: &str| row[key].as_f64().unwrap_or_else(|| panic!("no number: {row}"));
        of("mean") * of("count") / 1e6
    };
    let time = |json: &Value, key: &str| json[key].as_f64().expect("a time");
    let json = run("1h", End::Passed);
    all_good(&json, 20);
    // On one connection there is one exchange at a time, and each takes so long.
    let (totals, states, elapsed) =
        (&json["totals"], &json["time_accounting"], time(&json, "elapsed_s"));
    let latency = sum(&totals["latency_us"]);
    assert!((20.0 * 0.2..=1.001 * elapsed).contains(&latency), "{elapsed}: {totals}");
    // Whoever is done i-th has waited for at least 2 i of them; those who came late did so in squall's own time.
    let least: f64 = (1..=10).map(|done| 2.0 * f64::from(done) * 0.2).sum();
    let pool = sum(&totals["phases"]["pool"]);
    let own = ["generator", "pacing"].map(|state| time(states, state)).iter().sum::<f64>();
    assert!(pool + latency + own >= 0.999 * least, "{pool}, {latency} and {own}: {totals}");
    assert!(pool > 0.0, "{totals}");
    let corrected = sum(&totals["corrected_latency_us"]);
    assert!(corrected >= 0.99 * (pool + latency), "from when the plan wanted it: {totals}");
    let json = run("100ms", End::Failed);
    let kinds = json["totals"]["error_kinds"].as_object().expect("kinds");
    assert_eq!(kinds.keys().collect::<Vec<_>>(), ["pool_timeout"], "{}", json["totals"]);
    let latency = sum(&json["totals"]["latency_us"]);
    assert!(latency <= 1.001 * time(&json, "elapsed_s"), "one at a time: {json}");
}

/// A peer that closes each connection behind its first answer, without saying so before.
fn closes_behind_its_back() -> Peer {
    Peer::start("127.0.0.1", |mut client| {
        if client.request().is_some() {
            client.send(response("200 OK", "hello"));
            client.end();
        }
    })
}

#[test]
fn a_plan_says_whether_a_request_is_sent_again_where_the_target_had_closed_its_connection() {
    let case = |(defaults, own, errors): (&str, &str, u64)| {
        let server = closes_behind_its_back();
        let steps = format!("\n      - {{get: /{own}}}\n      - {{think: 1s}}");
        let url = &server.url();
        let end = if errors == 0 { End::Passed } else { End::Failed };
        let json = Steps { head: defaults, iterations: 4, ..Steps::one(url, &steps) }.run(end);
        let case = format!("{defaults}{own}: {} {}", kinds(&json), json["counters"]);
        assert_eq!(json["totals"]["errors"].as_u64(), Some(errors), "{case}");
        assert_eq!(counter(&json, "stale_retries"), if errors == 0 { 3 } else { 0 }, "{case}");
    };
    // At the same time, as they mostly wait.
    std::thread::scope(|scope| {
        for own in [
            ("", "", 0),
            ("defaults: {retry_stale: false}", "", 2),
            ("", ", retry_stale: false", 2),
            ("defaults: {retry_stale: false}", ", retry_stale: true", 0),
        ] {
            scope.spawn(move || case(own));
        }
    });
}

/// A TLS target that shows a certificate as `openssl req -x509` makes them, and that certificate.
fn self_signed(params: impl FnOnce(&mut CertificateParams)) -> (Server, String, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let key = KeyPair::generate().expect("a key");
    let mut wanted = CertificateParams::default();
    wanted.distinguished_name = rcgen::DistinguishedName::new();
    wanted.distinguished_name.push(rcgen::DnType::CommonName, "shop.test");
    params(&mut wanted);
    let certificate = wanted.self_signed(&key).expect("a certificate").pem();
    let [cert, own_key] = ["cert.pem", "key.pem"].map(|name| folder.path().join(name));
    std::fs::write(&cert, &certificate).expect("writable");
    std::fs::write(&own_key, key.serialize_pem()).expect("writable");
    let certificate_files = TlsCertificate::Pem { cert, key: own_key };
    let tls = TlsOptions { certificate: certificate_files, client_ca: None, http2: true };
    (target_at("127.0.0.1:0", Some(tls)), certificate, folder)
}

/// Gets `/` of a TLS target called `https://HOST`, with these settings of TLS: the errors, and the whole result.
fn over_tls(server: &Server, host: &str, tls: &str, ca: &str, end: End) -> (String, String) {
    let url = server.url().replace("127.0.0.1", host);
    let resolve = "shop.test: 127.0.0.1, other.test: 127.0.0.1";
    let head =
        format!("on_error: continue\nconnections: {{resolve: {{{resolve}}}, tls: {{{tls}}}}}");
    let files: &Files = &[("ca.pem", ca.as_bytes())];
    let result = Steps { head: &head, files, ..Steps::one(&url, "get: /") }.run(end);
    (kinds(&result), result.to_string())
}

#[test]
fn a_self_signed_certificate_gets_its_remedy_by_name_and_is_trusted_as_ca() {
    let an_authority: fn(&mut CertificateParams) =
        |params| params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let a_server: fn(&mut CertificateParams) = |params| params.is_ca = IsCa::ExplicitNoCa;
    let nothing_said: fn(&mut CertificateParams) = |_| ();
    for params in [an_authority, a_server, nothing_said] {
        let (server, ca, _folder) = self_signed(params);
        let (errors, result) = over_tls(&server, "shop.test", "", &ca, End::Failed);
        assert_eq!(errors, "{\"tls\":1}");
        for remedy in ["tls: {ca: FILE}", "tls: {insecure: true}", "-k"] {
            assert!(result.contains(remedy), "{remedy}: {result}");
        }
        assert_eq!(over_tls(&server, "shop.test", "ca: ca.pem", &ca, End::Passed).0, "{}");
        assert_eq!(over_tls(&server, "other.test", "insecure: true", &ca, End::Passed).0, "{}");
        let (errors, result) = over_tls(&server, "other.test", "ca: ca.pem", &ca, End::Failed);
        assert_eq!(errors, "{\"tls\":1}", "it is not that host's");
        assert!(result.contains("server_name: NAME"), "{result}");
        assert_eq!(
            over_tls(&server, "other.test", "ca: ca.pem, server_name: shop.test", &ca, End::Passed)
                .0,
            "{}"
        );
        let (other, _, _folder) = self_signed(params);
        assert_eq!(
            over_tls(&other, "shop.test", "ca: ca.pem", &ca, End::Failed).0,
            "{\"tls\":1}",
            "another one"
        );
    }
}

#[test]
fn a_certificate_that_is_trusted_by_itself_has_a_beginning_an_end_and_names() {
    let (server, ca, _folder) = self_signed(|params| {
        params.not_after = rcgen::date_time_ymd(2020, 1, 1);
    });
    let (errors, result) = over_tls(&server, "shop.test", "ca: ca.pem", &ca, End::Failed);
    assert_eq!(errors, "{\"tls\":1}");
    assert!(result.contains("xpired"), "{result}");
    let (server, ca, _folder) = self_signed(|params| {
        params.not_before = rcgen::date_time_ymd(2200, 1, 1);
        params.not_after = rcgen::date_time_ymd(2201, 1, 1);
    });
    let (errors, result) = over_tls(&server, "shop.test", "ca: ca.pem", &ca, End::Failed);
    assert_eq!(errors, "{\"tls\":1}");
    assert!(result.contains("NotValidYet"), "{result}");
    // Alternative names go before the common one.
    let (server, ca, _folder) = self_signed(|params| {
        let name = "other.test".try_into().expect("a name");
        params.subject_alt_names = vec![rcgen::SanType::DnsName(name)];
    });
    assert_eq!(over_tls(&server, "shop.test", "ca: ca.pem", &ca, End::Failed).0, "{\"tls\":1}");
    assert_eq!(over_tls(&server, "other.test", "ca: ca.pem", &ca, End::Passed).0, "{}");
}

#[test]
fn the_wrong_scheme_for_a_port_is_said() {
    let plain = target();
    let (errors, result) = over_tls(&plain, "127.0.0.1", "", "", End::Passed);
    assert_eq!(errors, "{}", "{result}");
    let url = plain.url().replace("http:", "https:");
    let result =
        Steps { head: "on_error: continue", ..Steps::one(&url, "get: /") }.run(End::Failed);
    assert_eq!(kinds(&result), "{\"tls\":1}");
    assert!(result.to_string().contains("is it meant to be http://?"), "{result}");
    // What OpenSSL sends to a client that does not speak TLS, a handshake, and both byte by byte.
    for (record, is_slow) in [
        (b"\x15\x03\x01\x00\x02\x02\x46".as_slice(), false),
        (b"\x15\x03\x03\x00\x02\x02\x46", true),
        (b"\x16\x03\x03\x00\x05\x02\x00\x00\x01\x00", false),
        (b"\x16\x03\x01\x00\x05\x02\x00\x00\x01\x00", true),
    ] {
        let tls = Peer::start("127.0.0.1", move |mut client| {
            client.request();
            let pieces = if is_slow { record.chunks(1) } else { record.chunks(record.len()) };
            for piece in pieces {
                client.send(piece);
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            client.end();
        });
        let url = tls.url();
        let result =
            Steps { head: "on_error: continue", ..Steps::one(&url, "get: /") }.run(End::Failed);
        assert_eq!(kinds(&result), "{\"malformed_response\":1}", "{record:?}");
        assert!(result.to_string().contains("is it meant to be https://?"), "{result}");
    }
}
