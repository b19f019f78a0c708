//! What a transport does: five functions.

use std::future::Future;

use tokio::sync::mpsc;

use crate::protocol::io::{Answer, Bytes, Input, Nanos};
use crate::transport::room::Room;

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
    fn publish(
        &self,
        subject: String,
        id: String,
        payload: Bytes,
    ) -> impl Future<Output = Answer> + Send;

    /// What is stored under a key, read from where it is stored: [`Answer::Value`].
    fn get(&self, key: String) -> impl Future<Output = Answer> + Send;
    /// Puts a value if the key has this revision (0: if there is none; `None`: in any case): [`Answer::Stored`] or
    /// [`Answer::Conflict`].
    fn put(
        &self,
        key: String,
        value: Bytes,
        revision: Option<u64>,
    ) -> impl Future<Output = Answer> + Send;
    /// Deletes a key: [`Answer::Stored`].
    fn delete(&self, key: String) -> impl Future<Output = Answer> + Send;
    /// Has the keys of a pattern come as [`Input::Key`], from their present values on.
    fn watch(&self, keys: String);

    /// Asks, and waits at most so long: [`Answer::Reply`].
    fn ask(
        &self,
        subject: String,
        payload: Bytes,
        wait: Nanos,
    ) -> impl Future<Output = Answer> + Send;
    /// Sends what nobody stores, also as the reply to who asked.
    fn say(&self, subject: String, payload: Bytes) -> impl Future<Output = ()> + Send;
    /// Has what is said to a subject come as [`Input::Asked`] or [`Input::Heard`].
    fn listen(&self, subject: String);

    /// Stores an object of a run under its digest, unless it is there: [`Answer::Stored`].
    fn put_object(&self, digest: String, bytes: Bytes) -> impl Future<Output = Answer> + Send;
    /// Fetches an object: [`Answer::Object`].
    fn get_object(&self, digest: String) -> impl Future<Output = Answer> + Send;

    /// Makes the stream of a run, and has its messages come as [`Input::Message`] from the first on, each when there is room.
    fn consume(&self, run: String, room: Room);
    /// Ends watching the keys of a run, listening to its subjects, and consuming its stream.
    fn unwatch(&self, run: String);
    /// Deletes what is stored of a run.
    fn forget(&self, run: String) -> impl Future<Output = ()> + Send;

    /// Sends what is on its way, for at most a second, and lets go of the server.
    fn close(&self) -> impl Future<Output = ()> + Send;
}
