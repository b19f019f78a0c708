//! A small server of HTTP/1.1 on threads of its own, which does nothing while nobody asks, and which nobody can block: heads,
//! bodies, connections and times are bounded ([`request`], [`connection`]), and who is in the way has to leave ([`places`]).
//! One request a connection. What is answered to it is its user's to say.

pub mod connection;
pub mod host;
mod places;
pub mod request;
mod server;

pub use connection::Connection;
pub use host::Host;
pub use request::{Request, Unread};
pub use server::Server;
