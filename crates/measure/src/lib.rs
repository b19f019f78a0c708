//! Records what happened and evaluates it: histograms, slices, totals, thresholds, statistics. No I/O and
//! no clock: time comes in as a value.
//!
//! A worker records into one [`Slice`] per second. Slices merge exactly, across workers and time, into
//! [`Totals`], on which [`Threshold`]s are evaluated. Statistics cross threads in no other form: no
//! percentile is ever averaged.

mod batches;
mod censored;
mod change;
mod codec;
mod confidence;
mod definitions;
mod error_kind;
mod escape;
mod histogram;
pub mod hlog;
mod host_metrics;
mod long_run;
mod metrics;
mod names;
mod request_stats;
mod self_metrics;
mod series;
mod slice;
mod slice_set;
mod steady;
mod threshold;
mod throughput_gap;
mod time_account;
mod totals;
pub mod units;
mod validity;

pub use batches::{Batches, BatchesBuilder};
pub use censored::{Bounded, Durations};
pub use codec::DecodeError;
pub use confidence::{Interval, Latencies, Unknown};
pub use definitions::{DEFINITIONS, Definition, definition};
pub use error_kind::ErrorKind;
pub use escape::escape_control;
pub use histogram::{COARSE, FINE, HIGHEST, Histogram};
pub use host_metrics::{HostMetrics, HostSample};
pub use long_run::student;
pub use metrics::{
    Gauge, MAX_METRICS, MetricId, MetricKey, MetricKind, MetricStats, Metrics, THOUSANDTHS,
    WrongValue,
};
pub use names::{MAX_NAMES, MAX_NAMES_LIMIT, NameId, NameKind, Names, OTHER};
pub use request_stats::{PHASES, Phases, RequestStats, Sample};
pub use self_metrics::SelfMetrics;
pub use series::{Series, SeriesBuilder, SeriesRow};
pub use slice::{Counters, Slice};
pub use steady::{Shape, Steady, Unsteady, Warmup, steady};
pub use threshold::{Statistic, SyntaxError, Threshold, ThresholdResult};
pub use throughput_gap::{GapCause, ThroughputGap};
pub use time_account::{TimeAccount, TimeRecorder, UserState};
pub use totals::Totals;
pub use validity::{Effect, Facts, Reason, Validity, assess, samples_needed, worst};
