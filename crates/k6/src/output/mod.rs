//! What k6's `--out json` and `--out csv` write while a run goes on: a line for each value of a metric. Pure: who has the
//! values writes the lines.

mod csv;
mod json;
mod point;
mod request;
mod target;
mod writer;

pub use point::{Point, PointMetric};
pub use request::RequestTimes;
pub use target::PointTarget;
pub use writer::{Form, PointLines};
