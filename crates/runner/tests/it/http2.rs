//! HTTP/2: who shares connections, what the protocol agrees on, and that plans mean the
//! same as with HTTP/1.1. The server is the `h2` crate's.

use std::cell::Cell;
use std::future::poll_fn;
use std::net::TcpListener;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use h2::server::{self, SendResponse};
use http::{HeaderMap, Request, Response, Uri};
use serde_json::Value;
use squall_target::{Server, TlsCertificate, TlsOptions};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::LocalSet;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use crate::common::{End, Steps, all_good, counter, kinds, options, refused, target, target_at};

/// What a server does beside answering.
#[derive(Clone, Default)]
pub struct Ways {
    /// Most streams at a time, over each connection.
    pub streams: Option<u32>,
    /// Ends each connection with GOAWAY after so many requests.
    pub goaway_after: Option<u64>,
    pub tls: bool,
}

/// A server, and what it has seen.
pub struct Peer {
    pub url: String,
    accepted: Arc<AtomicU64>,
    /// Most streams that one connection had at a time.
    most: Arc<AtomicU64>,
    /// The heads of requests, in order.
    pub heads: Heads,
}

type Heads = Arc<Mutex<Vec<(Uri, HeaderMap)>>>;

pub fn peer(ways: Ways) -> Peer {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    listener.set_nonblocking(true).expect("an option of all sockets");
    let (accepted, most) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let heads = Heads::default();
    let (count, high, noted) = (accepted.clone(), most.clone(), heads.clone());
    let scheme = if ways.tls { "https" } else { "http" };
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        LocalSet::new().block_on(&runtime.expect("an event loop"), async move {
            let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
            let acceptor = ways.tls.then(acceptor);
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::Relaxed);
                let (ways, high, acceptor) = (ways.clone(), high.clone(), acceptor.clone());
                let noted = noted.clone();
                tokio::task::spawn_local(async move {
                    match acceptor {
                        None => serve(stream, ways, high, noted).await,
                        Some(acceptor) => {
                            if let Ok(stream) = acceptor.accept(stream).await {
                                serve(stream, ways, high, noted).await;
                            }
                        }
                    }
                });
            }
        });
    });
    Peer { url: format!("{scheme}://127.0.0.1:{port}"), accepted, most, heads }
}

/// TLS with a certificate that nobody knows, and HTTP/2 by ALPN.
fn acceptor() -> TlsAcceptor {
    let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a key");
    let key = PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der());
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![certified.cert.der().clone()], PrivateKeyDer::from(key))
        .expect("a certificate");
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    TlsAcceptor::from(Arc::new(config))
}

async fn serve(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    ways: Ways,
    high: Arc<AtomicU64>,
    heads: Heads,
) {
    let mut builder = server::Builder::new();
    if let Some(streams) = ways.streams {
        builder.max_concurrent_streams(streams);
    }
    let Ok(mut connection) = builder.handshake::<_, Bytes>(stream).await else { return };
    let (mut requests, open) = (0, Rc::new(Cell::new(0)));
    while let Some(Ok((request, respond))) = connection.accept().await {
        requests += 1;
        let head = (request.uri().clone(), request.headers().clone());
        heads.lock().expect("nobody panicked").push(head);
        if ways.goaway_after == Some(requests) {
            connection.graceful_shutdown();
        }
        open.set(open.get() + 1);
        high.fetch_max(open.get(), Ordering::Relaxed);
        let open = open.clone();
        tokio::task::spawn_local(async move {
            answer(request, respond).await;
            open.set(open.get() - 1);
        });
    }
}

