//! Messages of a node on their way into the stream: all at the same time, each until it is acknowledged.

use std::collections::BTreeMap;

use crate::protocol::io::{Answer, Output};
use crate::protocol::units::{Bytes, MS, Nanos, SECOND};

use super::desk::{Cx, Purpose};

/// Most messages that wait in memory. Beyond, the oldest are left to the disk: the controller asks for them.
const MOST: usize = 1_024;
const AGAIN: Nanos = 250 * MS;

/// A message that is to be stored.
#[derive(Debug)]
struct Outgoing {
    id: String,
    payload: Bytes,
    /// When it was published first.
    first: Option<Nanos>,
    /// When it is to be published (again).
    due: Nanos,
    is_out: bool,
    kind: Kind,
}

/// What a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A record of this process: published until it is stored.
    Record,
    /// A sign: the next one says it all again.
    Sign,
    /// What another process recorded, or what is there no more. It renews no lease.
    Other,
}

/// Messages that are not acknowledged yet.
#[derive(Debug, Default)]
pub struct Outbox {
    next: u64,
    waiting: BTreeMap<u64, Outgoing>,
    refusal: Option<String>,
}

impl Outbox {
    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Whether a sign is on its way.
    pub fn signs(&self) -> usize {
        self.waiting.values().filter(|message| message.kind == Kind::Sign).count()
    }

    /// Adds a message that is to be published at `due`.
    pub fn push(&mut self, id: String, payload: Bytes, due: Nanos, kind: Kind) {
        self.next += 1;
        self.waiting
            .insert(self.next, Outgoing { id, payload, first: None, due, is_out: false, kind });
        if self.waiting.len() > MOST {
            self.waiting.pop_first();
        }
    }

    /// Publishes what is due.
    pub fn flush(&mut self, subject: &str, cx: &mut Cx<'_>) {
        let now = cx.now.steady;
        for (&key, message) in
            self.waiting.iter_mut().filter(|entry| !entry.1.is_out && entry.1.due <= now)
        {
            message.first.get_or_insert(now);
            message.is_out = true;
            let ticket = cx.desk.ticket(Purpose::Publish(key));
            let (subject, id, payload) =
                (subject.into(), message.id.clone(), message.payload.clone());
            cx.out.push(Output::Publish { ticket, subject, id, payload });
        }
    }

    /// Takes what became of a message; when it was published first, if that renews the lease.
    pub fn on_answer(&mut self, key: u64, answer: &Answer, cx: &mut Cx<'_>) -> Option<Nanos> {
        let message = self.waiting.get_mut(&key)?;
        message.is_out = false;
        let kind = message.kind;
        match answer {
            Answer::Stored(_) => {
                let first = message.first.filter(|_| kind != Kind::Other);
                self.waiting.remove(&key);
                self.refusal = None;
                return first;
            }
            Answer::Refused(why) => {
                message.due = cx.now.steady + SECOND;
                if self.refusal.as_ref() != Some(why) {
                    cx.log(format!("the server does not store what this node recorded: {why}. It is kept here, and tried again"));
                    self.refusal = Some(why.clone());
                }
            }
            _ => message.due = cx.now.steady + AGAIN,
        }
        if kind == Kind::Sign {
            self.waiting.remove(&key);
        }
        None
    }

    /// When something is due.
    pub fn wake_at(&self) -> Option<Nanos> {
        self.waiting.values().filter(|message| !message.is_out).map(|message| message.due).min()
    }
}
