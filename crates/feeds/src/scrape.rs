//! An endpoint that Prometheus and others scrape: totals since the start of the load, in the format that is asked for. Totals
//! make up for what was not fetched, but for the last ones: they are waited for if there is somebody who scrapes.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use squall_report::families::Tags;
use squall_runner::{Delivery, Trouble, give_way};

use crate::exposition::Format;
use crate::families::{Family, families};
use crate::outbox::ATTEMPT;
use crate::timeline::SentSecond;

/// Most bytes of a request.
const REQUEST: usize = 16 << 10;
/// Most requests at a time.
const AT_ONCE: usize = 16;

/// Serves totals.
#[derive(Debug)]
pub struct Endpoint {
    shared: Arc<Shared>,
    address: SocketAddr,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<Scraped>,
    changed: Condvar,
    own: Tags,
    delivery: Delivery,
}

#[derive(Debug, Default)]
struct Scraped {
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
        let is_wanted = |state: &mut Scraped| state.fetched > 0 && state.fetched < state.version;
        let waited = shared.changed.wait_timeout_while(shared.state(), patience, is_wanted);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner).0;
        if state.is_closed {
            return;
        }
        state.is_closed = true;
        if state.fetched < state.version {
            let text = match state.fetched {
                0 => "the totals were never scraped",
                _ => "the last totals were never scraped",
            };
            shared.delivery.trouble(&Trouble::new(text));
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
    fn state(&self) -> MutexGuard<'_, Scraped> {
        // Each change is whole, so that a panic elsewhere leaves nothing half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers a request.
    fn answer(&self, stream: &mut TcpStream) -> io::Result<()> {
        stream.set_read_timeout(Some(ATTEMPT))?;
        stream.set_write_timeout(Some(ATTEMPT))?;
        let head = head(stream)?;
        if path(&head) != "/metrics" {
            let text = "text/plain; charset=utf-8";
            return respond(stream, "404 Not Found", text, b"The metrics are at /metrics\n");
        }
        let format = Format::asked_for(&head);
        let state = self.state();
        let families = families(&state.totals, &self.own);
        let (body, samples, version) = (format.encode(&families), count(&families), state.version);
        drop(families);
        drop(state);
        respond(stream, "200 OK", format.content_type(), &body)?;
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

fn respond(stream: &mut TcpStream, status: &str, kind: &str, body: &[u8]) -> io::Result<()> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\
         Vary: Accept\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(&[head.as_bytes(), body].concat())
}

/// The head of a request.
fn head(stream: &mut TcpStream) -> io::Result<String> {
    let mut head = Vec::new();
    let mut bytes = [0; 1_024];
    while !head.windows(4).any(|four| four == b"\r\n\r\n") {
        let read = match stream.read(&mut bytes) {
            // Squall was stopped, and goes on.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        if read == 0 || head.len() > REQUEST {
            return Err(io::Error::other("no request"));
        }
        head.extend_from_slice(&bytes[..read]);
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}

/// The path of a request; empty: it asks for nothing.
fn path(head: &str) -> &str {
    let target = head.strip_prefix("GET ").and_then(|rest| rest.split(' ').next());
    target.and_then(|target| target.split('?').next()).unwrap_or_default()
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
            give_way();
            // Who has gone away fetches again, or does not.
            let _ = answering.answer(&mut stream);
            answering.state().busy -= 1;
        });
        if spawned.is_err() {
            shared.state().busy -= 1;
        }
    }
}
