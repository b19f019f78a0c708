//! Many machines as one: a plan runs on a fleet of nodes, and its result is that of one machine.
//!
//! - `protocol` decides. The controller and a node are two state machines without I/O: what arrives and what time it is
//!   go in, what is to be done comes out.
//! - `transport` carries: publish durably, keys with revisions, request and reply, objects; over NATS JetStream.
//! - `simulation` (tests) runs controller, nodes, broker, network and clocks on virtual time, from one seed.
//! - `node` is what a process does that lends its machine to a fleet; `controller` is where a run's load comes from
//!   whose users are elsewhere.

pub mod controller;
pub mod node;
pub mod protocol;
pub mod record;
pub mod seal;
#[cfg(test)]
mod simulation;
pub mod transport;

/// What the fuzzer runs.
#[doc(hidden)]
pub mod fuzz {
    /// Any bytes as what a node recorded in a second.
    pub fn record(bytes: &[u8]) {
        crate::record::fuzz(bytes);
    }
}
