//! The hostile corner: every route does to the bytes what its sentence says.

use std::collections::BTreeSet;
use std::io::{ErrorKind, Read};
use std::net::TcpStream;

use crate::common::{Client, connect, get, server, wait_until_all_closed};
use squall_target::{HOSTILE, Server};

/// How what comes from a hostile route ends.
#[derive(Debug, PartialEq, Eq)]
enum End {
    Closed,
    Reset,
    /// The connection stays open: the server waits for the next request.
    Open,
    /// There was more than we cared to read.
    Endless,
}

/// Sends a request and reads what comes, at most 300 KB, and at most until nothing more comes.
fn visit(server: &Server, path: &str) -> (Vec<u8>, End) {
    let mut client = connect(server);
    // Whether a connection stays open shows by the next request being answered on it. Both go in
    // one write, so that the second does not meet a connection that is closed already.
    let next = "GET /status/299 HTTP/1.1\r\nHost: h\r\n\r\n";
    client.send(format!("GET {path} HTTP/1.1\r\nHost: h\r\n\r\n{next}"));
    let end = loop {
        let next = b"HTTP/1.1 299 \r\n";
        if client.unread().windows(next.len()).any(|window| window == next) {
            break End::Open;
        }
        if client.unread().len() > 300_000 {
            break End::Endless;
        }
        match client.fill() {
            Ok(0) => break End::Closed,
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::ConnectionReset => break End::Reset,
            Err(error) => panic!("{path}: {error}"),
        }
    };
    (client.unread().to_vec(), end)
}

/// Path, how it ends, and what is among the bytes (nothing at all when empty).
const CASES: &[(&str, End, &str)] = &[
    ("/hostile/reset-before", End::Reset, ""),
    ("/hostile/reset-in-headers", End::Reset, "squall\r\nContent-Le"),
    ("/hostile/reset-after-headers", End::Reset, "Content-Length: 1000\r\n\r\nxxx"),
    ("/hostile/close-before", End::Closed, ""),
    ("/hostile/close-in-headers", End::Closed, "squall\r\nContent-Le"),
    ("/hostile/close-in-body", End::Closed, "Content-Length: 1000\r\n\r\nxxx"),
    ("/hostile/close-in-chunk", End::Closed, "\r\n\r\n10\r\nabcd"),
    ("/hostile/close-after-keep-alive", End::Closed, "Connection: keep-alive\r\n"),
    ("/hostile/early-response", End::Closed, "413 Content Too Large"),
    ("/hostile/extra-bytes", End::Open, "ok\nHTTP/1.1 200 OK\r\nContent-Length: 6"),
    ("/hostile/redirect-loop", End::Open, "Location: /hostile/redirect-loop\r\n"),
    ("/hostile/redirect-away", End::Open, "Location: http://elsewhere.invalid/\r\n"),
    ("/hostile/slow-headers?bytes=30&ms=1", End::Open, "X-Slow: sssss"),
    ("/hostile/endless-headers", End::Endless, "X-More: and more\r\nX-More: and more"),
    ("/hostile/endless-header-line", End::Endless, "X-Long: longlonglong"),
    ("/hostile/endless-1xx", End::Endless, "102 Processing\r\n\r\nHTTP/1.1 102 Processing\r\n"),
    ("/hostile/bad-status-line", End::Open, "HTTP/1.1 abc OK"),
    ("/hostile/nul-in-header", End::Open, "a\0b"),
    ("/hostile/no-colon", End::Open, "\r\nno colon here\r\n"),
    ("/hostile/two-content-lengths", End::Open, "Content-Length: 5\r\nContent-Length: 6"),
    ("/hostile/length-and-chunked", End::Open, "Content-Length: 13\r\nTransfer-Encoding: chunked"),
    ("/hostile/negative-length", End::Open, "Content-Length: -5"),
    ("/hostile/overflow-length", End::Open, "Content-Length: 18446744073709551621"),
    ("/hostile/content-length-short", End::Open, "Content-Length: 5\r\n\r\n0123456789"),
    ("/hostile/content-length-long", End::Closed, "Content-Length: 10\r\n\r\n01234"),
    ("/hostile/bad-chunk-size", End::Open, "\r\nxyz\r\n"),
    ("/hostile/huge-chunk-size", End::Open, "\r\nffffffffffffffffff\r\n"),
    ("/hostile/no-chunk-crlf", End::Open, "3\r\nok\n3\r\n"),
    ("/hostile/endless-trailers", End::Endless, "0\r\nX-More: and more\r\nX-More"),
    ("/hostile/endless-body", End::Endless, "never ends\r\n20\r\nthis is"),
    ("/hostile/slow-body?bytes=5&ms=1", End::Open, "Content-Length: 5\r\n\r\nsssss"),
    ("/hostile/bad-gzip", End::Open, "this is not gzip"),
    ("/hostile/truncated-gzip", End::Open, "Content-Encoding: gzip"),
];

