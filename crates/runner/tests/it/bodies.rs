//! What becomes of bodies of any size: digests, files, beginnings.

use std::io::{Read, Write};
use std::net::TcpStream;

use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};
use squall_base::hex::hex;

use crate::common::peer::{Peer, header, response};
use crate::common::{End, kinds, options, outcome, refused, result, target};

/// A body of the target as it is, without squall.
fn body(address: &str, path: &str) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).expect("the target");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").expect("open");
    let mut response = Vec::new();
    stream.read_to_end(&mut response).expect("open");
    let end = response.windows(4).position(|bytes| bytes == b"\r\n\r\n").expect("a head") + 4;
    response.split_off(end)
}

fn plan(url: &str, steps: &str) -> String {
    format!(
        "target: {url}\nscenarios: {{a: {{load: {{users: 1, iterations: 2}}, steps: [{steps}]}}}}\n"
    )
}

#[test]
fn digests_files_and_beginnings() {
    let (server, folder) = (target(), tempfile::tempdir().expect("a folder"));
    let (url, address) = (server.url(), server.url().replace("http://", ""));
    let (big, packed) = (body(&address, "/bytes/3m"), body(&address, "/gzip"));
    let sha = |bytes: &[u8]| hex(&Sha256::digest(bytes));
    let xxh3 = format!("{:016x}", xxhash_rust::xxh3::xxh3_64(&big));
    let page = body(&address, "/items").len();
    let here = folder.path().display();
    let steps = [
        format!("{{get: /bytes/3m, response_body: {{hash: sha256}}, check: ['body_hash == \"{}\"', body_bytes == 3145728]}}", sha(&big)),
        format!("{{get: /bytes/3m, response_body: {{hash: xxh3}}, extract: {{digest: body_hash}}, check: ['body_hash == \"{xxh3}\"']}}"),
        format!("{{get: '/delay/0?${{digest}}', check: ['digest == \"{xxh3}\"']}}"),
        // What is compressed is decompressed while it is received.
        format!("{{get: /gzip, compression: true, response_body: {{hash: sha256}}, check: ['body_hash == \"{}\"']}}", sha(&packed)),
        format!("{{get: /bytes/3m, response_body: {{file: '{here}/body-${{iteration}}.bin'}}, check: ['body_file == \"{here}/body-\" + string(iteration) + \".bin\"']}}"),
        format!("{{get: /items, response_body: {{keep: 500}}, check: [size(body) == 500, body_bytes == {page}]}}"),
        "{get: /bytes/3m, response_body: {keep: 64KiB}, check: [size(body) > 10000, body_bytes == 3145728]}".to_owned(),
        "{get: /gzip, compression: true, response_body: {keep: 100}, check: [size(body) == 100]}".to_owned(),
        "{get: /bytes/3m, response_body: discard, check: body_bytes == 3145728}".to_owned(),
        // A digest in the place of the body, on the way, too; of nothing it is empty.
        format!("{{get: /bytes/3m, response_body: {{digest: sha256}}, extract: {{begin: {{regex: '^.{{4}}', group: 0}}}}, check: ['body == \"{0}\"', 'raw_body == \"{0}\"', size(body) == 64, body_bytes == 3145728]}}", sha(&big)),
        format!("{{get: '/delay/0?${{begin}}', check: ['begin == \"{}\"']}}", &sha(&big)[..4]),
        format!("{{get: /gzip, compression: true, response_body: {{digest: sha256}}, check: ['body == \"{}\"']}}", sha(&packed)),
        "{get: /status/204, response_body: {digest: md5}, check: ['body == \"\"']}".to_owned(),
        // A digest, and the body for those who read it.
        format!("{{get: /items, response_body: {{hash: md5}}, check: [size(body) == {page}, 'body_hash == md5(string(body))']}}"),
    ];
    std::fs::write(folder.path().join("plan.yaml"), plan(&url, &steps.join(", ")))
        .expect("writable");
    let json = result(folder.path(), &options(), End::Passed);
    assert_eq!(json["totals"]["errors"], 0, "{}", json["log"]);
    for name in ["body-0.bin", "body-1.bin"] {
        assert!(std::fs::read(folder.path().join(name)).expect("a file") == big, "{name}");
    }
}

