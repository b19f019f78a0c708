//! Speaks to the target: sockets, TLS, DNS, HTTP/1.1, HTTP/2, bodies as streams. Knows nothing of plans,
//! loads or records.
//!
//! A worker has one [`Client`]; [`connect`] opens connections for it: a [`Connection`] that carries one
//! request at a time, or a [`Session`] with a [`Stream`] for each. Their `exchange` carries one request and
//! its response. Limits of time are the caller's: it drops the future, and
//! asks its [`Progress`] what it was waiting for.

mod body;
mod client;
mod connect;
mod decompress;
mod direct;
#[cfg(target_os = "linux")]
mod discard;
mod error;
mod event_loop;
mod exchange;
mod h1;
mod http2;
mod intake;
mod link;
mod message;
mod origin;
mod progress;
mod resolve;
#[cfg(target_os = "linux")]
mod ring;
mod settings;
#[cfg(target_os = "linux")]
mod stamp;
#[cfg(target_os = "linux")]
mod sys;
mod throttle;
mod tls;

pub use body::{BodySink, BodySource};
pub use client::{Client, InTokio};
pub use connect::{ConnectTimes, Connected, Opened, connect};
pub use decompress::{Bounds, Decompressor, Encoding};
pub use error::{Delivery, Error, ErrorKind};
pub use event_loop::{LoopOwner, LoopWaker, run_loop};
pub use exchange::Connection;
pub use h1::{Malformed, Parsed, ResponseParser};
pub use http2::{Fields, Session, Stream};
pub use message::{Expect, RequestBytes, RequestFields, Response, Times};
pub use origin::{Origin, Scheme};
pub use progress::{Clock, Phase, Progress};
pub use settings::{Http, Io, Proxy, Settings, SetupError, Shared, TlsSettings};
pub use throttle::Throttle;
