//! The built-in target: a test site that runs inside the process, as a library.
//!
//! It is what `target: builtin` in a plan and the command `squall target` start, and what the
//! integration tests of the other crates speak to. It shares no code with squall's client side, so
//! that the two cannot share a mistake: of squall it imports `squall-base` alone.
//!
//! A [`Server`] is a number of threads, each with a single-threaded event loop and its own share
//! of the connections. HTTP/1.1 is written by hand (`http`, `conn`, `exchange`, `serve`), for three
//! reasons: it must cost no more than a fast web server does, it must hold tens of thousands of
//! idle connections, and under `/hostile` it must be able to break the protocol in every way that a
//! client has to survive.
//!
//! The routes are a table, [`ROUTES`] and [`HOSTILE`]: documentation and dispatch are one.
//!
//! ```no_run
//! let server = squall_target::Server::start(squall_target::Options::default())?;
//! println!("{}", server.url());
//! # Ok::<(), squall_target::StartError>(())
//! ```

mod clock;
mod conn;
mod connections;
mod counters;
mod exchange;
mod home;
mod http;
mod http2;
mod listener;
mod options;
mod random;
mod routes;
mod serve;
mod server;
mod session;
mod site;
mod tls;
mod transport;
mod watched;
mod worker;

pub use counters::Stats;
pub use listener::Address;
pub use options::{Options, TlsCertificate, TlsOptions};
pub use routes::{HOSTILE, ROUTES, Route, describe_routes};
pub use server::{Server, StartError};
