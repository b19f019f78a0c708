//! Every route does what its sentence says.

use std::collections::BTreeSet;
use std::io::Read;
use std::time::{Duration, Instant};

use crate::common::{Client, Response, connect, get, server};
use base64::Engine as _;
use md5::Digest as _;
use squall_target::{HOSTILE, ROUTES, Server};

/// A target of each route that a test below visits, beside those that have a session.
const VISITED: &[(&str, &str)] = &[
    ("/", "/"),
    ("/routes", "/routes"),
    ("/hostile", "/hostile"),
    ("/login", "/login"),
    ("/logout", "/logout"),
    ("/home", "/home"),
    ("/items", "/items?page=50"),
    ("/item/{id}", "/item/1000"),
    ("/api/items", "/api/items?page=2"),
    ("/api/items/{id}", "/api/items/1"),
    ("/cart", "/cart"),
    ("/cancel", "/cancel"),
    ("/bytes/{n}", "/bytes/2k"),
    ("/chunked", "/chunked"),
    ("/gzip", "/gzip"),
    ("/delay/{ms}", "/delay/0.5"),
    ("/queue", "/queue?mean=0.1"),
    ("/leak", "/leak"),
    ("/cacheable", "/cacheable"),
    ("/page/{n}", "/page/3"),
    ("/resource/{kind}/{n}", "/resource/style/1"),
    ("/status/{code}", "/status/299"),
    ("/echo", "/echo"),
    ("/connection", "/connection"),
    ("/headers/{n}", "/headers/3"),
    ("/cookies", "/cookies"),
    ("/cookies/set", "/cookies/set?a=b"),
    ("/redirect/{n}", "/redirect/2"),
    ("/redirect-to", "/redirect-to?url=/x"),
    ("/control/stall", "/control/stall?ms=0"),
    ("/control/stats", "/control/stats"),
];

#[test]
fn every_route_is_visited() {
    let server = server();
    for (path, target) in VISITED {
        let status = get(&server, target).status;
        assert!(matches!(status, 200 | 299 | 302), "{target}: {status}");
        assert!(ROUTES.iter().any(|route| route.path == *path), "{path}");
    }
    let mut visited: BTreeSet<_> = VISITED.iter().map(|(path, _)| *path).collect();
    // These have tests of their own below.
    visited.extend(["/checkout", "/pay", "/upload", "/slow", "/uncacheable"]);
    visited.extend(["/auth/basic", "/auth/basic/{user}/{password}"]);
    visited.extend(["/auth/digest", "/auth/digest/{user}/{password}"]);
    visited.extend(["/auth/bearer", "/auth/bearer/{token}"]);
    assert_eq!(visited, ROUTES.iter().map(|route| route.path).collect());
}

#[test]
fn the_lists_of_routes_are_the_tables() {
    let server = server();
    let (routes, hostile) = (get(&server, "/routes"), get(&server, "/hostile"));
    for route in ROUTES.iter().chain(HOSTILE) {
        assert!(routes.text().contains(route.about), "{}", route.path);
    }
    for route in HOSTILE {
        assert!(hostile.text().contains(route.about), "{}", route.path);
    }
}

/// The text between two others.
fn between<'t>(text: &'t str, left: &str, right: &str) -> &'t str {
    let (_, rest) = text.split_once(left).unwrap();
    rest.split_once(right).unwrap().0
}

/// The login form's cookie and token.
fn login_form<S: Read + std::io::Write>(client: &mut Client<S>) -> (String, String) {
    let form = client.get("/login");
    let token = between(form.text(), "name=\"csrf\" value=\"", "\"");
    (format!("Cookie: {}\r\n", form.cookie()), token.to_owned())
}

const FORM: &str = "Content-Type: application/x-www-form-urlencoded\r\n";