#[test]
fn a_response_body_that_cannot_be_had_is_an_error() {
    let (server, folder) = (target(), tempfile::tempdir().expect("a folder"));
    let write = |step: &str| {
        std::fs::write(folder.path().join("plan.yaml"), plan(&server.url(), step))
            .expect("writable");
    };
    for (step, hint) in [
        ("{get: /, response_body: crc32}", "invalid response_body `crc32`: expected discard"),
        ("{get: /, response_body: {}}", "exactly one of hash, digest, keep and file"),
        ("{get: /, response_body: discard, check: 'body.contains(\"x\")'}", "reads the body"),
        ("{get: /, response_body: {digest: md5}, resources: true}", "are found in its body"),
        ("{get: /, check: body_hash != null}", "add `response_body: {hash: sha256}`"),
        ("{get: /, extract: {x: body_file}}", "add `response_body: {file: PATH}`"),
        (
            "{get: /, response_body: {hash: md5}, extract: {x: body_file}}",
            "add `response_body: {file: PATH}`",
        ),
        ("{get: /, check: size == 1}", "did you mean `body_bytes`?"),
    ] {
        write(step);
        let text = refused(folder.path(), &options());
        assert!(text.contains(hint), "{step}: {text}");
    }
    let log = |step: &str| {
        write(step);
        outcome(folder.path(), &options()).run.log.join("\n")
    };
    let text = log("{get: /, response_body: {file: no/such/folder/x}}");
    assert!(text.contains("response_body: ") && text.contains("no/such/folder/x: "), "{text}");
    // A device that is always full.
    let text = log("{get: /bytes/1m, response_body: {file: /dev/full}}");
    assert!(text.contains("response_body: ") && text.contains("No space left"), "{text}");
}

#[test]
fn markers_of_a_file_are_replaced_on_its_way() {
    let (server, folder) = (target(), tempfile::tempdir().expect("a folder"));
    let text = format!("{}@NAME@{}@N@", "a line of text\n".repeat(50_000), "x".repeat(100_000));
    std::fs::write(folder.path().join("big.txt"), &text).expect("writable");
    let sent =
        |iteration: u32| text.replace("@NAME@", &format!("number {iteration}")).replace("@N@", "");
    let digests: Vec<String> =
        (0..2).map(|iteration| hex(&Sha256::digest(sent(iteration)))).collect();
    let body = "{file: big.txt, replace: {'@NAME@': 'number ${iteration}', '@N@': ''}}";
    let steps = format!(
        "{{post: /upload, body: {body}, check: ['json(\"$.sha256\") == (iteration == 0 ? \"{}\" : \"{}\")']}}",
        digests[0], digests[1]
    );
    std::fs::write(folder.path().join("plan.yaml"), plan(&server.url(), &steps)).expect("writable");
    let json = result(folder.path(), &options(), End::Passed);
    assert_eq!(json["totals"]["errors"], 0, "{}", json["log"]);
    let bytes = json["totals"]["bytes_out"].as_u64().expect("bytes");
    assert!(bytes > 2 * sent(0).len() as u64 && bytes < 2 * sent(0).len() as u64 + 1_000);
}

#[test]
fn a_compressed_file_is_sent_decompressed() {
    let (server, folder) = (target(), tempfile::tempdir().expect("a folder"));
    let text = "a line of text @N@\n".repeat(50_000);
    let mut packed = GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(text.as_bytes()).expect("memory");
    let packed = packed.finish().expect("memory");
    std::fs::write(folder.path().join("big.txt.gz"), packed).expect("writable");
    let post = |body: &str, sent: &str| {
        let digest = hex(&Sha256::digest(sent));
        format!("{{post: /upload, body: {body}, check: ['json(\"$.sha256\") == \"{digest}\"']}}")
    };
    let steps = [
        post("{file: big.txt.gz, decompress: true}", &text),
        post(
            "{file: big.txt.gz, decompress: true, replace: {'@N@': '${1 + 1}'}}",
            &text.replace("@N@", "2"),
        ),
    ];
    let steps = plan(&server.url(), &steps.join(", "));
    std::fs::write(folder.path().join("plan.yaml"), steps).expect("writable");
    let json = result(folder.path(), &options(), End::Passed);
    assert_eq!(json["totals"]["errors"], 0, "{}", json["log"]);
    std::fs::write(folder.path().join("big.txt.gz"), "plain").expect("writable");
    let text = refused(folder.path(), &options());
    assert!(text.contains("big.txt.gz: "), "{text}");
}

