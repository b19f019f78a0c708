//! The built-in target over real sockets. One binary of tests for all, as each would be linked anew.

mod common;
mod hostile;
mod http;
mod http2;
mod routes;
mod server;
