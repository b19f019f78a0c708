//! Where the seconds of a load come from: the workers of this process or, as a run knows no more of them than is here,
//! anything else that hands over slices.

use std::io;
use std::path::Path;
use std::sync::Arc;

use squall_engine::{CompileOptions, Control, Ended, Event, Program, RunOptions, Trace};
use squall_plan::model::Plan;
use squall_plan::value::Value;
use squall_report::Run;
use squall_wire::Shared;

use crate::handle::Handle;
use crate::options::Options;

/// What a source is to run.
pub struct LoadOrder<'a> {
    /// The load, with what the setup has found.
    pub program: Arc<Program>,
    /// What its connections need.
    pub network: Arc<Shared>,
    /// How many workers it may have, when it starts, and which share of the load is this run's.
    pub options: &'a RunOptions,
    /// Interrupts the run, where the source is asked to.
    pub handle: &'a Handle,
    /// Stops, pauses and changes it. A source that cannot pause or change a load ignores that; it obeys a stop.
    pub control: &'a Control,
    /// What is handed copies of requests and groups, if anybody wants any ([`Trace::wanted`]).
    pub trace: Option<Trace>,
    /// For who compiles it once more elsewhere: what the program was made of, ...
    pub plan: &'a Plan,
    /// ... how it was compiled, with what the setup has found, ...
    pub compile: &'a CompileOptions,
    /// ... and how it is to be run.
    pub asked: &'a Options,
    /// The run's folder, if it has one.
    pub folder: Option<&'a Path>,
}

/// Runs loads, and hands over what they record.
pub trait LoadSource: Send + Sync {
    /// How many workers hand over a slice of each second: a second is whole when all have.
    fn workers(&self, program: &Program, options: &RunOptions) -> u32 {
        options.workers.min(program.most_workers())
    }

    /// Whether this machine generates the load: what it has is then compared with what the plan needs, and its metrics are
    /// recorded and judged.
    fn is_local(&self) -> bool {
        true
    }

    /// The names of the metrics that it hands over as slices of monitors, which are then known to thresholds.
    fn metrics(&self) -> Vec<String> {
        Vec::new()
    }

    /// What the setup had found of a run that goes on, whose setup is not run again; `None`: it begins.
    fn found(&self) -> Option<Vec<(String, Value)>> {
        None
    }

    /// Runs a load until it is done or stopped. `on` is told of the start, once and before slices and lines of
    /// the log, which come in any order. Each slice has a worker and a second; one that comes twice counts once, and one that is
    /// late makes its second come again. Workers have numbers below 2³¹ - 1.
    ///
    /// # Errors
    /// Nothing was sent. What fails later is in [`Ended::failures`].
    fn run(&self, order: LoadOrder<'_>, on: &mut dyn FnMut(Event<'_>)) -> io::Result<Ended>;

    /// Adds to a result, when the load is over, what is known of those who generated it.
    fn complete(&self, _run: &mut Run) {}

    /// Everything is evaluated and written, or cannot be: nobody asks for anything recorded any more. What of it went wrong,
    /// in sentences.
    fn release(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The workers of this process.
#[derive(Debug, Clone, Copy, Default)]
pub struct LocalEngine;

impl LoadSource for LocalEngine {
    fn run(&self, order: LoadOrder<'_>, on: &mut dyn FnMut(Event<'_>)) -> io::Result<Ended> {
        let LoadOrder { program, network, options, control, trace, .. } = order;
        squall_engine::run(program, network, options, control, trace, on)
    }
}
