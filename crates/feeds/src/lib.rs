//! Feeds: sinks of the runner that send the seconds of a run elsewhere while it goes on (`docs/feeds.md`).
//!
//! What is sent is decided in three pure steps: [`timeline`] makes of the runner's seconds such that strictly ascend,
//! [`table`] says which numbers there are, and [`points`] makes points of a second by that table. A `Wire` makes bytes of
//! points, and is pure too. [`outbox`] is the thread that hands these bytes to a receiver, and the only place that waits:
//! a receiver that is slow, down or refuses costs points, which are counted, and never the run.

mod feed;
mod graphite;
mod http;
mod influxdb;
mod json_lines;
mod outbox;
mod points;
mod table;
mod target;
mod timeline;

pub use feed::Feed;
pub use table::reference;
pub use target::{FeedKind, FeedTarget, TAGS_TAKEN};
