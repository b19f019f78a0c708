//! The built-in target: a test site that runs inside the process, as a library.
//!
//! It is what `target: builtin` in a plan and the command `squall target` start, and what the
//! integration tests of the other crates speak to. It shares no code with squall's client side, so
//! that the two cannot share a mistake, and it imports no other squall crate.
//!
//! A [`Server`] is a number of threads, each with a single-threaded event loop and its own share
//! of the connections. HTTP/1.1 is written by hand (`http`), for three reasons: it must cost no
//! more than a fast web server does, it must hold tens of thousands of idle connections, and under
//! `/hostile` it must be able to break the protocol in every way that a client has to survive.
//!
//! The routes are a table, [`ROUTES`] and [`HOSTILE`]: documentation and dispatch are one.
//!
//! ```no_run
//! let server = squall_target::Server::start(squall_target::Options::default())?;
//! println!("{}", server.url());
//! # Ok::<(), squall_target::StartError>(())
//! ```

mod clock;
mod counters;
mod http;
mod http2;
mod listener;
mod random;
mod routes;
mod server;
mod session;
mod site;
mod tls;
mod transport;
mod watched;
mod worker;

use std::path::PathBuf;

pub use counters::Stats;
pub use listener::Address;
pub use routes::{HOSTILE, ROUTES, Route, describe_routes};
pub use server::{Server, StartError};

/// How a [`Server`] runs.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where to listen: `127.0.0.1:0`, `[::1]:8080` (port 0: any free port) or `unix:/path`.
    pub listen: Vec<String>,
    /// Use TLS on every listener; `None`: plain text.
    pub tls: Option<TlsOptions>,
    /// Number of threads; 0 is one per core.
    pub threads: usize,
    /// Where its random numbers start: the n-th one that it draws is then the same in each run, and so is
    /// the n-th service time of each queue. `None`: they are others each time.
    pub seed: Option<u64>,
}

impl Default for Options {
    /// Plain text on a free port of 127.0.0.1, one thread per core, no seed.
    fn default() -> Self {
        Options { listen: vec!["127.0.0.1:0".to_owned()], tls: None, threads: 0, seed: None }
    }
}

/// How the server authenticates itself, and which clients it accepts.
#[derive(Clone, Debug)]
pub struct TlsOptions {
    /// The server's certificate and key.
    pub certificate: TlsCertificate,
    /// A PEM file of certificate authorities: clients must show a certificate that one of them
    /// signed. `None` asks for no client certificate.
    pub client_ca: Option<PathBuf>,
    /// Whether clients that offer it get HTTP/2.
    pub http2: bool,
}

/// Where the server's certificate comes from.
#[derive(Clone, Debug)]
pub enum TlsCertificate {
    /// A certificate generated at the start, signed by an authority generated at the start, which
    /// [`Server::ca_pem`] returns.
    SelfSigned {
        /// Host names and addresses for which it is valid; none means `localhost`, `127.0.0.1` and
        /// `::1`.
        names: Vec<String>,
    },
    /// A certificate chain and its private key, from two PEM files.
    Pem {
        /// The chain, the server's own certificate first.
        cert: PathBuf,
        /// The private key: PKCS#8, PKCS#1 or SEC1.
        key: PathBuf,
    },
}
