//! Samples: what is sent to a target, timed, judged and recorded. One [`frame`] goes around every
//! sampler: it waits for a pool's connection, sets deadlines, has the reply processed, records, and tells
//! who watches. A [`sampler::Sampler`] only performs: HTTP requests ([`http`]), programs ([`exec`]), bytes over TCP
//! ([`tcp`]). Whatever goes over a connection is one [`attempt`] or several.

mod attempt;
mod body;
mod call;
mod capture;
mod connections;
mod copy;
mod exec;
mod failure;
mod frame;
mod http;
mod message;
mod page;
mod received;
mod rendered;
mod reply;
mod resources;
mod sampled;
mod sampler;
mod tcp;
#[cfg(test)]
mod testing;
mod throttle;
mod via;

pub(crate) use call::Call;
pub(crate) use frame::note;
pub(crate) use http::{Request, is_fresh};
pub(crate) use page::{Found, Item};
pub(crate) use resources::look_up;
pub(crate) use sampled::{Moment, SampleHead, Sampled};
pub(crate) use sampler::{Sampler, sample};
