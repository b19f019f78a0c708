//! Who is at the other end of a connection, and how it is secured.

use std::net::SocketAddr;

use rustls::{CipherSuite, ClientConnection, ProtocolVersion};

/// The other end of a connection; behind a proxy this is the proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Peer {
    /// `None`: it is not TCP, or the kernel does not tell.
    pub address: Option<SocketAddr>,
    /// `tls1.2` or `tls1.3`; empty: no TLS.
    pub tls_version: &'static str,
    /// The cipher suite by its name in the registry of IANA, such as `TLS_AES_128_GCM_SHA256`; empty: no TLS.
    pub cipher_suite: &'static str,
}

impl Peer {
    /// The same, with what was agreed upon for TLS.
    pub(crate) fn secured(self, tls: &ClientConnection) -> Peer {
        let tls_version = match tls.protocol_version() {
            Some(ProtocolVersion::TLSv1_2) => "tls1.2",
            Some(ProtocolVersion::TLSv1_3) => "tls1.3",
            _ => "",
        };
        let suite = tls.negotiated_cipher_suite().map(|own| own.suite());
        Peer { tls_version, cipher_suite: suite.map_or("", name), ..self }
    }
}

/// rustls names the suites of version 1.3 in its own way.
fn name(suite: CipherSuite) -> &'static str {
    match suite {
        CipherSuite::TLS13_AES_128_GCM_SHA256 => "TLS_AES_128_GCM_SHA256",
        CipherSuite::TLS13_AES_256_GCM_SHA384 => "TLS_AES_256_GCM_SHA384",
        CipherSuite::TLS13_CHACHA20_POLY1305_SHA256 => "TLS_CHACHA20_POLY1305_SHA256",
        other => other.as_str().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suites_have_the_names_of_the_registry() {
        for (suite, expected) in [
            (CipherSuite::TLS13_AES_256_GCM_SHA384, "TLS_AES_256_GCM_SHA384"),
            (
                CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
                "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
            ),
            (CipherSuite::Unknown(0xffff), ""),
        ] {
            assert_eq!(name(suite), expected);
        }
    }
}
