//! The protocol of a fleet, as two state machines without I/O ([`io`]). Pure: what arrives, what is sent, what time it is.
//!
//! A plan is cut into S shards. A node has an assignment: which shards, from and to which second. What it records in a second
//! is a *record*, published once under its identity (node, boot, second). A cell is a shard in a second; it is *driven* when
//! the record of the node that had the shard then was merged, and each is merged at most once.
//!
//! - Its acknowledgements by the server are a node's lease. A node without any for as long stops by itself (a fence), and goes
//!   on only after it has read its assignment directly, not by a watch, after the fence.
//! - The controller gives the shards of a node away that was not heard of for the lease and a margin, from a whole second on
//!   that is later than any that the node can have driven.
//! - An acknowledged message is not yet stored: a node keeps what it has published until the run is released.

pub mod io;
pub mod messages;