#[test]
fn a_login_leads_home() {
    let server = server();
    let mut client = connect(&server);
    let home = client.get("/home");
    assert_eq!((home.status, home.field("location")), (302, Some("/login")));
    for password in ["&password=secret-J%C3%B6rg+%3C3", ""] {
        let (cookie, token) = login_form(&mut client);
        let body = format!("user=J%C3%B6rg+%3C3&csrf={token}{password}");
        let done = client.request("POST", "/login", &(cookie + FORM), &body);
        assert_eq!((done.status, done.field("location")), (302, Some("/home")));
        let home = client.request("GET", "/home", &format!("Cookie: {}\r\n", done.cookie()), "");
        assert!(home.text().contains("Hello, <b class=\"user\">Jörg &lt;3</b>"), "{}", home.text());
    }
    let out = client.get("/logout");
    assert!(out.field("set-cookie").unwrap().starts_with("sid=; Path=/; Max-Age=0"));
}

#[test]
fn a_wrong_login_is_forbidden() {
    let server = server();
    let mut client = connect(&server);
    let (cookie, token) = login_form(&mut client);
    let (other_cookie, _) = login_form(&mut client);
    let right = format!("user=ann&csrf={token}");
    let cases = [
        (&cookie, format!("{right}&password=wrong")),
        (&cookie, format!("user=&csrf={token}")),
        (&cookie, format!("user={}&csrf={token}", "x".repeat(129))),
        (&cookie, "user=ann&csrf=wrong".to_owned()),
        (&cookie, "user=ann".to_owned()),
        (&cookie, String::new()),
        (&other_cookie, right.clone()),
        (&String::new(), right.clone()),
    ];
    for (cookie, body) in cases {
        let response = client.request("POST", "/login", &format!("{cookie}{FORM}"), &body);
        assert_eq!(response.status, 403, "{cookie} {body}");
        assert!(!response.body.is_empty());
    }
    assert_eq!(client.request("POST", "/login", &(cookie + FORM), &right).status, 302);
}

#[test]
fn items_are_the_same_in_html_and_json() {
    let server = server();
    let mut client = connect(&server);
    let list = client.get("/api/items?page=3").json();
    assert_eq!((&list["page"], &list["total"]), (&3.into(), &1000.into()));
    let items = list["items"].as_array().unwrap();
    assert_eq!(items.len(), 20);
    let page = client.get("/items?page=3");
    for item in items {
        let (id, name) = (&item["id"], item["name"].as_str().unwrap());
        assert!(page.text().contains(&format!("<a href=\"/item/{id}\">{name}</a>")));
    }
    let one = client.get("/api/items/41").json();
    assert_eq!(one, items[0]);
    let html = client.get("/item/41");
    let cents = one["price_cents"].as_u64().unwrap();
    let price = format!("<p class=\"price\">{}.{:02}</p>", cents / 100, cents % 100);
    assert!(html.text().contains(&price), "{}", html.text());
    for missing in ["/item/0", "/item/1001", "/item/x", "/api/items/-1", "/items?page=51"] {
        assert_eq!(client.get(missing).status, 404, "{missing}");
    }
    assert_eq!(client.get("/api/items?page=x").status, 404);
}

