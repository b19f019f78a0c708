//! What carries a fleet's messages: five functions ([`Transport`]), over a NATS server with JetStream ([`nats`]).
//!
//! - [`connect`]: how a server is reached, and what is said where it cannot be.
//! - [`drive`]: drives a state machine of the protocol over a transport, on a thread of its own.
//! - [`server`]: a `nats-server` that squall starts and ends, for a fleet on one machine.
//! - [`configuration`]: a server configuration in which a node may do only what it must.

mod carry;
pub mod client;
pub mod configuration;
pub mod connect;
pub mod drive;
pub mod nats;
mod room;
pub mod server;
mod spool;

pub use carry::{EVENTS_WAITING, Event, Events, Transport};
pub use client::Client;
pub use connect::{Auth, Connect, ConnectError};
pub use drive::Driver;
pub use nats::Nats;
pub use room::Room;
pub use server::LocalServer;
pub use spool::{Left, NoSpool, Spool};
