//! What is followed: the keys of a pattern, the stream of a run. A consumer of the server that is asked for messages in turns
//! of two seconds; when one is lost, or the connection was made anew, another begins where the last one ended.

use std::time::Duration;

use async_nats::{Message, Subscriber};
use futures_util::StreamExt;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::api::{self, Failure};
use super::link::Link;
use super::names::{ID_WINDOW, KEYS, key_subject, stream_of};
use crate::protocol::io::{Bytes, Input};
use crate::transport::{Event, Room};

/// For how long one request for messages stands: the library's 30 seconds would leave the live view behind for as long when the
/// server was started anew.
const TURN: Duration = Duration::from_secs(2);
/// After how long without a word a consumer is given up.
const SILENCE: Duration = Duration::from_millis(3500);
/// Messages that one request asks for.
const BATCH: usize = 256;
/// Between attempts.
const PAUSE: Duration = Duration::from_millis(250);

/// Where a consumer begins.
#[derive(Debug, Clone, Copy)]
enum Begin {
    /// At the last message of each subject.
    Last,
    /// At this number.
    Number(u64),
}

/// One consumer.
struct Consumer {
    inbox: String,
    heard: Subscriber,
    asks: String,
    /// Its messages so far, to see when one is missing.
    taken: u64,
    /// How many were there when it was made.
    pending: u64,
    /// Messages that the last request may still bring.
    open: usize,
}

/// A message of a stream.
struct Stored {
    sequence: u64,
    subject: String,
    payload: Bytes,
    is_mark: bool,
}

pub fn watch(link: &Link, pattern: String) {
    let of = link.clone();
    link.follow(key_subject(&pattern), async move {
        let subject = key_subject(&pattern);
        let prefix = key_subject("").len();
        let mut trouble = Trouble::new(format!("keys {pattern}"));
        loop {
            let failure = match Consumer::new(&of, KEYS, &subject, Begin::Last).await {
                Ok(mut consumer) => {
                    trouble.over();
                    consumer
                        .pass_on(&of, &Room::default(), |stored| {
                            let key = stored.subject.get(prefix..).unwrap_or_default().to_owned();
                            let value = (!stored.is_mark).then_some(stored.payload);
                            Input::Key { key, revision: stored.sequence, value }
                        })
                        .await
                }
                Err(failure) => failure,
            };
            if trouble.tell(&of, failure).await.is_err() {
                return;
            }
        }
    });
}

/// Reads the stream of a run as long as it is there, and makes none.
pub fn read(link: &Link, run: String) {
    follow_run(link, run, Room::default(), Absent::Ends);
}

/// Reads the stream of a run, and makes it where it is not there.
pub fn consume(link: &Link, run: String, room: Room) {
    follow_run(link, run, room, Absent::IsMade);
}

/// What becomes of a stream that is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Absent {
    /// It is made.
    IsMade,
    /// There is nothing more to follow.
    Ends,
}

fn follow_run(link: &Link, run: String, room: Room, absent: Absent) {
    let of = link.clone();
    let subject = format!("squall.{run}.second.*");
    link.follow(subject.clone(), async move {
        let stream = stream_of(&run);
        let mut next = 1;
        let mut trouble = Trouble::new(format!("the seconds of run {run}"));
        loop {
            let failure = match consumer_of(&of, &stream, &subject, absent, &mut next).await {
                Ok(mut consumer) => {
                    trouble.over();
                    consumer.pass_on(&of, &room, |own| message(own, &mut next)).await
                }
                Err(Failure::NotFound) if absent == Absent::Ends => return,
                Err(failure) => failure,
            };
            if trouble.tell(&of, failure).await.is_err() {
                return;
            }
        }
    });
}

/// A message of a run's stream, after which `next` is the number of the one that follows.
fn message(stored: Stored, next: &mut u64) -> Input {
    let Stored { sequence, subject, payload, .. } = stored;
    *next = sequence + 1;
    Input::Message { sequence, subject, payload }
}

