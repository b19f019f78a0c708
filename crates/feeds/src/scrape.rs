//! An endpoint that Prometheus and others scrape: totals since the start of the load as text, with latencies as histograms
//! of fixed bounds. Totals make up for what was not fetched, but for the last ones: they are waited for if there is somebody
//! who scrapes.

use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use squall_metrics::Histogram;
use squall_report::label_value;
use squall_runner::Delivery;

use crate::families::{Family, FamilyKind, Value, families, labels};
use crate::outbox::ATTEMPT;
use crate::points::Tags;
use crate::timeline::SentSecond;

/// The bounds of histograms, in µs.
const BOUNDS_US: [u64; 20] = [
    100,
    250,
    500,
    1_000,
    2_500,
    5_000,
    10_000,
    25_000,
    50_000,
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    25_000_000,
    60_000_000,
    120_000_000,
    300_000_000,
];
/// Most bytes of a request.
const REQUEST: usize = 16 << 10;
/// Most requests at a time.
const AT_ONCE: usize = 16;

/// What is served: the text format, version 0.0.4.
pub fn page(families: &[Family]) -> String {
    let mut out = String::new();
    for family in families {
        let name = family.full_name();
        let kind = match family.kind {
            FamilyKind::Sum => "counter",
            FamilyKind::Level => "gauge",
            FamilyKind::Distribution => "histogram",
        };
        let _ = writeln!(out, "# HELP {name} {}\n# TYPE {name} {kind}", family.help);
        for (tags, value) in &family.series {
            let labels: Vec<String> = labels(tags)
                .iter()
                .map(|(name, value)| format!("{name}=\"{}\"", label_value(value)))
                .collect();
            match value {
                Value::Number(number) => {
                    let _ = writeln!(out, "{name}{} {number}", braced(&labels));
                }
                Value::Distribution(own) => histogram(&mut out, &name, &labels, own),
            }
        }
    }
    out
}

fn histogram(out: &mut String, name: &str, labels: &[String], own: &Histogram) {
    let mut bucket = |bound: &str, count: u64| {
        let labels = [labels, &[format!("le=\"{bound}\"")]].concat();
        let _ = writeln!(out, "{name}_bucket{} {count}", braced(&labels));
    };
    for (bound_us, count) in BOUNDS_US.iter().zip(at_most(own)) {
        bucket(&(*bound_us as f64 / 1e6).to_string(), count);
    }
    bucket("+Inf", own.count());
    let labels = braced(labels);
    let _ = writeln!(
        out,
        "{name}_sum{labels} {}\n{name}_count{labels} {}",
        own.sum() / 1e6,
        own.count()
    );
}

/// How many values are at most each of the bounds; what lies in a bucket of the histogram is taken for its highest value.
fn at_most(own: &Histogram) -> [u64; BOUNDS_US.len()] {
    let mut counts = [0; BOUNDS_US.len()];
    for (low, width, count) in own.buckets() {
        let high = (low + width - 1).min(own.max());
        let first = BOUNDS_US.partition_point(|bound| *bound < high);
        counts[first..].iter_mut().for_each(|sum| *sum += count);
    }
    counts
}

fn braced(labels: &[String]) -> String {
    if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) }
}

/// Serves totals.
#[derive(Debug)]
pub struct Endpoint {
    shared: Arc<Shared>,
    address: SocketAddr,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    own: Tags,
    delivery: Delivery,
}

#[derive(Debug, Default)]
struct State {
    totals: SentSecond,
    /// How often they have changed, and after how many changes they were fetched last.
    version: u64,
    fetched: u64,
    /// Requests that are being answered.
    busy: usize,
    /// The account is closed: nothing counts any more.
    is_closed: bool,
}

