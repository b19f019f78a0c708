//! The five functions.

use std::time::Duration;

use async_nats::HeaderMap;
use futures_util::StreamExt;
use serde_json::json;

use super::api::{self, Failure};
use super::link::Link;
use super::names::{BUCKET, ID_WINDOW, KEYS, key_subject, stream_of};
use super::{follow, objects};
use crate::protocol::io::{Answer, Bytes, Input, Nanos};
use crate::transport::{Connect, ConnectError, Event, Events, Room, Transport};

/// How long the mark of a deleted key stays, for those who watch it.
const MARK_STAYS: Duration = Duration::from_secs(3600);

/// How long a node's card stays after it was put: a node that lives puts it again each hour.
const CARD_STAYS: Duration = Duration::from_secs(24 * 3600);

/// How long a key of a run stays after it was put: longer than runs take, as one that goes on reads its first keys to its end.
/// What is secret in them is sealed.
const KEYS_STAY: Duration = Duration::from_secs(30 * 24 * 3600);

/// A server, connected.
#[derive(Debug, Clone)]
pub struct Nats {
    link: Link,
}

impl Nats {
    /// Connects, looks whether the server will do, and makes the bucket if it is not there and this user may.
    ///
    /// # Errors
    /// What is wrong with the server, or how it is asked, and what to do.
    pub async fn open(connect: Connect, events: Events) -> Result<Nats, ConnectError> {
        let keep = connect.keep;
        let api = connect.open(events.clone()).await?;
        let nats = Nats { link: Link::new(api, events, keep) };
        nats.open_bucket().await.map_err(|failure| ConnectError::new(no_bucket(&failure)))?;
        Ok(nats)
    }

    async fn open_bucket(&self) -> Result<(), Failure> {
        let info = match self.link.api.stream_info(KEYS).await {
            Err(Failure::NotFound) => {
                let made = self
                    .link
                    .api
                    .create_stream(&json!({
                        "name": KEYS, "subjects": [format!("$KV.{BUCKET}.>")], "storage": "file", "retention": "limits",
                        "discard": "new", "max_msgs_per_subject": 1, "max_age": 0,
                        "num_replicas": 1, "allow_direct": true, "allow_msg_ttl": true, "allow_rollup_hdrs": true,
                        "deny_delete": true, "duplicate_window": api::nanos(ID_WINDOW),
                    }))
                    .await;
                match made {
                    // A node may be there before any controller, and may not make it: it waits.
                    Err(Failure::Forbidden(_)) => return Ok(()),
                    // Somebody else was faster.
                    Err(Failure::Exists) => self.link.api.stream_info(KEYS).await?,
                    made => made?,
                }
            }
            // The shipped configuration lets a node look at nothing that it need not.
            Err(Failure::Forbidden(_)) => return Ok(()),
            info => info?,
        };
        let config = &info["config"];
        let copies = config["num_replicas"].as_u64().unwrap_or(1);
        let is_direct = config["allow_direct"].as_bool().unwrap_or(false);
        self.link.read_from_leader(copies > 1 || !is_direct);
        Ok(())
    }

    async fn put_value(
        &self,
        key: &str,
        value: Bytes,
        revision: Option<u64>,
        headers: HeaderMap,
    ) -> Result<u64, Failure> {
        let mut headers = headers;
        if let Some(revision) = revision {
            headers.insert("Nats-Expected-Last-Subject-Sequence", revision.to_string().as_str());
        }
        self.link.api.publish(key_subject(key), headers, value).await
    }

    /// Puts a value where there is none. A mark that one was deleted is none.
    async fn create_value(&self, key: &str, value: Bytes) -> Result<u64, Failure> {
        match self.put_value(key, value.clone(), Some(0), stays(key)).await {
            Err(Failure::Conflict) => match self.link.last_of(KEYS, &key_subject(key)).await? {
                Some(found) if found.is_mark => {
                    self.put_value(key, value, Some(found.sequence), stays(key)).await
                }
                _ => Err(Failure::Conflict),
            },
            other => other,
        }
    }

    /// The names of runs of which something is stored: their streams.
    ///
    /// # Errors
    /// Why they cannot be read.
    pub async fn runs(&self) -> Result<Vec<String>, String> {
        let names = self
            .link
            .api
            .stream_names("squall.*.second.*")
            .await
            .map_err(|failure| failure.to_string())?;
        Ok(names
            .iter()
            .filter_map(|name| name.strip_prefix("squall_"))
            .map(str::to_owned)
            .collect())
    }

    /// Has the messages of a run come as [`Input::Message`] from the first on, as long as something is stored of it.
    pub fn read(&self, run: String) {
        follow::read(&self.link, run);
    }

    /// All keys of a pattern with their revisions and values, as they are now.
    ///
    /// # Errors
    /// Why they cannot be read.
    pub async fn keys(&self, pattern: &str) -> Result<Vec<(String, u64, Bytes)>, String> {
        follow::present(&self.link, pattern).await.map_err(|failure| failure.to_string())
    }
}