/// Answers by the path; `/echo` with what came, a line each.
async fn answer(request: Request<h2::RecvStream>, mut respond: SendResponse<Bytes>) {
    let (head, mut incoming) = request.into_parts();
    let mut body = Vec::new();
    while let Some(Ok(piece)) = incoming.data().await {
        body.extend_from_slice(&piece);
        let _ = incoming.flow_control().release_capacity(piece.len());
    }
    let response = Response::builder();
    let (response, text) = match head.uri.path() {
        "/echo" => (response.status(200), echo(&head.method, &head.uri, &head.headers, &body)),
        "/login" => {
            let cookies = response.header("set-cookie", "a=1").header("set-cookie", "b=2; Path=/");
            (cookies.status(302).header("location", "/echo?from=login"), Vec::new())
        }
        "/never" => {
            let _ = poll_fn(|cx| respond.poll_reset(cx)).await;
            return;
        }
        "/reset" => return respond.send_reset(h2::Reason::INTERNAL_ERROR),
        "/large" => (response.status(200), vec![b'x'; 300_000]),
        "/page" => {
            let tags = "<img src=/tagged><img src='/slow?1'><img src='/slow?2'>";
            (response.status(200).header("content-type", "text/html"), tags.into())
        }
        "/tagged" if head.headers.get("if-none-match").is_some_and(|tag| tag == "\"1\"") => {
            (response.status(304), Vec::new())
        }
        "/tagged" => {
            let response = response.header("etag", "\"1\"").header("cache-control", "no-cache");
            (response.status(200), b"x".to_vec())
        }
        "/slow" => {
            // Others get their turn meanwhile.
            for _ in 0..200 {
                tokio::task::yield_now().await;
            }
            (response.status(200), b"slow".to_vec())
        }
        _ => (response.status(404), Vec::new()),
    };
    let response = response.body(()).expect("valid");
    if let Ok(mut body) = respond.send_response(response, text.is_empty())
        && !text.is_empty()
    {
        let _ = body.send_data(text.into(), true);
    }
}

fn echo(method: &http::Method, uri: &http::Uri, headers: &HeaderMap, body: &[u8]) -> Vec<u8> {
    let mut text = format!("{method} {uri}\n");
    for (name, value) in headers {
        text.push_str(&format!("{name}={}\n", value.to_str().unwrap_or("?")));
    }
    text.push_str(&format!("{} bytes: ", body.len()));
    text.push_str(&String::from_utf8_lossy(&body[..body.len().min(100)]));
    text.into_bytes()
}

/// Runs steps over HTTP/2 without errors.
fn good(head: &str, url: &str, users: u32, iterations: u32, steps: &str) -> Value {
    let json = Steps { head, users, iterations, ..Steps::one(url, steps) }.run(End::Passed);
    all_good(&json, u64::from(users * iterations));
    json
}

#[test]
fn each_user_has_one_connection() {
    let peer = peer(Ways::default());
    let json = good("connections: {http: 2}", &peer.url, 20, 5, "get: /slow");
    assert_eq!(
        (counter(&json, "connections_opened"), counter(&json, "http2_connections")),
        (20, 20)
    );
    assert_eq!(peer.accepted.load(Ordering::Relaxed), 20);
}

