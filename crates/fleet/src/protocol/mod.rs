//! The protocol of a fleet, as two state machines without I/O ([`io`]). Pure: what arrives, what is sent, what time it is.
//!
//! A plan is cut into S shards. A node has an assignment: which shards, from and to which second. What it records in a second
//! is a *record*, published once under its identity (node, boot, second). A cell is a shard in a second; it is *driven* when
//! the record of the node that had the shard then was merged, and each is merged at most once.
//!
//! - What a node has published and the server has acknowledged is its lease, counted from when it was published first. A node
//!   without any for as long stops by itself (a fence). It goes on only with a later part of its assignment than it had,
//!   which it has read directly, not by a watch: so the controller alone decides whose the shards are after a fence.
//! - The controller gives the shards of a node away of which nothing was stored for the lease and a margin. That its own
//!   reading of the stream is behind must not look like silence of a node: it marks the stream, and a node is silent if the
//!   mark was sent so long after the node's last message.
//! - A living node's shards are given to another only after it has said from which second on it has them no more.
//! - An acknowledged message is not yet stored: a node keeps what it has published until the run is released, and is asked
//!   again for numbers that are missing.

pub mod codec;
pub mod io;
pub mod keys;
pub mod messages;
pub mod ranges;
pub mod units;

mod assign;
mod cells;
mod controller;
mod node;
mod tickets;

pub use controller::{Controller, Lead, Seal};
pub use node::Node;
