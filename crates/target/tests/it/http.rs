//! The protocol: what the server does with requests whole and broken, however they arrive.

use std::io::Write;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::common::{connect, get, server};

#[test]
fn the_home_page_is_the_same_on_both_paths() {
    let server = server();
    let mut client = connect(&server);
    let fast = client.get("/");
    // A body keeps the request off the prepared answer.
    let slow = client.request("GET", "/", "", "body");
    assert_eq!((fast.status, fast.body.len()), (200, slow.body.len()));
    assert_eq!(fast.body, slow.body);
    assert!((700..2000).contains(&fast.body.len()), "{} bytes", fast.body.len());
    let names = |head: &str| -> Vec<String> {
        head.lines().map(|line| line.split(':').next().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&fast.head), names(&slow.head));
    assert!(fast.field("date").unwrap().ends_with("GMT"));
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let server = server();
    let mut client = connect(&server);
    let targets = ["/status/201", "/delay/5", "/", "/status/202", "/bytes/3", "/status/203"];
    let mut all = String::new();
    for _ in 0..50 {
        for target in targets {
            all.push_str(&format!("GET {target} HTTP/1.1\r\nHost: h\r\n\r\n"));
        }
    }
    let mut writer = client.stream.try_clone().unwrap();
    let sender = std::thread::spawn(move || writer.write_all(all.as_bytes()).unwrap());
    for _ in 0..50 {
        let statuses = targets.map(|_| client.read_response(false).status);
        assert_eq!(statuses, [201, 200, 200, 202, 200, 203]);
    }
    sender.join().unwrap();
    assert_eq!(server.stats().requests, 300);
}

#[test]
fn more_pipelined_requests_than_answers_fit_a_buffer() {
    let server = server();
    let mut client = connect(&server);
    let mut writer = client.stream.try_clone().unwrap();
    let count = 5000;
    let all = "GET / HTTP/1.1\r\nHost: h\r\n\r\n".repeat(count);
    let sender = std::thread::spawn(move || writer.write_all(all.as_bytes()).unwrap());
    for n in 0..count {
        assert_eq!(client.read_response(false).status, 200, "answer {n}");
    }
    sender.join().unwrap();
}

#[test]
fn a_request_may_come_byte_by_byte() {
    let server = server();
    let mut client = connect(&server);
    for request in [
        "GET /status/204 HTTP/1.1\r\nHost: h\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc",
        "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3;x\r\nabc\r\n0\r\nT: t\r\n\r\n",
    ] {
        for byte in request.bytes() {
            client.send([byte]);
        }
        let response = client.read_response(false);
        if response.status != 204 {
            assert_eq!(response.json()["body"], "abc");
        }
    }
}

#[test]
fn keep_alive_by_the_rules_of_both_versions() {
    let server = server();
    for (version, field, says, stays) in [
        ("HTTP/1.1", "", None, true),
        ("HTTP/1.1", "Connection: close\r\n", Some("close"), false),
        ("HTTP/1.0", "", Some("close"), false),
        ("HTTP/1.0", "Connection: keep-alive\r\n", Some("keep-alive"), true),
    ] {
        // The prepared answer, the fast path, the slow path.
        for target in ["/", "/status/200", "/bytes/5"] {
            let mut client = connect(&server);
            client.send(format!("GET {target} {version}\r\nHost: h\r\n{field}\r\n"));
            let response = client.read_response(false);
            assert_eq!(response.field("connection"), says, "{version} {field} {target}");
            if stays {
                assert_eq!(client.get("/").status, 200);
            } else {
                assert_eq!(client.read_to_end().unwrap(), b"");
            }
        }
    }
}

