//! Bodies that stop coming, and bodies that are merely slow.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use crate::{Address, Options, Server};

/// Long enough for a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// Sends a request and then the parts of its body, each after a pause: what comes until the server closes.
fn talk(server: &Server, head: &str, parts: &[&str], pause: Duration) -> io::Result<String> {
    let Address::Tcp { socket, .. } = &server.addresses()[0] else { panic!("not TCP") };
    let mut stream = TcpStream::connect(socket)?;
    stream.set_read_timeout(Some(PATIENCE))?;
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
    for (head, body) in [
        ("POST /echo HTTP/1.1", "Content-Length: 100\r\n\r\nabc"),
        ("POST /upload HTTP/1.1", "Content-Length: 100\r\n\r\n"),
        ("POST /echo HTTP/1.1", "Transfer-Encoding: chunked\r\n\r\n5\r\nab"),
    ] {
        let text = talk(&server, head, &[body], Duration::ZERO).expect("a response");
        assert!(text.starts_with("HTTP/1.1 408 "), "{head} {body}: {text}");
        assert!(text.contains("the body of the request stopped coming"), "{text}");
    }
    // It takes longer than a body may idle.
    let parts: Vec<&str> = ["Content-Length: 10\r\n\r\n"].into_iter().chain(["x"; 10]).collect();
    let pause = Duration::from_millis(150);
    let text = talk(&server, "POST /echo HTTP/1.1", &parts, pause).expect("a response");
    assert!(text.starts_with("HTTP/1.1 200 ") && text.contains("xxxxxxxxxx"), "{text}");
}
