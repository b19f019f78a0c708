//! Samples: what is sent to a target, timed, judged and recorded. One [`frame`] goes around every
//! sampler: it waits for a pool's connection, sets deadlines, processes the reply, records, and tells
//! who watches. A [`sampler::Sampler`] only performs: HTTP requests ([`http`]), programs ([`exec`]), bytes over TCP
//! ([`tcp`]).

mod body;
mod capture;
mod connections;
mod copy;
mod exec;
mod failure;
mod frame;
mod http;
mod page;
mod received;
mod rendered;
mod resource;
pub(crate) mod resources;
mod route;
mod sampled;
mod sampler;
mod tcp;
mod throttle;
mod via;

pub(crate) use frame::note;
pub(crate) use http::is_fresh;
pub(crate) use page::{Found, Item};
pub(crate) use resource::ResourceSampler;
pub(crate) use resources::look_up;
pub(crate) use sampled::{Moment, Sampled};
pub(crate) use sampler::sample;
