//! Runs a plan as a library: setup, load, evaluation and teardown, the search for the limit, a trial, a check, and
//! what the machine has for it. Nothing is printed, no process ends, and nothing is kept from one run to the next.
//!
//! A run is a plan, options, sinks and a handle. [`Sink`]s are told what happens while it does, each on a thread of
//! its own; a [`Handle`] stops, pauses and changes the run from any thread; the [`FinishedRun`] is its result.
//!
//! ```
//! use squall_runner::{Handle, Options, load_str, run};
//!
//! let plan = "
//! target: builtin
//! scenarios:
//!   visitor:
//!     load: {users: 2, iterations: 5}
//!     steps: [{get: /}]
//! ";
//! let plan = load_str("visitors", plan)?;
//! let outcome = run(&plan, &Options::default(), Vec::new(), &Handle::default())?;
//! assert_eq!(outcome.run.totals.all().count, 10);
//! assert!(outcome.run.passed());
//! # Ok::<(), squall_runner::Error>(())
//! ```
//!
//! With sinks: a folder on disk, and the result as JSON.
//!
//! ```no_run
//! use squall_runner::{Folder, Handle, Json, Options, Sink, load, run};
//!
//! let plan = load("shop.yaml".as_ref(), &Default::default())?;
//! let sinks: Vec<(String, Box<dyn Sink>)> = vec![
//!     ("the folder".to_owned(), Box::new(Folder::new("squall-runs"))),
//!     ("result.json".to_owned(), Box::new(Json::new("result.json"))),
//! ];
//! let handle = Handle::default();
//! let watched = handle.clone();
//! std::thread::spawn(move || {
//!     std::thread::sleep(std::time::Duration::from_secs(60));
//!     watched.stop();
//! });
//! let outcome = run(&plan, &Options::default(), sinks, &handle)?;
//! let show = squall_report::Show { columns: 100, full: true, ..Default::default() };
//! println!("{}", squall_report::text(&squall_report::document(&outcome.run), &show));
//! # Ok::<(), squall_runner::Error>(())
//! ```

#![warn(missing_docs)]

mod available;
mod builtin;
mod calibration;
mod capacity;
mod check;
mod collect;
mod describe;
mod error;
mod guards;
mod handle;
mod headroom;
mod host_monitor;
mod host_sampler;
mod kernel_settings;
mod known_metrics;
mod limit;
mod load_source;
mod mask;
mod monitor;
mod network_interfaces;
mod options;
mod overrides;
mod phase;
mod plans;
mod prepared;
mod proc;
mod process_usage;
mod run;
mod sections;
mod sink;
mod source_addresses;
mod stages;
mod tls_files;
mod trial;

pub use available::{Available, available};
pub use calibration::{Calibration, calibrate};
pub use capacity::{Demand, MAX_WORKERS, Need, requests};
pub use check::{Checked, check};
pub use describe::{describe_load, processor, system};
pub use error::{Error, ErrorKind};
pub use handle::Handle;
pub use kernel_settings::{
    Advice, AdviceEffect, AdviceSource, KernelSettings, SettingChange, SettingReview,
};
pub use limit::{
    LimitNotice, LimitOptions, LimitOutcome, LimitParts, level_kind, limit, limit_with,
};
pub use load_source::{LoadOrder, LoadSource, LocalEngine};
pub use mask::{
    body as masked_body, head as masked_head, request as masked_request,
    threshold as masked_threshold, url as masked_url,
};
pub use monitor::{Monitor, Sampled as MonitorSample};
pub use options::Options;
pub use overrides::LoadOverrides;
pub use phase::Phase;
pub use plans::{MetricTags, import, load, load_str, metric_tags};
pub use run::{FinishedRun, RunParts, run, run_with};
pub use sections::{PhaseEnd, PhaseReport};
pub use sink::{
    Delivery, Event, EventKind, Folder, Json, LatestLoad, MergedLoad, Profiled, Progress,
    ProgressStyle, RequestLog, Row, Sampled, Samples, Second, SeenExchange, Sink, SinkReport,
    Start, Told, Trouble, Wanted, WantedExchanges, give_way,
};
pub use squall_front::{PlanText, Values};
pub use squall_wire::Io;
pub use trial::{Tried, TryFailures, try_plan};
