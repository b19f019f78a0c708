//! How connections are made and kept.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::keys::{
    At, ByName, Form, HostPattern, Key, Keys, Like, Listed, Maybe, Naming, Of, Plain, ProxyUrl,
    Rule, Shape, Small, Templated, Text, Word, record, words,
};
use crate::nodes::{Node, Reader};
use crate::span::Spanned;
use crate::template::Template;

record! {
    /// How connections are made and kept.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Connections as "connections" {
        /// Who uses one again, and for how long.
        #[key(flat)]
        pub reuse: ConnectionReuse,
        /// The HTTP version that they use.
        pub http: HttpVersion,
        /// `host` or `host:port` to the addresses used in place of DNS, as curl's `--resolve`; or to the names of other
        /// hosts, whose addresses are then used. `*.suffix` stands for every name below it that has no entry.
        #[key([Resolve])]
        pub resolve: BTreeMap<String, Vec<Spanned<String>>>,
        /// How host names are resolved.
        pub dns: Dns,
        /// Local IP addresses that connections are made from, each with the next one of its target's family.
        pub source_addresses: Vec<Spanned<String>>,
        /// Unix socket that takes the place of TCP to the target.
        pub unix: Option<PathBuf>,
        /// HTTP proxy, `http://[user:password@]host:port`: CONNECT for https, absolute form for http. The environment
        /// (`HTTP_PROXY`) is ignored.
        #[key([Maybe<Like<Templated, ProxyUrl>>])]
        pub proxy: Option<Template>,
        /// Hosts to which requests go without that proxy: `host`, `host:port`, `*.suffix`, or `*`.
        #[key([Listed<At<Like<Text, HostPattern>>>])]
        pub no_proxy: Vec<Spanned<String>>,
        /// Hosts that no request may go to, whatever allows it: `host`, `*.suffix`, or `*`.
        #[key([Listed<At<Like<Text, HostPattern>>>])]
        pub block_hosts: Vec<Spanned<String>>,
        /// Addresses that no connection may be made to: `10.0.0.5`, `10.0.0.0/8`.
        pub block_addresses: Vec<Spanned<String>>,
        /// TLS settings.
        pub tls: Tls,
    }
    rules(_this, keys) {
        let help = "leave out one of them: a connection goes either way";
        keys.rule(Rule::Excludes("unix", "proxy", help));
        keys.rule(Rule::Excludes("unix", "source_addresses", help));
    }
}

record! {
    /// How host names are resolved.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Dns as "dns" {
        /// How long a resolved name is valid, from its first use; a connection that is made later resolves it again.
        #[key(default "the whole run")]
        pub ttl: Option<Duration>,
        /// Which of several addresses a connection tries first; the others follow if it refuses.
        pub select: AddressSelect,
    }
}

words! {
    /// Which of several addresses a connection tries first.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum AddressSelect {
        /// Each connection the next one.
        #[default]
        RoundRobin = "round_robin",
        /// The first one.
        First = "first",
    }
}

/// Hosts and their addresses.
struct Resolve;

type Addresses = Listed<<Spanned<String> as Plain>::Form>;

impl Form for Resolve {
    type Value = BTreeMap<String, Vec<Spanned<String>>>;
    fn shape() -> Shape {
        Shape::Names(Box::new(Addresses::shape()), Naming::ANY)
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<Self::Value> {
        let hosts = reader.names(node).into_iter();
        Some(
            hosts
                .filter_map(|(host, node)| Some((host.value, Addresses::read(reader, node)?)))
                .collect(),
        )
    }
    fn print(value: &Self::Value) -> Value {
        let hosts = value.iter().map(|(host, to)| (host.clone(), Addresses::print(to)));
        Value::Object(hosts.collect::<Map<_, _>>())
    }
    fn is_given(value: &Self::Value) -> bool {
        !value.is_empty()
    }
}

words! {
    /// The version of HTTP that connections speak.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum HttpVersion {
        /// HTTP/1.1.
        #[default]
        V1 = "1.1",
        /// HTTP/2: agreed on by ALPN over TLS, by prior knowledge without.
        V2 = "2",
        /// Over TLS what the target prefers, without it HTTP/1.1.
        Auto = "auto",
    }
}

/// Who uses a connection again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ConnectionReuse {
    /// Each user has its own, kept over its iterations.
    #[default]
    PerUser,
    /// Closed at the end of each iteration.
    PerIteration,
    /// Closed after each request.
    PerRequest,
    /// A pool of at most this many over all users (split over the workers).
    Pool(u32),
}

words! {
    /// Who uses a connection again, without the size of a pool.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Reuse {
        /// Each user has its own, kept over its iterations.
        #[default]
        PerUser = "per_user",
        /// Closed at the end of each iteration.
        PerIteration = "per_iteration",
        /// Closed after each request.
        PerRequest = "per_request",
        /// All users share those of a pool.
        Pool = "pool",
    }
}

