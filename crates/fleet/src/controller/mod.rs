//! The controller of a fleet: where a run's load comes from whose users are on other machines.
//!
//! - [`FleetSource`] is what a run takes in the place of its own workers. It sends what nodes need, shows how they prepare,
//!   and hands over what they record, a second at a time, as if one process had recorded it.
//! - `session` is one load of it, as a script of what the protocol says; `link` is what that is said over.
//! - `status` says what a fleet is doing, and stops a run from elsewhere.

mod coverage;
mod events;
mod front;
mod job;
mod kept;
mod link;
mod nodes;
mod options;
mod seconds;
mod session;
mod source;
mod status;
#[cfg(test)]
mod tests;

pub use options::{EndedNode, EndedNodes, FleetOptions, parse_nodes};
pub use source::FleetSource;
pub use status::{FleetStatus, NodeStatus, RunStatus, fleet_status, stop_run};
