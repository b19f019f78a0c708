//! Monitors: what samples something beside the load, once a second, such as the host that squall runs on, or a database.
//! Totals, thresholds, sinks and results have their metrics as they have those that a plan records. No second of the load
//! waits for a monitor: what it has not sampled in time is lost, and counted.

mod account;
mod interface;
mod recorder;
mod threads;

pub use interface::{Monitor, Sampled};
pub(crate) use recorder::Recorder;
pub(crate) use threads::Monitors;