impl ConnectionReuse {
    fn keys(&mut self, keys: &mut Keys<'_>) {
        let (mut reuse, mut size) = match *self {
            ConnectionReuse::PerUser => (Reuse::PerUser, None),
            ConnectionReuse::PerIteration => (Reuse::PerIteration, None),
            ConnectionReuse::PerRequest => (Reuse::PerRequest, None),
            ConnectionReuse::Pool(size) => (Reuse::Pool, Some(size)),
        };
        let about = "Who uses a connection again, and for how long.";
        keys.key::<Word<Reuse>>(&mut reuse, Key::new("reuse", about));
        let about = "Maximum number of connections in the pool, over all workers.";
        keys.key::<Maybe<Small<1, { u32::MAX }>>>(&mut size, Key::new("pool_size", about));
        keys.rule(Rule::OnlyWith {
            key: "pool_size",
            other: "reuse",
            word: "pool",
            help: "a pool is written as `reuse: pool` and `pool_size: 100`",
        });
        *self = match reuse {
            Reuse::PerUser => ConnectionReuse::PerUser,
            Reuse::PerIteration => ConnectionReuse::PerIteration,
            Reuse::PerRequest => ConnectionReuse::PerRequest,
            Reuse::Pool => ConnectionReuse::Pool(size.unwrap_or(1)),
        };
    }
}

record! {
    /// TLS settings.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Tls as "tls" {
        /// PEM file of certificates trusted in addition to the system's.
        pub ca: Option<Spanned<PathBuf>>,
        /// PEM file of the client's certificate chain.
        pub cert: Option<Spanned<PathBuf>>,
        /// PEM file of the client's private key.
        pub key: Option<Spanned<PathBuf>>,
        /// Name sent and verified instead of the host.
        pub server_name: Option<String>,
        /// Accept any certificate.
        pub insecure: bool,
        /// The least version of TLS that is offered.
        #[key(default "1.2")]
        pub min: Option<Spanned<TlsVersion>>,
        /// The greatest.
        #[key(default "1.3")]
        pub max: Option<Spanned<TlsVersion>>,
        /// Whether sessions are resumed.
        #[key(default "true")]
        pub resume: Option<bool>,
        /// Certificates of the client that requests name (`client_cert`).
        #[key([ByName<Of<ClientCert>>])]
        pub client_certs: Vec<ClientCert>,
        /// Certificates of the client that hosts are shown where a request names none; the first for a host counts.
        #[key([Listed<Of<HostCert>>])]
        pub host_certs: Vec<HostCert>,
        /// The cipher suites of TLS 1.2 that are offered, by their names (RFC 5289, RFC 7905).
        #[key(default "all six")]
        pub cipher_suites: Vec<Spanned<String>>,
        /// A file of such certificates, which requests name by their aliases; the only one of a file is the client's
        /// where a request names none.
        pub key_store: Option<KeyStore>,
    }
}

words! {
    /// A version of TLS.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum TlsVersion {
        /// TLS 1.2 (RFC 5246).
        V12 = "1.2",
        /// TLS 1.3 (RFC 8446).
        V13 = "1.3",
    }
}

impl Tls {
    /// The least and the greatest version that are offered.
    pub fn versions(&self) -> (TlsVersion, TlsVersion) {
        let given = |version: &Option<Spanned<TlsVersion>>| version.as_ref().map(|own| own.value);
        let (min, max) = (given(&self.min), given(&self.max));
        (min.unwrap_or(TlsVersion::V12), max.unwrap_or(TlsVersion::V13))
    }
}

record! {
    /// A certificate of the client.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct ClientCert as "a client certificate" {
        /// What requests call it.
        #[key(no)]
        pub name: Spanned<String>,
        /// PEM file of its chain.
        #[key(required)]
        pub cert: PathBuf,
        /// PEM file of its private key.
        #[key(required)]
        pub key: PathBuf,
    }
    named(name)
}

record! {
    /// A certificate of the client for some hosts.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct HostCert as "a certificate for hosts" {
        /// Hosts: `host`, `*.suffix`, or `*`.
        #[key([Listed<At<Like<Text, HostPattern>>>] default "all")]
        pub hosts: Vec<Spanned<String>>,
        /// Its chain, as PEM text.
        #[key(required)]
        pub cert: String,
        /// Its private key, as PEM text.
        #[key(required)]
        pub key: String,
    }
}

record! {
    /// A file of certificates with their private keys.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct KeyStore as "a key store" {
        /// The file: PEM as `openssl pkcs12 -nodes` writes it, or PKCS #12 if squall was built to read it.
        #[key(required)]
        pub file: Spanned<PathBuf>,
        /// Its password, known before the run, if it is PKCS #12.
        pub password: Template,
    }
}
