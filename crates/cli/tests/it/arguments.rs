//! Variables of plans on the command line and in the environment, and that no output shows a secret.

use std::process::Command;

use serde_json::Value;

use crate::common::{folder, logged, plan, squall, target};

#[test]
fn later_sources_of_a_variable_win() {
    let server = target();
    let text = plan(
        &server.url(),
        "vars: {a: plan, b: plan, c: plan, d: plan}",
        "{log: '${a} ${b} ${c} ${d}'}, {get: /}",
    );
    let folder = folder(&[("plan.yaml", &text), ("values.env", "b=file\nc=file\nd=file\n")]);
    let flags = ["run", "plan.yaml", "--env-file", "values.env", "--set", "d=flag", "-q", "--json"];
    let output = Command::new(env!("CARGO_BIN_EXE_squall"))
        .args(flags)
        .env("SQUALL_VAR_c", "environment")
        .env("SQUALL_VAR_d", "environment")
        .current_dir(folder.path())
        .output()
        .expect("squall runs");
    let json: Value = serde_json::from_slice(&output.stdout).expect("a result");
    assert_eq!(logged(&json), ["plan file environment flag"]);
}

#[test]
fn what_is_given_and_unknown_is_refused() {
    let text = plan("http://127.0.0.1:9", "vars: {a: 1}", "get: '/${a}'");
    let folder = folder(&[("plan.yaml", &text)]);
    let refused = |flags: &[&str], word: &str| {
        let output = squall(folder.path(), &[&["run", "plan.yaml"], flags].concat());
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(word), "{word}: {text}");
    };
    refused(&["--set", "b=1"], "`b`: the plan has no such variable");
    refused(&["-J", "a"], "squall: `a`: expected NAME=VALUE");
    refused(&["--env-file", "nowhere.env"], "nowhere.env");
    refused(&["--for", "soon"], "soon");
    refused(&["--target", "ftp://a"], "error: invalid --target `ftp://a`");
    refused(&["--users", "0"], "expected at least 1");
    refused(&["--iterations", "0"], "expected at least 1");
    refused(&["--for", "0s"], "above 0");
    refused(&["--rate", "0"], "above 0");
    refused(&["--rate", "5"], "no load with a rate of arrivals");
}

#[test]
fn a_program_counts_one_check_and_several() {
    let steps =
        "{get: /a, check: status == 200}, {get: /b, check: [status == 200, body_bytes > 0]}";
    let folder = folder(&[("plan.yaml", &plan("http://127.0.0.1:9", "", steps))]);
    let output = squall(folder.path(), &["check", "--program", "plan.yaml"]);
    let text = String::from_utf8_lossy(&output.stdout);
    let ends = |number: &str| text.lines().any(|line| line.contains(number));
    assert!(ends(", 1 check") && !ends(", 1 checks") && ends(", 2 checks"), "{text}");
}

#[test]
fn secrets_are_masked_in_every_output() {
    let server = target();
    let text = plan(
        &server.url(),
        "vars: {pin: {value: 9876543210, secret: true}, api_key: from-the-plan}",
        "{log: '${pin} ${api_key}'}, {get: '/echo?pin=${pin}', name: 'pin ${pin}', check: 'body == pin'}",
    );
    let folder = folder(&[("plan.yaml", &text)]);
    let outputs = [
        squall(folder.path(), &["run", "plan.yaml", "--set", "api_key=from-a-flag"]),
        squall(folder.path(), &["try", "plan.yaml", "--set", "api_key=from-a-flag"]),
        squall(folder.path(), &["check", "--program", "plan.yaml"]),
    ];
    let mut texts: Vec<Vec<u8>> =
        outputs.into_iter().flat_map(|output| [output.stdout, output.stderr]).collect();
    let runs = folder.path().join("squall-runs");
    for run in std::fs::read_dir(runs).expect("runs") {
        for file in std::fs::read_dir(run.expect("a run").path()).expect("files") {
            texts.push(std::fs::read(file.expect("a file").path()).expect("readable"));
        }
    }
    for text in texts {
        let text = String::from_utf8_lossy(&text);
        for secret in ["9876543210", "from-the-plan", "from-a-flag"] {
            assert!(!text.contains(secret), "{secret}: {text}");
        }
    }
}
