//! No output shows a secret, whatever requests make of it, nor gives a terminal what a server sent.

mod common;

use common::peer::{Peer, response};
use common::{folder, plan, squall, target};

/// Everything that a command prints, and what its runs leave behind.
fn all_texts(folder: &std::path::Path, outputs: Vec<std::process::Output>) -> Vec<String> {
    let mut texts: Vec<Vec<u8>> =
        outputs.into_iter().flat_map(|output| [output.stdout, output.stderr]).collect();
    for run in std::fs::read_dir(folder.join("squall-runs")).expect("runs") {
        for file in std::fs::read_dir(run.expect("a run").path()).expect("files") {
            texts.push(std::fs::read(file.expect("a file").path()).expect("readable"));
        }
    }
    texts.iter().map(|text| String::from_utf8_lossy(text).into_owned()).collect()
}

/// What requests make of a secret in a query, a form, a path, a header, JSON, base64 and a body that is cut.
#[test]
fn no_encoding_and_no_cut_shows_a_secret() {
    let server = target();
    let text = plan(
        &server.url(),
        "vars: {pw: {value: \"a~b*c $!+/\\\"\\r\\nend<&>\", secret: true}, long_secret: qwertyuiopasdfghjklz}",
        "{get: '/echo', query: {q: '${pw}'}, headers: {X-A: '${pw}'}}, {post: /echo, form: {f: '${pw}'}}, \
         {get: '/echo/${pw}', status_errors: false}, {post: /echo, json: {j: '${pw}'}}, \
         {get: '/echo?x=${base64(pw + 1)}'}, {get: /echo, auth: {basic: {user: u, password: '${pw}'}}}, \
         {post: /echo, name: cut, body: '12345 ${long_secret}'}, \
         {post: /echo, name: streamed, body: {file: f.txt, replace: {'@S@': '${long_secret}'}}}",
    );
    let folder = folder(&[("plan.yaml", &text), ("f.txt", "12345 @S@ and so on")]);
    let path = folder.path();
    let mut outputs = vec![squall(path, &["try", "plan.yaml"])];
    // In the response's body, and behind the request's head in its own.
    for length in (0..60).chain((60..260).step_by(5)) {
        let log = format!("log-{length}.jsonl");
        let flags =
            ["run", "plan.yaml", "--log-requests", &log, "--log-bodies", &length.to_string()];
        if length % 7 == 0 || !(30..60).contains(&length) {
            outputs.push(squall(path, &flags));
        }
    }
    let mut texts = all_texts(path, outputs);
    for file in std::fs::read_dir(path).expect("files") {
        let file = file.expect("a file").path();
        if file.extension().is_some_and(|name| name == "jsonl") {
            texts.push(std::fs::read_to_string(file).expect("readable"));
        }
    }
    assert!(texts.iter().any(|text| text.contains("12345 ***")), "{texts:?}");
    for text in texts {
        for secret in ["a~b*c", "a%7Eb", "a%7eb", "a~b%2Ac", "YX5iKm", "b*c $", "qwer", "12345 q"] {
            assert!(!text.contains(secret), "{secret}: {text}");
        }
    }
}

/// The command line is a part of the result, and names what it was given.
#[test]
fn what_is_typed_shows_no_secret() {
    let server = target();
    let text = plan(
        &server.url(),
        "vars: {password: {value: none, secret: true}}",
        "{get: '/?q=${password}'}",
    );
    let folder = folder(&[("plan.yaml", &text)]);
    let flags = ["run", "plan.yaml", "--set", "password=hunter2-typed"];
    let header = "Authorization: Bearer hunter2-header";
    let line = [&server.url(), "-n", "1", "-H", header, "-o", "squall-runs"];
    let outputs = vec![squall(folder.path(), &flags), squall(folder.path(), &line)];
    let texts = all_texts(folder.path(), outputs);
    assert!(texts.iter().any(|text| text.contains("\"password=***\"")), "{texts:?}");
    assert!(texts.iter().any(|text| text.contains("\"Authorization: Bearer ***\"")), "{texts:?}");
    for text in texts {
        assert!(!text.contains("hunter2"), "{text}");
    }
}

#[test]
fn a_short_secret_gets_a_warning_and_is_masked_where_it_was_put() {
    let server = target();
    let text = plan(
        &server.url(),
        "vars: {pin: {value: 7261, secret: true}, page: /echo}",
        "{get: '/echo?pin=${pin}'}, {get: '${page}/${pin}/x'}, {log: 'pin ${pin}'}",
    );
    let folder = folder(&[("plan.yaml", &text)]);
    let output = squall(folder.path(), &["run", "plan.yaml"]);
    let warning = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(warning.contains("`pin` is secret and shorter than 6 characters"), "{warning}");
    for text in all_texts(folder.path(), vec![output]) {
        assert!(!text.contains("7261"), "{text}");
    }
    let tried = squall(folder.path(), &["try", "plan.yaml"]);
    let tried = String::from_utf8_lossy(&tried.stdout).into_owned();
    assert!(
        tried.contains("GET /echo?pin=*** HTTP/1.1") && tried.contains("log  pin ***"),
        "{tried}"
    );
    assert!(tried.contains(&format!("── {}/echo?pin=***\n", server.url())), "{tried}");
}