/// What it sends and gets takes as long as its bandwidth says, less what may come at once.
#[test]
fn a_user_has_a_bandwidth() {
    let (server, folder) = (target(), tempfile::tempdir().expect("a folder"));
    std::fs::write(folder.path().join("big.bin"), vec![7; 200_000]).expect("writable");
    let run = |bandwidth: &str, step: &str| {
        let plan = format!(
            "target: {}\nbandwidth: {bandwidth}\nscenarios: {{a: {{load: {{users: 2, iterations: 2}}, steps: [{step}]}}}}\n",
            server.url()
        );
        std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
        let json = result(folder.path(), &options(), End::Passed);
        assert_eq!(json["totals"]["errors"], 0, "{}", json["log"]);
        json["totals"]["latency_us"]["mean"].as_f64().expect("a mean") / 1e6
    };
    let least = 2.0 * 200_000.0 / 250_000.0 / 2.0 - 0.04;
    for step in ["{get: /bytes/200000}", "{get: /bytes/200000, response_body: {hash: md5}}"] {
        let mean = run("{down: 2Mbit/s}", step);
        assert!(mean >= least, "{step}: {mean} s");
        // As slow as that, what comes in would take 200 s.
        assert!(run("{up: 8kbit/s}", step) < 100.0, "{step}: only what goes out is slow");
    }
    for body in ["{file: big.bin}", "{file: big.bin, replace: {nothing: ''}}"] {
        let step = format!("{{post: /upload, body: {body}}}");
        let mean = run("2Mbit/s", &step);
        assert!(mean >= least, "{step}: {mean} s");
    }
}

#[test]
fn shared_connections_have_no_bandwidth() {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = "target: builtin\nconnections: {reuse: pool, pool_size: 2}\n\
        scenarios: {a: {bandwidth: 2Mbit/s, load: {users: 2, for: 1s}, steps: [{get: /}]}}\n";
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    let text = refused(folder.path(), &options());
    assert!(text.contains("has a bandwidth, but its users share a pool of connections"), "{text}");
}

/// A server that reads a little of a request, has its body's file cut, and reads on.
fn shrinking(folder: &std::path::Path, listener: std::net::TcpListener) {
    let (mut stream, _) = listener.accept().expect("a connection");
    stream.read_exact(&mut [0; 4_096]).expect("the beginning of a request");
    let file = std::fs::File::options().write(true).open(folder.join("big.bin")).expect("the file");
    file.set_len(0).expect("a shorter file");
    // Until the client has had enough.
    let _ = std::io::copy(&mut stream, &mut std::io::sink());
}

#[test]
fn a_file_that_shrinks_while_it_is_sent_is_not_the_targets_fault() {
    // As the kernel sends it, and as it is read where something in it is replaced.
    for body in ["{file: big.bin}", "{file: big.bin, replace: {x: y}}"] {
        let folder = tempfile::tempdir().expect("a folder");
        let file = std::fs::File::create(folder.path().join("big.bin")).expect("a file");
        file.set_len(64 << 20).expect("a hole");
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("bound"));
        let text = format!(
            "target: {url}\nscenarios: {{a: {{load: {{users: 1, iterations: 1}}, steps: [{{post: /, body: {body}, timeout: 20s}}]}}}}\n"
        );
        std::fs::write(folder.path().join("plan.yaml"), text).expect("writable");
        let path = folder.path().to_owned();
        let server = std::thread::spawn(move || shrinking(&path, listener));
        let run = outcome(folder.path(), &options()).run;
        server.join().expect("the server");
        let (kinds, log) = (&run.totals.all().error_kinds, run.log.join("\n"));
        assert!(log.contains("body_file") && log.contains("big.bin: the file"), "{body}: {log}");
        assert!(kinds.iter().any(|(kind, _)| kind.label() == "body_file"), "{body}: {kinds:?}");
    }
}

