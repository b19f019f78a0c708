//! The columns of samples. Names and units are those of the request log.

use std::borrow::Cow;

use squall_metrics::PHASES;

use super::sample::RequestSample;
use crate::cell::{Cell, Type};

/// The columns with their types. Times are in µs; `at_unix_us` since 1970 (UTC).
pub(super) const COLUMNS: [(&str, Type); 25] = {
    use Type::{Count, Number, Text};
    [
        ("at_unix_us", Count),
        ("run_phase", Text),
        ("scenario", Text),
        ("step", Text),
        ("worker", Count),
        ("user", Count),
        ("iteration", Count),
        ("trace_id", Text),
        ("name", Text),
        ("url", Text),
        ("redirects", Count),
        ("status", Count),
        ("error", Text),
        ("detail", Text),
        ("latency_us", Number),
        ("pool_us", Number),
        ("dns_us", Number),
        ("connect_us", Number),
        ("tls_us", Number),
        ("first_byte_us", Number),
        ("body_us", Number),
        ("bytes_in", Count),
        ("bytes_out", Count),
        ("reused", Count),
        ("users_active", Count),
    ]
};

/// A sample in those columns.
pub(super) fn cells<'s>(sample: &'s RequestSample<'_>) -> [Cell<'s>; COLUMNS.len()] {
    let text = |text: &'s str| match text.is_empty() {
        true => Cell::Empty,
        false => Cell::Text(Cow::Borrowed(text)),
    };
    let phase = |at: usize| sample.phases.0[at].map_or(Cell::Empty, |ns| Cell::Number(us(ns)));
    let (error, detail) = match &sample.error {
        Some((kind, detail)) => (text(kind.label()), text(detail)),
        None => (Cell::Empty, Cell::Empty),
    };
    // The order of phases is that of the columns.
    let [pool, dns, connect, tls, first_byte, body] =
        std::array::from_fn::<_, { PHASES.len() }, _>(phase);
    [
        Cell::Count(sample.unix_us),
        text(sample.run_phase),
        text(sample.scenario),
        text(sample.step),
        Cell::Count(sample.worker.into()),
        Cell::Count(sample.user),
        Cell::Count(sample.iteration),
        text(&sample.trace_id),
        text(&sample.name),
        text(&sample.url),
        Cell::Count(sample.redirects),
        u64::try_from(sample.status).map_or(Cell::Empty, Cell::Count),
        error,
        detail,
        Cell::Number(us(sample.latency_ns)),
        pool,
        dns,
        connect,
        tls,
        first_byte,
        body,
        Cell::Count(sample.bytes_in),
        Cell::Count(sample.bytes_out),
        Cell::Count(sample.reused.into()),
        Cell::Count(sample.users.1),
    ]
}

fn us(ns: u64) -> f64 {
    ns as f64 / 1e3
}
