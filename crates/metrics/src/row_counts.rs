//! What is counted of every row of the results, each number once: its name in results and feeds, where totals are kept
//! (Prometheus, OpenTelemetry), unit, what it is, and where it comes from.

use crate::quantities::Unit;
use crate::request_stats::RequestStats;

/// A number of things that is counted of a row.
#[derive(Debug, Clone, Copy)]
pub struct RowCount {
    /// Its name in results and feeds.
    pub name: &'static str,
    /// Its name where totals are kept, without `_total`.
    pub family: &'static str,
    pub unit: Unit,
    /// What it is, in a sentence.
    pub about: &'static str,
    pub of: fn(&RequestStats) -> u64,
}

const fn row(
    name: &'static str,
    family: &'static str,
    unit: Unit,
    about: &'static str,
    of: fn(&RequestStats) -> u64,
) -> RowCount {
    RowCount { name, family, unit, about, of }
}

pub const ROW_COUNTS: [RowCount; 7] = [
    row(
        "count",
        "squall_requests",
        Unit::Number,
        "Requests, passes or iterations that ended.",
        |row| row.count,
    ),
    row("errors", "squall_errors", Unit::Number, "How many of them were errors.", |row| row.errors),
    row(
        "not_sent",
        "squall_not_sent",
        Unit::Number,
        "Requests that could not be made and were not sent. They count neither as ended nor as errors.",
        |row| row.not_sent,
    ),
    row(
        "cut_off",
        "squall_cut_off",
        Unit::Number,
        "What squall cut off because its load had ended. It counts neither as ended nor as an error.",
        |row| row.cut_off,
    ),
    row(
        "retries",
        "squall_retries",
        Unit::Number,
        "How often requests were sent again because the target had closed their connection.",
        |row| row.retries,
    ),
    row("bytes_in", "squall_received_bytes", Unit::Bytes, "Bytes received.", |row| row.bytes_in),
    row("bytes_out", "squall_sent_bytes", Unit::Bytes, "Bytes sent.", |row| row.bytes_out),
];
