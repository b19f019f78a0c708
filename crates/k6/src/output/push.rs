//! Outputs that send what is measured to another system while the run goes on: where to, how often and in which layout.
//! Plain data.

use std::time::Duration;

use squall_plan::feed_target::FeedTarget;

use crate::summary::Statistic;

/// Where what is measured is sent.
#[derive(Debug, Clone, PartialEq)]
pub struct PushTarget {
    pub target: FeedTarget,
    /// Time between two writes.
    pub every: Duration,
    pub layout: Layout,
    /// Sentences about what is set and has no effect.
    pub warnings: Vec<String>,
}

/// In which form.
#[derive(Debug, Clone, PartialEq)]
pub enum Layout {
    /// A point for each value, in InfluxDB's line protocol.
    Influxdb {
        /// The URL that makes the database, of version 1.
        create: Option<String>,
        /// Tags that become fields.
        fields: Vec<(String, FieldKind)>,
        /// Times are multiples of so many ns.
        precision_ns: u64,
    },
    /// Series of everything so far, for Prometheus.
    RemoteWrite {
        /// The statistics of trends, each with the end of its series' names.
        stats: Vec<(String, TrendStat)>,
        /// Trends are native histograms.
        is_native: bool,
        /// Series are marked as ended at the end.
        has_stale_markers: bool,
    },
    /// Series of everything so far, for OpenTelemetry.
    OpenTelemetry { service: String, version: String, prefix: String },
}

/// What a tag becomes as a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldKind {
    Text,
    Bool,
    Float,
    Integer,
}

/// A number of a trend.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TrendStat {
    Sum,
    Of(Statistic),
}
