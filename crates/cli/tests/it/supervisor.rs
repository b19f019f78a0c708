//! A supervisor for real: whatever a program does, and whoever is killed, nothing is left running and settings are put back.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use squall_supervisor::{CpuSet, End, Launch, Supervisor};
use tempfile::TempDir;

const SQUALL: &str = env!("CARGO_BIN_EXE_squall");

/// A shell script as a program, in a folder of its own.
fn script(folder: &TempDir, text: &str) -> Launch {
    Launch {
        name: "it".to_owned(),
        command: ["sh", "-c", text].map(str::to_owned).to_vec(),
        env: vec![("GREETING".to_owned(), "hello".to_owned())],
        directory: folder.path().to_owned(),
        cpus: None,
        log: folder.path().join("log"),
    }
}

fn started() -> Supervisor {
    Supervisor::start(Path::new(SQUALL), None).expect("a supervisor")
}

/// Waits for the end of a program.
fn end(supervisor: &mut Supervisor, launch: &Launch) -> End {
    let id = supervisor.spawn(launch).expect("a program").id;
    loop {
        if let Some(end) = supervisor.poll(id).expect("a supervisor") {
            return end;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Waits until a program has printed something.
fn until_printed(launch: &Launch, text: &str) -> String {
    loop {
        let log = std::fs::read_to_string(&launch.log).unwrap_or_default();
        if log.contains(text) {
            return log;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A program that starts another one in a session of its own, whose number is in `pid`, and prints `up`.
const FORKS: &str = "(setsid sleep 300 & echo $! > pid); echo up; exec sleep 300";

/// The number of what such a program has started.
fn forked(folder: &TempDir) -> String {
    std::fs::read_to_string(folder.path().join("pid")).unwrap()
}

fn kill(pid: &str) {
    assert!(Command::new("kill").args(["-9", pid]).status().unwrap().success());
}

/// The parent of a process.
fn parent(pid: u32) -> String {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let (_, rest) = stat.rsplit_once(") ").unwrap();
    rest.split(' ').nth(1).unwrap().to_owned()
}

fn is_there(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
    // One whose end nobody has asked for runs no more.
    stat.is_ok_and(|stat| !stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('Z')))
}

#[test]
fn a_program_prints_to_its_log_and_says_how_it_ended() {
    let folder = tempfile::tempdir().unwrap();
    let mut supervisor = started();
    let launch = script(&folder, "echo $GREETING; pwd; echo wrong >&2; exit 3");
    let own = end(&mut supervisor, &launch);
    assert_eq!((own.code, own.to_string().as_str()), (Some(3), "exited with code 3"));
    let log = std::fs::read_to_string(&launch.log).unwrap();
    let path = folder.path().canonicalize().unwrap();
    assert_eq!(log, format!("hello\n{}\nwrong\n", path.display()));
    let killed = end(&mut supervisor, &script(&folder, "kill -9 $$"));
    assert_eq!(killed.to_string(), "was ended by signal 9");
    let bound = Launch { cpus: Some(CpuSet::parse("0").unwrap()), ..script(&folder, "nproc") };
    end(&mut supervisor, &bound);
    assert!(std::fs::read_to_string(&bound.log).unwrap().ends_with("\n1\n"));
}

#[test]
fn what_cannot_be_started_says_why() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("text"), "").unwrap();
    let mut supervisor = started();
    for (program, said) in [
        ("no-such-program-here", "was not found on the PATH"),
        ("./missing", "No such file"),
        ("./text", "not an executable file"),
    ] {
        let launch = Launch { command: vec![program.to_owned()], ..script(&folder, "") };
        let error = supervisor.spawn(&launch).expect_err(program).to_string();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn a_program_that_ignores_sigterm_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let mut supervisor = started();
    let launch = script(&folder, "trap '' TERM; echo up; while true; do sleep 0.01; done");
    let id = supervisor.spawn(&launch).unwrap().id;
    until_printed(&launch, "up");
    let end = supervisor.stop(id, Duration::from_millis(50)).unwrap();
    assert_eq!(end.signal, Some(9));
}

#[test]
fn what_a_program_leaves_behind_is_ended_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let mut supervisor = started();
    // A session of its own, and a parent that is gone.
    let launch = script(
        &folder,
        "(setsid sh -c 'echo $$ > pid; exec sleep 300' &) ; until [ -s pid ]; do sleep 0.01; done; echo up; exec sleep 300",
    );
    let id = supervisor.spawn(&launch).unwrap().id;
    until_printed(&launch, "up");
    let pid = std::fs::read_to_string(folder.path().join("pid")).unwrap();
    assert!(is_there(&pid));
    let end = supervisor.stop(id, Duration::from_secs(5)).unwrap();
    assert_eq!(end.signal, Some(15));
    assert!(
        end.left_behind.len() == 1 && end.left_behind[0].starts_with("sleep (process "),
        "{end:?}"
    );
    assert!(!is_there(&pid));
}

#[test]
fn when_the_supervisor_is_dropped_all_programs_end() {
    let folder = tempfile::tempdir().unwrap();
    let mut supervisor = started();
    let launch = script(&folder, FORKS);
    let pid = supervisor.spawn(&launch).unwrap().pid.to_string();
    until_printed(&launch, "up");
    drop(supervisor);
    assert!(!is_there(&pid));
    assert!(!is_there(&forked(&folder)));
}

/// A supervisor that is spoken to by hand, with settings in a folder.
struct ByHand {
    child: Child,
    output: BufReader<std::process::ChildStdout>,
}

impl ByHand {
    fn start(folder: &TempDir) -> ByHand {
        let mut child = Command::new(SQUALL)
            .args(["supervise", "its-mark"])
            .arg(folder.path().join("journal"))
            .env("SQUALL_PROC_SYS", folder.path().join("sys"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("squall starts");
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut own = ByHand { child, output };
        assert_eq!(own.line(), "\"done\"\n");
        own
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line
    }

    fn ask(&mut self, request: &str) -> String {
        writeln!(self.child.stdin.as_mut().unwrap(), "{request}").unwrap();
        self.line()
    }
}

#[test]
fn a_setting_is_put_back_whoever_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sys/net/core/somaxconn");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "4096\n").unwrap();
    let value = || std::fs::read_to_string(&file).unwrap().trim().to_owned();
    let set = r#"{"set":["net.core.somaxconn","1280"]}"#;
    // squall is killed: the input of its supervisor ends.
    let mut own = ByHand::start(&folder);
    assert_eq!(own.ask(set), "{\"was\":\"4096\"}\n");
    assert_eq!(value(), "1280");
    drop(own.child.stdin.take());
    assert!(own.child.wait().unwrap().success());
    assert_eq!(value(), "4096");
    // The supervisor is killed: the next one puts the setting back.
    let mut own = ByHand::start(&folder);
    own.ask(set);
    own.child.kill().unwrap();
    own.child.wait().unwrap();
    assert_eq!(value(), "1280");
    let mut next = ByHand::start(&folder);
    assert_eq!(value(), "4096");
    assert!(next.ask(r#"{"set":["net.core.none","1"]}"#).contains("no such setting"));
    drop(next.child.stdin.take());
    next.child.wait().unwrap();
}

#[test]
fn when_the_supervisor_is_killed_its_programs_are() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("sys")).unwrap();
    let mut own = ByHand::start(&folder);
    let launch = script(&folder, "exec sleep 300");
    let started = own.ask(&format!("{{\"spawn\":{}}}", serde_json::to_string(&launch).unwrap()));
    let started: serde_json::Value = serde_json::from_str(&started).unwrap();
    let pid = started["started"]["pid"].to_string();
    assert!(is_there(&pid));
    own.child.kill().unwrap();
    own.child.wait().unwrap();
    // The kernel does it; nothing here waits for it but this.
    while is_there(&pid) {
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn when_the_supervisor_is_killed_squall_ends_what_its_programs_have_started() {
    let folder = tempfile::tempdir().unwrap();
    let mut supervisor = started();
    let launch = script(&folder, FORKS);
    let own = supervisor.spawn(&launch).unwrap();
    until_printed(&launch, "up");
    kill(&parent(own.pid));
    let error = loop {
        if let Err(error) = supervisor.poll(own.id) {
            break error.to_string();
        }
    };
    assert!(error.contains("what it had started was ended"), "{error}");
    assert!(!is_there(&own.pid.to_string()) && !is_there(&forked(&folder)));
}

#[test]
fn what_a_killed_supervisor_has_left_is_ended_by_the_next_one() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("sys")).unwrap();
    let mut own = ByHand::start(&folder);
    let launch = script(&folder, FORKS);
    own.ask(&format!("{{\"spawn\":{}}}", serde_json::to_string(&launch).unwrap()));
    until_printed(&launch, "up");
    let pid = forked(&folder);
    own.child.kill().unwrap();
    own.child.wait().unwrap();
    assert!(is_there(&pid), "the kernel ends only what the supervisor itself has started");
    let mut next = ByHand::start(&folder);
    assert!(!is_there(&pid));
    drop(next.child.stdin.take());
    next.child.wait().unwrap();
}

/// The number of the process with these words in its command line.
fn process_with(words: &[&str]) -> Option<String> {
    std::fs::read_dir("/proc").unwrap().flatten().find_map(|own| {
        let line = std::fs::read(own.path().join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).into_owned();
        let is_it = words.iter().all(|word| line.contains(word));
        is_it.then(|| own.file_name().to_str().map(str::to_owned))?
    })
}

#[test]
fn when_the_supervisor_of_an_experiment_is_killed_squall_puts_its_settings_back() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sys/net/core/somaxconn");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "4096\n").unwrap();
    let experiment = format!(
        "name: killed\nplan: {{target: builtin, scenarios: {{a: {{load: {{users: 1, for: 60s}}, steps: [{{get: /}}, {{think: 10ms}}]}}}}}}\n\
         server: {{command: [sh, -c, '{FORKS}'], ready: {{output: up}}}}\n\
         factors: {{queue: {{sysctl: net.core.somaxconn, values: [1111, 2222]}}}}\nrepeat: 1\n"
    );
    std::fs::write(folder.path().join("it.yaml"), experiment).unwrap();
    let child = Command::new(SQUALL)
        .args(["experiment", "it.yaml", "--allow-exec", "--allow-sysctl", "--out"])
        .arg(folder.path().join("runs"))
        .current_dir(folder.path())
        .env("SQUALL_PROC_SYS", folder.path().join("sys"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("squall starts");
    let name = folder.path().display().to_string();
    while process_with(&[&name, "plan-of-the-run.json"]).is_none() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let pid = forked(&folder);
    assert!(is_there(&pid));
    assert_ne!(std::fs::read_to_string(&file).unwrap(), "4096\n");
    kill(&process_with(&[&name, "supervise", "settings.json"]).expect("a supervisor"));
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("the supervisor of the programs has ended"), "{said}");
    assert!(!is_there(&pid), "{said}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "4096\n");
    assert_eq!(process_with(&[&name, "plan-of-the-run.json"]), None, "no run goes on");
}
