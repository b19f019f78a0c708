//! Speaks to the target: sockets, TLS, DNS, HTTP/1.1, HTTP/2, bodies as streams. Knows nothing of plans,
//! loads or records.
//!
//! A worker has one [`Client`]; [`connect()`] opens connections for it: a [`Connection`] that carries one
//! request at a time, or a [`Session`] with a [`Stream`] for each. Their `exchange` carries one request and
//! its response. Limits of time are the caller's: it drops the future, and
//! asks its [`Progress`] what it was waiting for.

mod arrivals;
mod body;
mod client;
mod connect;
mod decompress;
mod error;
mod event_loop;
mod exchange;
mod h1;
mod http2;
mod http2_fields;
mod intake;
mod link;
mod message;
mod names;
mod origin;
mod peer;
mod progress;
mod resolve;
mod ring;
mod settings;
mod shared;
mod socket_facts;
mod sys;
mod throttle;
#[cfg(test)]
mod timeline;
mod tls;
mod tls_failure;
mod via;
#[cfg(test)]
mod virtual_network;
#[cfg(test)]
mod virtual_time;

pub use body::{BodySink, BodySource};
pub use client::{Client, InTokio};
pub use connect::{ConnectTimes, Connected, Opened, connect};
pub use decompress::{Bounds, Codings, Decompressor, Encoding, Undo};
pub use error::{Delivery, Error, ErrorKind};
pub use event_loop::{LoopOwner, run_loop};
pub use exchange::{BytesEnd, BytesOut, Connection, Framed, Framing};
pub use h1::{Malformed, Parsed, ResponseParser};
pub use http2::{Session, Stream};
pub use http2_fields::Fields;
pub use message::{Expect, RequestBytes, RequestFields, Response, Times};
pub use origin::{Origin, Scheme};
pub use peer::Peer;
pub use progress::{Clock, Phase, Progress};
pub use ring::LoopWaker;
pub use settings::{
    Between, ClientCert, Destination, Dns, HostCert, Http, Io, KeyStore, Settings, SetupError,
    Substitute, TlsSettings, TlsVersion,
};
pub use shared::Shared;
pub use socket_facts::MAY_BE_RETRANSMITTED_NS;
pub use throttle::Throttle;
pub use tls::{check_certificates, check_identity, check_key_store};
pub use via::{Proxy, Via};