/// A secret that setup finds is masked from then on: in the response in which it stands, in setup's own
/// requests, URLs, log lines and errors, and in all that follows.
#[test]
fn what_setup_finds_is_masked_in_setup_too() {
    let server = Peer::start("127.0.0.1", |mut client| {
        while client.request().is_some() {
            client.send(response("200 OK", "{\"given\": \"found-0123456789\"}"));
        }
    });
    let setup = "setup:
  - {get: /login, extract: {session: {json: $.given}}}
  - {get: '/with/${session}'}
  - {log: 'found ${session}'}
  - {set: {other_token: \"${'made-of-' + string(user) + '-here'}\"}}
  - {get: '/with/${other_token}'}
  - {get: '/fails/${other_token}', check: 'body == session'}
teardown: [{get: '/logout/${session}'}]
vars: {session: {value: '', secret: true}}";
    let text = plan(&server.url(), setup, "{get: '/${session}'}");
    let folder = folder(&[("plan.yaml", &text)]);
    let path = folder.path();
    let log = ["--log-requests", "log.jsonl", "--log-bodies", "1KiB"];
    let outputs = vec![
        squall(path, &["try", "plan.yaml", "--out", "tried.txt"]),
        squall(path, &[&["run", "plan.yaml", "--json", "result.json"], &log[..]].concat()),
    ];
    let mut texts = all_texts(path, outputs);
    for name in ["tried.txt", "log.jsonl", "result.json"] {
        texts.push(std::fs::read_to_string(path.join(name)).expect("readable"));
    }
    for text in &texts {
        for secret in ["found-01", "made-of-0"] {
            assert!(!text.contains(secret), "{secret}: {text}");
        }
    }
    let [tried, log, result] = &texts[texts.len() - 3..] else { panic!("three files") };
    for part in ["GET /with/*** HTTP/1.1", "log  found ***", "\"given\": \"***\"", "/logout/***"] {
        assert!(tried.contains(part), "{part}: {tried}");
    }
    for part in ["/with/***\"", "/fails/***\"", "{\\\"given\\\": \\\"***\\\"}", "/logout/***\""] {
        assert!(log.contains(part), "{part}: {log}");
    }
    assert!(result.contains("found ***") && result.contains("/fails/***"), "{result}");
}

#[test]
fn no_diagnostic_quotes_a_secret() {
    for (plan, flags) in [
        ("vars: {api_token: {value: hunter2-long, secret: true}, x: !}\n", &[][..]),
        ("vars:\n  password: hunter2-long\nscenarios: {a: {lod: 1}}\n", &[]),
        (
            "target: \"http://u:hunter2-long@h/\"\nscenarios: {a: {load: {users: 1}, steps: [{get: /}]}}\n",
            &[],
        ),
        (
            "connections: {proxy: \"ftp://u:hunter2-long@h/\"}\nscenarios: {a: {load: {users: 1, iterations: 1}, steps: [{get: \"http://h/\"}]}}\n",
            &[],
        ),
        (
            "scenarios: {a: {load: {users: 1}, steps: [{get: /, auth: {bearer: hunter2-long, x: 1}}]}}\n",
            &[],
        ),
        ("scenarios: {a: {lod: 1}}\n", &["--set", "password:hunter2-long"]),
        (
            "vars: {password: x}\nscenarios: {a: {hunter2-long: 1}}\n",
            &["--set", "password=hunter2-long"],
        ),
        (
            "scenarios: {a: {load: {users: 1}, steps: [{get: /}]}}\n",
            &["--target", "http://u:hunter2-long@h/"],
        ),
        ("vars: {a: 1}\n", &["--env-file", "bad.env"]),
    ] {
        let folder = folder(&[("plan.yaml", plan), ("bad.env", "PASSWORD hunter2-long\n")]);
        let output = squall(folder.path(), &[&["check", "plan.yaml"], flags].concat());
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{plan}: {text}");
        assert!(!text.contains("hunter2"), "{plan}: {text}");
        assert!(!text.is_empty());
    }
}

#[test]
fn a_terminal_is_not_given_what_a_server_makes_of_it() {
    let peer = Peer::start("127.0.0.1", |mut client| {
        while client.request().is_some() {
            client.send(response("200 OK", "\x1b]0;title\x07 \u{9b}2J \u{202e}end"));
        }
    });
    let steps = "{get: /, extract: {x: {regex: '(?s).*', group: 0}}, check: 'body == \"\"', on_error: continue}, {log: '${x}'}";
    let steps = steps.replace(", on_error: continue", "");
    let text = plan(&peer.url(), "on_error: continue", &steps);
    let folder = folder(&[("plan.yaml", &text)]);
    let output = squall(folder.path(), &["try", "plan.yaml"]);
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(out.contains("\\x1b]0;title\\x07 \\u{9b}2J \\u{202e}end"), "{out}");
    assert!(out.contains("log  \\x1b]0;"), "{out}");
    assert!(!out.contains(|c: char| c.is_control() && c != '\n'), "{out}");
}