#[test]
fn a_cart_belongs_to_its_session_and_becomes_an_order() {
    let server = server();
    let mut client = connect(&server);
    const JSON: &str = "Content-Type: application/json\r\n";
    // The first visit makes the session.
    let first = client.request("POST", "/cart", FORM, "id=7&quantity=2");
    assert_eq!((first.status, first.field("location")), (303, Some("/cart")));
    let cookie = format!("Cookie: {}\r\n", first.cookie());
    let as_json = format!("{cookie}{JSON}");
    let cart = client.request("POST", "/cart", &as_json, r#"{"id": 8}"#).json();
    assert_eq!(cart["items"][0]["quantity"], 2);
    assert_eq!(cart["items"][1]["id"], 8);
    let page = client.request("GET", "/cart", &cookie, "");
    assert!(page.text().contains("<li data-id=\"7\">2 x "), "{}", page.text());
    assert!(client.get("/cart").text().contains("<ul class=\"cart\">\n</ul>"), "another session");

    let order = client.request("POST", "/checkout", &as_json, "{}");
    assert_eq!(order.status, 201);
    assert_eq!(order.json()["items"], 3);
    assert_eq!(order.json()["total_cents"], cart["total_cents"]);
    let body = serde_json::json!({"order": order.json()["order"]}).to_string();
    let paid = client.request("POST", "/pay", &as_json, &body);
    assert_eq!((paid.status, &paid.json()["status"]), (201, &"paid".into()));
    assert_eq!(paid.json()["order"], order.json()["order"]);

    let accept = format!("{cookie}Accept: application/json\r\n");
    let empty = client.request("GET", "/cart", &accept, "").json();
    assert_eq!(empty["items"].as_array().unwrap().len(), 0);
    for empties in [("DELETE", "/cart"), ("GET", "/cancel")] {
        client.request("POST", "/cart", &as_json, r#"{"id": 9}"#);
        assert_eq!(client.request(empties.0, empties.1, &accept, "").status, 200);
        assert_eq!(client.request("GET", "/cart", &accept, "").json()["total_cents"], 0);
    }
    for wrong in [r#"{"id": 0}"#, r#"{"id": 1, "quantity": 0}"#, "{", "[]", "", r#"{"id":{}}"#] {
        assert_eq!(client.request("POST", "/cart", &as_json, wrong).status, 422, "{wrong}");
    }
    assert_eq!(client.request("POST", "/pay", JSON, "{}").status, 422);
    assert_eq!(client.request("POST", "/pay", JSON, "{").status, 400);
    assert_eq!(client.request("POST", "/checkout", JSON, "{").status, 400);
}

#[test]
fn bytes_and_chunks() {
    let server = server();
    let mut client = connect(&server);
    for (target, length) in [("/bytes/0", 0), ("/bytes/300k", 300 << 10), ("/bytes/1M", 1 << 20)] {
        let plain = client.get(target);
        assert_eq!(plain.field("content-length"), Some(length.to_string().as_str()));
        let chunked = client.get(&format!("{target}?chunked"));
        assert_eq!(chunked.field("transfer-encoding"), Some("chunked"));
        assert_eq!((plain.body.len(), chunked.body.len()), (length, length));
    }
    let response = client.get("/chunked?n=3&size=1000&delay=1");
    assert_eq!(response.body.len(), 3000);
    assert_eq!(response.trailers, "X-Chunks: 3\r\nX-Bytes: 3000\r\n");
    for wrong in ["/bytes/x", "/bytes/-1", "/chunked?size=0", "/chunked?n=x", "/chunked?delay=-1"] {
        assert_eq!(client.get(wrong).status, 400, "{wrong}");
    }
}

#[test]
fn uploads_are_counted_and_hashed() {
    let server = server();
    let mut client = connect(&server);
    // SHA-256 of a million times the letter a: FIPS 180-2, appendix B.3.
    let hash = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";
    let body = "a".repeat(1_000_000);
    let known = client.request("PUT", "/upload", "", &body).json();
    assert_eq!((&known["bytes"], &known["sha256"]), (&1_000_000.into(), &hash.into()));
    client.send("POST /upload HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
    for part in body.as_bytes().chunks(12_345) {
        client.send(format!("{:X}\r\n", part.len()));
        client.send(part);
        client.send("\r\n");
    }
    client.send("0\r\n\r\n");
    assert_eq!(client.read_response(false).json(), known);
}

#[test]
fn gzip_for_those_who_accept_it() {
    let server = server();
    let mut client = connect(&server);
    let plain = client.get("/gzip");
    assert_eq!(plain.field("content-encoding"), None);
    let packed = client.request("GET", "/gzip", "Accept-Encoding: br, gzip\r\n", "");
    assert_eq!(packed.field("content-encoding"), Some("gzip"));
    assert_eq!(packed.field("vary"), Some("Accept-Encoding"));
    assert!(packed.body.len() < plain.body.len() / 3);
    let mut unpacked = Vec::new();
    flate2::read::GzDecoder::new(packed.body.as_slice()).read_to_end(&mut unpacked).unwrap();
    assert_eq!(unpacked, plain.body);
    assert_eq!(plain.json()["gzip"], true);
}

#[test]
fn delays_are_kept_and_said() {
    let server = server();
    let mut client = connect(&server);
    let cases = [
        ("/delay/2.5", 2.5..=2.5),
        ("/delay/1?dist=uniform&spread=2", 1.0..=3.0),
        ("/delay/2?dist=normal&sd=0.1", 1.0..=3.0),
        ("/delay/0.1?dist=exponential", 0.0..=4.0),
    ];
    for (target, range) in cases {
        let start = Instant::now();
        let said = client.get(target).json()["delay_ms"].as_f64().unwrap();
        assert!(start.elapsed() >= Duration::from_secs_f64(said / 1e3), "{target}");
        assert!(range.contains(&said), "{target}: {said}");
    }
    for wrong in ["/delay/x", "/delay/-1", "/delay/1?dist=x", "/delay/nan", "/delay/4e6"] {
        assert_eq!(client.get(wrong).status, 400, "{wrong}");
    }
}

#[test]
fn a_queue_serves_one_after_the_other() {
    let server = server();
    let mut clients: Vec<_> = (0..6).map(|_| connect(&server)).collect();
    let start = Instant::now();
    for client in &mut clients {
        client.send("GET /queue?servers=2&mean=30&dist=fixed HTTP/1.1\r\nHost: h\r\n\r\n");
    }
    let mut waits = Vec::new();
    for client in &mut clients {
        let answer = client.read_response(false).json();
        assert_eq!(answer["service_us"], 30_000);
        waits.push(answer["wait_us"].as_u64().unwrap());
    }
    // Six times 30 ms of work for two servers. How long each waits depends on when it came: `queue.rs` tests that on
    // virtual time.
    assert!(start.elapsed() >= Duration::from_millis(90));
    waits.sort_unstable();
    assert_eq!(waits[..2], [0, 0]);
    assert!(waits[5] <= 60_000, "{waits:?}");
    for wrong in ["servers=0", "servers=x", "mean=-1", "dist=normal", "servers=99999"] {
        assert_eq!(clients[0].get(&format!("/queue?{wrong}")).status, 400, "{wrong}");
    }
}

#[test]
fn slow_pages_are_slow() {
    let server = server();
    let mut clients = [connect(&server), connect(&server), connect(&server)];
    let start = Instant::now();
    clients[0].send("GET /uncacheable HTTP/1.1\r\nHost: h\r\n\r\n");
    clients[1].send("GET /slow HTTP/1.1\r\nHost: h\r\n\r\n");
    clients[2].send("POST /slow HTTP/1.1\r\nHost: h\r\n\r\n");
    for (client, ms) in clients.iter_mut().zip([2000, 3500, 4000]) {
        assert_eq!(client.read_response(false).status, 200);
        assert!(start.elapsed() >= Duration::from_millis(ms));
    }
}

#[test]
fn a_known_tag_is_not_sent_again() {
    let server = server();
    let mut client = connect(&server);
    let first = client.get("/cacheable");
    let tag = first.field("etag").unwrap();
    assert_eq!((first.status, first.body.len()), (200, 1024));
    for (tags, status) in
        [(tag, 304), ("*", 304), ("\"other\"", 200), (&format!("\"o\", W/{tag}"), 304)]
    {
        let field = format!("If-None-Match: {tags}\r\n");
        let response = client.request("GET", "/cacheable", &field, "");
        assert_eq!((response.status, response.field("etag")), (status, Some(tag)), "{tags}");
    }
}

#[test]
fn echo_shows_the_request() {
    let server = server();
    let mut client = connect(&server);
    let fields = "X-One: 1\r\nx-one: 2\r\n";
    let echo = client.request("PATCH", "/echo?a=b%20c&d", fields, "b\u{f6}dy").json();
    let expected = serde_json::json!({
        "method": "PATCH",
        "target": "/echo?a=b%20c&d",
        "path": "/echo",
        "query": {"a": "b c", "d": ""},
        "headers": {"host": "test", "x-one": "1, 2", "content-length": "5"},
        "body": "b\u{f6}dy",
        "body_bytes": 5,
    });
    assert_eq!(echo, expected);
}

#[test]
fn statuses_fields_cookies_and_redirects() {
    let server = server();
    let mut client = connect(&server);
    for code in [200, 204, 304, 404, 418, 503, 599] {
        assert_eq!(client.get(&format!("/status/{code}")).status, code);
    }
    let fields = client.get("/headers/300");
    assert_eq!(fields.field("x-header-300"), Some("value-300"));
    let set = client.get("/cookies/set?a=1&b=2");
    let cookies: Vec<_> = set.fields("set-cookie").collect();
    assert_eq!(cookies, ["a=1; Path=/", "b=2; Path=/"]);
    let sent = client.request("GET", "/cookies", "Cookie: a=1; b=2\r\n", "").json();
    assert_eq!(sent, serde_json::json!({"a": "1", "b": "2"}));
    let hop = client.get("/redirect/2?status=307");
    assert_eq!((hop.status, hop.field("location")), (307, Some("/redirect/1?status=307")));
    assert_eq!(client.get("/redirect/1").field("location"), Some("/redirect/0"));
    assert_eq!(client.get("/redirect/0").status, 200);
    let away = client.get("/redirect-to?url=http%3A%2F%2Fh%2Fp%3Fq&status=301");
    assert_eq!((away.status, away.field("location")), (301, Some("http://h/p?q")));
    for wrong in [
        "/status/99",
        "/status/600",
        "/status/x",
        "/headers/x",
        "/cookies/set?a=b%3Bc",
        "/redirect/x",
        "/redirect/1?status=200",
        "/redirect-to",
        "/control/stall?ms=x",
        "/control/stall?ms=60001",
    ] {
        assert_eq!(client.get(wrong).status, 400, "{wrong}");
    }
}

fn authorized(server: &Server, target: &str, credentials: &str) -> Response {
    connect(server).request("GET", target, &format!("Authorization: {credentials}\r\n"), "")
}

#[test]
fn basic_and_bearer() {
    let server = server();
    let basic =
        |pair: &str| format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(pair));
    let cases = [
        ("/auth/basic", basic("ann:secret-ann"), 200),
        ("/auth/basic", basic("ann:secret-bob"), 401),
        ("/auth/basic", "Basic ???".to_owned(), 401),
        ("/auth/basic/a%20b/c:d", basic("a b:c:d"), 200),
        ("/auth/basic/a/b", basic("a:secret-a"), 401),
        ("/auth/bearer", "Bearer token-1".to_owned(), 200),
        ("/auth/bearer", "bearer other".to_owned(), 401),
        ("/auth/bearer/abc", "Bearer abc".to_owned(), 200),
        ("/auth/bearer/abc", "Bearer token-1".to_owned(), 401),
        ("/auth/bearer/abc", "Basic abc".to_owned(), 401),
    ];
    for (target, credentials, status) in cases {
        let response = authorized(&server, target, &credentials);
        assert_eq!(response.status, status, "{target} {credentials}");
        assert_eq!(response.field("www-authenticate").is_some(), status == 401);
    }
    assert_eq!(get(&server, "/auth/basic").status, 401);
    assert_eq!(get(&server, "/auth/bearer").status, 401);
}

/// Digest credentials as a client makes them.
fn digest(
    algorithm: &str,
    nonce: &str,
    uri: &str,
    count: u32,
    user: &str,
    password: &str,
) -> String {
    let hash = |text: String| -> String {
        let bytes = match algorithm {
            "MD5" => md5::Md5::digest(text).to_vec(),
            _ => ring::digest::digest(&ring::digest::SHA256, text.as_bytes()).as_ref().to_vec(),
        };
        squall_base::hex::hex(&bytes)
    };
    let secret = hash(format!("{user}:squall:{password}"));
    let request = hash(format!("GET:{uri}"));
    let response = hash(format!("{secret}:{nonce}:{count:08x}:mine:auth:{request}"));
    format!(
        "Digest username=\"{user}\", realm=\"squall\", nonce=\"{nonce}\", uri=\"{uri}\", \
         algorithm={algorithm}, qop=auth, nc={count:08x}, cnonce=\"mine\", response=\"{response}\""
    )
}

fn nonce(server: &Server, target: &str) -> String {
    let challenge = get(server, target);
    assert_eq!(challenge.status, 401);
    between(challenge.field("www-authenticate").unwrap(), "nonce=\"", "\"").to_owned()
}

#[test]
fn digest_with_both_algorithms() {
    let server = server();
    let offered = get(&server, "/auth/digest");
    let offers: Vec<_> = offered.fields("www-authenticate").collect();
    assert_eq!(offers.len(), 2);
    assert!(offers[0].contains("algorithm=SHA-256") && offers[1].contains("algorithm=MD5"));
    for algorithm in ["MD5", "SHA-256"] {
        for (target, user, password) in [
            ("/auth/digest".to_owned(), "ann", "secret-ann"),
            (format!("/auth/digest/bob/pw?algorithm={algorithm}"), "bob", "pw"),
        ] {
            let nonce = nonce(&server, &target);
            for count in [1, 2, 5] {
                let sent = digest(algorithm, &nonce, &target, count, user, password);
                assert_eq!(authorized(&server, &target, &sent).json()["user"], user);
            }
            for (uri, user, password) in [
                (target.as_str(), user, "wrong"),
                (target.as_str(), "eve", password),
                ("/other", user, password),
            ] {
                let sent = digest(algorithm, &nonce, uri, 9, user, password);
                let denied = authorized(&server, &target, &sent);
                assert_eq!(denied.status, 401, "{sent}");
                assert!(!denied.head.contains("stale"), "{sent}");
            }
        }
    }
    let target = "/auth/digest?algorithm=MD5";
    let sent = digest("SHA-256", &nonce(&server, target), target, 1, "ann", "secret-ann");
    assert_eq!(authorized(&server, target, &sent).status, 401, "not the one that is offered");
    let forged = digest("MD5", "0.0.forged", target, 1, "ann", "secret-ann");
    assert_eq!(authorized(&server, target, &forged).status, 401);
    assert_eq!(get(&server, "/auth/digest?algorithm=CRC").status, 400);
}

#[test]
fn digest_nonces_go_stale() {
    let server = server();
    let is_stale = |target: &str, nonce: &str, count| {
        let sent = digest("MD5", nonce, target, count, "ann", "secret-ann");
        let response = authorized(&server, target, &sent);
        let stale = response.head.contains("stale=true");
        assert_eq!(response.status, if stale { 401 } else { 200 });
        stale
    };
    let target = "/auth/digest?uses=2";
    let first = nonce(&server, target);
    let states = [1, 1, 2, 3].map(|count| is_stale(target, &first, count));
    assert_eq!(states, [false, true, false, true], "replayed, and used up");
    let target = "/auth/digest?lifetime=0";
    let second = nonce(&server, target);
    std::thread::sleep(Duration::from_millis(2));
    assert!(is_stale(target, &second, 1), "too old");
}

#[test]
fn a_page_has_resources_with_rules_of_their_own() {
    let server = server();
    let page = get(&server, "/page/20").text().to_owned();
    for (tag, kind) in [
        ("<img src=\"", "image"),
        ("<link rel=\"stylesheet\" href=\"", "style"),
        ("<script src=\"", "script"),
        ("<img src=\"", "uncached"),
    ] {
        assert_eq!(page.matches(&format!("{tag}/resource/{kind}/")).count(), 5, "{page}");
    }
    let mut client = connect(&server);
    for (kind, field, status) in [
        ("image", "If-None-Match: \"image-4\"", 304),
        ("image", "If-None-Match: \"image-5\"", 200),
        ("style", "If-None-Match: \"style-4\"", 304),
        ("script", "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT", 304),
        ("script", "If-None-Match: \"script-4\"", 200),
        ("uncached", "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT", 200),
        ("nothing", "", 404),
    ] {
        let field = if field.is_empty() { String::new() } else { format!("{field}\r\n") };
        let response = client.request("GET", &format!("/resource/{kind}/4"), &field, "");
        assert_eq!(response.status, status, "{kind} {field}");
    }
    assert_eq!(client.get("/page/10001").status, 400);
    assert_eq!(client.get("/resource/image/x").status, 400);
}