#[test]
fn every_case_does_what_it_says() {
    let server = server();
    for (path, end, content) in CASES {
        let (bytes, ended) = visit(&server, path);
        let text = String::from_utf8_lossy(&bytes);
        assert_eq!(ended, *end, "{path}: {text:.300}");
        assert!(text.contains(content), "{path}: {text:.300}");
        assert!(!content.is_empty() || bytes.is_empty(), "{path}: {text:.300}");
    }
    // The site is none the worse for it.
    assert_eq!(get(&server, "/").status, 200);
}

#[test]
fn every_case_is_tested() {
    let mut tested: BTreeSet<_> =
        CASES.iter().map(|(path, ..)| path.split('?').next().unwrap()).collect();
    // These have tests of their own below.
    tested.extend(["/hostile/never-answers", "/hostile/invalid-bytes", "/hostile/gzip-bomb"]);
    assert_eq!(tested, HOSTILE.iter().map(|route| route.path).collect());
}

#[test]
fn garbage_is_no_response() {
    let server = server();
    let mut client = connect(&server);
    client.send("GET /hostile/invalid-bytes HTTP/1.1\r\nHost: h\r\n\r\n");
    let bytes = client.read_to_end().unwrap();
    assert_eq!(bytes.len(), 1024);
    assert!(!bytes.starts_with(b"HTTP/"));
    assert!(bytes.iter().any(|b| !b.is_ascii()));
}

#[test]
fn never_answering_ends_with_the_client() {
    let server = server();
    let mut client = connect(&server);
    client.send("GET /hostile/never-answers HTTP/1.1\r\nHost: h\r\n\r\n");
    client.stream.set_read_timeout(Some(std::time::Duration::from_millis(100))).unwrap();
    let error = client.fill().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{error}");
    drop(client);
    wait_until_all_closed(&server);
}

#[test]
fn an_early_response_does_not_wait_for_the_body() {
    let server = server();
    let mut client = connect(&server);
    client.send(
        "POST /hostile/early-response HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n",
    );
    assert_eq!(client.read_response(false).status, 413);
}

#[test]
fn a_gzip_bomb_is_small_on_the_wire_and_valid() {
    let server = server();
    let response = get(&server, "/hostile/gzip-bomb?size=64m");
    assert_eq!(response.field("content-encoding"), Some("gzip"));
    assert!(response.body.len() < 100_000, "{} bytes", response.body.len());
    let mut decoder = flate2::read::GzDecoder::new(response.body.as_slice());
    let mut unpacked = vec![1; 1 << 20];
    for _ in 0..64 {
        decoder.read_exact(&mut unpacked).unwrap();
        assert!(unpacked.iter().all(|b| *b == 0));
    }
    assert_eq!(get(&server, "/hostile/gzip-bomb?size=9999999g").status, 400);
    // The end is reached, where the checksum and the size are compared.
    assert_eq!(decoder.read(&mut unpacked).unwrap(), 0);
}

#[test]
fn clients_that_leave_a_flood_are_let_go() {
    let server = server();
    let clients: Vec<Client<TcpStream>> = ["endless-body", "endless-headers", "gzip-bomb"]
        .iter()
        .map(|name| {
            let mut client = connect(&server);
            client.send(format!("GET /hostile/{name} HTTP/1.1\r\nHost: h\r\n\r\n"));
            client.fill().unwrap();
            client
        })
        .collect();
    assert_eq!(server.stats().open, 3);
    drop(clients);
    wait_until_all_closed(&server);
}
