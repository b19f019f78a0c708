//! How a server is to run: where it listens, with how many threads, with which certificate.

use std::path::PathBuf;

/// How a [`Server`](crate::Server) runs.
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
    /// [`Server::ca_pem`](crate::Server::ca_pem) returns.
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
