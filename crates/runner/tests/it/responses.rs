//! What squall makes of responses against real sockets: every form of HTTP/1.1,
//! early responses, connections that the server closed, compressed bodies.

use std::sync::Arc;

use crate::common::peer::{Conversation, Peer, response};
use crate::common::{End, Steps, all_good, counter, kinds, target, target_at};
use serde_json::Value;
use squall_target::{TlsCertificate, TlsOptions};

// Forms of responses

/// How a server ends a response.
#[derive(Clone, Copy, PartialEq)]
enum After {
    Keep,
    Close,
}

/// Asks three times for a response, which is sent once whole and once byte by byte; checks its body,
/// and on how many connections it came.
fn comes_well(step: &str, bytes: impl Into<Vec<u8>>, body: &str, after: After, connections: usize) {
    let bytes: Arc<[u8]> = bytes.into().into();
    for size in [bytes.len(), 1] {
        let bytes = bytes.clone();
        let server = Peer::start("127.0.0.1", move |mut client| {
            while client.request().is_some() {
                bytes.chunks(size).for_each(|piece| client.send(piece));
                if after == After::Close {
                    return client.end();
                }
            }
        });
        let check = format!("['body == \"{body}\"', 'header(\"x-interim\") == null']");
        let step = format!("{{{step}, check: {check}}}");
        let json = Steps { iterations: 3, ..Steps::one(&server.url(), &step) }.run(End::Passed);
        all_good(&json, 3);
        assert_eq!(server.connections(), connections, "in pieces of {size}");
        assert_eq!(counter(&json, "stale_retries"), 0);
    }
}

#[test]
fn interim_responses_are_passed_over() {
    let bytes = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nX-Interim: a\r\n\r\n\
                 HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nhello world";
    comes_well("get: /", bytes, "hello world", After::Keep, 1);
}

#[test]
fn responses_without_a_body_leave_the_connection_usable() {
    comes_well("get: /", "HTTP/1.1 204 No Content\r\n\r\n", "", After::Keep, 1);
    comes_well(
        "get: /",
        "HTTP/1.1 304 Not Modified\r\nContent-Length: 11\r\n\r\n",
        "",
        After::Keep,
        1,
    );
    comes_well("head: /", "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n", "", After::Keep, 1);
    comes_well(
        "head: /",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "",
        After::Keep,
        1,
    );
}

#[test]
fn the_content_type_and_the_encoding_reach_extracts_and_checks() {
    let feed = "<rss><channel><item><link>/a</link></item></channel></rss>";
    let soap = "<s:Envelope xmlns:s='e'><s:Body><n>7</n></s:Body></s:Envelope>";
    let latin: &[u8] = b"<p>caf\xE9 <input name=t value='\xE0 \x80'></p>";
    let japanese: &[u8] = b"<meta charset=Shift_JIS><p>\x93\xFA\x96{</p>";
    for (content_type, body, extract, check) in [
        ("application/rss+xml", feed.as_bytes(), "{xpath: //item/link}", "x == \"/a\""),
        ("text/xml; charset=utf-8", soap.as_bytes(), "{xpath: name(/*)}", "x == \"s:Envelope\""),
        (
            "text/html; charset=ISO-8859-1",
            latin,
            "{css: input, attr: value}",
            "x == \"à €\" && body.contains(\"café\")",
        ),
        ("text/html", japanese, "{regex: <p>(.*?)</p>}", "x == \"日本\""),
    ] {
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        let response = [head.as_bytes(), body].concat();
        let server = Peer::start("127.0.0.1", move |mut client| {
            while client.request().is_some() {
                client.send(&response);
            }
        });
        let step = format!("{{get: /, extract: {{x: {extract}}}, check: '{check}'}}");
        all_good(&Steps::one(&server.url(), &step).run(End::Passed), 1);
    }
}

#[test]
fn a_body_may_end_with_the_connection() {
    comes_well("get: /", "HTTP/1.1 200 OK\r\n\r\nhello world", "hello world", After::Close, 3);
}

#[test]
fn http_1_0_keeps_connections_only_if_it_says_so() {
    let kept = "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 11\r\n\r\nhello world";
    comes_well("get: /", kept, "hello world", After::Keep, 1);
    // The server does not close: squall has to.
    comes_well(
        "get: /",
        "HTTP/1.0 200 OK\r\nContent-Length: 11\r\n\r\nhello world",
        "hello world",
        After::Keep,
        3,
    );
    comes_well("get: /", "HTTP/1.0 200 OK\r\n\r\nhello world", "hello world", After::Close, 3);
}