/// A consumer of a run's stream from a number on.
async fn consumer_of(
    link: &Link,
    stream: &str,
    subject: &str,
    absent: Absent,
    next: &mut u64,
) -> Result<Consumer, Failure> {
    let info = match link.api.stream_info(stream).await {
        Err(Failure::NotFound) if absent == Absent::IsMade => {
            make_stream(link, stream, subject).await?
        }
        info => info?,
    };
    let last = info["state"]["last_seq"].as_u64().unwrap_or(0);
    // A server that has lost what it stored counts from one again.
    if last.saturating_add(1) < *next {
        *next = 1;
    }
    Consumer::new(link, stream, subject, Begin::Number(*next)).await
}

/// Makes the stream of a run; what the server says of it.
async fn make_stream(link: &Link, stream: &str, subject: &str) -> Result<Value, Failure> {
    link.api
        .create_stream(&json!({
            "name": stream, "subjects": [subject], "storage": "file", "retention": "limits", "discard": "new",
            "max_age": api::nanos(link.keep), "num_replicas": 1,
            "allow_direct": true, "duplicate_window": api::nanos(ID_WINDOW.min(link.keep)),
        }))
        .await
}

/// The present values of a pattern of keys.
pub async fn present(link: &Link, pattern: &str) -> Result<Vec<(String, u64, Bytes)>, Failure> {
    let prefix = key_subject("").len();
    let mut consumer = Consumer::new(link, KEYS, &key_subject(pattern), Begin::Last).await?;
    let mut found = Vec::new();
    for _ in 0..consumer.pending {
        let stored = consumer.next(link).await?;
        if !stored.is_mark {
            found.push((
                stored.subject.get(prefix..).unwrap_or_default().to_owned(),
                stored.sequence,
                stored.payload,
            ));
        }
    }
    Ok(found)
}

/// What goes wrong while something is followed: told once, until it goes well.
struct Trouble {
    what: String,
    told: Option<Failure>,
}

impl Trouble {
    fn new(what: String) -> Trouble {
        Trouble { what, told: None }
    }

    fn over(&mut self) {
        self.told = None;
    }

    /// Tells of it, and pauses.
    ///
    /// # Errors
    /// Nobody wants the messages any more.
    async fn tell(&mut self, link: &Link, failure: Failure) -> Result<(), ()> {
        if link.events.is_closed() {
            return Err(());
        }
        // A lost connection is told of by itself, and a stream that is not there yet is waited for.
        let is_told = matches!(failure, Failure::Unknown | Failure::NotFound)
            || self.told.as_ref() == Some(&failure);
        if !is_told {
            link.log(format!("cannot follow {}: {failure}", self.what)).await;
            self.told = Some(failure);
        }
        tokio::time::sleep(PAUSE).await;
        Ok(())
    }
}

impl Consumer {
    async fn new(
        link: &Link,
        stream: &str,
        subject: &str,
        from: Begin,
    ) -> Result<Consumer, Failure> {
        link.api.connected().await;
        let inbox = link.api.client.new_inbox();
        let name = inbox.rsplit('.').next().unwrap_or_default().to_owned();
        let mut config = json!({
            "name": name, "filter_subject": subject, "ack_policy": "none", "replay_policy": "instant",
            "inactive_threshold": api::nanos(Duration::from_secs(30)), "mem_storage": true, "num_replicas": 1,
            "max_waiting": 8,
        });
        match from {
            Begin::Last => config["deliver_policy"] = json!("last_per_subject"),
            Begin::Number(number) => {
                config["deliver_policy"] = json!("by_start_sequence");
                config["opt_start_seq"] = json!(number);
            }
        }
        let heard = link.api.client.subscribe(inbox.clone()).await.map_err(|_| Failure::Unknown)?;
        let asked = format!("CONSUMER.CREATE.{stream}.{name}.{subject}");
        let made = link
            .api
            .call(asked, &json!({ "stream_name": stream, "config": config, "action": "create" }))
            .await?;
        Ok(Consumer {
            inbox,
            heard,
            asks: format!("$JS.API.CONSUMER.MSG.NEXT.{stream}.{name}"),
            taken: 0,
            pending: made["num_pending"].as_u64().unwrap_or(0),
            open: 0,
        })
    }

