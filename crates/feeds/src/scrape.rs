//! An endpoint that Prometheus and others scrape: totals since the start of the load, in the format that is asked for. Totals
//! make up for what was not fetched, but for the last ones: they are waited for if there is somebody who scrapes.

use std::io;
use std::net::TcpListener;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use squall_report::families::Tags;
use squall_runner::{Delivery, Trouble, give_way};
use squall_serve::{Connection, Host, Request, Server, Unread};

use crate::exposition::Format;
use crate::families::{Family, families};
use crate::timeline::SentSecond;

/// The type of what is said in place of metrics.
const TEXT: &str = "text/plain; charset=utf-8";

#[derive(Debug)]
pub struct Endpoint {
    shared: Arc<Shared>,
    server: Server,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<Scraped>,
    changed: Condvar,
    own: Tags,
    delivery: Delivery,
    host: Host,
}

#[derive(Debug, Default)]
struct Scraped {
    totals: SentSecond,
    /// How often they have changed, and after how many changes they were fetched last.
    version: u64,
    fetched: u64,
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
        let port = listener.local_addr()?.port();
        let name = at.rsplit_once(':').map_or("", |(name, _)| name).to_owned();
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            changed: Condvar::new(),
            own: own.clone(),
            delivery: delivery.clone(),
            host: Host { name, port },
        });
        let serving = shared.clone();
        let serve = move |connection| serving.serve(connection);
        let server = Server::start(listener, "scrape", serve)?;
        Ok(Endpoint { shared, server })
    }

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
        self.server.close();
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

    /// Answers a request. Who has gone away fetches again, or does not.
    fn serve(&self, mut connection: Connection) {
        give_way();
        let answered = match connection.request() {
            Ok(request) => self.answer(&mut connection, &request),
            Err(Unread::Gone) => return,
            Err(Unread::Refused(status)) => {
                respond(&mut connection, &format!("{status} Refused"), TEXT, b"Not understood\n")
            }
        };
        drop(answered);
        connection.close();
    }

    fn answer(&self, connection: &mut Connection, request: &Request) -> io::Result<()> {
        if self.host.of(request).is_none() {
            let text =
                b"Ask by an address, as localhost, or by the name in `prometheus=NAME:PORT`\n";
            return respond(connection, "403 Forbidden", TEXT, text);
        }
        if (request.method.as_str(), request.path.as_str()) != ("GET", "/metrics") {
            return respond(connection, "404 Not Found", TEXT, b"The metrics are at /metrics\n");
        }
        let format = Format::asked_for(request);
        let state = self.state();
        let families = families(&state.totals, &self.own);
        let (body, samples, version) = (format.encode(&families), count(&families), state.version);
        drop(families);
        drop(state);
        respond(connection, "200 OK", format.content_type(), &body)?;
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

fn respond(connection: &mut Connection, status: &str, kind: &str, body: &[u8]) -> io::Result<()> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\
         Vary: Accept\r\nConnection: close\r\n\r\n"
    );
    connection.respond(&[head.as_bytes(), body].concat())
}
