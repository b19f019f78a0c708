//! What performs a sample, and how one is taken with it.

use squall_metrics::PlaceId;

use super::failure::SampleFailure;
use super::frame::Frame;
use super::sampled::{Moment, Sampled};
use crate::net::in_flight::InFlight;
use crate::user::{Core, Strand};
use crate::worker::Worker;

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
