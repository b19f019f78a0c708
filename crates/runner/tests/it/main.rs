//! Runs of plans through the library, in this process: one binary for all, as each would be linked anew.

mod bodies;
mod common;
mod connection;
mod deadlines;
mod http2;
mod limit;
mod load_source;
mod loads;
mod looks;
mod monitors;
mod parallel;
mod plans;
mod proxies;
mod resources;
mod responses;
mod running;
mod sections;
mod sessions;
mod steady;
mod steps;
mod stored;
mod tcp;
mod time_accounting;
mod trace_context;
mod waiting;