    /// Passes messages on, each when there is room, until the consumer is of no use any more: why. A server that was not asked for
    /// long forgets its consumer, and another begins where it has ended.
    async fn pass_on(
        &mut self,
        link: &Link,
        room: &Room,
        mut input: impl FnMut(Stored) -> Input,
    ) -> Failure {
        let mut connections = link.api.connections.clone();
        connections.mark_unchanged();
        loop {
            let stored = tokio::select! {
                stored = self.next(link) => stored,
                _ = connections.changed() => return Failure::Unknown,
            };
            match stored {
                Ok(stored) => {
                    room.is_there().await;
                    if link.events.send(Event::Input(input(stored))).await.is_err() {
                        return Failure::Unknown;
                    }
                }
                Err(failure) => return failure,
            }
        }
    }

    async fn next(&mut self, link: &Link) -> Result<Stored, Failure> {
        loop {
            if self.open == 0 {
                self.request(link).await?;
            }
            let message = tokio::time::timeout(SILENCE, self.heard.next()).await;
            let Ok(Some(message)) = message else { return Err(Failure::Unknown) };
            match message.status.map(|status| status.as_u16()) {
                None => {
                    self.open -= 1;
                    return self.stored(message);
                }
                // It still lives.
                Some(100) => {}
                // The turn is over.
                Some(404 | 408) => self.open = 0,
                // The consumer is gone, or its leader.
                Some(_) => return Err(Failure::NotFound),
            }
        }
    }

    async fn request(&mut self, link: &Link) -> Result<(), Failure> {
        let body: Value = json!({
            "batch": BATCH, "expires": api::nanos(TURN), "idle_heartbeat": api::nanos(TURN / 2),
        });
        let asked = link.api.client.publish_with_reply(
            self.asks.clone(),
            self.inbox.clone(),
            body.to_string().into(),
        );
        match tokio::time::timeout_at(Instant::now() + SILENCE, asked).await {
            Ok(Ok(())) => {
                self.open = BATCH;
                Ok(())
            }
            _ => Err(Failure::Unknown),
        }
    }

    /// Takes a message apart. Its numbers are in its reply subject: `$JS.ACK.<stream>.<consumer>.<deliveries>.<number in the
    /// stream>.<number in the consumer>.<time>.<pending>`, with domain and account's hash after `ACK` on some servers.
    fn stored(&mut self, message: Message) -> Result<Stored, Failure> {
        let reply = message.reply.as_ref().map_or("", |reply| reply.as_str());
        let (sequence, number) = numbers(reply).ok_or(Failure::Unknown)?;
        self.taken += 1;
        if number != self.taken {
            return Err(Failure::Unknown);
        }
        let is_mark =
            message.headers.as_ref().is_some_and(|headers| headers.get("KV-Operation").is_some());
        Ok(Stored {
            sequence,
            subject: message.subject.to_string(),
            payload: message.payload.as_ref().into(),
            is_mark,
        })
    }
}

/// A message's number in the stream, and in the consumer.
fn numbers(reply: &str) -> Option<(u64, u64)> {
    let words: Vec<&str> = reply.split('.').collect();
    let at = match words.len() {
        9 => 5,
        11.. => 7,
        _ => return None,
    };
    if words[0] != "$JS" || words[1] != "ACK" {
        return None;
    }
    Some((words[at].parse().ok()?, words[at + 1].parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::numbers;

    #[test]
    fn a_message_says_its_numbers() {
        assert_eq!(numbers("$JS.ACK.squall_r.c.1.42.7.1700000000000000000.3"), Some((42, 7)));
        assert_eq!(
            numbers("$JS.ACK.hub.hash.squall_r.c.1.42.7.1700000000000000000.3.token"),
            Some((42, 7))
        );
        for wrong in
            ["", "$JS.ACK", "$JS.ACK.s.c.1.x.7.0.3", "a.b.s.c.1.42.7.0.3", "$JS.ACK.s.c.1.42.7.0"]
        {
            assert_eq!(numbers(wrong), None, "{wrong}");
        }
    }
}