impl Endpoint {
    /// Listens at an address: a port of this machine alone, or a host and port.
    ///
    /// # Errors
    /// It cannot.
    pub fn start(address: &str, own: &Tags, delivery: &Delivery) -> io::Result<Endpoint> {
        let at =
            if address.contains(':') { address.to_owned() } else { format!("127.0.0.1:{address}") };
        let wrong = |error| io::Error::other(format!("{at}: {error}"));
        let listener = TcpListener::bind(&at).map_err(wrong)?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            changed: Condvar::new(),
            own: own.clone(),
            delivery: delivery.clone(),
        });
        let serving = shared.clone();
        std::thread::Builder::new()
            .name("scrape".to_owned())
            .spawn(move || serve(&listener, &serving))?;
        Ok(Endpoint { shared, address })
    }

    /// Adds a second.
    pub fn add(&self, second: &SentSecond) {
        let mut state = self.shared.state();
        state.totals.go_on(second);
        state.version += 1;
    }

    /// Waits so long until somebody who has scraped before has fetched the last totals, closes the account, and stops to
    /// listen.
    pub fn finish(&self, patience: Duration) {
        let shared = &self.shared;
        let is_wanted = |state: &mut State| state.fetched > 0 && state.fetched < state.version;
        let waited = shared.changed.wait_timeout_while(shared.state(), patience, is_wanted);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner).0;
        if state.is_closed {
            return;
        }
        state.is_closed = true;
        if state.fetched < state.version {
            let text = match state.fetched {
                0 => "nobody has fetched the totals",
                _ => "nobody has fetched the last totals",
            };
            shared.delivery.trouble(text);
            shared.delivery.lost(count(&families(&state.totals, &shared.own)));
        }
        drop(state);
        // The thread that accepts looks up.
        drop(TcpStream::connect_timeout(&self.address, ATTEMPT));
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.finish(Duration::ZERO);
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        // Each change is whole, so that a panic elsewhere leaves nothing half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers a request.
    fn answer(&self, stream: &mut TcpStream) -> io::Result<()> {
        stream.set_read_timeout(Some(ATTEMPT))?;
        stream.set_write_timeout(Some(ATTEMPT))?;
        let path = path(stream)?;
        if path != "/metrics" {
            return stream
                .write_all(response("404 Not Found", "The metrics are at /metrics\n").as_bytes());
        }
        let state = self.state();
        let families = families(&state.totals, &self.own);
        let (text, samples, version) = (page(&families), count(&families), state.version);
        drop(families);
        drop(state);
        stream.write_all(response("200 OK", &text).as_bytes())?;
        let mut state = self.state();
        if !state.is_closed {
            state.fetched = state.fetched.max(version);
            self.delivery.sent(samples);
        }
        self.changed.notify_all();
        Ok(())
    }
}

/// How many samples there are.
fn count(families: &[Family]) -> u64 {
    families.iter().map(|family| family.series.len() as u64).sum()
}

fn response(status: &str, text: &str) -> String {
    let length = text.len();
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n\
         Content-Length: {length}\r\nConnection: close\r\n\r\n{text}"
    )
}

/// The path of a request, which is read to the end of its head.
fn path(stream: &mut TcpStream) -> io::Result<String> {
    let mut head = Vec::new();
    let mut bytes = [0; 1_024];
    while !head.windows(4).any(|four| four == b"\r\n\r\n") {
        let read = stream.read(&mut bytes)?;
        if read == 0 || head.len() > REQUEST {
            return Err(io::Error::other("no request"));
        }
        head.extend_from_slice(&bytes[..read]);
    }
    let head = String::from_utf8_lossy(&head);
    let target = head.strip_prefix("GET ").and_then(|rest| rest.split(' ').next());
    Ok(target.and_then(|target| target.split('?').next()).unwrap_or_default().to_owned())
}

/// The thread that accepts.
fn serve(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        let mut state = shared.state();
        if state.is_closed {
            return;
        }
        let Ok(mut stream) = stream else {
            drop(state);
            // No file is free: there may be one soon.
            std::thread::sleep(Duration::from_millis(10));
            continue;
        };
        if state.busy == AT_ONCE {
            continue;
        }
        state.busy += 1;
        drop(state);
        let answering = shared.clone();
        let thread = std::thread::Builder::new().name("scrape".to_owned());
        let spawned = thread.spawn(move || {
            // Who has gone away fetches again, or does not.
            let _ = answering.answer(&mut stream);
            answering.state().busy -= 1;
        });
        if spawned.is_err() {
            shared.state().busy -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::tests::example;

    #[test]
    fn the_page_is_prometheus_text() {
        let mut second = example();
        let (key, stats) = second.rows.pop_first().expect("a row");
        let mut key = (*key).clone();
        key.name = "a \"b\"\\\n".to_owned();
        second.rows.insert(Arc::new(key), stats);
        let text = page(&families(&second, &vec![("team-x".to_owned(), "y".to_owned())]));
        let row = "{group=\"shop / pay\",kind=\"request\",name=\"a \\\"b\\\"\\\\\\n\",scenario=\"buyer\",\
                   tag_kind=\"x\",team=\"a\",team_x=\"y\"";
        for line in [
            "# TYPE squall_requests_total counter\n",
            &format!("\nsquall_requests_total{row}}} 3\n"),
            &format!("\nsquall_latency_seconds_bucket{row},le=\"0.0005\"}} 0\n"),
            &format!("\nsquall_latency_seconds_bucket{row},le=\"0.001\"}} 1\n"),
            &format!("\nsquall_latency_seconds_bucket{row},le=\"0.005\"}} 3\n"),
            &format!("\nsquall_latency_seconds_bucket{row},le=\"+Inf\"}} 3\n"),
            &format!("\nsquall_latency_seconds_sum{row}}} 0.007\n"),
            &format!("\nsquall_latency_seconds_count{row}}} 3\n"),
            "\nsquall_users_active{team_x=\"y\"} 6\n",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
    }
}
