//! Where a connection goes.

use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scheme {
    Http,
    Https,
    /// No HTTP at all: bytes over TCP, directly and nowhere else.
    Tcp,
}

impl Scheme {
    /// The port where none is given.
    pub fn default_port(self) -> u16 {
        match self {
            Scheme::Http => 80,
            Scheme::Https => 443,
            // There is none: it is always said.
            Scheme::Tcp => 0,
        }
    }
}

/// Scheme, host and port: connections are kept by it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Origin {
    pub scheme: Scheme,
    /// Name or address; an IPv6 address without brackets.
    pub host: Box<str>,
    pub port: u16,
}

impl Origin {
    /// Whether it is reached over TLS.
    pub fn is_tls(&self) -> bool {
        self.scheme == Scheme::Https
    }

    /// Whether HTTP is spoken there.
    pub fn is_http(&self) -> bool {
        self.scheme != Scheme::Tcp
    }

    /// `host`, or `host:port` where the port is not the scheme's own: the Host header's value.
    pub fn authority(&self) -> String {
        if self.port == self.scheme.default_port() {
            return self.bracketed();
        }
        format!("{}:{}", self.bracketed(), self.port)
    }

    /// `host:port`, always with the port.
    pub(crate) fn host_and_port(&self) -> String {
        format!("{}:{}", self.bracketed(), self.port)
    }

    fn bracketed(&self) -> String {
        if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.to_string() }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match self.scheme {
            Scheme::Http => "http",
            Scheme::Https => "https",
            Scheme::Tcp => "tcp",
        };
        write!(f, "{scheme}://{}", self.authority())
    }
}
