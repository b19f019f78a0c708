//! The keys that a controller writes: each only if it is as the controller left it, so that of two controllers one notices.

use std::collections::BTreeMap;

use crate::protocol::io::Answer;
use crate::protocol::units::{Bytes, MS, Nanos, SECOND};

use super::desk::Cx;

const AGAIN: Nanos = 250 * MS;
/// Most values of a key that are on their way.
const SENT: usize = 64;

/// Keys and what they are to be.
#[derive(Debug, Default)]
pub struct Writer {
    keys: BTreeMap<String, Written>,
    open: Vec<String>,
}

#[derive(Debug)]
struct Written {
    wanted: Bytes,
    /// The revision that it has as far as is known; `None`: whatever it is, it is written over.
    revision: Option<u64>,
    /// What was sent since it was known last what stands there: any of it may have been stored, also of what had no answer.
    sent: Vec<Bytes>,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Due(Nanos),
    Out,
    Stored,
}

/// What became of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// It goes on.
    Fine,
    /// Somebody else has written it: this, or deleted it.
    Foreign(Option<(u64, Bytes)>),
    /// The server refuses it.
    Refused(String),
}

impl Writer {
    /// Wants a key to be this. One that is not known is created; it must not be there.
    pub fn set(&mut self, key: String, value: Bytes) {
        self.set_at(key, value, Some(0));
    }

    /// A key is there, with this revision.
    pub fn know(&mut self, key: String, revision: u64) {
        let wanted = crate::protocol::keys::nothing();
        self.keys.insert(
            key,
            Written { wanted, revision: Some(revision), sent: Vec::new(), state: State::Stored },
        );
    }

    /// The revision that a key has, as far as is known.
    pub fn revision(&self, key: &str) -> Option<u64> {
        self.keys.get(key)?.revision
    }

    /// Wants a key to be this, whatever it is.
    pub fn set_over(&mut self, key: String, value: Bytes) {
        self.set_at(key, value, None);
    }

    fn set_at(&mut self, key: String, value: Bytes, revision: Option<u64>) {
        let known = self.keys.entry(key.clone()).or_insert_with(|| Written {
            wanted: value.clone(),
            revision,
            sent: Vec::new(),
            state: State::Stored,
        });
        known.wanted = value;
        if known.state == State::Stored {
            known.state = State::Due(0);
            self.open.push(key);
        }
    }

    /// Whether a key is stored as it was wanted last.
    pub fn is_stored(&self, key: &str) -> bool {
        self.keys.get(key).is_some_and(|known| known.state == State::Stored)
    }

    /// Whether all are.
    pub fn all_stored(&self) -> bool {
        self.open.is_empty()
    }

    /// Sends what is due.
    pub fn flush(&mut self, cx: &mut Cx<'_>) {
        for key in &self.open {
            let Some(known) = self.keys.get_mut(key) else { continue };
            if matches!(known.state, State::Due(at) if at <= cx.now.steady) {
                known.state = State::Out;
                if known.sent.last() != Some(&known.wanted) {
                    known.sent.push(known.wanted.clone());
                }
                let extra = known.sent.len().saturating_sub(SENT);
                known.sent.drain(..extra);
                cx.put(key.clone(), known.wanted.clone(), known.revision);
            }
        }
    }

    /// What became of a put.
    pub fn on_put(&mut self, key: &str, answer: Answer, cx: &mut Cx<'_>) -> Fate {
        let Some(known) = self.keys.get_mut(key) else { return Fate::Fine };
        let now = cx.now.steady;
        match answer {
            Answer::Stored(revision) => {
                known.revision = known.revision.map(|_| revision);
                let stored = known.sent.last().cloned();
                self.settle(key, stored);
            }
            Answer::Conflict => cx.get(key.into()),
            Answer::Refused(why) => {
                known.state = State::Due(now + SECOND);
                return Fate::Refused(why);
            }
            _ => known.state = State::Due(now + AGAIN),
        }
        Fate::Fine
    }

    /// What stands under a key whose revision was not the expected one. It may be what was sent, whose answer was lost.
    pub fn on_get(&mut self, key: &str, answer: &Answer, cx: &mut Cx<'_>) -> Fate {
        let Some(known) = self.keys.get_mut(key).filter(|known| known.state == State::Out) else {
            return Fate::Fine;
        };
        match answer {
            Answer::Value(Some((revision, value))) if known.sent.contains(value) => {
                known.revision = Some(*revision);
                self.settle(key, Some(value.clone()));
            }
            Answer::Value(value) => return Fate::Foreign(value.clone()),
            _ => cx.get(key.into()),
        }
        Fate::Fine
    }

    /// Writes over what somebody else has written.
    pub fn write_over(&mut self, key: &str, revision: u64) {
        if let Some(known) = self.keys.get_mut(key) {
            (known.revision, known.state) = (Some(revision), State::Due(0));
        }
    }

    /// It is known what stands there.
    fn settle(&mut self, key: &str, stored: Option<Bytes>) {
        let Some(known) = self.keys.get_mut(key) else { return };
        known.sent.clear();
        if stored.as_ref() == Some(&known.wanted) {
            known.state = State::Stored;
            self.open.retain(|open| open != key);
        } else {
            known.state = State::Due(0);
        }
    }
}
