//! The columns of exports that are tables: a key of a line each, or what is within one.

use std::borrow::Cow;

use serde_json::Value;

use crate::cell::{Cell, Type};
use crate::csv::quoted;

/// The columns. Times are in µs.
pub(super) fn columns() -> impl Iterator<Item = (&'static str, Type)> {
    const NAMES: &str = "\
     second kind scenario group name count errors cut_off not_sent retries bytes_in bytes_out \
     mean_us p50_us p90_us p95_us p99_us max_us corrected_mean_us corrected_p50_us \
     corrected_p90_us corrected_p95_us corrected_p99_us corrected_max_us error_kinds status \
     pool_mean_us dns_mean_us connect_mean_us tls_mean_us first_byte_mean_us body_mean_us passed \
     failed warned planned_users planned_arrivals users_active in_flight in_flight_at_end \
     iterations_started iterations_done arrivals_due arrivals_dropped connections_opened value \
     workers_cpu_us starved_us receive_delay_p99_us send_delay_p99_us timer_delay_p99_us \
     loop_iteration_max_us open_files ports_used rss_bytes steal_ticks retransmits network_bytes";
    let typed = |name: &'static str| match name {
        "kind" | "scenario" | "group" | "name" | "error_kinds" | "status" => (name, Type::Text),
        "planned_users" | "planned_arrivals" | "value" => (name, Type::Number),
        _ if name.ends_with("mean_us") => (name, Type::Number),
        _ => (name, Type::Count),
    };
    NAMES.split_whitespace().map(typed)
}

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
    let cell = |(name, kind): (&str, Type)| {
        let own = value(line, name)?;
        match kind {
            Type::Count => own.as_u64().map(Cell::Count),
            Type::Number => own.as_f64().map(Cell::Number),
            Type::Text => text(own).map(Cell::Text),
        }
    };
    columns().map(move |column| cell(column).unwrap_or(Cell::Empty))
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
