//! Bodies that stop coming, and bodies that are merely slow.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use super::BODY_IDLE_TIME;
use crate::{Address, Options, Server};

/// Sends a request and then the parts of its body, each after a pause: what comes until the server closes.
fn talk(server: &Server, head: &str, parts: &[&str], pause: Duration) -> io::Result<String> {
    let Address::Tcp { socket, .. } = &server.addresses()[0] else { panic!("not TCP") };
    let mut stream = TcpStream::connect(socket)?;
    write!(stream, "{head}\r\nHost: h\r\nConnection: close\r\n")?;
    for part in parts {
        stream.write_all(part.as_bytes())?;
        thread::sleep(pause);
    }
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    Ok(text)
}

#[test]
fn a_body_that_idles_is_cut_off_and_a_slow_one_is_not() {
    let server = Server::start(Options { threads: 1, ..Options::default() }).expect("a server");
    let idling = |(head, body): (&str, &str)| {
        let text = talk(&server, head, &[body], Duration::ZERO).expect("a response");
        assert!(text.starts_with("HTTP/1.1 408 "), "{head} {body}: {text}");
        assert!(text.contains("the body of the request stopped coming"), "{text}");
    };
    thread::scope(|scope| {
        for case in [
            ("POST /echo HTTP/1.1", "Content-Length: 100\r\n\r\nabc"),
            ("POST /upload HTTP/1.1", "Content-Length: 100\r\n\r\n"),
            ("POST /echo HTTP/1.1", "Transfer-Encoding: chunked\r\n\r\n5\r\nab"),
        ] {
            scope.spawn(move || idling(case));
        }
        // It takes longer than a body may idle; each pause is so much shorter that a machine may stop for seconds.
        let head = ["Content-Length: 10\r\n\r\n"];
        let parts: Vec<&str> = head.into_iter().chain(["x"; 10]).collect();
        let pause = BODY_IDLE_TIME / 10;
        let text = talk(&server, "POST /echo HTTP/1.1", &parts, pause).expect("a response");
        assert!(text.starts_with("HTTP/1.1 200 ") && text.contains("xxxxxxxxxx"), "{text}");
    });
}
