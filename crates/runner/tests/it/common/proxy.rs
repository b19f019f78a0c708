//! A proxy of a test's own making: every host is this machine.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::thread;

use super::peer::{Conversation, Peer};

/// A proxy that makes tunnels, and passes on what comes in absolute form, on a connection for each.
pub fn proxy() -> Peer {
    Peer::start("127.0.0.1", |mut client| {
        let Some(head) = client.head() else { return };
        let target = head.split(' ').nth(1).expect("a request line");
        match target.strip_prefix("http://") {
            None => tunnel(&mut client, target),
            Some(rest) => pass_on(&mut client, &head, rest),
        }
    })
}

/// A connection to `host:port`.
fn reach(place: &str) -> TcpStream {
    let port = place.rsplit_once(':').map_or("80", |(_, port)| port);
    TcpStream::connect(format!("127.0.0.1:{port}")).expect("the target listens")
}

fn tunnel(client: &mut Conversation, place: &str) {
    let server = reach(place);
    client.send("HTTP/1.1 200 Connection established\r\nVia: test\r\n\r\n");
    thread::scope(|scope| {
        scope.spawn(|| relay(&client.stream, &server));
        relay(&server, &client.stream);
    });
}

fn relay(mut from: &TcpStream, mut to: &TcpStream) {
    // Either side may end a tunnel as it likes.
    let _ = io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Write);
}

/// `url`: without its scheme.
fn pass_on(client: &mut Conversation, head: &str, url: &str) {
    let (place, path) = url.split_once('/').expect("a path");
    let mut server = reach(place);
    let method = head.split(' ').next().expect("a method");
    let lines = head.lines().skip(1).filter(|line| {
        !line.is_empty() && !line.to_ascii_lowercase().starts_with("proxy-authorization")
    });
    let mut request = format!("{method} /{path} HTTP/1.1\r\nConnection: close\r\n");
    lines.for_each(|line| request.push_str(&format!("{line}\r\n")));
    request.push_str("\r\n");
    server.write_all(request.as_bytes()).expect("the target reads");
    let mut response = Vec::new();
    server.read_to_end(&mut response).expect("the target responds");
    client.send(response);
}
