//! The target's own controls.

use std::time::Duration;

use super::call::Call;
use crate::counters;
use crate::http::response::Response;

/// Longest stall, in milliseconds.
const STALL_LIMIT: u64 = 60_000;

pub(super) fn stall(call: &Call<'_>, response: &mut Response) {
    match call.query_as("ms", 1000) {
        Ok(ms) if ms <= STALL_LIMIT => {
            call.worker.site.begin_stall(Duration::from_millis(ms));
            response.json(format_args!(r#"{{"stall_ms":{ms}}}"#));
        }
        Ok(_) => response.error(400, format_args!("ms must be at most {STALL_LIMIT}")),
        Err(reason) => response.error(400, format_args!("{reason}")),
    }
}

pub(super) fn stats(call: &Call<'_>, response: &mut Response) {
    let stats = counters::sum(&call.worker.site.counters);
    response.json(format_args!(
        r#"{{"requests":{},"accepted":{},"open":{},"bytes_in":{},"bytes_out":{}}}"#,
        stats.requests, stats.accepted, stats.open, stats.bytes_in, stats.bytes_out
    ));
}
