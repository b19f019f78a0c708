//! Options of connections as those of a plan. Pure.

use squall_plan::model::{
    self, AddressSelect, ConnectionReuse, Connections, Dns, HostCert, HttpVersion, Tls,
};
use squall_plan::span::{Span, Spanned};

use crate::options::{ClientCert, Network, Reuse, TlsVersion};

/// How long a resolved name is valid unless the options say otherwise.
const DNS_TTL: std::time::Duration = std::time::Duration::from_secs(300);

/// How connections are made and kept.
pub(super) fn connections(own: &Network) -> Connections {
    let at = |text: String| Spanned::new(text, Span::default());
    let version = |own: TlsVersion| {
        let version = match own {
            TlsVersion::V12 => model::TlsVersion::V12,
            TlsVersion::V13 => model::TlsVersion::V13,
        };
        Spanned::new(version, Span::default())
    };
    Connections {
        reuse: match own.reuse {
            Reuse::Always => ConnectionReuse::PerUser,
            Reuse::WithinIteration => ConnectionReuse::PerIteration,
            Reuse::Never => ConnectionReuse::PerRequest,
        },
        // HTTP/2 where the target speaks it over TLS.
        http: HttpVersion::Auto,
        resolve: own.hosts.iter().map(|(host, to)| (host.clone(), vec![at(to.clone())])).collect(),
        dns: Dns {
            ttl: Some(own.dns_ttl.unwrap_or(DNS_TTL)),
            select: if own.takes_first { AddressSelect::First } else { AddressSelect::RoundRobin },
        },
        block_hosts: own.blocked_hosts.iter().cloned().map(at).collect(),
        block_addresses: own.blocked_addresses.iter().cloned().map(at).collect(),
        source_addresses: own.local.iter().map(|own| at(own.to_string())).collect(),
        tls: Tls {
            insecure: own.tls.is_insecure,
            min: own.tls.versions.map(|(min, _)| version(min)),
            max: own.tls.versions.map(|(_, max)| version(max)),
            host_certs: own.tls.auth.iter().map(host_cert).collect(),
            cipher_suites: own.tls.cipher_suites.iter().cloned().map(at).collect(),
            ..Tls::default()
        },
        ..Connections::default()
    }
}

fn host_cert(own: &ClientCert) -> HostCert {
    let hosts = own.hosts.iter().map(|host| Spanned::new(host.clone(), Span::default()));
    HostCert { hosts: hosts.collect(), cert: own.cert.clone(), key: own.key.clone() }
}
