//! What performs a sample, and how one is taken with it.

use super::failure::SampleFailure;
use super::frame::Frame;
use super::page::Found;
use super::sampled::{Moment, SampleHead, Sampled};
use crate::net::in_flight::InFlight;
use crate::user::{Core, Strand};
use crate::worker::Worker;

/// Performs one kind of sample.
pub(crate) trait Sampler<'p> {
    fn head(&self) -> SampleHead<'p>;

    /// Performs it within a frame, which is shown the reply. Gives the resources that the reply names.
    ///
    /// # Errors
    /// There was no reply.
    async fn perform(self, frame: &mut Frame<'_>) -> Result<Option<Box<Found>>, SampleFailure>;
}

/// Takes a sample that a user can begin at a moment, and records it.
pub(crate) async fn sample<'p>(
    worker: &Worker,
    user: &Core,
    strand: &mut Strand,
    in_flight: &InFlight,
    sampler: impl Sampler<'p>,
    now: Moment,
) -> Sampled {
    let mut frame = Frame::new(worker, user, in_flight, strand, now);
    let head = sampler.head();
    frame.name = head.name;
    let result = if worker.is_cancelled() {
        Err(SampleFailure::interrupted())
    } else {
        sampler.perform(&mut frame).await
    };
    in_flight.lift_deadlines();
    frame.close(head, strand, result)
}
