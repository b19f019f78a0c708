//! For a command that looks at a fleet, and asks or tells it something: the transport, waited for.

use std::io;
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::sync::mpsc;

use crate::protocol::io::{Answer, Bytes};
use crate::transport::nats::Nats;
use crate::transport::{Connect, ConnectError, EVENTS_WAITING, Event, Transport};

/// A server, connected, for a thread that waits for each answer.
#[derive(Debug)]
pub struct Client {
    runtime: Runtime,
    nats: Nats,
    arrives: mpsc::Receiver<Event>,
}

impl Client {
    /// Connects.
    ///
    /// # Errors
    /// Why the server cannot be used.
    pub fn open(connect: Connect) -> Result<Client, ConnectError> {
        let no_runtime = |error: io::Error| {
            ConnectError::new(format!("cannot start what talks to the server: {error}"))
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(no_runtime)?;
        let (events, arrives) = mpsc::channel(EVENTS_WAITING);
        let nats = runtime.block_on(Nats::open(connect, events))?;
        Ok(Client { runtime, nats, arrives })
    }

    /// All keys of a pattern with their revisions and values, as they are now.
    ///
    /// # Errors
    /// Why they cannot be read, in a sentence.
    pub fn keys(&self, pattern: &str) -> Result<Vec<(String, u64, Bytes)>, String> {
        self.runtime.block_on(self.nats.keys(pattern))
    }

    /// The runs of which something is stored.
    ///
    /// # Errors
    /// Why they cannot be read, in a sentence.
    pub fn runs(&self) -> Result<Vec<String>, String> {
        self.runtime.block_on(self.nats.runs())
    }

    /// As [`Transport::get`].
    pub fn get(&self, key: &str) -> Answer {
        self.runtime.block_on(self.nats.get(key.to_owned()))
    }

    /// As [`Transport::put`].
    pub fn put(&self, key: &str, value: Bytes, revision: Option<u64>) -> Answer {
        self.runtime.block_on(self.nats.put(key.to_owned(), value, revision))
    }

    /// As [`Transport::delete`].
    pub fn delete(&self, key: &str) -> Answer {
        self.runtime.block_on(self.nats.delete(key.to_owned()))
    }

    /// As [`Transport::ask`].
    pub fn ask(&self, subject: &str, payload: Bytes, wait: Duration) -> Answer {
        let wait = u64::try_from(wait.as_nanos()).unwrap_or(u64::MAX);
        self.runtime.block_on(self.nats.ask(subject.to_owned(), payload, wait))
    }

    /// As [`Transport::say`].
    pub fn say(&self, subject: &str, payload: Bytes) {
        self.runtime.block_on(self.nats.say(subject.to_owned(), payload));
    }

    /// As [`Transport::forget`].
    pub fn forget(&self, run: &str) {
        self.runtime.block_on(self.nats.forget(run.to_owned()));
    }

    /// Has what is said to a subject come by [`Client::next`].
    pub fn listen(&self, subject: &str) {
        let _runtime = self.runtime.enter();
        self.nats.listen(subject.to_owned());
    }

    /// Has the messages of a run come by [`Client::next`], from the first on, as long as something is stored of it.
    pub fn read(&self, run: &str) {
        let _runtime = self.runtime.enter();
        self.nats.read(run.to_owned());
    }

    /// Has the keys of a pattern come by [`Client::next`], from their present values on.
    pub fn watch(&self, keys: &str) {
        let _runtime = self.runtime.enter();
        self.nats.watch(keys.to_owned());
    }

    /// What arrives within so long; `None`: nothing.
    pub fn next(&mut self, wait: Duration) -> Option<Event> {
        let Client { runtime, arrives, .. } = self;
        runtime.block_on(async { tokio::time::timeout(wait, arrives.recv()).await.ok().flatten() })
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.runtime.block_on(self.nats.close());
    }
}
