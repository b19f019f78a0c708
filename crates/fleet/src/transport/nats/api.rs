//! Requests to the server, each with a deadline, and one kind of failure for all of them.

use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

use async_nats::client::{Request, RequestErrorKind};
use async_nats::connection::State;
use async_nats::{Client, HeaderMap, Message};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::Instant;

use super::names::PATIENCE;
use crate::protocol::io::{Answer, Bytes};

/// Refusals of the server that are remembered, to be told to who is refused.
const REFUSALS: usize = 64;

/// Why something was not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// It took too long, or there is no connection: whether it was done is not known.
    Unknown,
    /// The expected revision is not that of the key.
    Conflict,
    /// There is no such stream, or consumer.
    NotFound,
    /// There is one of this name, made otherwise.
    Exists,
    /// The server has no JetStream, or this account has none.
    NoJetStream,
    /// The server's permissions forbid this user the subject.
    Forbidden(String),
    /// The server will not, in its words or ours.
    Refused(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Unknown => f.write_str("the server does not answer"),
            Failure::Conflict => f.write_str("somebody else has changed it"),
            Failure::NotFound => f.write_str("it is not there"),
            Failure::Exists => {
                f.write_str("the server has one of this name that was made otherwise")
            }
            Failure::NoJetStream => f.write_str("the server has no JetStream"),
            Failure::Forbidden(subject) => {
                write!(
                    f,
                    "the server's permissions do not let this user send to {subject}: see `squall fleet manifest nats` for those that it needs"
                )
            }
            Failure::Refused(why) => f.write_str(why),
        }
    }
}

impl From<Failure> for Answer {
    fn from(failure: Failure) -> Answer {
        match failure {
            Failure::Conflict => Answer::Conflict,
            // A stream that is not there yet, or not any more, may come.
            Failure::Unknown | Failure::NotFound => Answer::Unknown,
            other => Answer::Refused(other.to_string()),
        }
    }
}

/// What is stored under a subject.
#[derive(Debug, Clone)]
pub struct Found {
    pub sequence: u64,
    pub payload: Bytes,
    /// Whether it says that a key was deleted.
    pub is_mark: bool,
}

/// The server's refusals of late: each with its number, and the subject.
#[derive(Debug, Clone)]
pub struct Refusals(watch::Sender<(u64, VecDeque<(u64, String)>)>);

impl Refusals {
    pub fn new() -> Refusals {
        Refusals(watch::Sender::new((0, VecDeque::new())))
    }

    /// Notes one, from what the server says.
    pub fn note(&self, said: &str) {
        let Some((_, rest)) = said.split_once("Permissions Violation for Publish to \"") else {
            return;
        };
        let Some((subject, _)) = rest.split_once('"') else { return };
        self.0.send_modify(|(number, refused)| {
            *number += 1;
            refused.push_back((*number, subject.to_owned()));
            if refused.len() > REFUSALS {
                refused.pop_front();
            }
        });
    }

    fn number(&self) -> u64 {
        self.0.borrow().0
    }

