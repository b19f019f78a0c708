//! Samples: what is sent to a target, timed, judged and recorded. One [`frame`] goes around every
//! sampler: it waits for a pool's connection, sets deadlines, processes the reply, records, and tells
//! who watches. A [`Sampler`] only performs: HTTP requests ([`http`]), programs ([`exec`]), bytes over TCP
//! ([`tcp`]).

mod body;
mod capture;
mod connections;
mod copy;
mod exec;
mod failure;
mod frame;
mod http;
mod received;
pub(crate) mod resources;
mod route;
mod tcp;
mod throttle;
mod via;

use squall_metrics::PlaceId;

use crate::net::in_flight::InFlight;
use crate::post::OnTheWay;
use crate::user::{Core, Strand};
use crate::worker::Worker;
pub(crate) use failure::SampleFailure;
use frame::Frame;
pub(crate) use frame::note;
pub(crate) use http::is_fresh;
use resources::Found;

/// Performs one kind of sample.
pub(crate) trait Sampler {
    /// The name under which it is counted, where the plan knows it.
    fn name(&self) -> Option<u32>;

    /// The number of its step.
    fn step(&self) -> &str;

    /// What it does, in a word, for samples that came to nothing before they had a name.
    fn kind(&self) -> &str;

    /// Where it counts if it has no name.
    fn place(&self) -> PlaceId;

    /// Whether it counts in the record.
    fn is_counted(&self) -> bool;

    /// Whether its latency is also counted from when it should have been sent, where the load says
    /// when that was.
    fn is_scheduled(&self) -> bool;

    /// Performs it within a frame, which is shown the reply.
    ///
    /// # Errors
    /// There was no reply.
    async fn perform<'f>(&'f self, frame: &mut Frame<'f>) -> Result<(), SampleFailure>;
}

/// A moment at which a user can go on, on the run's clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    /// When it could: a response has arrived then, for instance.
    pub ready: u64,
    /// When squall saw that, which is later: what it does from now on it does at that time.
    pub seen: u64,
}

impl Moment {
    /// A moment that squall has not missed.
    pub(crate) fn at(now: u64) -> Self {
        Moment { ready: now, seen: now }
    }
}

/// What became of a sample, for the user.
pub(crate) struct Sampled {
    pub failed: bool,
    /// When it was over.
    pub end: Moment,
    /// The name under which it was counted.
    pub name: u32,
    /// The resources that its reply names.
    pub found: Option<Box<Found>>,
    /// What extracts of its page found in it, if it is a resource.
    pub on_the_way: OnTheWay,
}

/// Takes a sample that a user can begin at a moment, and records it.
pub(crate) async fn sample(
    worker: &Worker,
    user: &Core,
    strand: &mut Strand,
    in_flight: &InFlight,
    sampler: &impl Sampler,
    now: Moment,
) -> Sampled {
    let mut frame = Frame::new(worker, user, in_flight, strand, now);
    frame.name = sampler.name();
    let result = if worker.is_cancelled() {
        Err(SampleFailure::interrupted())
    } else {
        sampler.perform(&mut frame).await
    };
    in_flight.lift_deadlines();
    frame.close(sampler, strand, result)
}
