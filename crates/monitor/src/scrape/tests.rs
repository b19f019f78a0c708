//! Endpoints and programs as they are.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;

use squall_plan::span::{Span, Spanned};

use super::*;

/// An endpoint that replies to each of some requests with a head and a body, and what it was asked.
fn serve(replies: Vec<(&'static str, Vec<u8>)>) -> (String, std::sync::mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let (send, asked) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for (head, body) in replies {
            let Ok((mut connection, _)) = listener.accept() else { return };
            let reader = BufReader::new(connection.try_clone().expect("a socket"));
            let lines = reader.lines().map_while(Result::ok).take_while(|line| !line.is_empty());
            let _ = send.send(lines.collect::<Vec<_>>().join("\n"));
            let head = format!("HTTP/1.1 {head}\r\nconnection: close\r\n\r\n");
            // Who asks may have had enough.
            let _ =
                connection.write_all(head.as_bytes()).and_then(|()| connection.write_all(&body));
        }
    });
    (format!("{address}"), asked)
}

fn scrape(url: &str, metrics: &[&str]) -> Scrape<Client> {
    let spanned = |text: &str| Spanned { value: text.to_owned(), span: Span::default() };
    let metrics = metrics.iter().map(|own| spanned(own)).collect();
    Scrape::of(&Prometheus { url: spanned(url), metrics })
}

#[test]
fn an_endpoint_is_scraped_with_its_password() {
    let good = || ("200 OK", b"up 1\npool_active 20\n".to_vec());
    let (address, asked) = serve(vec![good(), good()]);
    let url = format!("http://me:p%2Fw@{address}/metrics");
    let (mut own, mut samples) = (scrape(&url, &["pool_active"]), Samples::new("db"));
    assert_eq!(own.names(), ["pool_active"]);
    own.read(Duration::ZERO, &mut samples).expect("a sample");
    assert_eq!(samples.shown().into_iter().collect::<Vec<_>>(), [("pool_active".to_owned(), 20.0)]);
    let head = asked.recv().expect("it was asked").to_lowercase();
    assert!(head.contains("authorization: basic bwu6cc93"), "{head}");
    assert_eq!(scrape(&format!("http://{address}/metrics"), &[]).names(), ["pool_active", "up"]);
}

#[test]
fn what_is_no_good_reply_is_said() {
    let large = vec![b'#'; (16 << 20) + 2];
    let replies = vec![("404 Not Found", Vec::new()), ("401 No", Vec::new()), ("200 OK", large)];
    let (address, _asked) = serve(replies);
    let mut own = scrape(&format!("http://{address}/"), &[]);
    let mut samples = Samples::new("db");
    for expected in ["status 404", "another user or password", ""] {
        let error = own.read(Duration::ZERO, &mut samples).expect_err("it is no good").to_string();
        // On a busy machine the long one may not come in time.
        let is_long = error.contains("more than 16 MiB") || error.contains("no whole response");
        assert!(if expected.is_empty() { is_long } else { error.contains(expected) }, "{error}");
    }
}

fn command(script: &str, timeout: Duration) -> Scrape<Command> {
    let line = ["sh", "-c", script].map(str::to_owned);
    Scrape::of_command(Command::new(&line, Some(timeout)))
}

const LONG: Duration = Duration::from_secs(60);

#[test]
fn a_program_prints_names_and_values() {
    let mut own = command("echo pool_active 3; echo 'wait{kind=\"lock\"} 0.5'", LONG);
    let mut samples = Samples::new("db");
    assert_eq!(own.names(), ["pool_active", "wait"]);
    own.read(Duration::ZERO, &mut samples).expect("a sample");
    let shown: Vec<(String, f64)> = samples.shown().into_iter().collect();
    assert_eq!(shown, [("pool_active".to_owned(), 3.0), ("wait{kind=lock}".to_owned(), 0.5)]);
}

#[test]
fn a_program_that_fails_says_why() {
    let error = |script: &str, timeout| {
        let mut own = command(script, timeout);
        own.read(Duration::ZERO, &mut Samples::new("db")).expect_err("it fails").to_string()
    };
    let failed = error("echo up 1; echo 'no route' >&2; exit 3", LONG);
    assert!(failed.contains("exit status: 3") && failed.ends_with(": no route"), "{failed}");
    let none = Command::new(&["/no/such/program".to_owned()], None);
    let none = Scrape::of_command(none).read(Duration::ZERO, &mut Samples::new("db"));
    assert!(none.expect_err("there is none").to_string().contains("/no/such/program: "));
}

/// With what it has started.
#[test]
fn a_program_that_hangs_is_ended() {
    let root = tempfile::tempdir().expect("a folder");
    let file = root.path().join("pid");
    let script = format!("sleep 1000 & echo $! > {}; wait", file.display());
    // The program has written its number before it hangs, or it is asked again.
    let mut timeout = Duration::from_millis(200);
    let pid = loop {
        let mut own = command(&script, timeout);
        let error = own.read(Duration::ZERO, &mut Samples::new("db")).expect_err("it hangs");
        assert!(error.to_string().contains("it took longer than"), "{error}");
        match std::fs::read_to_string(&file).ok().and_then(|text| text.trim().parse::<u32>().ok()) {
            Some(pid) => break pid,
            None => timeout *= 2,
        }
    };
    // Its child is a zombie until whoever inherits it has waited for it.
    let is_running = || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit(')')
            .next()
            .is_some_and(|rest| !rest.trim().is_empty() && !rest.trim().starts_with('Z'))
    };
    for _ in 0..1_000 {
        if !is_running() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("process {pid} runs on");
}
