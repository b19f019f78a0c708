//! Samples: what is sent to a target, timed, judged and recorded. One [`frame`] goes around every
//! sampler: it waits for a pool's connection, sets deadlines, has the reply processed, records, and tells
//! who watches. A [`Sampler`] only performs: HTTP requests ([`http`]), programs ([`exec`]), bytes over TCP
//! ([`tcp`]). Whatever goes over a connection is one [`attempt`] or several.

mod attempt;
mod body;
pub(crate) mod bursts;
pub(crate) mod call;
mod capture;
pub(crate) mod connections;
mod copy;
mod exec;
mod failure;
mod frame;
mod http;
pub(crate) mod in_flight;
mod message;
mod received;
mod rendered;
mod reply;
pub(crate) mod resources;
mod sampled;
mod sampler;
mod tcp;
pub(crate) mod throttle;
mod via;

use crate::user::{Core, Strand};
use crate::worker::Worker;
pub(crate) use failure::SampleFailure;
use frame::Frame;
pub(crate) use frame::note;
pub(crate) use http::{Request, is_fresh};
use in_flight::InFlight;
pub(crate) use sampled::{Moment, SampleHead, Sampled};
use sampler::Sampler;

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
