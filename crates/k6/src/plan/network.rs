//! Options of connections as those of a plan. Pure.

use squall_plan::model::{
    self, AddressSelect, ConnectionReuse, Connections, Dns, HttpVersion, Tls,
};
use squall_plan::span::{Span, Spanned};

use crate::options::{Network, Reuse, TlsVersion};

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
            Reuse::WithinIteration | Reuse::Never => ConnectionReuse::PerIteration,
        },
        // HTTP/2 where the target speaks it over TLS.
        http: HttpVersion::Auto,
        resolve: own.hosts.iter().map(|(host, to)| (host.clone(), vec![at(to.clone())])).collect(),
        dns: Dns {
            ttl: Some(own.dns_ttl.unwrap_or(DNS_TTL)),
            select: if own.takes_first { AddressSelect::First } else { AddressSelect::RoundRobin },
        },
        source_addresses: own.local.iter().map(|own| at(own.to_string())).collect(),
        tls: Tls {
            insecure: own.is_insecure,
            min: own.tls.map(|(min, _)| version(min)),
            max: own.tls.map(|(_, max)| version(max)),
            ..Tls::default()
        },
        ..Connections::default()
    }
}
