//! How connections are made, as the user asked for it. Pure.

use std::collections::HashMap;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use squall_base::AllowList;

use crate::origin::Origin;
use crate::via::Proxy;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Io {
    /// By io_uring where the system has it and allows it, otherwise by epoll.
    #[default]
    Auto,
    Epoll,
    /// By io_uring (Linux 6.1 and later).
    Uring,
}

impl Io {
    /// Its name in results.
    pub fn label(self) -> &'static str {
        match self {
            Io::Auto => "auto",
            Io::Epoll => "epoll",
            Io::Uring => "io_uring",
        }
    }
}

/// The version of HTTP that connections speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Http {
    #[default]
    V1,
    /// HTTP/2: over TLS the other side must agree to it (ALPN), without TLS it must know it before
    /// (RFC 9113, section 3.3).
    V2,
    /// Over TLS what the other side prefers of HTTP/2 and HTTP/1.1; without TLS HTTP/1.1.
    Auto,
}

/// What the user asked for.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// `host` or `host:port` to what is used in place of what DNS says of it; a port is used where it is not 0. A host may be
    /// `*.suffix`, for every name below it.
    pub resolve: HashMap<String, Vec<Substitute>>,
    pub dns: Dns,
    /// Source addresses, used round robin where a connection has none of its own.
    pub source_addresses: Vec<IpAddr>,
    /// First and last local port of the system, where connections take them one after the other (Linux
    /// 6.3 and later). Left to itself, the kernel gives out every second port first, and when these are
    /// taken it tries all of them for each connection, which takes a millisecond.
    pub ports: Option<(u16, u16)>,
    /// Unix socket in place of TCP, whatever the origin.
    pub unix: Option<PathBuf>,
    pub tls: TlsSettings,
    pub http: Http,
    pub io: Io,
    /// Where connections may go, if not everywhere.
    pub allowed: Option<Arc<AllowList>>,
    /// Hosts that no connection is made for, by their names, ...
    pub blocked_hosts: AllowList,
    /// ... and addresses that none is made to.
    pub blocked_addresses: AllowList,
}

/// What takes the place of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Substitute {
    Address(SocketAddr),
    /// The addresses of another host, looked up before the run, and a port.
    Host(String, u16),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Dns {
    /// How long what was looked up holds, from its first use; `None`: as long as the run.
    pub ttl: Option<Duration>,
    /// Whether connections try the addresses of a name in their order, instead of each the next one first.
    pub in_order: bool,
}

/// Where requests go, as far as it is known before the run.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Destination {
    pub origin: Origin,
    /// What is in between.
    pub between: Between,
}

/// What is between this machine and an origin.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Between {
    Nothing,
    Proxy(Arc<Proxy>),
    /// What only users know.
    Unknown,
}

impl Destination {
    /// The name and the port that connections are made to, if they are known.
    pub(crate) fn peer(&self) -> Option<(String, u16)> {
        match &self.between {
            Between::Proxy(proxy) => Some((proxy.host.clone(), proxy.port)),
            Between::Nothing => Some((self.origin.host.to_string(), self.origin.port)),
            Between::Unknown => None,
        }
    }
}

/// TLS, as the user asked for it.
#[derive(Debug, Clone)]
pub struct TlsSettings {
    /// PEM files of certificates trusted beside the system's.
    pub ca: Vec<PathBuf>,
    /// PEM file of the client's certificate chain.
    pub cert: Option<PathBuf>,
    /// PEM file of the client's private key.
    pub key: Option<PathBuf>,
    /// Name sent and verified in place of the host.
    pub server_name: Option<String>,
    pub insecure: bool,
    /// The least version that is offered.
    pub min: TlsVersion,
    pub max: TlsVersion,
    pub resume: bool,
    /// Further certificates of the client.
    pub client_certs: Vec<ClientCert>,
    /// Certificates for hosts where none is named; the first for a host counts.
    pub host_certs: Vec<HostCert>,
    /// The cipher suites of TLS 1.2 that are offered, by their names; empty: all there are.
    pub cipher_suites: Vec<String>,
    /// A file of such certificates.
    pub key_store: Option<KeyStore>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TlsVersion {
    V12,
    V13,
}

/// A certificate of the client that has a name.
#[derive(Debug, Clone)]
pub struct ClientCert {
    pub name: String,
    pub cert: PathBuf,
    pub key: PathBuf,
}

/// A certificate of the client for some hosts.
#[derive(Clone)]
pub struct HostCert {
    pub hosts: AllowList,
    /// PEM, as text: the chain, ...
    pub cert: String,
    /// ... and the private key.
    pub key: String,
}

impl fmt::Debug for HostCert {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostCert").field("hosts", &self.hosts).finish_non_exhaustive()
    }
}

/// A file of certificates with their private keys (PKCS #12).
#[derive(Clone)]
pub struct KeyStore {
    pub file: PathBuf,
    pub password: String,
}

impl fmt::Debug for KeyStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyStore").field("file", &self.file).finish_non_exhaustive()
    }
}

impl Default for TlsSettings {
    fn default() -> Self {
        TlsSettings {
            ca: Vec::new(),
            cert: None,
            key: None,
            server_name: None,
            insecure: false,
            min: TlsVersion::V12,
            max: TlsVersion::V13,
            resume: true,
            client_certs: Vec::new(),
            host_certs: Vec::new(),
            cipher_suites: Vec::new(),
            key_store: None,
        }
    }
}

/// Why the settings cannot be used, in a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetupError(pub String);

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SetupError {}

/// Why HTTP/2 without TLS goes through no proxy: such a one reads the requests itself, and is spoken to in HTTP/1.1.
pub(crate) fn plain_http2(origin: &Origin) -> String {
    format!("HTTP/2 to {origin} cannot go through a proxy: use https, or leave out `http: 2`")
}
