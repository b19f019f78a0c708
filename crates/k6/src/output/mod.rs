//! k6's outputs: what `--out` and the variables of the environment ask for, and the lines that files get. Pure: who has the values
//! writes and sends them.

mod csv;
mod influxdb;
mod json;
mod opentelemetry;
mod point;
mod push;
mod remote_write;
mod target;
mod variables;
mod writer;

pub use csv::TimeFormat;
pub use point::{Point, PointMetric};
pub use push::{FieldKind, Layout, PushTarget, TrendStat};
pub use squall_plan::feed_target::FeedTarget;
pub use target::{OutputTarget, PointTarget, names};
pub use writer::{Form, PointLines};