#[test]
fn http_1_0_gets_no_chunks() {
    let server = server();
    let mut client = connect(&server);
    client.send("GET /chunked?n=3&size=4 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    let response = client.read_response(false);
    assert_eq!(response.field("transfer-encoding"), None);
    assert_eq!(response.field("connection"), Some("close"));
    assert_eq!(response.body.len(), 12);
}

#[test]
fn head_is_get_without_the_body() {
    let server = server();
    let mut client = connect(&server);
    for target in ["/", "/api/items", "/bytes/1m", "/cacheable", "/chunked"] {
        let got = client.get(target);
        let asked = client.request("HEAD", target, "", "");
        assert_eq!(asked.status, 200);
        for field in ["content-length", "content-type", "transfer-encoding", "etag"] {
            assert_eq!(asked.field(field), got.field(field), "{target}");
        }
    }
}

#[test]
fn a_client_may_wait_for_100_continue() {
    let server = server();
    let mut client = connect(&server);
    for target in ["/upload", "/echo", "/status/200"] {
        let method = "POST";
        client.send(format!(
            "{method} {target} HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n"
        ));
        assert_eq!(client.read_response(false).status, 100);
        client.send("body");
        assert_eq!(client.read_response(false).status, 200);
    }
    // Who does not wait is not told to go on.
    let response = client.request("POST", "/echo", "Expect: 100-continue\r\n", "body");
    assert_eq!(response.status, 200);
}

#[test]
fn a_body_that_nobody_wants_is_read_all_the_same() {
    let server = server();
    let mut client = connect(&server);
    let body = "x".repeat(1_000_000);
    for target in ["/status/200", "/delay/1", "/nowhere"] {
        let response = client.request("POST", target, "", &body);
        assert!(matches!(response.status, 200 | 404), "{}", response.head);
    }
    assert_eq!(client.get("/").status, 200);
}

#[test]
fn refusals_are_answered_and_the_connection_closed() {
    let server = server();
    let long = "x".repeat(33 * 1024);
    let cases = [
        ("nonsense\r\n\r\n".to_owned(), 400),
        ("GET / HTTP/1.1\r\n\r\n".to_owned(), 400),
        ("GET / HTTP/3\r\nHost: h\r\n\r\n".to_owned(), 505),
        (format!("GET / HTTP/1.1\r\nHost: h\r\nX: {long}\r\n\r\n"), 431),
        (format!("GET / HTTP/1.1\r\nHost: h\r\n{}\r\n", "A: b\r\n".repeat(200)), 431),
        (format!("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: {}\r\n\r\n", 2 << 20), 413),
        ("POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n".into(), 400),
        ("POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n\r\n".into(), 501),
    ];
    for (request, status) in cases {
        let mut client = connect(&server);
        client.send(&request);
        let response = client.read_response(false);
        assert_eq!(response.status, status, "{request:.60}");
        assert_eq!(response.field("connection"), Some("close"));
        assert_eq!(client.read_to_end().unwrap(), b"");
    }
}

#[test]
fn a_refusal_reaches_a_client_that_is_still_sending() {
    let server = server();
    let mut client = connect(&server);
    client.send("POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
    let chunk = format!("{:x}\r\n{}\r\n", 100_000, "x".repeat(100_000));
    for _ in 0..20 {
        client.send(&chunk);
    }
    assert_eq!(client.read_response(false).status, 413);
}

#[test]
fn unknown_paths_and_methods() {
    let server = server();
    let mut client = connect(&server);
    assert_eq!(client.get("/nowhere").status, 404);
    let response = client.request("DELETE", "/login", "", "");
    assert_eq!(response.status, 405);
    assert_eq!(response.field("allow"), Some("GET, HEAD, POST, OPTIONS"));
    let response = client.request("OPTIONS", "/login", "", "");
    assert_eq!(response.status, 204);
    assert_eq!(response.field("allow"), Some("GET, HEAD, POST, OPTIONS"));
    assert_eq!(client.request("OPTIONS", "*", "", "").status, 204);
    assert_eq!(client.request("BREW", "/", "", "").status, 405);
    assert_eq!(client.get("http://proxied.example/status/201").status, 201);
}

#[test]
fn every_route_knows_its_methods() {
    let server = server();
    for route in squall_target::ROUTES.iter().chain(squall_target::HOSTILE) {
        let path = route.path.replace("{code}", "200").replace(['{', '}'], "");
        let mut client = connect(&server);
        for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] {
            if !route.methods.contains(&method) {
                let status = client.request(method, &path, "", "").status;
                assert_eq!(status, 405, "{method} {path}");
            }
        }
        assert_eq!(client.request("OPTIONS", &path, "", "").status, 204, "{path}");
    }
}

/// Set in the process that has the memory to itself.
const ALONE: &str = "SQUALL_TEST_MEMORY";

/// It is the whole process that is looked at: in one of its own, where no other test needs memory meanwhile.
#[test]
fn large_bodies_take_no_memory() {
    if std::env::var_os(ALONE).is_some() {
        return large_bodies_alone();
    }
    let ran = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "http::large_bodies_take_no_memory", "--nocapture"])
        .env(ALONE, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    let errors = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success() && said.contains("1 passed"), "{said}{errors}");
}

