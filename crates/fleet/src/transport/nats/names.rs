//! Names on the server, and how long things take there.

use std::time::Duration;

/// The bucket of all keys.
pub const BUCKET: &str = "squall";
/// Its stream.
pub const KEYS: &str = "KV_squall";
/// The stream of all objects.
pub const OBJECTS: &str = "squall-objects";

/// How long the server may take for an answer.
pub const PATIENCE: Duration = Duration::from_secs(5);
/// How long the server knows the id of a message: one that is published again within it is stored once.
pub const ID_WINDOW: Duration = Duration::from_secs(120);

/// The stream of a run.
pub fn stream_of(run: &str) -> String {
    format!("squall_{run}")
}

/// The subject of a key, or of a pattern of keys.
pub fn key_subject(key: &str) -> String {
    format!("$KV.{BUCKET}.{key}")
}
