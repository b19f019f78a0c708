//! The transport over a NATS server with JetStream.
//!
//! The client library keeps the connection; the dozen requests of JetStream's API that the five functions need are made here
//! ([`api`]), so that each has one deadline and one way to say what went wrong. Names on the server:
//!
//! | what | where |
//! | --- | --- |
//! | keys | bucket `squall` (stream `KV_squall`): the last value of each |
//! | seconds of run R | stream `squall_R`, subjects `squall.R.second.*` |
//! | objects | stream `squall-objects`, subjects `squall-object.<digest>.<chunk>` |
//!
//! Files and seconds have a time to live ([`crate::transport::Connect::keep`]), keys of a run a month, so that nothing of a
//! lost controller's run stays. None has a bound in bytes of its own, as the server would set that much aside for it: its
//! max_file_store bounds all.

pub(crate) mod api;
mod follow;
mod functions;
mod link;
pub mod names;
mod objects;

pub use functions::Nats;
