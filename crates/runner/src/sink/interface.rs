//! What a sink is: the trait, what it is told before anything is sent, and what it asks for.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use squall_engine::{ExchangeFilter, Program};
use squall_plan::model::Plan;
use squall_report::{Meta, Run};

use super::delivery::Delivery;
use super::event::Event;
#[cfg(doc)]
use super::event::EventKind;
use super::profiled::Profiled;
use super::second::Second;

/// Watches a run. Its methods are called one after the other, never two at a time, on a thread of its own.
///
/// A sink that does not begin within ten seconds, as one that opens a pipe which nobody reads, ends the run before anything is
/// sent. One that takes nothing for ten seconds when the load is over (a minute if it has the run's folder), or for some seconds
/// after the end at once was asked for, is given up: what it has not taken is lost and counted.
///
/// What fails is counted and becomes a part of the outcome, in the words of the first error; the sink is told of
/// what follows nevertheless, since a disk that was full may have room again.
pub trait Sink: Send {
    /// The run is about to begin: nothing was sent yet, and nothing is if this fails.
    ///
    /// # Errors
    /// The sink cannot work, in a sentence that names what it writes to.
    fn start(&mut self, start: &Start) -> io::Result<Wanted>;

    /// A second of the load is over. They come in order. A second comes again if a worker was late, with what
    /// the others had not handed over: what is in them adds up.
    ///
    /// # Errors
    /// It could not be taken in.
    fn second(&mut self, second: &Second) -> io::Result<()>;

    /// Something has happened.
    ///
    /// # Errors
    /// It could not be taken in.
    fn event(&mut self, event: &Event) -> io::Result<()>;

    /// The run is over, and this is its result.
    ///
    /// # Errors
    /// What the sink has written is incomplete.
    fn finish(&mut self, run: &Run) -> io::Result<()>;

    /// Something was lost when sinks finished, of which this result tells: who keeps a result keeps this one in its place.
    ///
    /// # Errors
    /// What the sink has written is incomplete.
    fn amend(&mut self, _run: &Run) -> io::Result<()> {
        Ok(())
    }
}

/// What is known before anything is sent.
#[derive(Debug)]
pub struct Start {
    /// The facts that belong to the result.
    pub meta: Meta,
    /// The plan as it will run.
    pub plan: Plan,
    /// The load, as it was compiled. What the setup finds is not yet in it.
    pub program: Arc<Program>,
}

/// What a sink asks for when it starts.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// The copies of requests and responses that it wants to see, if any: as events. They cost time on the
    /// path of each request that is copied.
    pub exchanges: Option<WantedExchanges>,
    /// Whether it wants to see groups as well, each after what was in it; of those who want exchanges alone.
    pub groups: bool,
    /// Whether it wants to see what scripts measure, value by value.
    pub measured: bool,
    /// The folder in which the sink keeps everything recorded, as `slices.bin`. The run is evaluated from
    /// that of the first sink that has one; if none has, the runner keeps a temporary file of its own.
    pub folder: Option<PathBuf>,
    /// The account of what it sends elsewhere, if it does, which becomes a part of the result. It must be final when the
    /// sink was told that the load is [`EventKind::Evaluated`] and, if it sends what the teardown does too, that this has
    /// ended.
    pub delivery: Option<Delivery>,
    /// The profile of the target that it takes, if it does. Such a sink may take as long at the end as one with the folder.
    pub profile: Option<Profiled>,
}

/// Which exchanges a sink wants to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WantedExchanges {
    /// Which.
    pub which: ExchangeFilter,
    /// Most bytes of each message; 0: no messages, only what is known about them.
    pub bytes: usize,
}
