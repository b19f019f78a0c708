//! What is recorded while a run is in progress: histograms, statistics of requests, counters, time
//! accounting, and the [`Slice`] that holds what one worker or monitor recorded in one second. Slices merge exactly,
//! across sources and time; statistics cross threads in no other form. No I/O and no clock: time comes in
//! as a value.

mod checks;
pub mod codec;
mod columns;
mod error_kind;
mod histogram;
mod host_metrics;
mod load;
mod metrics;
mod monitored;
mod names;
mod quantities;
mod request_stats;
mod row_counts;
mod sampled;
mod self_metrics;
mod slice;
mod slice_set;
mod source;
mod time_account;
mod times;

pub use checks::{CheckCounts, CheckResult};
pub use codec::DecodeError;
pub use columns::{COLUMN_NAMES, COLUMNS, ColumnRows, Columns};
pub use error_kind::ErrorKind;
pub use histogram::{COARSE, FINE, HIGHEST, Histogram, rank};
pub use host_metrics::{CpuShares, HostMetrics, HostSample};
pub use load::{Level, Load, ScenarioLoad};
pub use metrics::{
    Gauge, MAX_METRICS, MetricId, MetricKey, MetricKind, MetricStats, Metrics, THOUSANDTHS,
    WrongValue,
};
pub use monitored::{Bound, MONITOR_TAG, MONITORED, Monitored, MonitoredKind, MonitoredUnit};
pub use names::{
    MAX_NAMES, MAX_NAMES_LIMIT, NameId, Names, OTHER, Place, PlaceId, RowKey, RowKind, Selector,
    with_tags,
};
pub use quantities::{Amount, Quantities, Quantity, Recorded, Unit};
pub use request_stats::{Fate, PHASES, Phases, RequestStats, Sample};
pub use row_counts::{ROW_COUNTS, RowCount};
pub use self_metrics::SelfMetrics;
pub use slice::{Counters, Slice};
pub use slice_set::SliceSet;
pub use source::Source;
pub use time_account::{TimeAccount, TimeRecorder, UserState};
pub use times::Times;