#[test]
fn a_body_that_is_a_directory_is_found_before_the_run() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("d")).expect("a directory");
    for body in ["body: {file: d}", "body: {file: d, replace: {x: y}}", "multipart: {f: {file: d}}"]
    {
        let steps = format!("{{post: /, {body}}}");
        std::fs::write(folder.path().join("plan.yaml"), plan("http://127.0.0.1:9", &steps))
            .expect("writable");
        let text = refused(folder.path(), &options());
        assert!(text.contains("expected a file, found a directory"), "{body}: {text}");
    }
}

#[test]
fn parts_of_a_form_are_named_and_typed_by_expressions() {
    let server = Peer::start("127.0.0.1", |mut client| {
        while let Some(head) = client.head() {
            let length = header(&head, "content-length").expect("a length");
            let mut body = vec![0; length.parse().expect("digits")];
            client.stream.read_exact(&mut body).expect("a body");
            client.send(response("200 OK", &String::from_utf8(body).expect("text")));
        }
    });
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("up.txt"), "what the file holds").expect("writable");
    let plan = format!(
        "target: {}
scenarios:
  a:
    load: {{users: 1, iterations: 1}}
    steps:
      - set: {{kind: png, odd: \"a\\r\\nX: \\\"b\"}}
      - post: /
        multipart:
          plain: {{text: hi, content_type: 'text/${{kind}}'}}
          upload: {{file: up.txt, filename: 'number-${{user}}.${{kind}}', content_type: 'image/${{kind}}'}}
          evil: {{file: up.txt, filename: '${{odd}}', content_type: '${{odd}}'}}
        check:
          - 'body.contains(\"Content-Type{}\")'
          - body.contains('filename=\"number-0.png\"')
          - 'body.contains(\"Content-Type: image/png\")'
          - \"body.contains('filename=\\\"a%0D%0AX{} %22b')\"
          - '!body.contains(\"\\nX\")'
",
        server.url(), ": text/png", ":"
    );
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    let json = result(folder.path(), &options(), End::Passed);
    assert_eq!(kinds(&json), "{}", "{}", json["log"]);
}

/// A server that says how long a body was, and how it begins. It holds no more of it: the tests of this process
/// share its memory.
fn receiver() -> Peer {
    Peer::start("127.0.0.1", |mut client| {
        while let Some(head) = client.head() {
            let length: u64 =
                header(&head, "content-length").map_or(0, |text| text.parse().expect("digits"));
            let mut body = Read::by_ref(&mut client.stream).take(length);
            let mut begin = Vec::new();
            body.by_ref().take(300).read_to_end(&mut begin).expect("a body");
            let rest = std::io::copy(&mut body, &mut std::io::sink()).expect("a body");
            assert_eq!(begin.len() as u64 + rest, length);
            let begin = String::from_utf8_lossy(&begin);
            client.send(response("200 OK", &format!("{length} {begin}")));
        }
    })
}

#[test]
fn files_are_named_by_expressions() {
    let (server, folder) = (receiver(), tempfile::tempdir().expect("a folder"));
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir(at("up")).expect("a directory");
    std::fs::write(at("up/one.txt"), "first").expect("writable");
    std::fs::write(at("up/two.txt"), "second").expect("writable");
    std::fs::File::create(at("up/big.bin"))
        .and_then(|file| file.set_len(100 << 20))
        .expect("a hole");
    std::fs::write(at("rows.csv"), "file\none\ntwo\n").expect("writable");
    let outside = tempfile::tempdir().expect("a folder");
    std::fs::write(outside.path().join("far.txt"), "far").expect("writable");
    let plan = format!(
        "target: {}
vars: {{far: '{}', big: big}}
data: {{rows: {{csv: rows.csv}}}}
scenarios:
  a:
    load: {{users: 1, iterations: 2}}
    steps:
      - set: {{name: '${{rows.file}}.txt'}}
      - post: /
        body: {{file: 'up/${{rows.file}}.txt'}}
        check: 'body == (iteration == 0 ? \"5 first\" : \"6 second\")'
      - {{post: /, body: {{file: 'up/${{name}}'}}, check: 'body.endsWith(iteration == 0 ? \"first\" : \"second\")'}}
      - {{post: /, body: {{file: 'up/${{big}}.bin'}}, check: body.startsWith('104857600 ')}}
      - set: {{size: big}}
      - {{post: /, body: {{file: 'up/${{size}}.bin'}}, check: body.startsWith('104857600 ')}}
      - {{post: /, body: {{file: '${{far}}/far.txt'}}, check: body == '3 far'}}
      - post: /
        multipart: {{f: {{file: 'up/${{name}}'}}}}
        check: body.contains(name) && body.contains('text/plain')
",
        server.url(),
        outside.path().display()
    );
    std::fs::write(at("plan.yaml"), plan).expect("writable");
    let json = result(folder.path(), &options(), End::Passed);
    assert_eq!(kinds(&json), "{}", "{}", json["log"]);
    assert_eq!(json["totals"]["count"], 12);
}

/// What a row of data or a response says leads nowhere but below the folder; each is an error of its request.
#[test]
fn hostile_names_of_files_are_errors_of_their_requests() {
    let (server, folder) = (receiver(), tempfile::tempdir().expect("a folder"));
    let outside = tempfile::tempdir().expect("a folder");
    std::fs::write(outside.path().join("secret"), "it").expect("writable");
    let up = folder.path().join("up");
    std::fs::create_dir_all(up.join("inner")).expect("a directory");
    std::os::unix::fs::symlink(outside.path().join("secret"), up.join("link")).expect("a link");
    std::os::unix::fs::symlink(outside.path(), up.join("out")).expect("a link");
    std::fs::write(folder.path().join("beside"), "it").expect("writable");
    let cases = [
        ("../../etc/passwd", "a part `.` or `..`"),
        ("../beside", "a part `.` or `..`"),
        ("/etc/passwd", "an absolute path"),
        ("link", "a symbolic link leads out"),
        ("out/secret", "a symbolic link leads out"),
        ("missing", "No such file"),
        ("inner", "not a plain file"),
        ("", "is empty"),
    ];
    for (body, label) in [
        ("body: {file: 'up/${name}'}", "up/${name}"),
        ("multipart: {f: {file: 'up/${name}'}}", "up/${name}"),
        ("body: {file: '${\"up/\" + name}'}", "${\"up/\" + name}"),
    ] {
        for (name, reason) in cases {
            // From the plan's own folder, `up/..` would do; `..` is no part of a name either way.
            let steps = format!("{{set: {{name: '{name}'}}}}, {{post: /, {body}}}, {{get: /}}");
            let text = plan(&server.url(), &steps);
            std::fs::write(folder.path().join("plan.yaml"), text).expect("writable");
            let run = outcome(folder.path(), &options()).run;
            let (all, log) = (run.totals.all(), run.log.join("\n"));
            assert_eq!((all.count, all.errors), (2, 0), "{body} {name}: {log}");
            assert_eq!(all.not_sent, 2, "{body} {name}: {log}");
            let is_kind = all.error_kinds.iter().all(|(kind, _)| kind.label() == "body_file");
            assert!(is_kind && log.contains(label), "{body} {name}: {log}");
            let is_absolute = name.starts_with('/') && label.starts_with("${");
            let reason = if is_absolute || (name.is_empty() && label.starts_with("${")) {
                "is empty"
            } else {
                reason
            };
            assert!(log.contains(reason), "{body} {name}: expected {reason}: {log}");
        }
    }
}

#[test]
fn a_file_that_is_changed_is_known_before_the_run() {
    let folder = tempfile::tempdir().expect("a folder");
    for (body, message) in [
        ("{file: '${x}', replace: {a: b}}", "need a file that is known before the run"),
        ("{file: '${x}', decompress: true}", "need a file that is known before the run"),
        ("{file: 'none/${x}'}", "cannot open"),
        ("{file: '${y}'}", "unknown variable `y`"),
    ] {
        let text =
            plan("http://127.0.0.1:9", &format!("{{set: {{x: f}}}}, {{post: /, body: {body}}}"));
        std::fs::write(folder.path().join("plan.yaml"), text).expect("writable");
        let text = refused(folder.path(), &options());
        assert!(text.contains(message) && text.matches(message).count() == 1, "{body}: {text}");
    }
}

/// What is wrong in defaults is said once, however many scenarios have them.
#[test]
fn what_is_wrong_in_defaults_is_said_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let scenario = "load: {users: 1, iterations: 1}, steps: [{set: {x: 1}}, {get: /}, {get: /b}]";
    for (defaults, message) in [
        ("tags: {team: '${x}'}", "must be known before the run"),
        ("timeout: '${nothing}'", "unknown variable `nothing`"),
        ("headers: {A: '${nothing}'}", "unknown variable `nothing`"),
    ] {
        let text = format!(
            "target: http://127.0.0.1:9\ndefaults: {{{defaults}}}\nscenarios:\n  a: {{{scenario}}}\n  b: {{{scenario}}}\n"
        );
        std::fs::write(folder.path().join("plan.yaml"), text).expect("writable");
        let text = refused(folder.path(), &options());
        assert_eq!(text.matches(message).count(), 1, "{defaults}: {text}");
    }
}

