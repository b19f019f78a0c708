//! What a node keeps of its messages.

use crate::protocol::io::{Bytes, Kept};

/// Where a node keeps its messages until their run is released. The controller has none: see [`NoSpool`].
pub trait Spool: Send {
    /// Keeps a message.
    ///
    /// # Errors
    /// Why it is kept in memory alone, or not at all, in a sentence.
    fn keep(&mut self, kept: Kept) -> Result<(), String>;
    /// Reads one again; `None`: it is there no more.
    fn recall(&mut self, run: &str, boot: u64, number: u64) -> Option<Bytes>;
    /// Messages below this number may be deleted when room is needed.
    fn may_drop(&mut self, run: &str, boot: u64, below: u64);
    /// Deletes those of a run.
    fn drop_run(&mut self, run: &str);
    /// What former processes have left.
    fn all_kept(&mut self) -> Vec<Left>;
}

/// What a former process has kept of a run, and nobody has released.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// The run.
    pub run: String,
    /// The process.
    pub boot: u64,
    /// Its messages have numbers below this one.
    pub numbers: u64,
}

/// For a machine that keeps nothing.
#[derive(Debug, Clone, Copy)]
pub struct NoSpool;

impl Spool for NoSpool {
    fn keep(&mut self, _: Kept) -> Result<(), String> {
        Err("nothing is kept here".to_owned())
    }
    fn recall(&mut self, _: &str, _: u64, _: u64) -> Option<Bytes> {
        None
    }
    fn may_drop(&mut self, _: &str, _: u64, _: u64) {}
    fn drop_run(&mut self, _: &str) {}
    fn all_kept(&mut self) -> Vec<Left> {
        Vec::new()
    }
}
