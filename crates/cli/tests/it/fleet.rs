//! Fleets, as far as no server is needed: what is typed, what is printed, nodes that are started by ssh. The rest is in
//! `interop/test_fleet.py`.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use saphyr_parser::{Event, Parser};

use crate::common::{folder, signal, squall, until};

const PLAN: &str = "target: http://127.0.0.1:9\nscenarios: {a: {load: {users: 1, iterations: 1}, steps: [{get: /}]}}\n";

/// Runs squall without anything that the environment says of fleets.
fn alone(folder: &Path, args: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_squall"));
    for name in ["SQUALL_NATS", "SQUALL_NATS_USER", "SQUALL_NATS_PASSWORD", "SQUALL_NATS_TOKEN"] {
        command.env_remove(name);
    }
    command.args(args).envs(variables.iter().copied()).current_dir(folder);
    command.output().expect("squall runs")
}

fn refused(folder: &Path, args: &[&str], code: i32, words: &[&str]) {
    let output = alone(folder, args, &[]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {text}");
    for word in words {
        assert!(text.contains(word), "{args:?}: {word}: {text}");
    }
}

#[test]
fn what_is_wrong_with_nodes_is_said_before_anything_is_sent() {
    let folder = folder(&[("plan.yaml", PLAN), ("token", "s3cret\n"), ("two", "a\nb\n")]);
    let run = |args: &[&str], words: &[&str]| {
        refused(folder.path(), &[&["run", "plan.yaml"], args].concat(), 2, words);
    };
    run(&["--nodes", "0"], &["at least 1 node"]);
    run(&["--nodes", "local:0"], &["at least 1 node"]);
    run(&["--nodes", "local"], &["local:N"]);
    run(&["--nodes", "eu=1,eu=2"], &["zone `eu` is there twice"]);
    run(&["--nodes", "eu:12"], &["such as eu=12,us=8"]);
    run(&["--nodes", "4"], &["--nats URL", "--nodes local:4"]);
    run(&["--nats", "nats://a"], &["--nodes N"]);
    run(&["--on-loss", "abort"], &["--nodes"]);
    run(&["--nodes", "4", "--nats", "http://a"], &["nats://10.0.0.5:4222"]);
    run(&["--nodes", "4", "--nats", "nats://a", "--lease", "1s"], &["from 2s to 10m"]);
    run(&["--nodes", "local:2", "--nats", "nats://a"], &["local:2", "--nats"]);
    let server = ["--nodes", "4", "--nats", "nats://127.0.0.1:9"];
    let with = |more: &[&str], words: &[&str]| run(&[&server[..], more].concat(), words);
    with(&["--target", "builtin"], &["squall target -l", "--nodes local:4"]);
    with(&["--nats-token-file", "nowhere"], &["nowhere"]);
    with(&["--nats-token-file", "two"], &["expected one line"]);
    with(&["--nats-user", "ada"], &["--nats-password-file"]);
    with(&["--nats-password-file", "token"], &["goes with --nats-user"]);
    with(&["--nats-user", "ada", "--nats-token-file", "token"], &["one of them is enough"]);
    with(&["--nats-cert", "a.pem"], &["--nats-key"]);
}

#[test]
fn a_server_that_is_not_there_is_named_without_its_password() {
    let folder = folder(&[("plan.yaml", PLAN)]);
    let url = "nats://ada:s3cret@127.0.0.1:9";
    // Each tries for five seconds.
    let all = [
        &["run", "plan.yaml", "--nodes", "2", "--nats", url][..],
        &["http://127.0.0.1:9/", "-n", "1", "--nodes", "2", "--nats", url],
        &["limit", "plan.yaml", "--require", "p99 < 1s", "--nodes", "2", "--nats", url],
        &["node", "--nats", url, "--allow-hosts", "*"],
        &["fleet", "status", "--nats", url],
        &["doctor", "plan.yaml", "--nats", url],
    ];
    std::thread::scope(|scope| {
        for args in all {
            let folder = folder.path();
            scope.spawn(move || {
                let output = alone(folder, args, &[]);
                let text = String::from_utf8_lossy(&output.stderr);
                assert_eq!(output.status.code(), Some(3), "{args:?}: {text}");
                assert!(text.contains("no NATS server at 127.0.0.1:9"), "{args:?}: {text}");
                assert!(!text.contains("s3cret"), "{args:?}: {text}");
            });
        }
    });
}

#[test]
fn a_server_of_the_environment_changes_no_run_of_one_machine() {
    let server = crate::common::target();
    let folder = folder(&[("plan.yaml", &PLAN.replace("http://127.0.0.1:9", &server.url()))]);
    let output =
        alone(folder.path(), &["run", "plan.yaml", "-q"], &[("SQUALL_NATS", "nats://127.0.0.1:9")]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(server.stats().requests, 1);
}

#[test]
fn what_holds_within_a_node_is_said_by_check() {
    let meets = PLAN.replace("{get: /}", "{rendezvous: {users: 1}}, {get: /}");
    let folder = folder(&[("plan.yaml", PLAN), ("meets.yaml", &meets)]);
    for (plan, is_said) in [("plan.yaml", false), ("meets.yaml", true)] {
        let output = alone(folder.path(), &["check", plan], &[]);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{text}");
        assert_eq!(text.contains("in a fleet: `rendezvous`"), is_said, "{text}");
    }
}

#[test]
fn without_a_nats_server_it_is_said_how_to_get_one() {
    let folder = folder(&[("plan.yaml", PLAN)]);
    let nothing = folder.path().join("nothing");
    std::fs::create_dir(&nothing).expect("a folder");
    let path = nothing.to_str().expect("a path");
    let run = ["run", "plan.yaml", "--nodes", "local:2"];
    let missing = folder.path().join("nats-server");
    let missing = missing.to_str().expect("a path");
    let named = [("PATH", path), ("SQUALL_NATS_SERVER", missing)];
    let cases = [(&named[..1], "github.com/nats-io/nats-server"), (&named[..], missing)];
    for (variables, word) in cases {
        let output = alone(folder.path(), &run, variables);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{text}");
        assert!(text.contains(word), "{word}: {text}");
    }
}

#[test]
fn a_node_says_what_it_lacks() {
    let here = Path::new(".");
    refused(here, &["node", "--allow-hosts", "*"], 2, &["--nats URL"]);
    let node = |more: &[&str], words: &[&str]| {
        let args = [&["node", "--nats", "nats://127.0.0.1:9"], more].concat();
        refused(here, &args, 2, words);
    };
    node(&["--name", "a.b", "--allow-hosts", "*"], &["a name has letters"]);
    node(&["--weight", "0", "--allow-hosts", "*"], &["from 0.01 to 1000"]);
    node(&["--max-users", "0", "--allow-hosts", "*"], &["at least 1"]);
    node(&[], &["--allow-hosts"]);
    node(&["--allow-hosts", "http://shop.example.com/"], &["http://shop.example.com/"]);
    node(&["--allow-hosts", "*", "--allow-files", "/nowhere"], &["--allow-files /nowhere"]);
}

#[test]
fn what_other_tools_say_of_many_machines_names_ours() {
    let folder = folder(&[("plan.yaml", PLAN)]);
    refused(
        folder.path(),
        &["jmeter", "-n", "-t", "plan.jmx", "-R", "a,b"],
        2,
        &["squall node --nats URL", "--nodes N"],
    );
    refused(
        folder.path(),
        &["jmeter", "-n", "-t", "plan.jmx", "--nodes", "0"],
        2,
        &["at least 1 node"],
    );
    refused(
        folder.path(),
        &["run", "plan.yaml", "--execution-segment", "0:1/4"],
        2,
        &["--nats URL --nodes N"],
    );
}

/// The documents of a YAML text: how many there are; each is parsed to its end.
fn documents(text: &str) -> usize {
    let events = Parser::new_from_str(text)
        .map(|event| event.unwrap_or_else(|error| panic!("{error}\n{text}")).0);
    events.filter(|event| matches!(event, Event::DocumentStart(_))).count()
}

#[test]
fn manifests_are_ready() {
    let print = |args: &[&str]| {
        let output = squall(Path::new("."), &[&["fleet", "manifest"], args].concat());
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).expect("text");
        assert!(!text.contains("{{"), "{text}");
        text
    };
    let hosts = ["--allow-hosts", "*.example.com", "--allow-hosts", "10.0.0.0/8"];
    let kubernetes = |more: &[&str]| print(&[&["kubernetes"], &hosts[..], more].concat());
    let file = kubernetes(&["--nodes", "12", "--image", "registry/squall:9"]);
    assert_eq!(documents(&file), 8, "{file}");
    for part in [
        "completions: 12",
        "image: registry/squall:9",
        "\"--allow-hosts=*.example.com\"",
        "\"--allow-hosts=10.0.0.0/8\"",
        "--nodes, \"12\"",
        "--nats-user=node-$(JOB_COMPLETION_INDEX)",
        "\n  \"node-11\": t",
    ] {
        assert!(file.contains(part), "{part}: {file}");
    }
    assert_ne!(
        file,
        kubernetes(&["--nodes", "12", "--image", "registry/squall:9"]),
        "its passwords"
    );
    let zones = kubernetes(&["--nodes", "eu=3,US_w=1"]);
    assert_eq!(documents(&zones), 9, "{zones}");
    for part in [
        "name: squall-nodes-eu}",
        "name: squall-nodes-us-w}",
        "\"eu=3,US_w=1\"",
        "{name: SQUALL_ZONE, value: \"US_w\"}\n          resources",
        "subPathExpr: US_w-$(JOB_COMPLETION_INDEX)",
        "\n  \"eu-2\": t",
        "\n  \"US_w-0\": t",
    ] {
        assert!(zones.contains(part), "{part}: {zones}");
    }
    let slurm = print(&[&["slurm", "--nodes", "eu=3"], &hosts[..]].concat());
    for part in [
        "#SBATCH --ntasks=3\n",
        "--zone eu",
        "--kill-on-bad-exit=0",
        "--allow-hosts '*.example.com'",
    ] {
        assert!(slurm.contains(part), "{part}: {slurm}");
    }
    let mut shell = Command::new("bash");
    let mut shell = shell.args(["-n", "-"]).stdin(Stdio::piped()).spawn().expect("a shell");
    let input = shell.stdin.take().expect("a pipe");
    std::io::Write::write_all(&mut { input }, slurm.as_bytes()).expect("it reads");
    assert!(shell.wait().expect("it ends").success(), "{slurm}");
    assert!(print(&["nats", "--nodes", "2"]).contains("jetstream"));
}

#[test]
fn a_manifest_of_nothing_that_can_be_is_refused() {
    for (args, why) in [
        (&["kubernetes", "--allow-hosts", "a\"b"][..], "invalid host `a\"b`"),
        (&["kubernetes", "--nodes", "local:4"], "--nodes local:N: squall starts these itself"),
        (
            &["kubernetes", "--nodes", "a-b=1,A_b=1"],
            "zone `A_b`: its Job would be called squall-nodes-a-b",
        ),
        (&["slurm", "--nodes", "eu=1,us=1"], "print a file for each, such as --nodes eu=12"),
    ] {
        refused(Path::new("."), &[&["fleet", "manifest"], args].concat(), 2, &[why]);
    }
}

/// What stands in for ssh: notes its arguments, and runs the command here, as a host's login shell would.
const SSH: &str = "#!/bin/sh
printf '%s\\n' \"$@\" > \"$NOTES/$$\"
while [ \"$1\" != -- ]; do shift; done
[ \"$2\" = down ] && { echo 'no route to host' >&2; exit 255; }
exec sh -c \"$3\"
";
/// What stands in for squall on a host: says what it was given, and ends with its input.
const NODE: &str = "#!/bin/sh
echo \"$* as $SQUALL_NATS_TOKEN\"
cat > /dev/null
echo ended
";

fn program(path: &Path, text: &str) {
    std::fs::write(path, text).expect("writable");
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("executable");
}

/// A folder with a list of hosts, and an `ssh` that goes nowhere; the command that starts nodes on them.
fn up(hosts: &str) -> (tempfile::TempDir, Command) {
    let folder = folder(&[("hosts.txt", hosts), ("token", "s3cret\n")]);
    let bin = folder.path().join("bin");
    for name in ["bin", "notes"] {
        std::fs::create_dir(folder.path().join(name)).expect("a folder");
    }
    program(&bin.join("ssh"), SSH);
    program(&bin.join("it's squall"), NODE);
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new(env!("CARGO_BIN_EXE_squall"));
    command
        .args(["fleet", "up", "--ssh", "hosts.txt", "--nats", "nats://127.0.0.1:9"])
        .args(["--allow-hosts", "*.example.com", "--nats-token-file", "token"])
        .args(["--squall", "it's squall"])
        .env("PATH", path)
        .env("NOTES", folder.path().join("notes"))
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    (folder, command)
}

#[test]
fn a_node_is_started_on_each_host_and_ended_with_squall() {
    let (folder, mut command) = up("# two\nada@a.example zone=eu weight=2\nb.example name=b\n");
    let errors = folder.path().join("errors");
    command.stderr(std::fs::File::create(&errors).expect("a file"));
    let mut child = command.spawn().expect("squall starts");
    let said = || std::fs::read_to_string(&errors).expect("text");
    until(&mut child, || said().matches(" as s3cret").count() == 2);
    signal(&child, "INT");
    let status = child.wait().expect("it ends");
    let text = said();
    assert_eq!(status.code(), Some(130), "{text}");
    for line in [
        "ada@a.example: node --ends-with-input --name a-example --zone eu --weight 2 --allow-hosts *.example.com as s3cret",
        "b.example: node --ends-with-input --name b --weight 1 --allow-hosts *.example.com as s3cret",
        "ada@a.example: ended",
        "b.example: ended",
    ] {
        assert!(text.lines().any(|own| own == line), "{line}: {text}");
    }
    let notes = std::fs::read_dir(folder.path().join("notes")).expect("notes");
    let notes: Vec<String> = notes
        .map(|note| std::fs::read_to_string(note.expect("a note").path()).expect("text"))
        .collect();
    assert_eq!(notes.len(), 2);
    for note in notes {
        assert!(note.contains("BatchMode=yes") && !note.contains("s3cret"), "{note}");
    }
}

#[test]
fn a_host_that_cannot_be_reached_is_named() {
    let (_folder, mut command) = up("down\n");
    let output = command.output().expect("squall runs");
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains("down: no route to host"), "{text}");
    assert!(text.contains("down: ssh could not connect"), "{text}");
}

#[test]
fn a_list_of_hosts_has_its_mistakes_shown() {
    let folder = folder(&[("hosts.txt", "a\n  b zome=eu\n"), ("none.txt", "# nobody\n")]);
    let args = ["--nats", "nats://127.0.0.1:9", "--allow-hosts", "*"];
    let with = |file: &str, words: &[&str]| {
        refused(folder.path(), &[&["fleet", "up", "--ssh", file], &args[..]].concat(), 2, words);
    };
    with("hosts.txt", &["hosts.txt:2:5: `zome=eu`: expected name=, zone= or weight="]);
    with("none.txt", &["it names no host"]);
    with("nowhere.txt", &["nowhere.txt", "expected a file with a host a line"]);
}