#[test]
fn http_1_1_closes_connections_only_if_it_says_so() {
    let closed = "HTTP/1.1 200 OK\r\nConnection: x, close\r\nContent-Length: 11\r\n\r\nhello world";
    comes_well("get: /", closed, "hello world", After::Keep, 3);
}

#[test]
fn chunks_have_extensions_and_trailers() {
    let bytes = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n\
                 5;a=b\r\nhello\r\n006 ; c=\"d;e\"\r\n world\r\n0;last\r\nX-Sum: 1\r\nX: y\r\n\r\n";
    comes_well("get: /", bytes, "hello world", After::Keep, 1);
}

#[test]
fn bytes_that_nobody_asked_for_end_the_connection() {
    let bytes = "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nhello worldHTTP/1.1 500 No\r\n\r\n";
    let server = Peer::start("127.0.0.1", move |mut client| {
        while client.request().is_some() {
            client.send(bytes);
        }
    });
    let json = Steps { iterations: 3, ..Steps::one(&server.url(), "get: /") }.run(End::Passed);
    all_good(&json, 3);
    assert_eq!(server.connections(), 3);
}

// Responses that come before the request is out

/// A file of 10 MiB, more than what sockets hold.
fn upload() -> Vec<u8> {
    vec![b'x'; 10 << 20]
}

/// Uploads 10 MiB twice to a server that responds and closes when it has read the head.
fn early(status: &str, body: &str) -> Value {
    let early = format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: 3\r\n\r\nyes");
    let server = Peer::start("127.0.0.1", move |mut client| {
        client.head();
        client.send(&early);
    });
    let step = format!("{{post: /, body: {body}, status_errors: false, check: body == \"yes\"}}");
    let upload = upload();
    let files = &[("big.bin", &*upload)];
    Steps { iterations: 2, files, ..Steps::one(&server.url(), &step) }.run(End::Passed)
}

#[test]
fn an_early_response_to_an_upload_counts_as_that_response() {
    let text = String::from_utf8(upload()).expect("ASCII");
    for (status, code) in [("200 OK", "200"), ("413 Content Too Large", "413")] {
        for body in ["{file: big.bin}", &text] {
            let json = early(status, body);
            all_good(&json, 2);
            assert_eq!(json["totals"]["status"][code].as_u64(), Some(2));
            assert_eq!(counter(&json, "connections_opened"), 2);
        }
    }
}

#[test]
fn an_early_response_over_tls_counts_as_that_response() {
    let certificate = TlsCertificate::SelfSigned { names: Vec::new() };
    let server =
        target_at("127.0.0.1:0", Some(TlsOptions { certificate, client_ca: None, http2: true }));
    let upload = upload();
    let json = Steps {
        head: "connections: {tls: {insecure: true}}",
        iterations: 2,
        files: &[("big.bin", &*upload)],
        ..Steps::one(
            &server.url(),
            "{post: /hostile/early-response, body: {file: big.bin}, check: status == 413}",
        )
    }
    .run(End::Passed);
    all_good(&json, 2);
}

// Connections that the server closed

/// Time to think in which the close comes: what is closed only while the next request is on its way may
/// have carried it out.
const GET_AND_THINK: &str = "\n      - get: /\n      - think: 1s";

/// Responds to one request, says nothing of closing, and closes.
fn responds_once(mut client: Conversation) {
    client.request();
    client.send(response("200 OK", "hello"));
    client.end();
}

#[test]
fn a_get_on_a_closed_connection_is_repeated_once_on_a_fresh_one() {
    let server = Peer::start("127.0.0.1", responds_once);
    let json = Steps { iterations: 3, ..Steps::one(&server.url(), GET_AND_THINK) }.run(End::Passed);
    all_good(&json, 3);
    assert_eq!((counter(&json, "stale_retries"), counter(&json, "connections_opened")), (2, 3));
    assert_eq!(server.seen().len(), 3);
}