fn large_bodies_alone() {
    let server = server();
    get(&server, "/bytes/1m");
    let before = resident_kib();
    let mut client = connect(&server);
    client.send("GET /bytes/200m HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    let mut buffer = vec![0; 1 << 20];
    let mut received = 0;
    loop {
        match std::io::Read::read(&mut client.stream, &mut buffer).unwrap() {
            0 => break,
            count => received += count,
        }
    }
    assert!(received > 200 << 20);

    let mut client = connect(&server);
    client
        .send(format!("POST /upload HTTP/1.1\r\nHost: h\r\nContent-Length: {}\r\n\r\n", 100 << 20));
    for _ in 0..100 {
        client.send(&buffer);
    }
    assert_eq!(client.read_response(false).json()["bytes"], 100 << 20);
    let grown = resident_kib().saturating_sub(before);
    assert!(grown < 64 * 1024, "grew by {grown} KiB");
}

/// Memory of this process.
fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// How late it is cut off depends on the machine; a head that is never cut off never ends this test.
#[test]
fn a_head_that_idles_is_cut_off_and_a_connection_between_requests_is_not() {
    let server = server();
    let (mut waits, mut begun, mut slow) = (connect(&server), connect(&server), connect(&server));
    assert_eq!(waits.get("/").status, 200);
    let start = Instant::now();
    begun.send("GET / HTTP/1.1\r\nHost:");
    slow.send("GET / HTTP/1.1\r\nX: ");
    // Bytes now and then do not make it any longer, however many: they come until it is over.
    let (mut drips, is_over) = (slow.stream.try_clone().unwrap(), Arc::new(AtomicBool::new(false)));
    let dripping = std::thread::spawn({
        let is_over = is_over.clone();
        move || {
            while !is_over.load(Ordering::Relaxed) && drips.write_all(b"x").is_ok() {
                std::thread::sleep(Duration::from_millis(500));
            }
        }
    });
    let response = begun.read_response(false);
    assert_eq!((response.status, response.field("connection")), (408, Some("close")));
    assert!(start.elapsed() >= Duration::from_secs(10), "{:?}", start.elapsed());
    assert_eq!(slow.read_response(false).status, 408);
    is_over.store(true, Ordering::Relaxed);
    dripping.join().unwrap();
    assert_eq!(waits.get("/").status, 200, "it has asked for nothing meanwhile");
}

/// Each body is within the limit of one; together they are not.
#[test]
fn bodies_in_memory_are_bounded_over_all_connections() {
    let server = server();
    let size = 1 << 20;
    let mut clients: Vec<_> = (0..80).map(|_| connect(&server)).collect();
    let body = vec![b'x'; size - 1];
    for client in &mut clients {
        client.send(format!("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: {size}\r\n\r\n"));
        // What is refused meanwhile is not read to its end.
        let _ = client.stream.write_all(&body);
    }
    let mut statuses: Vec<u16> = clients
        .iter_mut()
        .map(|client| {
            let _ = client.stream.write_all(b"x");
            client.read_response(false).status
        })
        .collect();
    statuses.sort_unstable();
    let refused = statuses.iter().filter(|status| **status == 503).count();
    assert!((10..=20).contains(&refused), "{statuses:?}");
    assert!(statuses.iter().all(|status| matches!(status, 200 | 503)), "{statuses:?}");
    let again = connect(&server).request("POST", "/echo", "", "body");
    assert_eq!(again.status, 200, "all is given back");
}
