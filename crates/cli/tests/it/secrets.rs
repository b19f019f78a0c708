//! No output shows a secret, whatever requests make of it, nor gives a terminal what a server sent.

use crate::common::peer::{Peer, response};
use crate::common::{folder, plan, squall, target};

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
        let log = format!("samples=log-{length}.jsonl");
        let flags = ["run", "plan.yaml", "--out", &log, "--log-bodies", &length.to_string()];
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

/// Headers and parameters are credentials by their names, and so is what replaces a variable or is replaced.
#[test]
fn what_is_a_credential_by_its_name_is_shown_nowhere() {
    let server = target();
    let text = plan(
        &server.url(),
        "vars: {a_token: hunter2-planned}",
        "{get: '/?q=${a_token}', check: \"body != 'hunter2-planned'\"}, {get: '/', headers: {X-Session: hunter2-session}}",
    );
    let folder = folder(&[("plan.yaml", &text)]);
    let path = folder.path();
    let url = format!("{}/?access_token=hunter2-query", server.url());
    let headers =
        ["Ocp-Apim-Subscription-Key: hunter2-a", "Cookie: sid=hunter2-b", "X-Auth: hunter2-c"];
    let flags = headers.iter().flat_map(|header| ["-H", header]).collect::<Vec<_>>();
    let line = [&[url.as_str(), "-n", "1", "-o", "squall-runs"], &flags[..]].concat();
    let set = ["run", "plan.yaml", "--set", "a_token=hunter2-set", "--tag", "t=hunter2-set"];
    let run = [&set[..], &["--out", "jsonl=feed.jsonl", "--label", "l=hunter2-set"]].concat();
    let target = ["run", "plan.yaml", "--set", "a_token=hunter2-set", "--target", &url];
    let outputs = vec![squall(path, &line), squall(path, &run), squall(path, &target)];
    let mut texts = all_texts(path, outputs);
    texts.push(std::fs::read_to_string(path.join("feed.jsonl")).expect("a feed"));
    let feed = texts.last().expect("a feed");
    assert!(feed.contains("\"t\":\"***\""), "{feed}");
    for text in &texts {
        assert!(!text.contains("hunter2"), "{text}");
    }
    let names = std::fs::read_dir(path.join("squall-runs")).expect("runs");
    assert!(
        names.into_iter().all(|run| !run
            .expect("a run")
            .path()
            .to_string_lossy()
            .contains("hunter2"))
    );
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
    let log = ["--out", "samples=log.jsonl", "--log-bodies", "1KiB"];
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

/// A body that came compressed is cut by what was decompressed of it, not by what was sent.
#[test]
fn a_compressed_body_that_is_cut_shows_no_secret() {
    // 1,000 times `A` and `SeCrEtVaLuE99`; and `hello`; as gzip has them.
    const LONG: &[u8] =
        b"\x1f\x8b\x08\0\0\0\0\0\x02\x03st\x1c\x05\xa3`\x14\x0cw\x10\x9c\xea\\\xe4Z\x12\x96\xe8\
        S\xeaji\t\0\x1c\xdcn\xe4\xf5\x03\0\0";
    const SHORT: &[u8] =
        b"\x1f\x8b\x08\0\0\0\0\0\x02\x03\xcbH\xcd\xc9\xc9\x07\0\x86\xa6\x106\x05\0\0\0";
    let server = Peer::start("127.0.0.1", |mut client| {
        while let Some(head) = client.request() {
            let body = if head.starts_with("GET /long") { LONG } else { SHORT };
            client.send(format!(
                "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n",
                body.len()
            ));
            client.send(body);
        }
    });
    let text = plan(
        &server.url(),
        "vars: {a_token: SeCrEtVaLuE99}",
        "{get: /long, compression: true, check: 'body.contains(\"zzz\")'}, {get: /short, compression: true}",
    );
    let folder = folder(&[("plan.yaml", &text)]);
    for length in [1_001, 1_008, 1_012] {
        let (name, length) = (format!("log-{length}.jsonl"), length.to_string());
        let out = format!("samples={name}");
        let flags = ["run", "plan.yaml", "--out", &out, "--log-bodies", &length];
        let output = squall(folder.path(), &flags);
        let mut texts = all_texts(folder.path(), vec![output]);
        let log = std::fs::read_to_string(folder.path().join(name)).expect("a log");
        assert!(log.contains("AAA***\""), "{log}");
        texts.push(log);
        assert!(texts.iter().all(|text| !text.contains("AAAS")), "{texts:?}");
    }
    let tried = squall(folder.path(), &["try", "plan.yaml"]);
    let tried = String::from_utf8_lossy(&tried.stdout).into_owned();
    assert!(tried.contains("  | hello\n") && !tried.contains("in total"), "{tried}");
}

/// With what setup has found the load is compiled once more.
#[test]
fn an_error_after_setup_quotes_no_secret() {
    let server = Peer::start("127.0.0.1", |mut client| {
        while client.request().is_some() {
            client.send(response("200 OK", "{\"given\": \"SeCrEtVaLuE99\"}"));
        }
    });
    let setup = "setup: [{get: /, extract: {a_token: {json: $.given}}}]";
    let text = plan(&server.url(), setup, "{get: 'http://h:${a_token}/x'}");
    let folder = folder(&[("plan.yaml", &text)]);
    let texts = all_texts(folder.path(), vec![squall(folder.path(), &["run", "plan.yaml"])]);
    assert!(texts.iter().any(|text| text.contains("URL `http://h:***/x`")), "{texts:?}");
    assert!(texts.iter().all(|text| !text.contains("SeCrEt")), "{texts:?}");
}

#[test]
fn no_charset_shows_a_secret() {
    let server = target();
    let text = plan(
        &server.url(),
        "vars: {a_token: 'pass\u{20ac}word1', b_token: 'has\u{142}oMa\u{15b}lane'}",
        "{post: /echo, charset: windows-1252, form: {a: 'x${a_token}y', b: 'x${b_token}y'}}, \
         {post: /echo, charset: utf-16le, body: 'x${a_token}${b_token}y'}, \
         {post: /echo, charset: UTF-16, form: {a: 'x${a_token}y', b: 'x${b_token}y'}}",
    );
    let folder = folder(&[("plan.yaml", &text)]);
    let flags = ["run", "plan.yaml", "--out", "samples=log.jsonl", "--log-bodies", "1KiB"];
    let tried = squall(folder.path(), &["try", "plan.yaml"]);
    let mut texts = all_texts(folder.path(), vec![tried, squall(folder.path(), &flags)]);
    texts.push(std::fs::read_to_string(folder.path().join("log.jsonl")).expect("a log"));
    assert!(texts.last().is_some_and(|log| log.contains("a=x***y&b=x***y")), "{texts:?}");
    for text in texts {
        // What stands between the characters of a text in UTF-16 is left out.
        let plain = text.replace("%00", "").replace("\\\\u0000", "").replace("\\u0000", "");
        let plain = plain.replace("\\x00", "").replace('\0', "");
        for part in ["pass%80", "word1", "oMa", "lane"] {
            assert!(!plain.contains(part), "{part}: {text}");
        }
    }
}

/// In the scheme and the host of a URL, which are in small letters where they are read.
#[test]
fn no_part_of_a_url_shows_a_secret() {
    let server = target();
    let text = plan(
        &server.url(),
        "vars: {a_token: SeCrEtVaLuE99, other_token: SeCrEt}\non_error: continue",
        "{set: {a: 'http://${a_token}.test/', b: '${a_token}://x/', c: 'http://${other_token}.test/', \
         d: '${other_token}://x/'}}, {get: '${a}'}, {get: '${b}'}, {get: '${c}'}, {get: '${d}'}",
    );
    let folder = folder(&[("plan.yaml", &text)]);
    let flags = ["run", "plan.yaml", "--out", "samples=log.jsonl"];
    let tried = squall(folder.path(), &["try", "plan.yaml"]);
    let mut texts = all_texts(folder.path(), vec![tried, squall(folder.path(), &flags)]);
    texts.push(std::fs::read_to_string(folder.path().join("log.jsonl")).expect("a log"));
    let is_said = |part: &str| texts.iter().any(|text| text.contains(part));
    assert!(is_said("does not name the host of `http://***.test/`"), "{texts:?}");
    assert!(is_said("its scheme is `***`"), "{texts:?}");
    for text in &texts {
        let text = text.to_lowercase();
        assert!(!text.contains("secretvalue") && !text.contains("secret.test"), "{text}");
        assert!(!text.contains("`secret`"), "{text}");
    }
    let text = plan(&server.url(), "vars: {a_token: SeCrEtVaLuE99}", "{get: '${a_token}://x/'}");
    std::fs::write(folder.path().join("plan.yaml"), text).expect("writable");
    let output = squall(folder.path(), &["check", "plan.yaml"]);
    let shown = String::from_utf8_lossy(&output.stderr).to_lowercase();
    assert!(shown.contains("its scheme is `***`") && !shown.contains("secretvalue99`"), "{shown}");
}

/// A threshold judges the row whose name it has, without the secret that is in both.
#[test]
fn a_threshold_shows_no_secret() {
    let server = target();
    let text = plan(
        &server.url(),
        "vars: {a_token: SeCrEtVaLuE99}\nthresholds: ['count(nm SeCrEtVaLuE99) == 1']",
        "{get: /, name: 'nm ${a_token}'}",
    );
    let folder = folder(&[("plan.yaml", &text)]);
    let checked = squall(folder.path(), &["check", "plan.yaml"]);
    let run = squall(folder.path(), &["run", "plan.yaml"]);
    assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stdout));
    let texts = all_texts(folder.path(), vec![checked, run]);
    assert!(texts[0].contains("  threshold  count(nm ***) == 1\n"), "{}", texts[0]);
    assert!(texts.iter().all(|text| !text.contains("SeCrEt")), "{texts:?}");
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

/// What a plan is said to be, and what is said of a header that is none.
#[test]
fn neither_a_description_nor_a_mistake_shows_a_secret() {
    let text = "vars: {api_token: tok-0123456789}\ntarget: http://h.test/?access_token=hunter2-query\n\
                scenarios:\n  of tok-0123456789:\n    load: {users: 1, iterations: 1}\n    steps: [{get: /}]\n";
    let folder = folder(&[("plan.yaml", text)]);
    let checked = squall(folder.path(), &["check", "plan.yaml"]);
    let shown = String::from_utf8_lossy(&checked.stdout);
    assert!(checked.status.success(), "{shown}{}", String::from_utf8_lossy(&checked.stderr));
    assert!(shown.contains("access_token=***") && shown.contains("of ***: "), "{shown}");
    assert!(!shown.contains("hunter2") && !shown.contains("tok-0"), "{shown}");
    let typed = ["http://h.test/", "-H", "Authorization Bearer tok-0123456789"];
    let refused = squall(folder.path(), &typed);
    let shown = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{shown}");
    assert!(shown.contains("expected 'Name: value'") && !shown.contains("tok-0"), "{shown}");
}
