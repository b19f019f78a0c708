//! Steps: what a user does. Each kind is a row of one table ([`table`]).

mod cookie;
mod forms;
mod kind;
mod list;
mod look;
mod metric;
mod pace;
mod rendezvous;
mod stop;
mod table;
mod think;
mod words;
mod write;

pub use self::cookie::Cookie;
pub(super) use self::kind::Kind;
pub use self::kind::Needs;
pub use self::look::Look;
pub use self::metric::{Metric, MetricKind};
pub use self::pace::{Pace, PacedBy};
pub use self::rendezvous::Rendezvous;
pub use self::stop::StopScope;
pub(super) use self::table::Steps;
pub(crate) use self::table::step_tables;
pub use self::table::{
    Choice, CriticalSection, ForEach, Group, If, Parallel, Passes, Repeat, Step, StepKind, While,
};
pub use self::think::{Think, Thinking};
pub use self::words::{CountedBy, GroupSamples, ThinkTime};
pub use self::write::Write;