#[test]
fn a_get_is_not_repeated_twice() {
    // The first connection carries one response, all others none.
    let server = Peer::start("127.0.0.1", |mut client| match client.number {
        0 => responds_once(client),
        _ => {
            client.request();
            client.end();
        }
    });
    let json = Steps { iterations: 3, ..Steps::one(&server.url(), GET_AND_THINK) }.run(End::Failed);
    assert_eq!(kinds(&json), r#"{"closed_early":2}"#);
    assert_eq!((counter(&json, "stale_retries"), counter(&json, "connections_opened")), (1, 3));
}

/// The close is seen before anything is sent: nothing can be carried out twice.
#[test]
fn a_post_that_was_not_sent_is_sent_on_a_fresh_connection() {
    let server = Peer::start("127.0.0.1", responds_once);
    let step = "\n      - {post: /, body: hello}\n      - think: 1s";
    let json = Steps { iterations: 3, ..Steps::one(&server.url(), step) }.run(End::Passed);
    all_good(&json, 3);
    assert_eq!((counter(&json, "stale_retries"), counter(&json, "connections_opened")), (2, 3));
    assert_eq!(server.seen().len(), 3);
}

/// A server that fails one in ten of the requests on kept connections fails them: its kernel has
/// acknowledged them.
#[test]
fn what_dies_after_it_was_acknowledged_is_an_error() {
    let server = Peer::start("127.0.0.1", |mut client| {
        for _ in 0..9 {
            client.request();
            client.send(response("200 OK", "hello"));
        }
        client.request();
        client.end();
    });
    let json = Steps { iterations: 30, ..Steps::one(&server.url(), "get: /") }.run(End::Failed);
    assert_eq!(kinds(&json), r#"{"closed_early":3}"#);
    let heads: Vec<usize> = server.seen().iter().map(|seen| seen.head.len()).collect();
    assert_eq!((counter(&json, "stale_retries"), heads.len()), (0, 30));
    let sent = json["totals"]["bytes_out"].as_u64().expect("a number");
    assert!(
        sent >= heads.iter().sum::<usize>() as u64,
        "requests that failed were sent too: {sent}"
    );
}

#[test]
fn a_response_that_has_begun_is_not_asked_for_again() {
    let server = Peer::start("127.0.0.1", |mut client| {
        client.request();
        client.send(response("200 OK", "hello"));
        client.request();
        client.send("HTTP/1.1 200");
        client.end();
    });
    let json = Steps { iterations: 2, ..Steps::one(&server.url(), "get: /") }.run(End::Failed);
    assert_eq!(kinds(&json), r#"{"closed_early":1}"#);
    assert_eq!((counter(&json, "stale_retries"), counter(&json, "connections_opened")), (0, 1));
}

// Packed bodies

/// One request to the target that asks for a packed body, and a check of it.
fn packed(path: &str, more: &str, end: End) -> Value {
    let step = format!("{{get: {path}, compression: true{more}}}");
    Steps::one(&target().url(), &step).run(end)
}

#[test]
fn a_packed_body_is_checked_unpacked() {
    let check = r#", check: ['json("$.rows[249].row") == 250', 'size(body) > body_bytes']"#;
    all_good(&packed("/gzip", check, End::Passed), 1);
}

/// `hello world` in gzip, in a block as it is (RFC 1951, section 3.2.4).
fn gzip() -> Vec<u8> {
    let head = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1, 11, 0, !11, 255];
    let checksum_and_length = [0x85, 0x11, 0x4a, 0x0d, 11, 0, 0, 0];
    [&head[..], b"hello world", &checksum_and_length].concat()
}

/// The same in the other ways, and where it may end: bare DEFLATE; Brotli, a meta-block that is not
/// compressed (RFC 7932, section 9.2); Zstandard, a raw block (RFC 8878, section 3.1.1.2).
#[test]
fn a_body_may_be_packed_in_every_way() {
    let deflate = [&[1, 11, 0, !11, 255], &b"hello world"[..]].concat();
    let brotli = [&[0x0b, 0x05, 0x80], &b"hello world"[..], &[3]].concat();
    let zstd =
        [&[0x28, 0xb5, 0x2f, 0xfd, 0x20, 11, 11 << 3 | 1, 0, 0], &b"hello world"[..]].concat();
    for (name, bytes) in [("deflate", deflate), ("br", brotli), ("zstd", zstd), ("x-gzip", gzip())]
    {
        let length = bytes.len();
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Encoding: {name}\r\nContent-Length: {length}\r\n\r\n"
        );
        let response = [head.as_bytes(), &bytes].concat();
        comes_well("get: /, compression: true", response, "hello world", After::Keep, 1);
    }
}

#[test]
fn a_packed_body_may_come_in_every_form() {
    let (step, body) = ("get: /, compression: true", "hello world");
    let packed = |framing: &str, before: &str, after: &str| {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n{framing}\r\n{before}");
        [head.as_bytes(), &gzip(), after.as_bytes()].concat()
    };
    comes_well(step, packed("Content-Length: 34\r\n", "", ""), body, After::Keep, 1);
    let chunked = packed("Transfer-Encoding: chunked\r\n", "22\r\n", "\r\n0\r\n\r\n");
    comes_well(step, chunked, body, After::Keep, 1);
    comes_well(step, packed("", "", ""), body, After::Close, 3);
}

#[test]
fn a_bomb_is_bounded_by_ratio_and_by_max_body() {
    let looks = "check: body == \"\"";
    for ratio in ["", ", max_decompression_ratio: 900"] {
        let json = packed(
            "/hostile/gzip-bomb?size=2g",
            &format!(", response_body: {{hash: md5}}{ratio}"),
            End::Failed,
        );
        let detail = json["log"].to_string();
        let expected = if ratio.is_empty() { "more than 200 times" } else { "more than 900 times" };
        assert_eq!(kinds(&json), r#"{"body_too_large":1}"#);
        assert!(detail.contains(expected), "{detail}");
    }
    let json = packed("/hostile/gzip-bomb", &format!(", {looks}"), End::Failed);
    assert_eq!(kinds(&json), r#"{"body_too_large":1}"#);
    // 1 MiB unpacked, about 1 KiB packed.
    for (limit, expected, end) in
        [("1048575", r#"{"body_too_large":1}"#, End::Failed), ("1MiB", "{}", End::Passed)]
    {
        let check = "check: size(body) == 1048576";
        let more = format!(", max_body: {limit}, {check}");
        let json = packed("/hostile/gzip-bomb?size=1m", &more, end);
        assert_eq!(kinds(&json), expected, "{limit}");
    }
}

#[test]
fn a_bomb_that_nobody_looks_at_is_not_unpacked() {
    all_good(&packed("/hostile/gzip-bomb?size=1g", ", max_body: 10MiB", End::Passed), 1);
}

#[test]
fn packed_bodies_that_cannot_be_unpacked_are_errors_of_decoding() {
    for case in ["truncated-gzip", "bad-gzip"] {
        let json = packed(&format!("/hostile/{case}"), ", check: size(body) > 0", End::Failed);
        assert_eq!(kinds(&json), r#"{"decode":1}"#, "{case}");
    }
}

#[test]
fn a_refused_login_is_not_hidden_by_its_body() {
    let server = Peer::start("127.0.0.1", |mut client| {
        while let Some(request) = client.request() {
            let coding = if request.contains("/packed") { "gzip" } else { "identity" };
            client.send(format!(
                "HTTP/1.1 401 Unauthorized\r\nContent-Encoding: {coding}\r\nContent-Length: 5\r\n\r\nhello"
            ));
        }
    });
    let looks = "compression: true, check: 'body == \"\"'";
    for (step, of_body) in [
        (format!("{{get: /packed, {looks}}}"), "of its body: gzip: "),
        ("{get: /, max_body: 3B}".to_owned(), "of its body: more than 3 bytes"),
    ] {
        let json = Steps::one(&server.url(), &step).run(End::Failed);
        assert_eq!(kinds(&json), r#"{"status":1}"#, "{step}");
        let log = json["log"].to_string();
        assert!(log.contains("status 401") && log.contains(of_body), "{log}");
        assert_eq!(json["totals"]["status"]["401"], 1, "{step}");
    }
    let accepts = format!("{{get: /packed, {looks}, check: [status == 401, 'body == \"\"']}}")
        .replacen(", check: 'body == \"\"'", "", 1);
    let json = Steps::one(&server.url(), &accepts).run(End::Failed);
    assert_eq!(kinds(&json), r#"{"decode":1}"#, "the plan accepts the status");
    assert!(json["log"].to_string().contains("(status 401)"), "{}", json["log"]);
}

/// A server that packs a body, and says so in other words.
fn packed_as(coding: &'static str, body: Vec<u8>) -> Peer {
    Peer::start("127.0.0.1", move |mut client| {
        while client.request().is_some() {
            let length = body.len();
            client.send(format!(
                "HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\nContent-Length: {length}\r\n\r\n"
            ));
            client.send(&body);
        }
    })
}

#[test]
fn several_codings_are_undone_and_an_unknown_one_is_said() {
    let server = packed_as("identity, gzip", gzip());
    let step = "{get: /, compression: true, check: 'body == \"hello world\"'}";
    all_good(&Steps::one(&server.url(), step).run(End::Passed), 1);
    let server = packed_as("gzip, foo", gzip());
    let json = Steps::one(&server.url(), step).run(End::Failed);
    assert_eq!(kinds(&json), r#"{"decode":1}"#);
    let log = json["log"].to_string();
    assert!(log.contains("unknown Content-Encoding `gzip, foo`: squall undoes gzip,"), "{log}");
    // Nobody reads it, nobody minds.
    all_good(&Steps::one(&server.url(), "{get: /, compression: true}").run(End::Passed), 1);
    // It was not asked for: what was meant to be found is not there.
    let server = packed_as("gzip", gzip());
    let json = Steps::one(&server.url(), "{get: /, extract: {x: {json: $.a}}}").run(End::Failed);
    let log = json["log"].to_string();
    assert!(log.contains("the Content-Encoding gzip, which is undone only with"), "{log}");
}
