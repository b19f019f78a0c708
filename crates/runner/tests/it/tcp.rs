//! Steps that send bytes over TCP, against servers that answer, answer late, close, or say nothing.

use std::io::{BufRead as _, BufReader, Read as _};
use std::thread::{scope, sleep};
use std::time::Duration;

use serde_json::Value;

use crate::common::peer::{Conversation, Peer};
use crate::common::{End, Steps, all_good, counter, kinds, logged, refused};

/// Takes lines, and does what each says.
fn lines(mut client: Conversation) {
    let mut reader = BufReader::new(client.stream.try_clone().expect("a descriptor"));
    let mut line = String::new();
    while reader.read_line(&mut line).is_ok_and(|read| read > 0) {
        match line.trim_end().split_once(' ').unwrap_or((line.trim_end(), "")) {
            ("late", rest) => {
                sleep(Duration::from_secs(2));
                client.send(format!("{rest}\n"));
            }
            ("half", rest) => {
                client.send(rest);
                return client.end();
            }
            ("part", rest) => client.send(rest),
            ("last", rest) => {
                client.send(format!("{rest}\n"));
                return client.end();
            }
            ("from", _) => {
                let from = client.stream.peer_addr().expect("a connection");
                client.send(format!("{}\n", from.ip()));
            }
            ("who", _) => client.send(format!("{}\n", client.number)),
            ("never", _) => {}
            (_, rest) => client.send(format!("{rest}\n")),
        }
        line.clear();
    }
}

/// Runs a step with these keys, each of so many iterations, against such a server.
fn run(keys: &str, iterations: u32, end: End) -> Value {
    let server = Peer::start("127.0.0.1", lines);
    let step = format!("{{tcp: '{}', until: {{byte: 10}}, {keys}}}", server.address);
    let head = "on_error: continue";
    Steps { head, iterations, ..Steps::one(&server.url(), &step) }.run(end)
}

#[test]
fn what_comes_is_the_body_of_a_request() {
    let server = Peer::start("127.0.0.1", lines);
    let steps = format!(
        r#"
      - tcp: "{0}"
        send: "say id=${{iteration}}7\n"
        until: {{byte: 10}}
        name: ask
        extract: {{id: {{regex: 'id=(\d+)'}}}}
        check: [status == 200, 'body == "id=" + string(iteration) + "7\n"', body_bytes == 6]
      - {{tcp: "{0}", send: "say ${{id}}\n", until: {{length: 3}}, check: 'body == id + "\n"'}}"#,
        server.address
    );
    let json = Steps { iterations: 5, ..Steps::one(&server.url(), &steps) }.run(End::Passed);
    all_good(&json, 10);
    let row = &json["requests"]["ask"];
    assert_eq!(row["count"], 5, "{json}");
    assert_eq!((&row["bytes_in"], &row["bytes_out"]), (&30.into(), &50.into()), "{row}");
    for phase in ["connect", "first_byte", "body"] {
        assert!(row["phases"][phase]["mean"].is_number(), "{phase}: {row}");
    }
    assert_eq!(json["requests"][format!("tcp {}", server.address)]["count"], 5, "{json}");
    assert_eq!(counter(&json, "connections_opened"), 1);
}

#[test]
fn a_connection_is_kept_or_closed() {
    for (connection, opened) in [("keep", 1), ("close", 4), ("new", 4)] {
        let keys =
            format!("send: \"who\\n\", connection: {connection}, check: 'int(body) < {opened}'");
        let json = run(&keys, 4, End::Passed);
        all_good(&json, 4);
        assert_eq!(counter(&json, "connections_opened"), opened, "{connection}");
    }
    // One that the server has closed is made again.
    let server = Peer::start("127.0.0.1", lines);
    let step = format!(
        "{{tcp: '{}', until: {{byte: 10}}, send: \"last x\\n\", reset: true}}\n      - think: 1s",
        server.address
    );
    let json = Steps { iterations: 3, ..Steps::one(&server.url(), &step) }.run(End::Passed);
    all_good(&json, 3);
    assert_eq!(counter(&json, "connections_opened"), 3);
}

#[test]
fn it_comes_from_the_source_address_of_the_defaults() {
    let server = Peer::start("127.0.0.1", lines);
    let head =
        "defaults: {source_address: '127.0.0.${iteration + 2}', proxy: 'http://127.0.0.1:9'}";
    let step = format!(
        "{{tcp: '{}', until: {{byte: 10}}, send: \"from\\n\", check: 'body == \"127.0.0.\" + string(iteration + 2) + \"\\n\"'}}",
        server.address
    );
    let json = Steps { head, iterations: 2, ..Steps::one(&server.url(), &step) }.run(End::Passed);
    all_good(&json, 2);
}

