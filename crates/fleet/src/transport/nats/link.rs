//! A connected server, as all functions have it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::task::AbortHandle;

use super::api::{Api, Failure, Found};
use crate::transport::{Event, Events};

/// A server, connected.
#[derive(Debug, Clone)]
pub struct Link {
    pub api: Api,
    pub events: Events,
    /// How long what is stored stays.
    pub keep: Duration,
    /// Whether a key must be read from the leader of its stream, as others may lag behind.
    from_leader: Arc<AtomicBool>,
    /// The tasks that follow something, by the subject of it.
    followed: Arc<Mutex<HashMap<String, AbortHandle>>>,
}

impl Link {
    pub fn new(api: Api, events: Events, keep: Duration) -> Link {
        Link { api, events, keep, from_leader: Arc::default(), followed: Arc::default() }
    }

    /// Says whether keys must be read from the leader of their stream.
    pub fn read_from_leader(&self, must: bool) {
        self.from_leader.store(must, Ordering::Relaxed);
    }

    /// Reads what is stored under a subject of a stream. Where the stream has one copy, who answers is who stores it, and the
    /// subject is in the request's, where permissions see it; of several copies only the leader's is sure.
    pub async fn last_of(&self, stream: &str, subject: &str) -> Result<Option<Found>, Failure> {
        if self.from_leader.load(Ordering::Relaxed) {
            self.api.last_from_leader(stream, subject).await
        } else {
            self.api.last_direct(stream, subject).await
        }
    }

    /// Has a task follow a subject, in the place of one that does.
    pub fn follow(&self, subject: String, task: impl Future<Output = ()> + Send + 'static) {
        let handle = tokio::spawn(task).abort_handle();
        let mut followed = self.followed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(former) = followed.insert(subject, handle) {
            former.abort();
        }
    }

    pub fn end_following(&self, which: impl Fn(&str) -> bool) {
        let mut followed = self.followed.lock().unwrap_or_else(PoisonError::into_inner);
        followed.retain(|subject, task| {
            let ends = which(subject);
            if ends {
                task.abort();
            }
            !ends
        });
    }

    pub async fn log(&self, line: String) {
        let _nobody = self.events.send(Event::Log(line)).await;
    }
}
