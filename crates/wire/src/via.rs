//! How an origin is reached: what one request may ask for and another not.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// How connections to an origin are made, beside what the settings say of all.
#[derive(Debug, Clone, Default)]
pub struct Via {
    /// The number of the client certificate that they show, see [`crate::Client::certificate`]; without one they show
    /// that without a name, if there is one.
    pub certificate: Option<u16>,
    /// The HTTP proxy that they go through, if HTTP is spoken.
    pub proxy: Option<Arc<Proxy>>,
    /// The local address that they are made from; without one those of the settings are used in turn.
    pub source: Option<IpAddr>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Proxy {
    /// Name or address; an IPv6 address without brackets.
    pub host: String,
    pub port: u16,
    /// `user:password`, sent as Basic.
    pub credentials: Option<String>,
}

impl Proxy {
    /// The value of Proxy-Authorization, if it is to be sent.
    pub fn authorization(&self) -> Option<String> {
        let credentials = self.credentials.as_ref()?;
        Some(format!("Basic {}", STANDARD.encode(credentials)))
    }
}

/// Host and port, without credentials.
impl fmt::Display for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port),
            false => write!(f, "{}:{}", self.host, self.port),
        }
    }
}