/// Headers with the time that a key stays: a node's card for a day, all else for a month after it was put.
fn stays(key: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let stays = if key.starts_with("node.") { CARD_STAYS } else { KEYS_STAY };
    headers.insert("Nats-TTL", api::seconds(stays).as_str());
    headers
}

fn no_bucket(failure: &Failure) -> String {
    match failure {
        Failure::NoJetStream => {
            "the server has no JetStream, which squall keeps a fleet's results in: start it with `nats-server -js`, or \
             enable it for this account"
                .to_owned()
        }
        other => format!("the server's keys cannot be used: {other}"),
    }
}

impl From<Result<u64, Failure>> for Answer {
    fn from(stored: Result<u64, Failure>) -> Answer {
        match stored {
            Ok(number) => Answer::Stored(number),
            Err(failure) => failure.into(),
        }
    }
}

impl Transport for Nats {
    async fn publish(&self, subject: String, id: String, payload: Bytes) -> Answer {
        let mut headers = HeaderMap::new();
        headers.insert("Nats-Msg-Id", id.as_str());
        self.link.api.publish(subject, headers, payload).await.into()
    }

    async fn get(&self, key: String) -> Answer {
        match self.link.last_of(KEYS, &key_subject(&key)).await {
            Ok(Some(found)) if !found.is_mark => {
                Answer::Value(Some((found.sequence, found.payload)))
            }
            Ok(_) => Answer::Value(None),
            Err(failure) => failure.into(),
        }
    }

    async fn put(&self, key: String, value: Bytes, revision: Option<u64>) -> Answer {
        match revision {
            Some(0) => self.create_value(&key, value).await,
            revision => self.put_value(&key, value, revision, stays(&key)).await,
        }
        .into()
    }

    async fn delete(&self, key: String) -> Answer {
        let mut headers = HeaderMap::new();
        headers.insert("KV-Operation", "DEL");
        headers.insert("Nats-TTL", api::seconds(MARK_STAYS).as_str());
        self.put_value(&key, Bytes::default(), None, headers).await.into()
    }

    fn watch(&self, keys: String) {
        follow::watch(&self.link, keys);
    }

    async fn ask(&self, subject: String, payload: Bytes, wait: Nanos) -> Answer {
        match self.link.api.ask(subject, payload, Duration::from_nanos(wait)).await {
            Ok(message) => Answer::Reply(message.payload.as_ref().into()),
            Err(failure) => failure.into(),
        }
    }

    async fn say(&self, subject: String, payload: Bytes) {
        self.link.api.say(subject, payload).await;
    }

    fn listen(&self, subject: String) {
        let link = self.link.clone();
        self.link.follow(subject.clone(), async move {
            let mut heard = match link.api.client.subscribe(subject.clone()).await {
                Ok(heard) => heard,
                Err(error) => {
                    return link.log(format!("cannot listen to {subject}: {error}")).await;
                }
            };
            // The client subscribes again by itself after a reconnect.
            while let Some(message) = heard.next().await {
                let (subject, payload) =
                    (message.subject.to_string(), message.payload.as_ref().into());
                let input = match message.reply {
                    Some(reply) => Input::Asked { subject, payload, reply: reply.to_string() },
                    None => Input::Heard { subject, payload },
                };
                if link.events.send(Event::Input(input)).await.is_err() {
                    return;
                }
            }
        });
    }

    async fn put_object(&self, digest: String, bytes: Bytes) -> Answer {
        objects::put(&self.link, &digest, &bytes).await.into()
    }

    async fn get_object(&self, digest: String) -> Answer {
        match objects::get(&self.link, &digest).await {
            Ok(bytes) => Answer::Object(bytes),
            Err(failure) => failure.into(),
        }
    }

    fn consume(&self, run: String, room: Room) {
        follow::consume(&self.link, run, room);
    }

    fn unwatch(&self, run: String) {
        let (keys, subjects) = (key_subject(&format!("run.{run}.")), format!("squall.{run}."));
        self.link
            .end_following(|subject| subject.starts_with(&keys) || subject.starts_with(&subjects));
    }

    async fn forget(&self, run: String) {
        // Who consumes a stream makes it anew when it is gone.
        self.unwatch(run.clone());
        objects::forget(&self.link, &run).await;
        let keys = key_subject(&format!("run.{run}.>"));
        for done in [
            self.link.api.delete_stream(&stream_of(&run)).await,
            self.link.api.purge(KEYS, &keys).await,
        ] {
            match done {
                Ok(()) | Err(Failure::NotFound) => {}
                Err(failure) => {
                    self.link.log(format!("what the server keeps of run {run} could not be deleted, and goes by itself in some days: {failure}"))
                        .await;
                }
            }
        }
    }

    async fn close(&self) {
        self.link.end_following(|_| true);
        let _late =
            tokio::time::timeout(Duration::from_secs(1), self.link.api.client.flush()).await;
    }
}
