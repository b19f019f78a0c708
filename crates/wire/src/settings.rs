//! How connections are made: what the user asked for, and what is made of it once before the run.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::origin::Origin;
use crate::progress::Clock;
use crate::ring::Ring;
use crate::tls::Connectors;
use crate::via::Proxy;
use crate::{resolve, tls};

/// The I/O backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Io {
    /// By io_uring where the system has it and allows it, otherwise by epoll.
    #[default]
    Auto,
    /// By epoll, or what the system has in its place.
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
    /// HTTP/1.1.
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
    /// `host` or `host:port` to what is used in place of what DNS says of it; a port is used where it is not 0.
    pub resolve: HashMap<String, Vec<Substitute>>,
    /// How names are looked up.
    pub dns: Dns,
    /// Source addresses, used round robin where a connection has none of its own.
    pub source_addresses: Vec<IpAddr>,
    /// First and last local port of the system, where connections take them one after the other (Linux
    /// 6.3 and later). Left to itself, the kernel gives out every second port first, and when these are
    /// taken it tries all of them for each connection, which takes a millisecond.
    pub ports: Option<(u16, u16)>,
    /// Unix socket in place of TCP, whatever the origin.
    pub unix: Option<PathBuf>,
    /// TLS.
    pub tls: TlsSettings,
    /// The version of HTTP.
    pub http: Http,
    /// The I/O backend.
    pub io: Io,
}

/// What takes the place of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Substitute {
    /// An address.
    Address(SocketAddr),
    /// The addresses of another host, looked up before the run, and a port.
    Host(String, u16),
}

/// How names are looked up.
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
    /// Where it ends.
    pub origin: Origin,
    /// What is in between.
    pub between: Between,
}

/// What is between this machine and an origin.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Between {
    /// Nothing.
    Nothing,
    /// A proxy.
    Proxy(Arc<Proxy>),
    /// What only users know.
    Unknown,
}

impl Destination {
    /// The name and the port that connections are made to, if they are known.
    fn peer(&self) -> Option<(String, u16)> {
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
    /// Accept any certificate.
    pub insecure: bool,
    /// The least version that is offered.
    pub min: TlsVersion,
    /// The greatest.
    pub max: TlsVersion,
    /// Whether sessions are resumed.
    pub resume: bool,
    /// Further certificates of the client.
    pub client_certs: Vec<ClientCert>,
    /// A file of such certificates.
    pub key_store: Option<KeyStore>,
}

/// A version of TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TlsVersion {
    /// RFC 5246.
    V12,
    /// RFC 8446.
    V13,
}

/// A certificate of the client that has a name.
#[derive(Debug, Clone)]
pub struct ClientCert {
    /// Its name.
    pub name: String,
    /// PEM file of its chain.
    pub cert: PathBuf,
    /// PEM file of its private key.
    pub key: PathBuf,
}

/// A file of certificates with their private keys (PKCS #12).
#[derive(Clone)]
pub struct KeyStore {
    /// The file.
    pub file: PathBuf,
    /// Its password.
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

/// What all workers share, read-only while they run.
pub struct Shared {
    pub(crate) settings: Settings,
    pub(crate) tls: Connectors,
    /// Addresses that the user gave, by `host` or `host:port`.
    given: HashMap<String, Vec<SocketAddr>>,
    /// Addresses by `host:port`, of the names known before the run.
    pub(crate) addresses: HashMap<String, Vec<SocketAddr>>,
    /// Where connections go that go elsewhere than their names say.
    elsewhere: Vec<SocketAddr>,
    io: Io,
    /// Why it is not the backend that it could be.
    io_warning: Option<String>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("addresses", &self.addresses).finish_non_exhaustive()
    }
}

impl Shared {
    /// Reads certificates, and looks up the names of where connections go (this blocks, for at most 10 s).
    ///
    /// A name that has no address is no error here: each request to it will fail and say so.
    ///
    /// # Errors
    /// A certificate or key cannot be read; no name server answers; there is no io_uring, and nothing
    /// else may be used; HTTP/2 without TLS is to go through a proxy.
    pub fn new(settings: Settings, to: &[Destination]) -> Result<Arc<Shared>, SetupError> {
        let is_proxied = |to: &&Destination| matches!(to.between, Between::Proxy(_));
        let plain = || to.iter().filter(|to| !to.origin.is_tls());
        if let Some(to) = plain().find(is_proxied).filter(|_| settings.http == Http::V2) {
            return Err(SetupError(plain_http2(&to.origin)));
        }
        if let (Some(path), Some(to)) = (&settings.unix, to.iter().find(is_proxied)) {
            let (to, path) = (&to.origin, path.display());
            return Err(SetupError(format!(
                "requests to {to} cannot go both through a proxy and through the Unix socket {path}: leave out one of them"
            )));
        }
        let tls = tls::connectors(&settings.tls, settings.http)?;
        let (io, io_warning) = choose(settings.io)?;
        let given = resolve::substitutes(&settings.resolve)?;
        let (addresses, elsewhere) = (HashMap::new(), Vec::new());
        let mut shared = Shared { settings, tls, given, addresses, elsewhere, io, io_warning };
        if shared.settings.unix.is_some() {
            return Ok(Arc::new(shared));
        }
        let mut names = Vec::new();
        for name in to.iter().filter_map(Destination::peer) {
            match shared.overridden(&name.0, name.1) {
                Some(given) => shared.elsewhere.extend(given.iter()),
                None if names.contains(&name) => {}
                None => names.push(name),
            }
        }
        let found = resolve::lookup_all(names.clone())?;
        for ((host, port), found) in names.into_iter().zip(found) {
            if let Some(addresses) = found {
                shared.addresses.insert(format!("{host}:{port}"), addresses);
            }
        }
        Ok(Arc::new(shared))
    }

