//! Feeds: sinks of the runner that send the seconds of a run elsewhere while it goes on (`docs/feeds.md`).
//!
//! What is sent is decided in three pure steps: [`timeline`] makes of the runner's seconds such that strictly ascend,
//! [`table`] says which numbers there are, and [`points`] makes points of a second by that table; [`families`] makes series
//! of everything so far, for receivers that keep totals. Each kind has an `encode`, which makes bytes of these and is pure
//! too; [`outlet`] says which kind does what. [`outbox`] is the thread that hands these bytes to a receiver, and the only
//! place that waits: a receiver that is slow, down or refuses costs points, which are counted, and never the run.
//! [`dispatch`] takes what others have made points of. [`jmeter`] is another layout of points: those that boards made for JMeter's listeners ask for, of samples in place of seconds.
//! [`scrape`] waits for those who fetch instead, and serves what [`exposition`] makes.

mod address;
#[cfg(test)]
#[path = "../tests/it/decode.rs"]
mod decode;
mod dispatch;
mod exponential;
mod exposition;
mod families;
mod feed;
mod graphite;
mod grpc;
mod http;
mod influxdb;
mod jmeter;
mod json_lines;
mod otlp;
mod outbox;
mod outlet;
mod points;
mod protobuf;
mod remote_write;
mod scrape;
mod snappy;
mod statsd;
mod table;
mod timeline;

/// What the fuzzer asks of parsers that are otherwise this crate's own. No part of the interface.
pub mod fuzz {
    /// Any bytes as a gRPC server's response.
    pub fn grpc(bytes: &[u8]) {
        crate::grpc::fuzz(bytes);
    }
}

pub use dispatch::Dispatch;
pub use families::{Family, Resolution, SeriesValue, totals_reference};
pub use feed::Feed;
pub use influxdb::{FieldValue, line as influxdb_line};
pub use jmeter::JmeterFeed;
pub use otlp::Exporter;
pub use squall_plan::feed_target::{
    FeedKind, FeedTarget, TAGS_TAKEN, TAGS_TAKEN_BY_JMETER, masked,
};
pub use table::reference;
pub use timeline::Moment;
