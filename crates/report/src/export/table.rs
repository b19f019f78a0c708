//! The columns of exports that are tables: a key of a line each, or what is within one.

use std::borrow::Cow;

use serde_json::Value;

use crate::cell::{Cell, Type};
use crate::csv::quoted;

/// The columns with their types. Times are in µs.
pub(super) const COLUMNS: [(&str, Type); 58] = {
    use Type::{Count, Number, Text};
    [
        ("second", Count),
        ("kind", Text),
        ("scenario", Text),
        ("group", Text),
        ("name", Text),
        ("count", Count),
        ("errors", Count),
        ("cut_off", Count),
        ("not_sent", Count),
        ("retries", Count),
        ("bytes_in", Count),
        ("bytes_out", Count),
        ("mean_us", Number),
        ("p50_us", Count),
        ("p90_us", Count),
        ("p95_us", Count),
        ("p99_us", Count),
        ("max_us", Count),
        ("corrected_mean_us", Number),
        ("corrected_p50_us", Count),
        ("corrected_p90_us", Count),
        ("corrected_p95_us", Count),
        ("corrected_p99_us", Count),
        ("corrected_max_us", Count),
        ("error_kinds", Text),
        ("status", Text),
        ("pool_mean_us", Number),
        ("dns_mean_us", Number),
        ("connect_mean_us", Number),
        ("tls_mean_us", Number),
        ("first_byte_mean_us", Number),
        ("body_mean_us", Number),
        ("passed", Count),
        ("failed", Count),
        ("warned", Count),
        ("planned_users", Number),
        ("planned_arrivals", Number),
        ("users_active", Count),
        ("in_flight", Count),
        ("in_flight_at_end", Count),
        ("iterations_started", Count),
        ("iterations_done", Count),
        ("arrivals_due", Count),
        ("arrivals_dropped", Count),
        ("connections_opened", Count),
        ("value", Number),
        ("workers_cpu_us", Count),
        ("starved_us", Count),
        ("receive_delay_p99_us", Count),
        ("send_delay_p99_us", Count),
        ("timer_delay_p99_us", Count),
        ("loop_iteration_max_us", Count),
        ("open_files", Count),
        ("ports_used", Count),
        ("rss_bytes", Count),
        ("steal_ticks", Count),
        ("retransmits", Count),
        ("network_bytes", Count),
    ]
};

/// The value of a line in a column; `None`: it has none.
pub(super) fn value<'l>(line: &'l Value, column: &str) -> Option<Cow<'l, Value>> {
    if let Some(phase) = column.strip_suffix("_mean_us")
        && let Some(mean) = line.get("phases").and_then(|phases| phases.get(phase)?.get("mean_us"))
    {
        return Some(Cow::Borrowed(mean));
    }
    match line.get(column)? {
        Value::Null => None,
        Value::Object(counts) => Some(Cow::Owned(Value::String(pairs(counts)))),
        own => Some(Cow::Borrowed(own)),
    }
}

/// Counts by name in one text: `200=5 503=1`.
fn pairs(counts: &serde_json::Map<String, Value>) -> String {
    let pairs = counts.iter().map(|(name, count)| format!("{name}={count}"));
    pairs.collect::<Vec<_>>().join(" ")
}

/// A line as a row of all columns.
pub(super) fn cells(line: &Value) -> impl Iterator<Item = Cell<'_>> {
    let cell = |(name, kind): &(&str, Type)| {
        let own = value(line, name)?;
        match kind {
            Type::Count => own.as_u64().map(Cell::Count),
            Type::Number => own.as_f64().map(Cell::Number),
            Type::Text => text(own).map(Cell::Text),
        }
    };
    COLUMNS.iter().map(move |column| cell(column).unwrap_or(Cell::Empty))
}

fn text(value: Cow<'_, Value>) -> Option<Cow<'_, str>> {
    match value {
        Cow::Borrowed(own) => own.as_str().map(Cow::Borrowed),
        Cow::Owned(Value::String(own)) => Some(Cow::Owned(own)),
        Cow::Owned(_) => None,
    }
}

/// A value as a cell of CSV (RFC 4180).
pub(super) fn cell(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => quoted(text).into_owned(),
        Some(other) => other.to_string(),
    }
}