/// Headers that speak of the body: what it needs wins over those of `defaults`, and a boundary of the step's own is used.
#[test]
fn headers_of_the_body_are_those_that_it_needs() {
    let server = Peer::start("127.0.0.1", |mut client| {
        while let Some(head) = client.head() {
            let length: usize =
                header(&head, "content-length").map_or(0, |n| n.parse().expect("digits"));
            let mut body = vec![0; length];
            client.stream.read_exact(&mut body).expect("a body");
            let kind = header(&head, "content-type").unwrap_or_default();
            let coding = header(&head, "transfer-encoding").unwrap_or_default();
            let body = String::from_utf8(body).expect("text");
            client.send(response("200 OK", &format!("{kind}|{coding}|{body}")));
        }
    });
    let folder = tempfile::tempdir().expect("a folder");
    let plan = format!(
        "target: {}
defaults:
  headers: {{Content-Type: application/vnd.api+json, content-length: '507', Transfer-Encoding: chunked}}
scenarios:
  a:
    load: {{users: 1, iterations: 1}}
    steps:
      - {{post: /, multipart: {{a: b}}, check: ['body.matches(\"^multipart/form-data; boundary=squall-\")']}}
      - post: /
        headers: {{content-type: 'multipart/form-data; boundary=\"a b\"'}}
        multipart: {{a: b}}
        check: ['body.contains(\"--a b--\")', 'body.matches(\"^multipart/form-data; boundary=.a b.[|]\")']
      - post: /
        headers: {{content-type: multipart/related}}
        multipart: {{a: b}}
        check: ['body.matches(\"^multipart/related; boundary=squall-\")']
      - {{post: /, form: {{a: b}}, check: ['body == \"application/x-www-form-urlencoded||a=b\"']}}
      - {{post: /, json: [1], check: ['body == \"application/vnd.api+json||[1]\"']}}
      - {{post: /, body: hello, headers: {{Content-Length: '5'}}, check: ['body == \"application/vnd.api+json||hello\"']}}
      - {{get: /, check: ['body == \"application/vnd.api+json||\"']}}
",
        server.url()
    );
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    let json = result(folder.path(), &options(), End::Passed);
    assert_eq!(kinds(&json), "{}", "{}", json["log"]);
}
