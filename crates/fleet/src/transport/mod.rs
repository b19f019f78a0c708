//! What carries a fleet's messages: five functions ([`Transport`]), over a NATS server with JetStream ([`nats`]).
//!
//! - [`connect`]: how a server is reached, and what is said where it cannot be.
//! - [`drive`]: drives a state machine of the protocol over a transport, on a thread of its own.
//! - [`server`]: a `nats-server` that squall starts and ends, for a fleet on one machine.
//! - [`configuration`]: a server configuration in which a node may do only what it must.

pub mod client;
pub mod configuration;
pub mod connect;
pub mod drive;
pub mod nats;
pub mod server;

use std::future::Future;

use tokio::sync::mpsc;

use crate::protocol::io::{Answer, Bytes, Input, Kept, Nanos};

pub use client::Client;
pub use connect::{Auth, Connect, ConnectError};
pub use drive::Driver;
pub use server::LocalServer;

/// What a transport hands to whom it carries for.
#[derive(Debug)]
pub enum Event {
    /// For the state machine.
    Input(Input),
    /// A line for a person: something that goes on, but not as it should.
    Log(String),
}

/// Where a transport puts what arrives. Bounded: who takes nothing is not flooded.
pub type Events = mpsc::Sender<Event>;

/// How many of them may wait.
pub const EVENTS_WAITING: usize = 4096;

/// The five functions: publish durably; keys; request and reply; objects; the stream of a run.
///
/// Each ends: what takes too long is [`Answer::Unknown`], what the server will not do is [`Answer::Refused`] with a sentence.
/// What is watched, listened to or consumed comes as events, and begins anew by itself after a reconnect.
pub trait Transport: Clone + Send + Sync + 'static {
    /// Stores a message once under its id: [`Answer::Stored`].
    fn publish(&self, subject: String, id: String, payload: Bytes) -> impl Future<Output = Answer> + Send;

    /// What is stored under a key, read from where it is stored: [`Answer::Value`].
    fn get(&self, key: String) -> impl Future<Output = Answer> + Send;
    /// Puts a value if the key has this revision (0: if there is none; `None`: in any case): [`Answer::Stored`] or
    /// [`Answer::Conflict`].
    fn put(&self, key: String, value: Bytes, revision: Option<u64>) -> impl Future<Output = Answer> + Send;
    /// Deletes a key: [`Answer::Stored`].
    fn delete(&self, key: String) -> impl Future<Output = Answer> + Send;
    /// Has the keys of a pattern come as [`Input::Key`], from their present values on.
    fn watch(&self, keys: String);

    /// Asks, and waits at most so long: [`Answer::Reply`].
    fn ask(&self, subject: String, payload: Bytes, wait: Nanos) -> impl Future<Output = Answer> + Send;
    /// Sends what nobody stores, also as the reply to who asked.
    fn say(&self, subject: String, payload: Bytes) -> impl Future<Output = ()> + Send;
    /// Has what is said to a subject come as [`Input::Asked`] or [`Input::Heard`].
    fn listen(&self, subject: String);

    /// Stores an object of a run under its digest, unless it is there: [`Answer::Stored`].
    fn put_object(&self, digest: String, bytes: Bytes) -> impl Future<Output = Answer> + Send;
    /// Fetches an object: [`Answer::Object`].
    fn get_object(&self, digest: String) -> impl Future<Output = Answer> + Send;

    /// Makes the stream of a run, and has its messages come as [`Input::Message`] from the first on.
    fn consume(&self, run: String);
    /// Ends watching the keys of a run, listening to its subjects, and consuming its stream.
    fn unwatch(&self, run: String);
    /// Deletes what is stored of a run.
    fn forget(&self, run: String) -> impl Future<Output = ()> + Send;

    /// Sends what is on its way, for at most a second, and lets go of the server.
    fn close(&self) -> impl Future<Output = ()> + Send;
}

/// Where a node keeps its messages until their run is released. The controller has none: see [`NoSpool`].
pub trait Spool: Send {
    /// Keeps a message.
    ///
    /// # Errors
    /// Why it is kept in memory alone, or not at all, in a sentence.
    fn keep(&mut self, kept: Kept) -> Result<(), String>;
    /// Reads one again; `None`: it is there no more.
    fn recall(&mut self, run: &str, boot: u64, number: u64) -> Option<Bytes>;
    /// Messages below this number may be deleted when room is needed.
    fn may_drop(&mut self, run: &str, boot: u64, below: u64);
    /// Deletes those of a run.
    fn drop_run(&mut self, run: &str);
    /// What former processes have left.
    fn all_kept(&mut self) -> Vec<Left>;
}

/// What a former process has kept of a run, and nobody has released.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// The run.
    pub run: String,
    /// The process.
    pub boot: u64,
    /// Its messages have numbers below this one.
    pub numbers: u64,
}

/// For a machine that keeps nothing.
#[derive(Debug, Clone, Copy)]
pub struct NoSpool;

impl Spool for NoSpool {
    fn keep(&mut self, _: Kept) -> Result<(), String> {
        Err("nothing is kept here".to_owned())
    }
    fn recall(&mut self, _: &str, _: u64, _: u64) -> Option<Bytes> {
        None
    }
    fn may_drop(&mut self, _: &str, _: u64, _: u64) {}
    fn drop_run(&mut self, _: &str) {}
    fn all_kept(&mut self) -> Vec<Left> {
        Vec::new()
    }
}
