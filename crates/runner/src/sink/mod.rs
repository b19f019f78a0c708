//! What a run tells those who watch it: a [`Sink`] is told of its start, of each second, of events, and of
//! its result. Each sink has a thread of its own behind a bounded queue; what finds the queue full is dropped
//! and counted, so that a slow sink slows neither the load nor another sink.

mod delivery;
mod event;
mod folder;
mod give_way;
mod interface;
mod json;
mod latest_load;
mod marks;
mod merged_load;
mod profiled;
mod progress;
mod queue;
mod request_log;
mod sampled;
mod samples;
mod second;

pub use delivery::{Delivery, Trouble};
pub use event::{Event, EventKind, SeenExchange};
pub use folder::Folder;
pub use give_way::give_way;
pub use interface::{Sink, Start, Wanted, WantedExchanges};
pub use json::Json;
pub use latest_load::LatestLoad;
pub use merged_load::MergedLoad;
pub use profiled::Profiled;
pub use progress::{Progress, ProgressStyle};
pub use queue::SinkReport;
pub(crate) use queue::Sinks;
pub use request_log::RequestLog;
pub use sampled::{Sampled, Told};
pub use samples::Samples;
pub(crate) use second::Seconds;
pub use second::{Row, Second};