/// Their conditions are fields, and they are streams of their user's one connection.
#[test]
fn the_resources_of_a_page_share_its_connection() {
    let peer = peer(Ways::default());
    let head = "connections: {http: 2}";
    let step = "{get: /page, name: page, resources: true}";
    let json = Steps { head, iterations: 2, ..Steps::one(&peer.url, step) }.run(End::Passed);
    all_good(&json, 8);
    let status = &json["requests"]["page (image)"]["status"];
    assert_eq!(status.to_string(), r#"{"200":5,"304":1}"#);
    assert_eq!(counter(&json, "http2_connections"), 1);
}

#[test]
fn users_share_the_connections_of_a_pool() {
    let peer = peer(Ways::default());
    let head = "connections: {http: 2, reuse: pool, pool_size: 1}";
    let json = good(head, &peer.url, 50, 10, "get: /slow");
    assert_eq!(counter(&json, "http2_connections"), 1);
    assert!(peer.most.load(Ordering::Relaxed) > 10, "{}", peer.most.load(Ordering::Relaxed));
}

#[test]
fn who_finds_no_free_stream_waits_for_one() {
    let peer = peer(Ways { streams: Some(1), ..Ways::default() });
    let head = "connections: {http: 2, reuse: pool, pool_size: 1}";
    let json = good(head, &peer.url, 20, 5, "get: /slow");
    assert_eq!(counter(&json, "http2_connections"), 1);
    assert_eq!(peer.most.load(Ordering::Relaxed), 1);
}

#[test]
fn goaway_costs_no_request() {
    for reuse in ["per_user", "pool, pool_size: 1"] {
        let peer = peer(Ways { goaway_after: Some(7), ..Ways::default() });
        let head = &format!("connections: {{http: 2, reuse: {reuse}}}");
        let json = good(head, &peer.url, 10, 20, "get: /slow");
        assert!(counter(&json, "http2_connections") >= 5, "{json}");
    }
}

#[test]
fn tls_agrees_on_the_protocol() {
    let peer = peer(Ways { tls: true, ..Ways::default() });
    for http in ["2", "auto"] {
        let head = &format!("connections: {{http: {http}, tls: {{insecure: true}}}}");
        let step = "{get: /echo, check: 'body.contains(\"GET https://127.0.0.1:\")'}";
        let json = good(head, &peer.url, 2, 2, step);
        assert_eq!(counter(&json, "http2_connections"), 2, "{http}");
    }
}

/// A server that speaks HTTP/1.1 alone.
fn old() -> Server {
    let certificate = TlsCertificate::SelfSigned { names: vec!["localhost".to_owned()] };
    target_at("127.0.0.1:0", Some(TlsOptions { certificate, client_ca: None, http2: false }))
}

#[test]
fn a_server_without_http_2_gets_http_1_if_that_is_left_open() {
    for reuse in ["per_user", "pool, pool_size: 3"] {
        let server = old();
        let head = &format!("connections: {{http: auto, reuse: {reuse}, tls: {{insecure: true}}}}");
        let json = good(head, &server.url(), 10, 4, "get: /connection");
        assert_eq!(counter(&json, "http2_connections"), 0);
        assert!(counter(&json, "connections_opened") <= 10, "{json}");
        let head = &format!("connections: {{http: 2, reuse: {reuse}, tls: {{insecure: true}}}}");
        let json = Steps { head, ..Steps::one(&server.url(), "get: /connection") }.run(End::Failed);
        // Its alert may be lost with the connection that it closes at once.
        assert!([r#"{"tls":1}"#, r#"{"reset":1}"#].contains(&&*kinds(&json)), "{json}");
        assert_eq!(counter(&json, "http2_connections"), 0);
    }
    let plain = target();
    let json = good("connections: {http: auto}", &plain.url(), 2, 2, "get: /connection");
    assert_eq!(counter(&json, "http2_connections"), 0);
    let head = "connections: {http: 2}";
    let json = Steps { head, ..Steps::one(&plain.url(), "get: /connection") }.run(End::Failed);
    assert_eq!(kinds(&json), r#"{"malformed_response":1}"#, "{json}");
}

#[test]
fn checks_see_trailers_of_both_protocols() {
    let certificate = TlsCertificate::SelfSigned { names: vec!["localhost".to_owned()] };
    let tls = TlsOptions { certificate, client_ca: None, http2: true };
    let server = target_at("127.0.0.1:0", Some(tls));
    let step = r#"{get: "/chunked?n=3&size=10&delay=0", check: ['trailer("X-CHUNKS") == "3" && trailer("x-bytes") == "30"', 'trailer("x-none") == null', 'header("x-chunks") == null']}"#;
    for (http, connections) in [("1.1", 0), ("2", 1)] {
        let head = &format!("connections: {{http: {http}, tls: {{insecure: true}}}}");
        let json = Steps { head, ..Steps::one(&server.url(), step) }.run(End::Passed);
        assert_eq!(counter(&json, "http2_connections"), connections, "{json}");
        assert_eq!(json["counters"]["checks_passed"].as_u64(), Some(3), "{json}");
    }
}

#[test]
fn a_plan_means_the_same() {
    let peer = peer(Ways::default());
    let steps = r#"
      - get: /login
        redirects: 2
        check:
          - status == 200
          - body.contains("GET http://127.0.0.1:")
          - body.contains("/echo?from=login")
          - body.contains("cookie=a=1; b=2")
      - post: /echo
        json: {a: "${1 + 1}"}
        headers: {Host: shop.test, Connection: close, X-User: "${user}"}
        auth: {basic: {user: u, password: p}}
        check:
          - body.contains("POST http://shop.test/echo")
          - body.contains("x-user=")
          - body.contains("authorization=Basic dTpw")
          - body.contains("content-type=application/json")
          - '!body.contains("connection=")'
          - 'body.contains("7 bytes: {\"a\":2}")'
      - put: /echo
        body: {file: upload.bin}
        check: body.contains("content-length=200000") && body.contains("200000 bytes")
      - get: /large
        response_body: {hash: xxh3}
        check: size(body_hash) == 16
      - get: /large
        max_body: 1KiB
      - get: /reset
      - {get: /never, timeout: 300ms}
      - get: /missing
"#;
    let upload = vec![b'u'; 200_000];
    let files: &[(&str, &[u8])] = &[("upload.bin", &upload)];
    let head = "connections: {http: 2}";
    let json = Steps { head, files, ..Steps::one(&peer.url, steps) }.run(End::Failed);
    for kind in ["body_too_large", "reset", "status", "timeout_first_byte"] {
        assert_eq!(json["totals"]["error_kinds"][kind], 1, "{kind}: {json}");
    }
    assert_eq!(json["totals"]["errors"], 4, "{json}");
    assert_eq!(counter(&json, "checks_failed"), 0, "{json}");
    assert_eq!(counter(&json, "http2_connections"), 1, "errors of a stream are its own");
    assert!(json.to_string().contains("the stream was reset: INTERNAL_ERROR"), "{json}");
}

#[test]
fn bytes_of_a_slow_user_come_slowly() {
    let peer = peer(Ways::default());
    let head = "connections: {http: 2}\nbandwidth: 8Mbit/s";
    let json = good(head, &peer.url, 1, 1, "{get: /large, check: size(body) == 300000}");
    // 300 kB at 1 MB/s, of which 40 ms may come at once.
    assert!(
        json["totals"]["latency_us"]["max"].as_f64().map(|us| us as u64) > Some(200_000),
        "{json}"
    );
}

#[test]
fn a_trial_speaks_it_too() {
    let peer = peer(Ways::default());
    let plan = format!(
        "target: {}\nconnections: {{http: 2}}\nscenarios: {{u: {{load: {{users: 1, iterations: 1}}, steps: [{{get: /slow}}]}}}}\n",
        peer.url
    );
    let plan = squall_runner::load_str("plan", &plan).expect("a plan");
    let (shown, heads) = std::sync::mpsc::channel();
    squall_runner::try_plan(&plan, &options(), 1 << 10, move |tried| {
        if let squall_runner::Tried::Exchange(exchange) = tried {
            let hop = exchange.last().expect("a request");
            shown.send([hop.request.clone(), hop.head.clone()]).expect("it is read");
        }
    })
    .expect("a trial");
    let heads =
        heads.recv().expect("an exchange").map(|head| String::from_utf8_lossy(&head).into_owned());
    assert!(
        heads[0].starts_with("GET /slow HTTP/2") && heads[1].starts_with("HTTP/2 200"),
        "{heads:?}"
    );
}

#[test]
fn over_tls_it_goes_through_a_tunnel() {
    let peer = peer(Ways { tls: true, ..Ways::default() });
    let proxy = crate::common::proxy::proxy();
    for http in ["2", "auto"] {
        let head = &format!(
            "connections: {{http: {http}, proxy: '{}', tls: {{insecure: true}}}}",
            proxy.url()
        );
        let one = Steps::one(&peer.url, "get: /slow");
        let json = Steps { head, users: 2, iterations: 3, ..one }.run(End::Passed);
        all_good(&json, 6);
        assert_eq!(counter(&json, "http2_connections"), 2);
        assert_eq!(proxy.connections(), 2);
    }
}

#[test]
fn without_tls_it_goes_through_no_proxy() {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = "target: http://127.0.0.1:1\nconnections: {http: 2, proxy: 'http://127.0.0.1:2'}\nscenarios: {u: {load: {users: 1, iterations: 1}, steps: [{get: /}]}}\n";
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    let error = refused(folder.path(), &options());
    assert!(error.contains("HTTP/2 to http://127.0.0.1:1 cannot go through a proxy"), "{error}");
    // One that only the run finds fails then.
    let step = "{get: /, proxy: 'http://127.0.0.1:${iteration + 2}'}";
    let json = Steps { head: "connections: {http: 2}", ..Steps::one("http://127.0.0.1:1", step) }
        .run(End::Failed);
    assert_eq!(kinds(&json), r#"{"proxy":1}"#);
    assert!(json.to_string().contains("cannot go through a proxy"), "{json}");
}
