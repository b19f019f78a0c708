//! Receivers that keep, as the real ones do, one value for a series and a time, and that have faults.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::Sums;

/// What a receiver does wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    None,
    /// It answers with this status, and takes nothing.
    Status(u16),
    /// It closes the connection after a part of what is sent.
    ClosesHalfWay,
    /// It takes what is sent, and closes the connection without an answer.
    TakesAndCloses,
    /// It is slow, and does everything right.
    Slow,
    /// It never answers.
    Hangs,
}

/// An address at which nobody listens.
pub fn closed_port() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").to_string()
}

/// What a receiver has seen and holds.
#[derive(Debug, Default)]
struct Held {
    /// Values by series and time.
    values: HashMap<(String, String), u64>,
    heads: Vec<String>,
    /// Connections or requests so far.
    number: usize,
}

type Shared = Arc<Mutex<Held>>;

impl Held {
    /// Sums of the requests by field; a series ends with its field.
    fn sums(&self, fields: impl Fn(&str) -> Option<String>) -> Sums {
        let mut sums = Sums::new();
        for ((series, _), value) in &self.values {
            if let Some(field) = fields(series) {
                *sums.entry(field).or_default() += value;
            }
        }
        sums
    }
}

fn lock(held: &Shared) -> std::sync::MutexGuard<'_, Held> {
    held.lock().expect("no panic")
}

/// The fault, for so many requests; none afterwards.
fn next_fault(held: &Shared, fault: Fault, times: usize) -> Fault {
    let mut held = lock(held);
    held.number += 1;
    if held.number <= times { fault } else { Fault::None }
}

fn listen(each: impl Fn(TcpStream) + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let each = Arc::new(each);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let each = each.clone();
            std::thread::spawn(move || each(stream));
        }
    });
    address
}

const FIELDS: [&str; 4] = ["count", "errors", "bytes_in", "bytes_out"];

/// A receiver of InfluxDB's line protocol.
pub struct Influx {
    address: String,
    held: Shared,
}

impl Influx {
    /// One with a fault, for its first so many requests.
    pub fn start(fault: Fault, times: usize) -> Influx {
        let held = Shared::default();
        let own = held.clone();
        let address = listen(move |stream| while post(&stream, &own, fault, times).is_some() {});
        Influx { address, held }
    }

    pub fn url(&self) -> String {
        format!("http://me:secret-word@{}/write?db=x", self.address)
    }

    pub fn sums(&self) -> Sums {
        lock(&self.held).sums(|series| {
            let (series, field) = series.rsplit_once(' ')?;
            let is_one = series.starts_with("squall_requests,") && FIELDS.contains(&field);
            is_one.then(|| field.to_owned())
        })
    }

    /// The heads of all requests, in a line each.
    pub fn heads(&self) -> Vec<String> {
        lock(&self.held).heads.clone()
    }
}

/// Takes one request; `None`: the connection is over.
fn post(stream: &TcpStream, held: &Shared, fault: Fault, times: usize) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        head.push_str(&line.replace("\r\n", " "));
    }
    let fault = next_fault(held, fault, times);
    lock(held).heads.push(head);
    if fault == Fault::ClosesHalfWay {
        reader.read_exact(&mut vec![0; length / 2]).ok()?;
        return None;
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let answer = |text: &str| {
        let mut stream = stream;
        stream.write_all(text.as_bytes()).ok()
    };
    match fault {
        Fault::Status(status) => {
            return answer(&format!("HTTP/1.1 {status} x\r\ncontent-length: 2\r\n\r\nno"));
        }
        Fault::Hangs => std::thread::sleep(Duration::from_secs(60)),
        Fault::Slow => std::thread::sleep(Duration::from_millis(1_500)),
        _ => {}
    }
    let text = String::from_utf8(body).expect("text");
    let mut own = lock(held);
    for line in text.lines() {
        let parts: Vec<&str> = line.split(' ').collect();
        let [series, fields, time] = parts[..] else { panic!("a bad line: {line}") };
        for field in fields.split(',') {
            let (name, value) = field.split_once('=').expect("a field");
            if let Some(value) = value.strip_suffix('i') {
                let key = (format!("{series} {name}"), time.to_owned());
                own.values.insert(key, value.parse().expect("a number"));
            }
        }
    }
    drop(own);
    match fault {
        Fault::TakesAndCloses => None,
        _ => answer("HTTP/1.1 204 No Content\r\n\r\n"),
    }
}

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
        std::thread::sleep(Duration::from_millis(1_500));
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
}
