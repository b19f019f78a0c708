//! The page of a run and that of a folder's runs, asked over real sockets: by those who may, by those who may not, and by
//! those who do not behave.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

/// squall with a page.
struct Served {
    child: Child,
    folder: PathBuf,
    /// `127.0.0.1:PORT`, and the path with the token.
    host: String,
    base: String,
}

impl Served {
    /// Runs a plan whose load lasts so long.
    fn run(folder: &Path, length: &str, more: &[&str]) -> Served {
        let plan = format!(
            "target: builtin\nscenarios:\n  buyer:\n    load: {{users: 3, for: {length}}}\n    steps:\n      \
             - {{get: /, name: home}}\n      - {{get: /status/503, name: broken}}\n      - {{think: 20ms}}\n  \
             guest: {{load: {{rate: 50/s, for: {length}}}, steps: [{{get: /, name: page}}]}}\n\
             thresholds: [\"p99 < 60s\"]\n"
        );
        fs::write(folder.join("plan.yaml"), plan).expect("written");
        let args = ["run", "plan.yaml", "--quiet", "--out", "runs", "--ui"];
        Served::start(folder, &[&args[..], more].concat(), false)
    }

    /// Starts squall, and waits until it says where the page is: on one of its two outputs.
    fn start(folder: &Path, args: &[&str], on_stdout: bool) -> Served {
        let mut command = Command::new(env!("CARGO_BIN_EXE_squall"));
        command.args(args).current_dir(folder).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("squall runs");
        let (out, err) = (child.stdout.take().expect("piped"), child.stderr.take().expect("piped"));
        let (said, other): (Box<dyn Read + Send>, Box<dyn Read + Send>) =
            if on_stdout { (Box::new(out), Box::new(err)) } else { (Box::new(err), Box::new(out)) };
        let mut said = BufReader::new(said);
        let mut text = String::new();
        while !text.contains("http://") {
            let before = text.len();
            said.read_line(&mut text).expect("text");
            assert!(text.len() > before, "it ended, and said: {text}");
        }
        // What it prints later is read, so that it never waits for us.
        for mut rest in [Box::new(said) as Box<dyn Read + Send>, other] {
            std::thread::spawn(move || rest.read_to_end(&mut Vec::new()));
        }
        let url = text.split("http://").nth(1).expect("an address").trim();
        let (host, base) = url.split_once('/').expect("a path");
        let (host, base) = (host.to_owned(), format!("/{base}"));
        Served { child, folder: folder.to_owned(), host, base }
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect(&self.host).expect("it listens")
    }

