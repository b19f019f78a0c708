//! The server: keys with revisions, watches, a stream with acknowledgements and ids, subjects.

use std::collections::{BTreeMap, HashMap};

use crate::protocol::io::Answer;
use crate::protocol::units::Bytes;

/// A stored message: subject and payload.
pub type Message = (String, Bytes);

/// What the server keeps.
#[derive(Debug, Default)]
pub struct Broker {
    pub keys: BTreeMap<String, (u64, Bytes)>,
    revision: u64,
    /// The stream; `None`: a message that it has acknowledged and forgotten.
    pub stream: Vec<Option<Message>>,
    /// When each was stored.
    stored_at: Vec<u64>,
    ids: HashMap<String, u64>,
    /// How many were taken for duplicates.
    pub duplicates: u64,
    pub is_down: bool,
}

impl Broker {
    pub fn put(&mut self, key: &str, value: Bytes, expected: Option<u64>) -> Answer {
        let current = self.keys.get(key).map_or(0, |known| known.0);
        if expected.is_some_and(|expected| expected != current) {
            return Answer::Conflict;
        }
        self.revision += 1;
        self.keys.insert(key.into(), (self.revision, value));
        Answer::Stored(self.revision)
    }

    pub fn delete(&mut self, key: &str) -> Answer {
        self.revision += 1;
        self.keys.remove(key);
        Answer::Stored(self.revision)
    }

    /// Stores a message; its number from 1, and whether it is new.
    pub fn store(&mut self, time: u64, subject: String, id: String, payload: Bytes) -> (u64, bool) {
        if let Some(&known) = self.ids.get(&id) {
            self.duplicates += 1;
            return (known, false);
        }
        self.stream.push(Some((subject, payload)));
        self.stored_at.push(time);
        let sequence = self.stream.len() as u64;
        self.ids.insert(id, sequence);
        (sequence, true)
    }

    /// Loses what it has stored since then, though it has acknowledged it; it does not know the ids of those either.
    pub fn lose_since(&mut self, time: u64) {
        let from = self.stored_at.partition_point(|&at| at < time);
        self.stream[from..].fill(None);
        self.ids.retain(|_, sequence| *sequence <= from as u64);
    }

    /// Deletes all of a run.
    pub fn forget(&mut self, run: &str) {
        let prefix = format!("run.{run}.");
        self.keys.retain(|key, _| !key.starts_with(&prefix));
        self.stream.clear();
        self.stored_at.clear();
        self.ids.clear();
    }
}

/// Whether a key or subject is of a pattern: `*` is one word, `>` the rest.
pub fn is_of(pattern: &str, name: &str) -> bool {
    let (mut pattern, mut name) = (pattern.split('.'), name.split('.'));
    loop {
        match (pattern.next(), name.next()) {
            (Some(">"), Some(_)) | (None, None) => return true,
            (Some("*"), Some(_)) => {}
            (Some(wanted), Some(word)) if wanted == word => {}
            _ => return false,
        }
    }
}