    /// The source addresses of connections; none: the system chooses.
    pub fn source_addresses(&self) -> &[IpAddr] {
        &self.settings.source_addresses
    }

    /// Where connections go, as far as is known before the run: the addresses of the origins, or of the proxy.
    pub fn destinations(&self) -> Vec<SocketAddr> {
        unique(self.addresses.values().flatten().chain(&self.elsewhere).copied())
    }

    /// The names of the client certificates that requests may name.
    pub fn certificates(&self) -> impl Iterator<Item = &str> {
        self.tls.named.iter().map(|(name, _)| name.as_str())
    }

    /// Whether connections have a client certificate where none is named.
    pub fn has_certificate(&self) -> bool {
        self.tls.has_certificate
    }

    /// The I/O backend in use: never [`Io::Auto`].
    pub fn io(&self) -> Io {
        self.io
    }

    /// Why the backend is epoll on a machine that has io_uring and seems to allow it.
    pub fn io_warning(&self) -> Option<&str> {
        self.io_warning.as_deref()
    }

    /// The addresses that the user gave for a name.
    pub(crate) fn overridden(&self, host: &str, port: u16) -> Option<Rc<[SocketAddr]>> {
        if self.given.is_empty() {
            return None;
        }
        let given = self.given.get(&format!("{host}:{port}")).or_else(|| self.given.get(host))?;
        let with_port = |address: &SocketAddr| match address.port() {
            0 => SocketAddr::new(address.ip(), port),
            _ => *address,
        };
        Some(given.iter().map(with_port).collect())
    }
}

/// Why HTTP/2 without TLS goes through no proxy: such a one reads the requests itself, and is spoken to in HTTP/1.1.
pub(crate) fn plain_http2(origin: &Origin) -> String {
    format!("HTTP/2 to {origin} cannot go through a proxy: use https, or leave out `http: 2`")
}

/// What [`Io::Auto`] means on this machine, with a warning where that is a surprise: that a container forbids io_uring, or that the
/// kernel is older, is none.
fn choose(wanted: Io) -> Result<(Io, Option<String>), SetupError> {
    let tried = match wanted {
        Io::Epoll => return Ok((Io::Epoll, None)),
        _ => Ring::new(Clock::new(Instant::now()), None).map(drop),
    };
    match (tried, wanted) {
        (Ok(()), _) => Ok((Io::Uring, None)),
        (Err(error), Io::Auto | Io::Epoll) => {
            let is_surprise = error.kind() == io::ErrorKind::Other;
            let warning = || format!("epoll in place of io_uring, which costs more CPU: {error}");
            Ok((Io::Epoll, is_surprise.then(warning)))
        }
        (Err(error), Io::Uring) => Err(SetupError(format!(
            "there is no io_uring here ({error}): it needs Linux 6.1 or later, and containers often forbid it; `--io auto` takes epoll where it is missing"
        ))),
    }
}

/// Addresses, each once, in the order given.
pub(crate) fn unique(addresses: impl Iterator<Item = SocketAddr>) -> Vec<SocketAddr> {
    let mut seen = Vec::new();
    for address in addresses {
        if !seen.contains(&address) {
            seen.push(address);
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::origin::Scheme;

    #[test]
    fn what_takes_the_place_of_a_host_is_a_destination_with_its_port() {
        let given = [Substitute::Address(SocketAddr::from(([127, 0, 0, 1], 0)))];
        let settings = Settings {
            resolve: [("shop.test".to_owned(), given.to_vec())].into(),
            ..Settings::default()
        };
        let to = |host: &str, port| Destination {
            origin: Origin { scheme: Scheme::Http, host: host.into(), port },
            between: Between::Nothing,
        };
        let to = [to("shop.test", 8080), to("shop.test", 81), to("127.0.0.2", 82)];
        let shared = Shared::new(settings, &to).expect("a network");
        let mut found = shared.destinations();
        found.sort_unstable();
        let expected = [("127.0.0.1", 81), ("127.0.0.1", 8080), ("127.0.0.2", 82)];
        let expected =
            expected.map(|(host, port)| SocketAddr::new(host.parse().expect("an address"), port));
        assert_eq!(found, expected);
    }
}
