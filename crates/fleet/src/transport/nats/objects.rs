//! Objects: bytes under their SHA-256, in chunks that a message can carry. The first chunk is stored last, so that an object
//! whose first chunk is there is whole.

use std::time::Duration;

use async_nats::HeaderMap;
use serde_json::json;
use sha2::{Digest, Sha256};
use tokio::task::JoinSet;

use super::api::{self, Failure};
use super::link::Link;
use super::names::{ID_WINDOW, KEYS, OBJECTS, key_subject};
use crate::protocol::io::Bytes;
use crate::protocol::messages::Order;

/// Bytes of a chunk, unless the server takes less in a message.
const CHUNK: usize = 512 << 10;
/// Chunks that are sent at the same time.
const AT_ONCE: usize = 8;
/// Most bytes of an object: it is in memory as a whole.
const MOST_BYTES: usize = 1 << 30;
/// Bytes before those of the object in each chunk: how many chunks it has.
const HEAD: usize = 4;

fn subject(digest: &str, chunk: usize) -> String {
    format!("squall-object.{digest}.{chunk}")
}

async fn make_stream(link: &Link) -> Result<(), Failure> {
    match link.api.stream_info(OBJECTS).await {
        Err(Failure::NotFound) => {}
        info => return info.map(drop),
    }
    let config = json!({
        "name": OBJECTS, "subjects": ["squall-object.*.*"], "storage": "file", "retention": "limits", "discard": "new",
        "max_msgs_per_subject": 1, "num_replicas": 1, "allow_direct": true,
        "allow_msg_ttl": true, "duplicate_window": api::nanos(ID_WINDOW),
    });
    match link.api.create_stream(&config).await {
        Ok(_) | Err(Failure::Exists) => Ok(()),
        Err(failure) => Err(failure),
    }
}

/// What is no digest could be a pattern of subjects.
fn checked(digest: &str) -> Result<(), Failure> {
    let is_digest = digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_digest {
        Ok(())
    } else {
        Err(Failure::Refused(format!("`{digest}` is not a SHA-256 in hexadecimal")))
    }
}

/// Stores an object, unless it is there; how many chunks it has.
pub async fn put(link: &Link, digest: &str, bytes: &Bytes) -> Result<u64, Failure> {
    checked(digest)?;
    if bytes.len() > MOST_BYTES {
        return Err(Failure::Refused(format!(
            "a file of {} bytes is too large to send to nodes (at most {MOST_BYTES}): put it on each node, below its --allow-files",
            bytes.len()
        )));
    }
    make_stream(link).await?;
    let room = link.api.client.max_payload().saturating_sub(4096);
    let chunk = CHUNK.min(room).max(1);
    let count = bytes.len().div_ceil(chunk).max(1);
    if link.api.last_direct(OBJECTS, &subject(digest, 0)).await?.is_some() {
        return Ok(count as u64);
    }
    let mut sending = JoinSet::new();
    for number in 1..count {
        if sending.len() >= AT_ONCE {
            joined(sending.join_next().await)?;
        }
        sending.spawn(put_chunk(
            link.clone(),
            digest.to_owned(),
            bytes.clone(),
            chunk,
            number,
            count,
        ));
    }
    while !sending.is_empty() {
        joined(sending.join_next().await)?;
    }
    put_chunk(link.clone(), digest.to_owned(), bytes.clone(), chunk, 0, count).await?;
    Ok(count as u64)
}

fn joined(
    done: Option<Result<Result<(), Failure>, tokio::task::JoinError>>,
) -> Result<(), Failure> {
    match done {
        Some(Ok(done)) => done,
        _ => Err(Failure::Unknown),
    }
}

async fn put_chunk(
    link: Link,
    digest: String,
    bytes: Bytes,
    chunk: usize,
    number: usize,
    count: usize,
) -> Result<(), Failure> {
    let from = (number * chunk).min(bytes.len());
    let part = &bytes[from..(from + chunk).min(bytes.len())];
    let mut payload = Vec::with_capacity(HEAD + part.len());
    payload.extend_from_slice(&(count as u32).to_le_bytes());
    payload.extend_from_slice(part);
    let payload: Bytes = payload.into();
    let mut attempt = 0;
    loop {
        let mut headers = HeaderMap::new();
        headers.insert("Nats-TTL", api::seconds(link.keep).as_str());
        match link.api.publish(subject(&digest, number), headers, payload.clone()).await {
            Err(Failure::Unknown | Failure::NotFound) if attempt < 3 => attempt += 1,
            done => return done.map(drop),
        }
    }
}

/// Fetches an object.
pub async fn get(link: &Link, digest: &str) -> Result<Bytes, Failure> {
    checked(digest)?;
    let mut bytes = Vec::new();
    let mut digested = Sha256::new();
    let mut count = 1;
    let mut number = 0;
    while number < count {
        let payload = chunk_of(link, digest, number).await?;
        let (head, part) = payload.split_at_checked(HEAD).ok_or_else(|| broken(digest))?;
        count = u32::from_le_bytes(head.try_into().unwrap_or_default()) as usize;
        if bytes.len() + part.len() > MOST_BYTES || count > MOST_BYTES {
            return Err(broken(digest));
        }
        bytes.extend_from_slice(part);
        digested.update(part);
        number += 1;
    }
    let found: String = digested.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    if found == digest { Ok(bytes.into()) } else { Err(broken(digest)) }
}

async fn chunk_of(link: &Link, digest: &str, number: usize) -> Result<Bytes, Failure> {
    let mut attempt = 0;
    loop {
        match link.api.last_direct(OBJECTS, &subject(digest, number)).await {
            Ok(Some(found)) => return Ok(found.payload),
            Ok(None) => {
                return Err(Failure::Refused(format!(
                    "the server has no object {digest} (any more)"
                )));
            }
            Err(Failure::Unknown | Failure::NotFound) if attempt < 3 => {
                attempt += 1;
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            Err(failure) => return Err(failure),
        }
    }
}

fn broken(digest: &str) -> Failure {
    Failure::Refused(format!("the object {digest} on the server is not what its digest says"))
}

/// Deletes the objects of a run: those that its order names.
pub async fn forget(link: &Link, run: &str) {
    let order = link.last_of(KEYS, &key_subject(&format!("run.{run}.order"))).await;
    let Ok(Some(order)) = order else { return };
    let Ok(order) = serde_json::from_slice::<Order>(&order.payload) else { return };
    for digest in std::iter::once(&order.job).chain(order.files.iter().map(|file| &file.object)) {
        if checked(digest).is_err() {
            continue;
        }
        if link.api.purge(OBJECTS, &format!("squall-object.{digest}.*")).await.is_err() {
            link.log(format!("object {digest} of run {run} could not be deleted from the server, and goes by itself in some days"))
                .await;
        }
    }
}
