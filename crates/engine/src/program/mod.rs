//! The program: a plan compiled to a flat list of operations with jumps, immutable and shared by
//! all workers.
//!
//! What can be known before the run is done here: constants are folded, requests without variables
//! are rendered to their bytes, patterns and expressions are compiled, names get their numbers. No
//! network, no clock.

mod advise;
pub(crate) mod call;
mod compile;
mod compiled;
mod compiler;
mod constant_scope;
mod data;
mod feeds;
mod flow;
mod inherit;
mod inherited;
mod judged;
mod limits;
mod literals;
mod node;
pub(crate) mod op;
mod ops;
mod patterns;
mod places;
mod post;
mod print;
pub(crate) mod render;
mod request;
mod samples;
mod scenarios;
mod scope;
mod script_files;
mod scripts;
mod step;
mod stores;
mod tags;
mod target;
mod times;
mod values;
mod variables;

pub use advise::advise;
pub use compile::{Refused, compile, compile_or_refuse};
pub(crate) use compiled::Scenario;
pub use compiled::{Planned, Program};
pub use compiler::{CompileOptions, DEFAULT_GRACEFUL_STOP, Section};
pub(crate) use constant_scope::now_unix_ms;
pub(crate) use feeds::Feed;
pub use feeds::Feeds;
pub use judged::{Judged, Subjects, misjudged};
pub(crate) use limits::{Limits, TimeoutsOp};
pub use node::Node;
pub(crate) use op::*;
pub(crate) use ops::{CheckOp, ExtractOp, FromOp, JsonOp, NameOp, PostOp, RowOp};
pub(crate) use places::{Function, Intrinsic, Place};
pub(crate) use samples::{CaptureOp, Policy, RequestOp, ResourcesOp};
pub(crate) use scripts::OwnEnv;
pub use scripts::{Alone, KnownScripts, ScriptParts};
pub(crate) use times::think;
