//! A server of a test's own making: a function that speaks with one connection, in plain bytes.

use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

/// A listener whose connections are served on threads of their own, for as long as the test runs.
pub struct Peer {
    pub address: SocketAddr,
    seen: Receiver<Seen>,
}

/// A request that a peer has read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Number of its connection, from 0 in the order of accepting.
    pub connection: usize,
    /// Where it came from.
    pub from: IpAddr,
    /// To which address of the peer.
    pub to: IpAddr,
    /// Request line and headers.
    pub head: String,
}

/// One connection of a peer.
pub struct Conversation {
    pub stream: TcpStream,
    /// Its number, from 0 in the order of accepting.
    pub number: usize,
    log: Sender<Seen>,
}

impl Peer {
    /// Listens on a free port of an address.
    pub fn start(at: &str, serve: impl Fn(Conversation) + Send + Sync + 'static) -> Peer {
        let listener = TcpListener::bind((at, 0)).expect("a free port");
        let address = listener.local_addr().expect("an address");
        let (log, seen) = mpsc::channel();
        let serve = Arc::new(serve);
        thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                let stream = stream.expect("a connection");
                // So that bytes written one by one also arrive so.
                stream.set_nodelay(true).expect("an option of all sockets");
                let conversation = Conversation { stream, number, log: log.clone() };
                let serve = serve.clone();
                thread::spawn(move || serve(conversation));
            }
        });
        Peer { address, seen }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests read since the last call. They are noted before they are responded to.
    pub fn seen(&self) -> Vec<Seen> {
        self.seen.try_iter().collect()
    }

    /// How many connections carried the requests read since the last call.
    pub fn connections(&self) -> usize {
        let mut numbers: Vec<_> = self.seen().into_iter().map(|seen| seen.connection).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers.len()
    }
}

impl Conversation {
    /// Reads and notes the head of a request; `None`: the client has closed.
    pub fn head(&mut self) -> Option<String> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            self.stream.read_exact(&mut byte).ok()?;
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).expect("a head in ASCII");
        let from = self.stream.peer_addr().ok()?.ip();
        let to = self.stream.local_addr().ok()?.ip();
        let seen = Seen { connection: self.number, from, to, head: head.clone() };
        // Nobody listens any more when the test is over.
        let _ = self.log.send(seen);
        Some(head)
    }

    /// Reads a request, its body too, and returns its head.
    pub fn request(&mut self) -> Option<String> {
        let head = self.head()?;
        let length =
            header(&head, "content-length").map_or(0, |text| text.parse().expect("digits"));
        self.stream.read_exact(&mut vec![0; length]).ok()?;
        Some(head)
    }

    /// Sends bytes. A client that has gone is no error here.
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        let _ = self.stream.write_all(bytes.as_ref());
    }

    /// Says that nothing more comes, and reads what the client still sends: the connection ends
    /// without a reset.
    pub fn end(mut self) {
        let _ = self.stream.shutdown(std::net::Shutdown::Write);
        let _ = std::io::copy(&mut self.stream, &mut std::io::sink());
    }
}

/// The value of a header.
pub fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(own, _)| own.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.trim())
}

/// A response with a body.
pub fn response(status: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}
