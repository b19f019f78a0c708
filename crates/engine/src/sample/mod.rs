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
mod got;
mod hop;
mod http;
mod message;
mod page;
mod received;
mod rendered;
mod reply;
mod resources;
mod sampled;
mod sampler;
mod script;
mod tcp;
#[cfg(test)]
mod testing;
mod throttle;
mod via;

pub(crate) use call::Call;
pub(crate) use frame::note;
pub(crate) use got::Got;
pub(crate) use hop::Location;
pub(crate) use http::{CallSampler, is_fresh};
pub(crate) use page::{Found, Item};
pub(crate) use resources::look_up;
pub(crate) use sampled::{Moment, SampleHead, Sampled};
pub(crate) use sampler::{Sampler, sample};
pub(crate) use script::ScriptSampler;

pub(crate) use failure::SampleFailure;
use frame::Frame;

use crate::program::{ExecOp, TcpOp};

/// The table of the steps that are samples, but for requests.
macro_rules! samplers {
    ($($kind:ident($op:ty),)+) => {
        /// A step that is a sample, but no request.
        pub(crate) enum Sample<'p> {
            $($kind(&'p $op),)+
        }

        $(impl<'p> From<&'p $op> for Sample<'p> {
            fn from(op: &'p $op) -> Self {
                Sample::$kind(op)
            }
        })+

        impl<'p> Sampler<'p> for Sample<'p> {
            fn head(&self) -> SampleHead<'p> {
                match self {
                    $(Sample::$kind(op) => op.head(),)+
                }
            }

            async fn perform(
                self,
                frame: &mut Frame<'_>,
            ) -> Result<Option<Box<Found>>, SampleFailure> {
                match self {
                    $(Sample::$kind(op) => op.perform(frame).await,)+
                }
            }
        }
    };
}

samplers! {
    Exec(ExecOp),
    Tcp(TcpOp),
}