    /// What comes back for these bytes, to the end of the connection.
    fn send(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect();
        // It may answer before everything was sent.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        // Who is one too many has the connection reset.
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// The status, and the answer with its head.
    fn ask(&self, method: &str, path: &str, fields: &str, body: &str) -> (u16, String) {
        let length = body.len();
        let answer = self.send(
            format!("{method} {path} HTTP/1.1\r\n{fields}Content-Length: {length}\r\n\r\n{body}")
                .as_bytes(),
        );
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
        (status.unwrap_or(0), answer)
    }

    fn get(&self, path: &str) -> (u16, String) {
        let (base, host) = (&self.base, &self.host);
        self.ask("GET", &format!("{base}{path}"), &format!("Host: {host}\r\n"), "")
    }

    /// Asks for something that changes the run; what is told of it.
    fn control(&self, what: Value) -> (u16, String) {
        let (base, host) = (&self.base, &self.host);
        let fields =
            format!("Host: {host}\r\nOrigin: http://{host}\r\nContent-Type: application/json\r\n");
        let (status, answer) =
            self.ask("POST", &format!("{base}control"), &fields, &what.to_string());
        let body = answer.split("\r\n\r\n").nth(1).expect("a body");
        let told: Value = serde_json::from_str(body).expect("JSON");
        (status, told["told"].as_str().expect("text").to_owned())
    }

    fn listen(&self) -> Events {
        let mut stream = self.connect();
        let (base, host) = (&self.base, &self.host);
        write!(stream, "GET {base}events HTTP/1.1\r\nHost: {host}\r\n\r\n").expect("sent");
        let mut events = Events { lines: BufReader::new(stream), known: json!({}) };
        while !events.line().expect("a head").is_empty() {}
        events
    }

    fn end(&mut self) -> i32 {
        self.child.wait().expect("it ends").code().expect("a code")
    }

    /// The folder of the only run.
    fn run_folder(&self) -> PathBuf {
        let path = fs::read_dir(self.folder.join("runs")).expect("a folder").next();
        path.expect("a run").expect("a readable entry").path()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The events of a page, and what a page knows by them.
struct Events {
    lines: BufReader<TcpStream>,
    known: Value,
}

impl Events {
    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.lines.read_line(&mut line).expect("text");
        (read > 0).then(|| line.trim_end().to_owned())
    }

    /// The next event; `None`: there are no more.
    fn next(&mut self) -> Option<(String, Value)> {
        let mut name = String::new();
        loop {
            let line = self.line()?;
            if let Some(own) = line.strip_prefix("event: ") {
                name = own.to_owned();
            } else if let Some(data) = line.strip_prefix("data: ") {
                let data: Value = serde_json::from_str(data).expect("JSON");
                if name == "picture" {
                    for (part, value) in data.as_object().expect("an object") {
                        self.known[part] = value.clone();
                    }
                }
                return Some((name, data));
            }
        }
    }

    /// Listens until something is known.
    fn until(&mut self, is: impl Fn(&Value) -> bool) {
        while !is(&self.known) {
            assert!(self.next().is_some(), "the events ended: {}", self.known["now"]);
        }
    }

    /// Listens until the run is over; where its report is.
    fn until_the_end(&mut self) -> Value {
        loop {
            let (name, data) = self.next().expect("an event that says so");
            if name == "over" {
                return data["report"].clone();
            }
        }
    }
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

/// Two pages see the same, one of them from the middle on; what they saw last is what run.json says, and the report can be
/// had before squall ends.
#[test]
fn pages_see_the_run_to_its_end() {
    let folder = folder();
    let mut served = Served::run(folder.path(), "4s", &[]);
    let (status, page) = served.get("");
    assert_eq!(status, 200);
    for word in [
        "Content-Security-Policy: default-src 'none'",
        "Referrer-Policy: no-referrer",
        "no-store",
        "<title>squall",
    ] {
        assert!(page.contains(word), "{word}");
    }
    assert!(!page.contains(served.base.trim_matches('/')), "the token is in no page");
    let mut first = served.listen();
    first.until(|known| known["now"]["seconds"].as_u64() >= Some(2));
    let mut second = served.listen();
    let (name, data) = second.next().expect("an event");
    assert_eq!((name.as_str(), &data["new"]), ("picture", &json!(true)));
    assert!(data["points"].as_array().expect("a list").len() >= 2, "the curves from the beginning");
    let report = first.until_the_end();
    assert_eq!(second.until_the_end(), report);
    let (status, text) = served.get(report.as_str().expect("a report"));
    assert_eq!(status, 200);
    assert!(
        text.contains("Content-Security-Policy: sandbox"),
        "it is nobody's, and may do nothing here"
    );
    let written = fs::read_to_string(served.run_folder().join("report.html")).expect("a report");
    assert_eq!(text.split_once("\r\n\r\n").expect("a body").1, written);
    for own in [&first, &second] {
        let run: Value = serde_json::from_str(
            &fs::read_to_string(served.run_folder().join("run.json")).expect("a result"),
        )
        .expect("JSON");
        let (now, result) = (&own.known["now"], &own.known["about"]["result"]);
        for (name, wanted) in [("requests", "count"), ("errors", "errors")] {
            assert_eq!(now[name], run["totals"][wanted], "{name}");
            assert_eq!(result[name], run["totals"][wanted], "{name}");
        }
        let done = |at: usize| &own.known["now"]["loads"][at]["done"];
        for row in run["iterations"].as_array().expect("a list") {
            let at = usize::from(row["scenario"] == "guest");
            assert_eq!(done(at), &row["count"], "{row}");
        }
        let error = &own.known["errors"]["all"][0];
        assert_eq!((&error["name"], &error["kind"]), (&json!("broken"), &json!("status")));
        assert_eq!(error["count"], run["totals"]["errors"]);
        assert!(error["example"].as_str().is_some_and(|text| text.contains("503")), "{error}");
    }
    drop((first, second));
    assert_eq!(served.end(), 0);
}

#[test]
fn a_page_controls_the_run() {
    let folder = folder();
    let mut served = Served::run(folder.path(), "1h", &[]);
    let mut events = served.listen();
    events.until(|known| known["now"]["seconds"].as_u64() >= Some(1));
    let set = json!({"do": "set", "load": "buyer", "to": "7"});
    let one = json!({"do": "set", "load": "buyer", "to": "1"});
    assert_eq!(served.control(one), (200, "1 virtual user from now on".to_owned()));
    assert_eq!(served.control(set), (200, "7 virtual users from now on".to_owned()));
    events.until(|known| known["now"]["loads"][0]["users"] == 7);
    let more = json!({"do": "more", "load": "guest"});
    assert_eq!(served.control(more), (200, "55.0/s from now on".to_owned()));
    events.until(|known| known["now"]["loads"][1]["planned"] == 55.0);
    for (wrong, why) in [
        (json!({"do": "set", "load": "buyer", "to": "50/s"}), "whole number"),
        (json!({"do": "set", "load": "nobody", "to": "5"}), "no load of its own"),
        (json!({"do": "set", "load": "guest", "to": "90000000/s"}), "this machine cannot run"),
        (json!({"do": "dance", "load": "buyer"}), "nothing that can be done"),
    ] {
        let (status, told) = served.control(wrong);
        assert!(status == 409 && told.contains(why), "{status} {told}");
    }
    assert_eq!(served.control(json!({"do": "pause"})).0, 200);
    events.until(|known| known["about"]["paused"] == true);
    assert_eq!(served.control(json!({"do": "resume"})).0, 200);
    events.until(|known| known["about"]["paused"] == false);
    assert_eq!(served.control(json!({"do": "stop"})).0, 200);
    events.until_the_end();
    assert_eq!(events.known["about"]["result"]["interrupted"], true);
    drop(events);
    assert_eq!(served.end(), 130);
}

#[test]
fn who_may_not_gets_nothing() {
    let folder = folder();
    let served = Served::run(folder.path(), "1h", &[]);
    let (host, base) = (served.host.clone(), served.base.clone());
    let good = format!("Host: {host}\r\n");
    let own = format!("{good}Origin: http://{host}\r\nContent-Type: application/json\r\n");
    assert_eq!(served.ask("GET", &base, &good, "").0, 200);
    let token = base.trim_matches('/');
    let wrong = format!("/{}/", token.replace(|_| true, "0"));
    for path in [
        "/",
        "/events",
        &wrong,
        &base[..base.len() - 1],
        &format!("{wrong}events"),
        &format!("/x{base}"),
    ] {
        let (status, answer) = served.ask("GET", path, &good, "");
        assert!(status == 403 && !answer.contains("squall"), "{path}: {answer}");
    }
    for (method, path, fields) in [
        ("GET", "", String::new()),
        ("GET", "", "Host: evil.example\r\n".to_owned()),
        ("GET", "", format!("Host: evil.example:{}\r\n", host.rsplit(':').next().expect("a port"))),
        ("GET", "events", format!("{good}Origin: http://evil.example\r\n")),
        ("GET", "runs.json", format!("{good}Origin: null\r\n")),
        ("GET", "events", format!("{good}Sec-Fetch-Site: cross-site\r\n")),
        ("POST", "control", format!("{good}Content-Type: application/json\r\n")),
        (
            "POST",
            "control",
            format!("{good}Content-Type: application/json\r\nOrigin: https://{host}\r\n"),
        ),
    ] {
        let (status, answer) =
            served.ask(method, &format!("{base}{path}"), &fields, r#"{"do":"stop"}"#);
        assert_eq!(status, 403, "{method} {path} {fields}{answer}");
        assert!(!answer.to_ascii_lowercase().contains("access-control"), "{answer}");
    }
    for (method, path, fields, body, wanted) in [
        (
            "POST",
            "control",
            format!("{good}Origin: http://{host}\r\nContent-Type: text/plain\r\n"),
            r#"{"do":"stop"}"#,
            415,
        ),
        ("POST", "control", own.clone(), "{", 400),
        ("POST", "events", own.clone(), "{}", 405),
        ("OPTIONS", "control", own.clone(), "", 405),
        ("GET", "control", good.clone(), "", 404),
        ("GET", "nothing", good.clone(), "", 404),
        ("DELETE", "nothing", own.clone(), "", 404),
    ] {
        let (status, answer) = served.ask(method, &format!("{base}{path}"), &fields, body);
        assert_eq!(status, wanted, "{method} {path}: {answer}");
    }
    for path in [
        "../plan.yaml",
        "..%2fplan.yaml",
        "runs/../../plan.yaml",
        "runs/..%2f..%2fplan.yaml/report.html",
        "runs/%2e%2e/report.html",
        "runs//report.html",
        "plan.yaml",
    ] {
        assert_eq!(served.get(path).0, 404, "{path}");
    }
    // Nobody has stopped it.
    let mut events = served.listen();
    events.next().expect("an event");
    assert_eq!(events.known["about"]["stopping"], Value::Null);
}

#[test]
fn who_does_not_behave_costs_the_run_nothing() {
    let folder = folder();
    let mut served = Served::run(folder.path(), "1h", &[]);
    let (host, base) = (served.host.clone(), served.base.clone());
    // Listens, and never reads.
    let mut deaf = served.connect();
    write!(deaf, "GET {base}events HTTP/1.1\r\nHost: {host}\r\n\r\n").expect("sent");
    // Half a request, and nothing at all.
    let mut half = served.connect();
    write!(half, "GET {base} HTTP/1.1\r\nHost:").expect("sent");
    let mut silent = served.connect();
    let long = format!("GET {base} HTTP/1.1\r\nHost: {host}\r\nX: {}\r\n\r\n", "x".repeat(10_000));
    let answer = served.send(long.as_bytes());
    assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
    let endless = served.send("GET / HTTP/1.1\r\n".repeat(20_000).as_bytes());
    assert!(endless.is_empty() || endless.starts_with("HTTP/1.1 4"), "{endless}");
    for (request, status) in [
        (format!("GET {base} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 5000\r\n\r\n"), 413),
        (
            format!(
                "GET {base} HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
            ),
            501,
        ),
        ("\x16\x03\x01\x02\r\n\r\n".to_owned(), 400),
        (format!("GET {base} HTTP/9.9\r\nHost: {host}\r\n\r\n"), 400),
    ] {
        let answer = served.send(request.as_bytes());
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{request:?}: {answer}");
    }
    let mut text = String::new();
    half.read_to_string(&mut text).expect("an end");
    assert!(text.starts_with("HTTP/1.1 408 "), "{text}");
    assert_eq!(silent.read(&mut [0; 8]).expect("an end"), 0);
    // More than there is room for: the others are let in when those have gone.
    let crowd: Vec<TcpStream> = (0..64).map(|_| served.connect()).collect();
    drop(crowd);
    let mut asked = served.get("").0;
    while asked != 200 {
        std::thread::sleep(Duration::from_millis(50));
        asked = served.get("").0;
    }
    let mut events = served.listen();
    events.next().expect("an event");
    assert_eq!(served.control(json!({"do": "stop"})).0, 200);
    assert!(events.until_the_end().is_string());
    drop(events);
    assert_eq!(served.end(), 130, "though one still does not read");
    drop(deaf);
}

#[test]
fn an_address_that_cannot_be_had_is_said_before_anything_is_sent() {
    let folder = folder();
    fs::write(
        folder.path().join("plan.yaml"),
        "target: builtin\nscenarios: {a: {load: {users: 1, for: 1s}, steps: [{get: /}]}}\n",
    )
    .expect("written");
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken = taken.local_addr().map(|at| (at.port().to_string(), taken)).expect("a port");
    for (address, word) in
        [(taken.0.as_str(), "in use"), ("nowhere", "HOST:PORT"), ("plan.yaml", "HOST:PORT")]
    {
        let output = Command::new(env!("CARGO_BIN_EXE_squall"))
            .args(["run", "plan.yaml", "--out", "runs", "--ui", address])
            .current_dir(folder.path())
            .output()
            .expect("squall runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && said.contains(word), "{address}: {said}");
    }
    assert!(!folder.path().join("runs").exists());
}

#[test]
fn the_runs_of_a_folder_and_their_reports() {
    let folder = folder();
    let mut served = Served::run(folder.path(), "1s", &["--label", "branch=main"]);
    assert_eq!(served.end(), 0, "nobody has looked");
    let name =
        served.run_folder().file_name().and_then(|name| name.to_str()).expect("text").to_owned();
    let path = served.run_folder();
    fs::create_dir(folder.path().join("runs/broken")).expect("a folder");
    fs::write(folder.path().join("runs/broken/run.json"), "{").expect("written");
    std::os::unix::fs::symlink(path, folder.path().join("runs/linked")).expect("a link");
    let mut served = Served::start(folder.path(), &["ui", "runs"], true);
    assert_eq!(served.get("").0, 200);
    assert_eq!(served.get("events").0, 404);
    let (status, list) = served.get("runs.json");
    assert_eq!(status, 200);
    let list: Value =
        serde_json::from_str(list.split("\r\n\r\n").nth(1).expect("a body")).expect("JSON");
    let [run] = &list["runs"].as_array().expect("a list")[..] else { panic!("{list}") };
    assert_eq!(
        (&run["name"], &run["report"], &run["outcome"]),
        (&json!(name), &json!(true), &json!("passed"))
    );
    assert_eq!((&run["labels"]["branch"], &list["unread"]), (&json!("main"), &json!(1)));
    let (status, report) = served.get(&format!("runs/{name}/report.html"));
    assert!(status == 200 && report.contains("<!doctype html>"));
    assert_eq!(served.get("runs/linked/report.html").0, 404);
    assert_eq!(served.get(&format!("runs/{name}/run.json")).0, 404);
    let (status, compared) = served.get(&format!("compare/{name}/{name}"));
    assert!(status == 200 && compared.contains(&format!("{name} against {name}")), "{compared}");
    for wrong in ["compare/linked", &format!("compare/{name}/linked"), "compare/"] {
        assert_eq!(served.get(wrong).0, 404, "{wrong}");
    }
    let id = served.child.id().to_string();
    assert!(Command::new("kill").arg(id).status().expect("kill runs").success());
    assert_eq!(served.end(), 0);
    let output =
        Command::new(env!("CARGO_BIN_EXE_squall")).args(["ui", "/nowhere/at-all"]).output();
    assert_eq!(output.expect("squall runs").status.code(), Some(2));
}
