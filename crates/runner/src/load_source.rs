//! Where the seconds of a load come from: the workers of this process or, as a run knows no more of them than is here,
//! anything else that hands over slices.

use std::io;
use std::sync::Arc;

use squall_engine::{Control, Ended, Event, Program, RunOptions, Trace};
use squall_wire::Shared;

/// What a source is to run.
pub struct LoadOrder<'a> {
    /// The load, with what the setup has found.
    pub program: Arc<Program>,
    /// What its connections need.
    pub network: Arc<Shared>,
    /// How many workers it may have, when it starts, and which share of the load is this run's.
    pub options: &'a RunOptions,
    /// Stops, pauses and changes it. A source that cannot pause or change a load ignores that; it obeys a stop.
    pub control: &'a Control,
    /// What is handed copies of requests and groups, if anybody wants any.
    pub trace: Option<Trace>,
}

/// Runs loads, and hands over what they record.
pub trait LoadSource: Send + Sync {
    /// How many workers hand over a slice of each second: a second is whole when all have.
    fn workers(&self, program: &Program, options: &RunOptions) -> u32 {
        options.workers.min(program.most_workers())
    }

    /// Runs a load until it is done or stopped. `on` is told of the start, once and first, and then of slices and lines of
    /// the log, in any order. Each slice has a worker and a second; one that comes twice counts once, and one that is
    /// late makes its second come again. Workers have numbers below 2³¹ - 1.
    ///
    /// # Errors
    /// Nothing was sent. What fails later is in [`Ended::failures`].
    fn run(&self, order: LoadOrder<'_>, on: &mut dyn FnMut(Event<'_>)) -> io::Result<Ended>;
}

/// The workers of this process.
#[derive(Debug, Clone, Copy, Default)]
pub struct LocalEngine;

impl LoadSource for LocalEngine {
    fn run(&self, order: LoadOrder<'_>, on: &mut dyn FnMut(Event<'_>)) -> io::Result<Ended> {
        let LoadOrder { program, network, options, control, trace } = order;
        squall_engine::run(program, network, options, control, trace, on)
    }
}
