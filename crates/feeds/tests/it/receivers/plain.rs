//! Receivers of plain text, and one who scrapes.

use std::io::{Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use super::{FIELDS, Fault, Held, Shared, listen, lock, next_fault};
use crate::Sums;

/// A receiver of Graphite's plain text.
pub struct Carbon {
    address: String,
    held: Shared,
}

impl Carbon {
    /// One with a fault, for its first so many connections.
    pub fn start(fault: Fault, times: usize) -> Carbon {
        let held = Shared::default();
        let own = held.clone();
        let address = listen(move |stream| {
            take_lines(stream, &own, next_fault(&own, fault, times));
        });
        Carbon { address, held }
    }

    pub fn address(&self) -> String {
        self.address.clone()
    }

    pub fn sums(&self) -> Sums {
        lock(&self.held).sums(|series| {
            let (field, _) = series.strip_prefix("squall_requests.")?.split_once(';')?;
            FIELDS.contains(&field).then(|| field.to_owned())
        })
    }
}

fn take_lines(mut stream: TcpStream, held: &Shared, fault: Fault) {
    if fault == Fault::ClosesHalfWay {
        // With something unread, so that it is reset.
        return drop(stream.read_exact(&mut [0; 10]));
    }
    if fault == Fault::Slow {
        std::thread::sleep(Duration::from_secs(1));
    }
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("text");
    let mut own = lock(held);
    for line in text.lines() {
        let parts: Vec<&str> = line.split(' ').collect();
        let [series, value, time] = parts[..] else { panic!("a bad line: {line}") };
        // Levels have fractions.
        if let Ok(value) = value.parse() {
            own.values.insert((series.to_owned(), time.to_owned()), value);
        }
    }
    drop(own);
    if fault == Fault::Hangs {
        // The connection stays open.
        std::thread::sleep(Duration::from_secs(60));
    }
}

/// A receiver of StatsD's datagrams.
pub struct Statsd {
    address: String,
    held: Shared,
    /// Says so when it has read [`LAST`].
    done: Receiver<()>,
}

/// What a test sends behind everything else.
const LAST: &str = "last";

impl Statsd {
    pub fn start() -> Statsd {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
        let address = socket.local_addr().expect("an address").to_string();
        let held = Shared::default();
        let own = held.clone();
        let (say, done) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 65_536];
            while let Ok(length) = socket.recv(&mut bytes) {
                assert!(length <= 1_432, "{length}");
                let text = std::str::from_utf8(&bytes[..length]).expect("text");
                if text == LAST {
                    return say.send(()).expect("the test waits");
                }
                let mut own = lock(&own);
                for line in text.lines() {
                    let (series, rest) = line.split_once(':').expect("a value");
                    let (value, kind) = rest.split_once('|').expect("a kind");
                    if kind.starts_with("c|#") || kind == "c" {
                        let key = (series.to_owned(), String::new());
                        *own.values.entry(key).or_default() +=
                            value.parse::<u64>().expect("a number");
                    }
                }
            }
        });
        Statsd { address, held, done }
    }

    /// Waits until it has read what was sent before: on this machine datagrams wait in the socket, in their order.
    pub fn catch_up(&self) {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
        socket.send_to(LAST.as_bytes(), &self.address).expect("it listens");
        self.done.recv().expect("no panic");
    }

    pub fn address(&self) -> String {
        self.address.clone()
    }

    pub fn sums(&self) -> Sums {
        lock(&self.held).sums(|series| {
            let field = series.strip_prefix("squall_requests.")?;
            FIELDS.contains(&field).then(|| field.to_owned())
        })
    }
}

/// Scrapes an address every tenth of a second until nobody is there any more: what it held at last, and how often it was
/// answered.
pub fn scrape(address: &str) -> (Sums, usize) {
    let mut held = Held::default();
    loop {
        std::thread::sleep(Duration::from_millis(100));
        match fetch(address) {
            Some(text) => {
                held.number += 1;
                take_page(&mut held, &text);
            }
            // Before the run there is nobody either.
            None if held.number == 0 => {}
            None => return (held.totals(), held.number),
        }
    }
}

fn fetch(address: &str) -> Option<String> {
    let mut stream = TcpStream::connect(address).ok()?;
    let head = format!("GET /metrics?a=b HTTP/1.1\r\nHost: {address}\r\n\r\n");
    stream.write_all(head.as_bytes()).ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    let (head, page) = text.split_once("\r\n\r\n")?;
    assert!(head.starts_with("HTTP/1.1 200 OK"), "{head}");
    assert!(head.contains(&format!("Content-Length: {}", page.len())), "{head}");
    Some(page.to_owned())
}

fn take_page(held: &mut Held, text: &str) {
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (series, value) = line.rsplit_once(' ').expect("a value");
        let series = series.replace("_count{", "{").replace(['{', ',', '}'], " ").replace('"', "");
        // Sums of seconds have fractions.
        if let Ok(value) = value.parse() {
            held.hold(&series, 0, value);
        }
    }
}
