//! Samples with the columns that JMeter 5.6 writes if nobody changes them, so that its own tools read them
//! (`CSVSaveService` and `jmeter.properties` of Apache JMeter 5.6.3). Times are whole milliseconds there.

use std::borrow::Cow;

use http::StatusCode;
use squall_metrics::PHASES;

use super::RequestSample;
use crate::parquet::Cell;

/// The first line.
pub(super) const HEAD: &str = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect";

/// A sample in those columns. A redirect is a part of its sample, and has no row of its own as in JMeter.
pub(super) fn cells<'s>(sample: &'s RequestSample<'_>) -> [Cell<'s>; 17] {
    let own = |text: &'s str| Cell::Text(Cow::Borrowed(text));
    let ms = |ns: u64| Cell::Count((ns + 500_000) / 1_000_000);
    let phases = |names: &[&str]| -> u64 {
        let of = |name: &&str| PHASES.iter().position(|own| own == name);
        names.iter().filter_map(of).filter_map(|at| sample.phases.0[at]).sum()
    };
    let connect = phases(&["dns", "connect", "tls"]);
    let first_byte = phases(&["first_byte"]);
    let latency = if first_byte > 0 { connect + first_byte } else { 0 };
    let code = match (&sample.error, sample.status) {
        (Some((kind, _)), 0) => format!("Non HTTP response code: {kind}"),
        (_, status) => status.to_string(),
    };
    let reason = u16::try_from(sample.status).ok().and_then(|code| StatusCode::from_u16(code).ok());
    let reason = reason.and_then(|status| status.canonical_reason()).unwrap_or("");
    let failure = match &sample.error {
        Some((kind, detail)) if detail.is_empty() => Cow::Borrowed(*kind),
        Some((kind, detail)) => Cow::Owned(format!("{kind}: {detail}")),
        None => Cow::Borrowed(""),
    };
    let url = if sample.url.is_empty() { "null" } else { &sample.url };
    [
        Cell::Count(sample.unix_us / 1_000),
        ms(sample.latency_ns),
        own(&sample.name),
        Cell::Text(code.into()),
        own(reason),
        Cell::Text(format!("{} 1-{}", sample.scenario, sample.user + 1).into()),
        own("text"),
        own(if sample.error.is_none() { "true" } else { "false" }),
        Cell::Text(failure),
        Cell::Count(sample.bytes_in),
        Cell::Count(sample.bytes_out),
        Cell::Count(sample.users.0),
        Cell::Count(sample.users.1),
        own(url),
        ms(latency),
        Cell::Count(0),
        ms(connect),
    ]
}
