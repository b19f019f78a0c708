//! The page of a run without a folder, as `squall URL` has none: its report is served all the same.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::sync::Arc;

use crate::common::Gate;
use crate::common::peer::{Peer, response};

/// Where a page is.
struct Place<'t> {
    /// `127.0.0.1:PORT`.
    host: &'t str,
    /// The path with the token, without slashes.
    token: &'t str,
}

impl Place<'_> {
    fn ask(&self, path: &str) -> BufReader<TcpStream> {
        let Place { host, token } = self;
        let mut stream = TcpStream::connect(host).expect("it listens");
        write!(stream, "GET /{token}/{path} HTTP/1.1\r\nHost: {host}\r\n\r\n").expect("sent");
        BufReader::new(stream)
    }
}

#[test]
fn a_run_without_a_folder_has_its_report_on_its_page() {
    // The run is not over before the gate is open.
    let gate = Arc::new(Gate::default());
    let held = gate.clone();
    let target = Peer::start("127.0.0.1", move |mut client| {
        while client.request().is_some() {
            held.pass();
            client.send(response("200 OK", ""));
        }
    });
    let folder = tempfile::tempdir().expect("a folder");
    let mut squall = Command::new(env!("CARGO_BIN_EXE_squall"))
        .arg(target.url())
        .args(["-c", "1", "-n", "1", "--quiet", "--ui"])
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("squall runs");
    let mut said = String::new();
    let mut errors = BufReader::new(squall.stderr.take().expect("piped"));
    errors.read_line(&mut said).expect("text");
    let url = said.split("http://").nth(1).expect("an address").trim();
    let (host, token) = url.split_once('/').expect("a path");
    let place = Place { host, token: token.trim_matches('/') };
    let mut early = String::new();
    place.ask("report.html").read_to_string(&mut early).expect("text");
    assert!(early.starts_with("HTTP/1.1 404 "), "there is none before the run is over: {early}");
    let events = place.ask("events");
    gate.open();
    let mut events = events.lines().map(|line| line.expect("text"));
    assert!(events.any(|line| line == "event: over"));
    assert_eq!(events.next().as_deref(), Some("data: {\"report\":\"report.html\"}"));
    let mut report = String::new();
    place.ask("report.html").read_to_string(&mut report).expect("text");
    assert!(report.starts_with("HTTP/1.1 200 ") && report.contains("Policy: sandbox"), "{report}");
    assert!(report.ends_with("</html>\n") && report.contains(&target.url()));
    drop(events);
    assert!(squall.wait().expect("it ends").success());
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0, "nothing is left");
}
