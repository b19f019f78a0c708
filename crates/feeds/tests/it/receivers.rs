//! Receivers that keep, as the real ones do, one value for a series and a time, and that have faults.

mod plain;

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsAcceptor;

use crate::Sums;
use crate::decode::{Read as Field, decompress, read};

pub use plain::{Carbon, Statsd, scrape};

/// What a receiver does wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    None,
    /// It answers with this status, and takes nothing.
    Status(u16),
    /// It closes the connection after a part of what is sent.
    ClosesHalfWay,
    /// It takes what is sent, and closes the connection without an answer.
    TakesAndCloses,
    /// It is slow, and does everything right.
    Slow,
    Hangs,
    /// It refuses, and says the head of the request.
    Repeats,
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

impl Held {
    fn hold(&mut self, series: &str, time: u64, value: u64) {
        self.values.insert((series.to_owned(), time.to_string()), value);
    }

    /// What the requests have come to by the last of their totals, which only grow; names are those of Prometheus.
    fn totals(&self) -> Sums {
        let mut last: HashMap<&str, u64> = HashMap::new();
        for ((series, _), value) in &self.values {
            let own = last.entry(series).or_default();
            *own = (*own).max(*value);
        }
        let mut sums = Sums::new();
        for (series, value) in last {
            let name = series.split(' ').next().and_then(|name| {
                TOTALS.iter().find(|(own, _)| *own == name).map(|(_, field)| (*field).to_owned())
            });
            if let Some(name) = name.filter(|_| series.contains("kind=request")) {
                *sums.entry(name).or_default() += value;
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

/// Names of totals, and what they are in `run.json`.
const TOTALS: [(&str, &str); 5] = [
    ("squall_requests_total", "count"),
    ("squall_errors_total", "errors"),
    ("squall_received_bytes_total", "bytes_in"),
    ("squall_sent_bytes_total", "bytes_out"),
    ("squall_latency_seconds", "latencies"),
];

/// What a receiver makes of the body of a request.
type Take = fn(&mut Held, Vec<u8>);

/// A receiver of requests over HTTP.
pub struct Http {
    address: String,
    held: Shared,
    path: &'static str,
    sums: fn(&Held) -> Sums,
}

impl Http {
    /// One of InfluxDB's line protocol, with a fault, for its first so many requests.
    pub fn influxdb(fault: Fault, times: usize) -> Http {
        Http::start("/write?db=x", take_lines_of_influxdb, sums_of_influxdb, fault, times)
    }

    /// The same of InfluxDB 2.
    pub fn influxdb2(fault: Fault, times: usize) -> Http {
        let path = "/api/v2/write?org=o&bucket=b";
        Http::start(path, take_lines_of_influxdb, sums_of_influxdb, fault, times)
    }

    /// One of Prometheus remote write.
    pub fn remote_write(fault: Fault, times: usize) -> Http {
        Http::start("/api/v1/write", take_remote_write, Held::totals, fault, times)
    }

    /// One of OpenTelemetry's metrics.
    pub fn otlp(fault: Fault, times: usize) -> Http {
        Http::start("/v1/metrics", take_otlp, Held::totals, fault, times)
    }

    fn start(
        path: &'static str,
        take: Take,
        sums: fn(&Held) -> Sums,
        fault: Fault,
        times: usize,
    ) -> Http {
        let held = Shared::default();
        let own = held.clone();
        let address =
            listen(move |stream| while post(&stream, &own, take, fault, times).is_some() {});
        Http { address, held, path, sums }
    }

    pub fn url(&self) -> String {
        format!("http://me:secret-word@{}{}", self.address, self.path)
    }

    pub fn url_without_user(&self) -> String {
        format!("http://{}{}", self.address, self.path)
    }

    pub fn sums(&self) -> Sums {
        (self.sums)(&lock(&self.held))
    }

    /// The heads of all requests, in a line each.
    pub fn heads(&self) -> Vec<String> {
        lock(&self.held).heads.clone()
    }
}

fn sums_of_influxdb(held: &Held) -> Sums {
    held.sums(|series| {
        let (series, field) = series.rsplit_once(' ')?;
        let is_one = series.starts_with("squall_requests,") && FIELDS.contains(&field);
        is_one.then(|| field.to_owned())
    })
}

fn take_lines_of_influxdb(own: &mut Held, body: Vec<u8>) {
    let text = String::from_utf8(body).expect("text");
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
}

/// The fields of this number of a message.
fn all(message: &[(u32, Field)], number: u32) -> impl Iterator<Item = &Field> {
    message.iter().filter(move |(own, _)| *own == number).map(|(_, field)| field)
}

fn one(message: &[(u32, Field)], number: u32) -> &Field {
    all(message, number).next().expect("a field")
}

fn take_remote_write(own: &mut Held, body: Vec<u8>) {
    for series in all(&read(&decompress(&body)), 1).map(Field::fields) {
        let label = |label: &Field| {
            let label = label.fields();
            format!("{}={}", one(&label, 1).text(), one(&label, 2).text())
        };
        let labels: Vec<String> = all(&series, 1).map(label).collect();
        assert!(labels.is_sorted(), "{labels:?}");
        let name = labels[0].strip_prefix("__name__=").expect("a name");
        let labels = format!("{name} {}", labels[1..].join(" "));
        for sample in all(&series, 2).map(Field::fields) {
            let value = f64::from_bits(one(&sample, 1).number()) as u64;
            own.hold(&labels, one(&sample, 2).number(), value);
        }
        for histogram in all(&series, 4).map(Field::fields) {
            own.hold(&labels, one(&histogram, 15).number(), one(&histogram, 1).number());
        }
    }
}

fn take_otlp(own: &mut Held, body: Vec<u8>) {
    let scoped = one(&one(&read(&body), 1).fields(), 2).fields();
    for metric in all(&scoped, 2).map(Field::fields) {
        let name = one(&metric, 1).text();
        // Numbers and distributions have their attributes and values in other fields.
        for (data, tags, value, ending) in [(7, 7, 6, "_total"), (10, 1, 4, "")] {
            let points = all(&metric, data).flat_map(Field::fields);
            for point in points.filter(|(own, _)| *own == 1).map(|(_, point)| point.fields()) {
                let tag = |tag: &Field| {
                    let tag = tag.fields();
                    format!("{}={}", one(&tag, 1).text(), one(&one(&tag, 2).fields(), 1).text())
                };
                let tags: Vec<String> = all(&point, tags).map(tag).collect();
                let series = format!("{name}{ending} {}", tags.join(" "));
                own.hold(&series, one(&point, 3).number(), one(&point, value).number());
            }
        }
    }
}

/// A receiver of OpenTelemetry's metrics over gRPC.
pub struct Grpc {
    address: String,
    held: Shared,
}

/// Who a receiver over TLS says that it is: `localhost`, by its own word alone.
pub struct Identity {
    /// Its certificate, as a file of those that are trusted has it.
    pub certificate: String,
    /// That and its key.
    pub pem: String,
}

impl Identity {
    pub fn new() -> Identity {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a key");
        let certificate = made.cert.pem();
        let pem = certificate.clone() + &made.signing_key.serialize_pem();
        Identity { certificate, pem }
    }

    /// Of [`Identity::pem`].
    pub fn of_pem(pem: String) -> Identity {
        Identity { certificate: String::new(), pem }
    }

    /// A server with it, which offers a protocol.
    fn acceptor(&self, protocol: &str) -> TlsAcceptor {
        let certificate = CertificateDer::from_pem_slice(self.pem.as_bytes());
        let key = PrivateKeyDer::from_pem_slice(self.pem.as_bytes()).expect("a key");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![certificate.expect("a certificate")], key)
            .expect("a certificate and its key");
        config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
        TlsAcceptor::from(Arc::new(config))
    }
}

impl Grpc {
    /// One with a fault, for its first so many calls.
    pub fn start(fault: Fault, times: usize) -> Grpc {
        let held = Shared::default();
        let own = held.clone();
        let address = listen(move |stream| {
            on_runtime(stream, async |stream| {
                // The client goes away in any way that it likes.
                let _ = calls(stream, &own, fault, times).await;
            });
        });
        Grpc { address, held }
    }

    /// The same over TLS, where a protocol is offered.
    pub fn start_tls(identity: &Identity, protocol: &str, fault: Fault, times: usize) -> Grpc {
        let held = Shared::default();
        let (own, acceptor) = (held.clone(), identity.acceptor(protocol));
        let address = listen(move |stream| {
            on_runtime(stream, async |stream| {
                if let Ok(stream) = acceptor.accept(stream).await {
                    let _ = calls(stream, &own, fault, times).await;
                }
            });
        });
        Grpc { address, held }
    }

    pub fn url(&self) -> String {
        format!("http://me:secret-word@{}", self.address)
    }

    pub fn url_without_user(&self) -> String {
        format!("http://{}", self.address)
    }

    /// By the name of a host, over TLS.
    pub fn secure_url(&self, host: &str) -> String {
        let port = self.address.rsplit(':').next().expect("a port");
        format!("https://me:secret-word@{host}:{port}")
    }

    pub fn sums(&self) -> Sums {
        lock(&self.held).totals()
    }

    /// Path and authorization of all calls.
    pub fn heads(&self) -> Vec<String> {
        lock(&self.held).heads.clone()
    }
}

/// Does something with a connection on an event loop of its own.
fn on_runtime(stream: TcpStream, then: impl AsyncFnOnce(tokio::net::TcpStream)) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    stream.set_nonblocking(true).expect("a socket");
    runtime.expect("a runtime").block_on(async {
        then(tokio::net::TcpStream::from_std(stream).expect("a socket")).await;
    });
}

/// Takes the calls of a connection.
async fn calls(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    held: &Shared,
    fault: Fault,
    times: usize,
) -> Result<(), h2::Error> {
    let mut connection = h2::server::handshake(stream).await?;
    while let Some(call) = connection.accept().await {
        let (request, mut answer) = call?;
        let (head, mut body) = request.into_parts();
        assert_eq!(
            (head.method.as_str(), &head.headers["te"]),
            ("POST", &http::HeaderValue::from_static("trailers"))
        );
        let authorization = head.headers["authorization"].to_str().expect("text");
        lock(held).heads.push(format!("{} {authorization}", head.uri.path()));
        let fault = next_fault(held, fault, times);
        let mut received = Vec::new();
        let (mut response, head) = (http::Response::builder(), |own: http::response::Builder| {
            own.header("content-type", "application/grpc").body(()).expect("a response")
        });
        // What the client sends comes while the connection is looked after.
        let reading = async {
            while let Some(data) = body.data().await {
                let data = data?;
                body.flow_control().release_capacity(data.len())?;
                received.extend_from_slice(&data);
            }
            Ok::<(), h2::Error>(())
        };
        tokio::select! {
            read = reading => read?,
            _ = std::future::poll_fn(|cx| connection.poll_closed(cx)) => return Ok(()),
        }
        match fault {
            Fault::ClosesHalfWay => return Ok(()),
            Fault::Status(status) => {
                response = response.header("grpc-status", status).header("grpc-message", "no");
                answer.send_response(head(response), true)?;
                continue;
            }
            Fault::Repeats => {
                response = response.header("grpc-status", 16).header("grpc-message", authorization);
                answer.send_response(head(response), true)?;
                continue;
            }
            Fault::Hangs => std::future::pending().await,
            Fault::Slow => std::thread::sleep(Duration::from_secs(1)),
            _ => {}
        }
        let (prefix, message) = received.split_at(5);
        assert_eq!(prefix[0], 0, "it is not compressed");
        assert_eq!(
            u32::from_be_bytes(prefix[1..].try_into().expect("four")) as usize,
            message.len()
        );
        take_otlp(&mut lock(held), message.to_vec());
        if fault == Fault::TakesAndCloses {
            return Ok(());
        }
        let mut out = answer.send_response(head(response), false)?;
        out.send_data(vec![0; 5].into(), false)?;
        let status = ("grpc-status".parse().expect("a name"), http::HeaderValue::from_static("0"));
        out.send_trailers([status].into_iter().collect())?;
    }
    Ok(())
}

/// Takes one request; `None`: the connection is over.
fn post(stream: &TcpStream, held: &Shared, take: Take, fault: Fault, times: usize) -> Option<()> {
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
    lock(held).heads.push(head.clone());
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
        Fault::Repeats => {
            let length = head.len();
            return answer(&format!("HTTP/1.1 401 x\r\ncontent-length: {length}\r\n\r\n{head}"));
        }
        Fault::Hangs => std::thread::sleep(Duration::from_secs(60)),
        Fault::Slow => std::thread::sleep(Duration::from_secs(1)),
        _ => {}
    }
    take(&mut lock(held), body);
    match fault {
        Fault::TakesAndCloses => None,
        _ => answer("HTTP/1.1 204 No Content\r\n\r\n"),
    }
}
