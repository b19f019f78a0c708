//! The server: who is let in, how many may listen to events, and how it ends.

use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use squall_serve::{Connection, Unread};

use crate::access::Access;
use crate::address::Address;
use crate::answer::Response;
use crate::content::Content;
use crate::ending::{Ending, Report};
use crate::routes::{Reply, answer};
use crate::stream;

/// Most connections that listen to events.
const MAX_LISTENERS: usize = 16;
/// How long pages that are open have to fetch what they want when the run is over.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often that is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// Serves a page until it is dropped.
#[derive(Debug)]
pub struct Server {
    inner: Arc<Inner>,
    listening: squall_serve::Server,
}

/// What all threads share.
#[derive(Debug)]
struct Inner {
    access: Access,
    content: Content,
    ending: Ending,
    listeners: AtomicUsize,
}

impl Server {
    /// Listens, and serves from now on.
    ///
    /// # Errors
    /// It cannot listen there, in a sentence.
    pub fn start(address: &Address, content: Content) -> io::Result<Server> {
        let wrong = |error: io::Error| io::Error::new(error.kind(), format!("{address}: {error}"));
        let listener = TcpListener::bind((address.host.as_str(), address.port)).map_err(wrong)?;
        let bound = listener.local_addr().map_err(wrong)?;
        let inner = Arc::new(Inner {
            access: Access::new(&address.host, bound.port())?,
            content,
            ending: Ending::default(),
            listeners: AtomicUsize::new(0),
        });
        let serving = inner.clone();
        let serve = move |connection| serve(connection, &serving);
        let listening = squall_serve::Server::start(listener, "page", serve)?;
        Ok(Server { inner, listening })
    }

    /// Where the page is: who knows this may see and control the run.
    pub fn url(&self) -> String {
        self.inner.access.url()
    }

    /// The run is over. Pages that are open are told, and have a few seconds to fetch its report.
    pub fn finish(&self, report: Report) {
        self.inner.ending.set(report);
        if let Some((shared, _)) = &self.inner.content.run {
            shared.wake();
        }
        let until = Instant::now() + PATIENCE;
        while self.inner.listeners.load(Ordering::Acquire) > 0 && Instant::now() < until {
            std::thread::sleep(LOOK);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.inner.ending.is_closed.store(true, Ordering::Release);
        if let Some((shared, _)) = &self.inner.content.run {
            shared.wake();
        }
        self.listening.close();
    }
}

/// One of a bounded number that listen to events; it is given back when this is dropped.
struct Listening<'i>(&'i AtomicUsize);

impl Listening<'_> {
    fn one(listeners: &AtomicUsize) -> Option<Listening<'_>> {
        let more = |number| (number < MAX_LISTENERS).then_some(number + 1);
        listeners.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).ok()?;
        Some(Listening(listeners))
    }
}

impl Drop for Listening<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Serves a connection: one request.
fn serve(mut connection: Connection, inner: &Inner) {
    let reply = match connection.request() {
        Err(Unread::Gone) => return,
        Err(Unread::Refused(status)) => Reply::Response(Response::status(status)),
        Ok(request) => match inner.access.path(&request) {
            Some(path) => {
                connection.admit();
                answer(&inner.content, &inner.ending, path, &request)
            }
            None => {
                Reply::Response(Response::text(403, "Not from here, or not with this address."))
            }
        },
    };
    // Who has gone away asks again, or does not.
    let _ = match reply {
        Reply::Response(answer) => answer.write(&mut connection),
        Reply::Events(shared) => match Listening::one(&inner.listeners) {
            Some(_listening) => stream::send(&mut connection, &shared, &inner.ending),
            None => Response::status(503).write(&mut connection),
        },
    };
    connection.close();
}
