//! Runs a plan as a library: setup, load, teardown and evaluation, the search for the limit, a trial, a check,
//! and what the machine has for it. Nothing is printed, no process ends, and nothing is kept from one run to
//! the next.

mod builtin;
mod calibration;
mod capacity;
mod check;
mod collect;
mod error;
mod handle;
mod host_sampler;
mod io_backend;
mod limit;
mod mask;
mod network_interfaces;
mod options;
mod plans;
mod process_usage;
mod request_log;
mod run;
mod setup_teardown;
mod trial;

pub use calibration::{Calibration, calibrate};
pub use capacity::{Available, Demand, MAX_WORKERS, Need, requests};
pub use check::{Checked, check};
pub use error::{Error, ErrorKind};
pub use handle::{Handle, Phase};
pub use host_sampler::available;
pub use limit::{LimitNotice, LimitOptions, LimitOutcome, Mode, level_kind, limit};
pub use mask::message as mask_message;
pub use options::{Options, RequestLogOptions};
pub use plans::{load, resize};
pub use run::{Notice, Outcome, run};
pub use trial::{Tried, try_plan};
