//! A client for the tests that knows no more of HTTP than they need: bytes out, bytes in.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use squall_target::{Address, Options, Server};

pub fn server() -> Server {
    Server::start(Options { threads: 2, ..Options::default() }).unwrap()
}

/// A connection to the first address of a server.
pub fn connect(server: &Server) -> Client<TcpStream> {
    let Address::Tcp { socket, .. } = &server.addresses()[0] else { panic!("not TCP") };
    let stream = TcpStream::connect(socket).unwrap();
    Client { stream, unread: Vec::new() }
}

/// Waits until the server has noticed that all clients are gone. Whoever runs the tests ends one that hangs.
pub fn wait_until_all_closed(server: &Server) {
    while server.stats().open > 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// One request on a connection of its own.
pub fn get(server: &Server, target: &str) -> Response {
    connect(server).request("GET", target, "", "")
}

pub struct Client<S> {
    pub stream: S,
    unread: Vec<u8>,
}

#[derive(Clone, Debug)]
pub struct Response {
    pub status: u16,
    /// Status line and fields, each with its CRLF.
    pub head: String,
    pub body: Vec<u8>,
    /// Trailer lines of a chunked body.
    pub trailers: String,
}

impl Response {
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields(name).next()
    }

    pub fn fields(&self, name: &str) -> impl Iterator<Item = &str> {
        self.head.lines().skip(1).filter_map(move |line| {
            let (n, value) = line.split_once(':')?;
            n.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub fn json(&self) -> serde_json::Value {
        assert_eq!(self.field("content-type"), Some("application/json"), "{}", self.head);
        serde_json::from_slice(&self.body).unwrap()
    }

    /// The `name=value` of the first cookie that the response sets.
    pub fn cookie(&self) -> &str {
        self.field("set-cookie").unwrap().split(';').next().unwrap()
    }
}

impl<S: Read + Write> Client<S> {
    pub fn over(stream: S) -> Self {
        Client { stream, unread: Vec::new() }
    }

    pub fn send(&mut self, data: impl AsRef<[u8]>) {
        self.stream.write_all(data.as_ref()).unwrap();
        self.stream.flush().unwrap();
    }

    /// Sends a request with a body of known length, and reads the response.
    pub fn request(&mut self, method: &str, target: &str, fields: &str, body: &str) -> Response {
        let length = match body.len() {
            0 => String::new(),
            n => format!("Content-Length: {n}\r\n"),
        };
        let head = format!("{method} {target} HTTP/1.1\r\nHost: test\r\n{fields}{length}\r\n");
        self.send(head + body);
        self.read_response(method == "HEAD")
    }

    pub fn get(&mut self, target: &str) -> Response {
        self.request("GET", target, "", "")
    }

    /// Reads a response, however its end is shown.
    pub fn read_response(&mut self, is_head: bool) -> Response {
        let head = self.read_through("\r\n\r\n");
        let head = head[..head.len() - 2].to_owned();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let mut response = Response { status, head, body: Vec::new(), trailers: String::new() };
        if is_head || matches!(status, 100..200 | 204 | 304) {
            return response;
        }
        if response.field("transfer-encoding") == Some("chunked") {
            (response.body, response.trailers) = self.read_chunks();
        } else if let Some(length) = response.field("content-length") {
            let length = length.parse().unwrap();
            response.body = self.read_exactly(length);
        } else {
            response.body = self.read_to_end().unwrap();
        }
        response
    }

    fn read_chunks(&mut self) -> (Vec<u8>, String) {
        let mut body = Vec::new();
        loop {
            let line = self.read_through("\r\n");
            let size = usize::from_str_radix(line.trim_end(), 16).unwrap();
            if size == 0 {
                break;
            }
            body.extend(self.read_exactly(size));
            assert_eq!(self.read_through("\r\n"), "\r\n");
        }
        let mut trailers = String::new();
        loop {
            match self.read_through("\r\n") {
                line if line == "\r\n" => return (body, trailers),
                line => trailers.push_str(&line),
            }
        }
    }

    /// Reads up to and with `end`.
    pub fn read_through(&mut self, end: &str) -> String {
        loop {
            let at = self.unread.windows(end.len()).position(|w| w == end.as_bytes());
            if let Some(at) = at {
                let rest = self.unread.split_off(at + end.len());
                let line = std::mem::replace(&mut self.unread, rest);
                return String::from_utf8(line).unwrap();
            }
            assert!(self.fill().unwrap() > 0, "closed; got {:?}", self.unread);
        }
    }

    pub fn read_exactly(&mut self, count: usize) -> Vec<u8> {
        while self.unread.len() < count {
            assert!(self.fill().unwrap() > 0, "closed after {} bytes", self.unread.len());
        }
        let rest = self.unread.split_off(count);
        std::mem::replace(&mut self.unread, rest)
    }

    /// Reads until the server closes; an error when it resets.
    pub fn read_to_end(&mut self) -> io::Result<Vec<u8>> {
        while self.fill()? > 0 {}
        Ok(std::mem::take(&mut self.unread))
    }

    /// Reads once: what has been read and not been used so far, and how it went.
    pub fn fill(&mut self) -> io::Result<usize> {
        let mut buffer = vec![0; 64 * 1024];
        let count = self.stream.read(&mut buffer)?;
        self.unread.extend_from_slice(&buffer[..count]);
        Ok(count)
    }

    /// What has been read and not been used.
    pub fn unread(&self) -> &[u8] {
        &self.unread
    }
}
