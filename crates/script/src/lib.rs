//! Scripts in JavaScript that users of a load test run.
//!
//! `engine` is the interpreter: the one module with `unsafe`. Everything else is built on what it offers, and knows
//! neither the interpreter's C functions nor stacks.

mod disk;
#[cfg(test)]
mod disk_tests;
mod engine;
mod event;
mod fetch;
mod files;
#[doc(hidden)]
pub mod fuzz;
mod graph;
mod host;
mod http;
#[cfg(test)]
mod http_tests;
#[cfg(test)]
mod isolation_tests;
mod library;
mod lock;
mod module;
mod origin;
mod shared_data;
mod stage;
#[cfg(test)]
mod stage_tests;
#[cfg(test)]
mod tests;
mod wait;
mod written;

pub use disk::{ReadFile, ScriptFiles};
pub use engine::{Aborted, Call, Cause, Fiber, Held, Limits, Realm, Scope, Step, Thrown, Value};
pub use event::{Event, Level, MetricKind, ScriptMetric, Tags};
pub use fetch::{Download, FetchState, FetchedModule, fetch};
pub use files::{Files, OpenFiles};
pub use graph::{Graph, Import, Linked, ScriptError};
pub use host::{Numbers, SecretSource};
pub use http::{
    BodyKind, Cookie, Encoding, HttpHead, HttpOptions, HttpParams, HttpRequest, HttpResponse,
};
pub use lock::LOCK;
pub use module::{Language, Module, Offence, Place, SyntaxError};
pub use origin::Origin;
pub use shared_data::SharedData;
pub use stage::{ScriptUser, Stage, StageOptions};
pub use wait::{Answer, Ask, Facts, Requests, Wait};
