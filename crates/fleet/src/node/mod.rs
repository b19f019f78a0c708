//! What a process does that lends its machine to a fleet: runs loads ([`Load`]) within what it allows ([`policy`]), and keeps
//! what it recorded until the controller has it ([`DiskSpool`]).

mod capacity;
mod card;
mod engine;
mod files;
mod job;
mod load;
mod parts;
pub mod policy;
mod reached;
mod segment;
mod serve;
mod shared;
mod sink;
mod spool;

pub use card::VERSION;
pub use job::Fetch;
pub use load::Load;
pub use serve::{Asked, Error, NodeOptions, serve};
pub use spool::{DEFAULT_SIZE, DiskSpool};

#[cfg(test)]
mod tests;
