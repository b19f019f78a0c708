//! Monitors: what the target and its hosts did while the load ran, sampled once a second, off the path of requests. One file
//! or folder is one kind. What is sampled under which name is in `squall_metrics::MONITORED`.
//!
//! Files of `/proc` and `/sys` are read by our own few lines, not by a crate: only the fields that are needed, so that ten
//! processes cost little, and below a root that tests replace by recorded files.

mod cgroup;
mod host;
mod nginx;
mod of_plan;
mod postgres;
mod pressure;
mod process;
mod rates;
mod sampler;
mod samples;
mod scrape;
mod system;

/// What the fuzzer asks of parsers that are otherwise this crate's own. No part of the interface.
pub mod fuzz {
    /// Any bytes as what an endpoint or a program says, twice, a second apart.
    pub fn scrape(bytes: &[u8]) {
        crate::scrape::fuzz(bytes);
    }

    /// Any bytes as the file of a Java virtual machine.
    pub fn perf_data(bytes: &[u8]) {
        crate::process::fuzz(bytes);
    }
}

pub use of_plan::{Monitors, of_plan, pids, refused, unreadable, wanted};