    /// Ends when sending to a subject was refused after that number.
    async fn refused(&self, subject: &str, after: u64) {
        let mut changes = self.0.subscribe();
        let is_it = |(_, refused): &(u64, VecDeque<(u64, String)>)| {
            refused.iter().any(|(number, name)| *number > after && name == subject)
        };
        if changes.wait_for(is_it).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// A connection, as requests use it.
#[derive(Debug, Clone)]
pub struct Api {
    pub client: Client,
    pub refusals: Refusals,
    /// Counts connections: whoever follows something begins anew.
    pub connections: watch::Receiver<u64>,
}

impl Api {
    pub fn is_connected(&self) -> bool {
        self.client.connection_state() == State::Connected
    }

    /// Waits for a connection: what was sent without one would arrive when nobody expects it any more.
    pub async fn connected(&self) {
        while !self.is_connected() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Asks, for at most so long.
    pub async fn ask(
        &self,
        subject: String,
        payload: Bytes,
        wait: Duration,
    ) -> Result<Message, Failure> {
        self.request(subject, HeaderMap::new(), payload, wait).await
    }

    async fn request(
        &self,
        subject: String,
        headers: HeaderMap,
        payload: Bytes,
        wait: Duration,
    ) -> Result<Message, Failure> {
        let until = Instant::now() + wait;
        let most = self.client.max_payload();
        if payload.len() >= most {
            let bytes = payload.len();
            return Err(Failure::Refused(format!(
                "a message of {bytes} bytes is larger than the server takes ({most}): raise max_payload in its configuration"
            )));
        }
        if tokio::time::timeout_at(until, self.connected()).await.is_err() {
            return Err(Failure::Unknown);
        }
        let before = self.refusals.number();
        let mut request = Request::new()
            .payload(bytes::Bytes::from_owner(payload))
            .timeout(Some(until.saturating_duration_since(Instant::now())));
        if !headers.is_empty() {
            request = request.headers(headers);
        }
        let answer = tokio::select! {
            answer = tokio::time::timeout_at(until, self.client.send_request(subject.clone(), request)) => answer,
            () = self.refusals.refused(&subject, before) => return Err(Failure::Forbidden(subject)),
        };
        match answer {
            Ok(Ok(message)) => Ok(message),
            Ok(Err(error)) if error.kind() == RequestErrorKind::NoResponders => {
                Err(Failure::NotFound)
            }
            _ => Err(Failure::Unknown),
        }
    }

    /// Sends what nobody stores; without a connection it is lost.
    pub async fn say(&self, subject: String, payload: Bytes) {
        if self.is_connected() {
            let sent = self.client.publish(subject, bytes::Bytes::from_owner(payload));
            let _lost = tokio::time::timeout(PATIENCE, sent).await;
        }
    }

    /// Publishes what is stored: its sequence number.
    pub async fn publish(
        &self,
        subject: String,
        headers: HeaderMap,
        payload: Bytes,
    ) -> Result<u64, Failure> {
        let stored = answer_of(&self.request(subject, headers, payload, PATIENCE).await?)?;
        stored["seq"].as_u64().ok_or(Failure::Unknown)
    }

    /// A request to JetStream's API.
    pub async fn call(&self, what: String, body: &Value) -> Result<Value, Failure> {
        let payload = match body {
            Value::Null => Bytes::default(),
            body => body.to_string().into_bytes().into(),
        };
        match self.request(format!("$JS.API.{what}"), HeaderMap::new(), payload, PATIENCE).await {
            // Nobody listens to the API where there is no JetStream.
            Err(Failure::NotFound) => Err(Failure::NoJetStream),
            Err(failure) => Err(failure),
            Ok(message) => answer_of(&message),
        }
    }

    pub async fn stream_info(&self, stream: &str) -> Result<Value, Failure> {
        self.call(format!("STREAM.INFO.{stream}"), &Value::Null).await
    }

    pub async fn create_stream(&self, config: &Value) -> Result<Value, Failure> {
        let name = config["name"].as_str().unwrap_or_default();
        self.call(format!("STREAM.CREATE.{name}"), config).await
    }

    pub async fn delete_stream(&self, stream: &str) -> Result<(), Failure> {
        self.call(format!("STREAM.DELETE.{stream}"), &Value::Null).await.map(drop)
    }

    pub async fn purge(&self, stream: &str, subject: &str) -> Result<(), Failure> {
        self.call(format!("STREAM.PURGE.{stream}"), &json!({ "filter": subject })).await.map(drop)
    }

    /// Names of streams with such subjects; at most 1,024.
    pub async fn stream_names(&self, subject: &str) -> Result<Vec<String>, Failure> {
        let names = self.call("STREAM.NAMES".to_owned(), &json!({ "subject": subject })).await?;
        let names = names["streams"].as_array().map(Vec::as_slice).unwrap_or_default();
        Ok(names.iter().filter_map(Value::as_str).map(str::to_owned).collect())
    }

    /// The last message of a subject, from any who has it. The subject is part of the request's subject.
    pub async fn last_direct(&self, stream: &str, subject: &str) -> Result<Option<Found>, Failure> {
        let asked = format!("$JS.API.DIRECT.GET.{stream}.{subject}");
        let message = self.request(asked, HeaderMap::new(), Bytes::default(), PATIENCE).await?;
        match message.status.map(|status| status.as_u16()) {
            None => {}
            Some(404) => return Ok(None),
            Some(status) => {
                let why = message.description.unwrap_or_default();
                return Err(Failure::Refused(format!("the server answers {status} {why}")));
            }
        }
        let headers = message.headers.unwrap_or_default();
        let header = |name: &str| headers.get(name).map(|value| value.as_str().to_owned());
        let sequence = header("Nats-Sequence")
            .and_then(|number| number.parse().ok())
            .ok_or(Failure::Unknown)?;
        let is_mark = header("KV-Operation").is_some();
        Ok(Some(Found { sequence, payload: message.payload.as_ref().into(), is_mark }))
    }

    /// The last message of a subject, from the stream's leader.
    pub async fn last_from_leader(
        &self,
        stream: &str,
        subject: &str,
    ) -> Result<Option<Found>, Failure> {
        let found = match self
            .call(format!("STREAM.MSG.GET.{stream}"), &json!({ "last_by_subj": subject }))
            .await
        {
            Err(Failure::NotFound) => return Ok(None),
            found => found?,
        };
        let message = &found["message"];
        let text = |field: &str| unbase64(message[field].as_str().unwrap_or_default());
        let sequence = message["seq"].as_u64().ok_or(Failure::Unknown)?;
        let payload = text("data").ok_or(Failure::Unknown)?;
        let is_mark =
            String::from_utf8_lossy(&text("hdrs").unwrap_or_default()).contains("KV-Operation:");
        Ok(Some(Found { sequence, payload: payload.into(), is_mark }))
    }
}

fn unbase64(text: &str) -> Option<Vec<u8>> {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.decode(text).ok()
}

/// What the server answers, or why it did not do it.
fn answer_of(message: &Message) -> Result<Value, Failure> {
    let answer: Value = serde_json::from_slice(&message.payload).map_err(|_| Failure::Unknown)?;
    let error = &answer["error"];
    if error.is_null() {
        return Ok(answer);
    }
    let said = error["description"].as_str().unwrap_or("no reason");
    Err(match error["err_code"].as_u64().unwrap_or_default() {
        10071 | 10164 => Failure::Conflict,
        10014 | 10037 | 10059 => Failure::NotFound,
        10058 | 10065 => Failure::Exists,
        10039 | 10076 => Failure::NoJetStream,
        // No leader yet, or a server that is just starting.
        10008 => Failure::Unknown,
        10002 | 10023 | 10028 | 10047 | 10077 | 10167 => Failure::Refused(format!(
            "the server has no room left ({said}): free its disk, or raise max_file_store in its configuration"
        )),
        code => Failure::Refused(format!("the server refuses: {said} ({code})")),
    })
}

/// Nanoseconds, as the API has times.
pub fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Whole seconds, as headers have them; at least one.
pub fn seconds(time: Duration) -> String {
    format!("{}s", time.as_secs().max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_says_what_it_refuses() {
        let answer = |payload: &str| {
            answer_of(&Message {
                subject: "s".into(),
                reply: None,
                payload: payload.to_owned().into(),
                headers: None,
                status: None,
                description: None,
                length: 0,
            })
        };
        assert_eq!(answer(r#"{"stream":"s","seq":7}"#).unwrap()["seq"], 7);
        assert_eq!(
            answer(
                r#"{"error":{"code":400,"err_code":10071,"description":"wrong last sequence: 3"}}"#
            ),
            Err(Failure::Conflict)
        );
        assert_eq!(
            answer(r#"{"error":{"code":404,"err_code":10059,"description":"stream not found"}}"#),
            Err(Failure::NotFound)
        );
        let Err(Failure::Refused(why)) = answer(
            r#"{"error":{"code":503,"err_code":10077,"description":"no space left on device"}}"#,
        ) else {
            panic!("a full disk is refused");
        };
        assert!(why.contains("no space left on device") && why.contains("free its disk"), "{why}");
        assert_eq!(answer("no JSON"), Err(Failure::Unknown));
    }

    #[tokio::test(flavor = "current_thread")]
    async fn a_refusal_is_for_its_subject_and_what_was_sent_after_it() {
        let refusals = Refusals::new();
        refusals.note("Permissions Violation for Publish to \"squall.hb.b\"");
        let after = refusals.number();
        let soon = Duration::from_millis(1);
        assert!(tokio::time::timeout(soon, refusals.refused("squall.hb.b", after)).await.is_err());
        refusals.note("Permissions Violation for Publish to \"squall.hb.b\"");
        refusals.note("something else");
        refusals.refused("squall.hb.b", after).await;
        assert!(tokio::time::timeout(soon, refusals.refused("squall.hb.a", 0)).await.is_err());
        for _ in 0..2 * REFUSALS {
            refusals.note("Permissions Violation for Publish to \"x\"");
        }
        assert_eq!(refusals.0.borrow().1.len(), REFUSALS);
    }
}