#[test]
fn what_goes_wrong_has_its_kind() {
    let fails = [
        ("send: \"half ha\\n\"", "closed_early"),
        ("send: \"half\\n\"", "closed_early"),
        ("send: \"never\\n\", timeout: {first_byte: 1s}", "timeout_first_byte"),
        ("send: \"late x\\n\", timeout: 1s", "timeout_first_byte"),
        ("send: \"part x\\n\", timeout: 1s", "timeout_body"),
        ("send: \"say 12345\\n\", max_body: 4B", "body_too_large"),
        ("send: \"say x\\n\", check: 'body == \"y\\n\"'", "check"),
        ("send: '0${iteration}0', form: hex", "render"),
    ];
    let passes = [
        "send: \"late x\\n\", timeout: 1m, check: 'body == \"x\\n\"'",
        "send: \"half ha\\n\", or_close: true, check: 'body == \"ha\"'",
        "send: \"half\\n\", or_close: true, check: 'body == \"\"'",
    ];
    // At the same time, as most of them wait.
    scope(|scope| {
        for (keys, kind) in fails {
            scope.spawn(move || {
                let json = run(keys, 2, End::Failed);
                assert_eq!(kinds(&json), format!("{{\"{kind}\":2}}"), "{keys}: {}", json["log"]);
            });
        }
        for keys in passes {
            scope.spawn(move || all_good(&run(keys, 2, End::Passed), 2));
        }
    });
}

#[test]
fn nobody_there_is_an_error_of_connecting() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    drop(listener);
    let json = Steps::one("http://127.0.0.1:1", &format!("tcp: '{address}'")).run(End::Failed);
    assert_eq!(kinds(&json), r#"{"connect_refused":1}"#);
}

/// Answers messages behind their length with the same, its bytes in reverse.
fn messages(mut client: Conversation) {
    let mut length = [0; 2];
    while client.stream.read_exact(&mut length).is_ok() {
        let mut bytes = vec![0; usize::from(u16::from_be_bytes(length))];
        client.stream.read_exact(&mut bytes).expect("a message");
        bytes.reverse();
        client.send([&length[..], &bytes].concat());
    }
}

#[test]
fn bytes_may_be_hexadecimal_and_have_their_length_before_them() {
    let server = Peer::start("127.0.0.1", messages);
    let check = "check: 'body == string(10 + iteration) + \"ff00\"'";
    let keys = "until: {length_prefix: 2}, form: hex, connection: close";
    let step =
        format!("{{tcp: '{}', send: '00fF${{10 + iteration}}', {keys}, {check}}}", server.address);
    let json = Steps { iterations: 3, ..Steps::one(&server.url(), &step) }.run(End::Passed);
    all_good(&json, 3);
    let row = &json["requests"][format!("tcp {}", server.address)];
    assert_eq!((&row["bytes_in"], &row["bytes_out"]), (&15.into(), &15.into()), "{row}");
}

#[test]
fn a_stop_ends_what_waits() {
    let server = Peer::start("127.0.0.1", lines);
    let step = format!("{{tcp: '{}', send: \"never\\n\"}}", server.address);
    let text = format!(
        "target: {}\ngraceful_stop: 200ms\nscenarios: {{a: {{load: {{users: 2, for: 1500ms}}, steps: [{step}]}}}}\n",
        server.url()
    );
    let folder = crate::common::folder(&[("plan.yaml", &text)]);
    let json = crate::common::result(folder.path(), &crate::common::options(), End::Failed);
    let totals = &json["totals"];
    let of = |name: &str| totals[name].as_u64();
    assert_eq!((of("cut_off"), of("count"), of("errors")), (Some(2), Some(0), Some(0)), "{totals}");
}

#[test]
fn places_that_only_the_run_knows_have_to_be_allowed() {
    let server = Peer::start("127.0.0.1", lines);
    let step = format!(
        "{{tcp: '127.0.0.${{iteration + 1}}:{}', send: \"say x\\n\", until: {{byte: 10}}}}",
        server.address.port()
    );
    let other = "http://other.test";
    let json = Steps::one(other, &step).run(End::Failed);
    assert_eq!(kinds(&json), r#"{"host_not_allowed":1}"#);
    assert!(logged(&json).iter().any(|line| line.contains("allow_hosts")), "{json}");
    let head = "allow_hosts: 127.0.0.1";
    all_good(&Steps { head, ..Steps::one(other, &step) }.run(End::Passed), 1);
}

#[test]
fn plans_that_cannot_be_meant_are_refused() {
    for (step, reason) in [
        ("tcp: somewhere", "host:port"),
        ("tcp: 'http://h:1'", "host:port"),
        ("tcp: 'h:70000'", "65535"),
        ("{tcp: 'h:1', send: abc, form: hex}", "not hexadecimal"),
    ] {
        let plan = Steps::one("http://h.test", step);
        let error = refused(plan.folder().path(), &crate::common::options());
        assert!(error.contains(reason), "{step}: {error}");
    }
}
