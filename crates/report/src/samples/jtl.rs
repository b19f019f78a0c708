//! Samples with the columns that JMeter 5.6 writes if nobody changes them, so that its own tools read them
//! (`CSVSaveService` and `jmeter.properties` of Apache JMeter 5.6.3). Times are whole milliseconds there.

use std::borrow::Cow;

use http::StatusCode;
use squall_metrics::PHASES;

use super::{GroupPart, GroupSample, RequestSample, SamplePart};
use crate::parquet::Cell;

/// Where a row has the code of its response, and whether it succeeded.
const CODE: usize = 3;
const SUCCESS: usize = 7;
const FAILED: Cell<'static> = Cell::Text(Cow::Borrowed("false"));

/// A row.
pub(super) type Cells<'s> = [Cell<'s>; 17];

/// A sample: its row, and those of its parts, which are samples themselves.
#[derive(Debug)]
pub(super) struct Row<'s> {
    pub(super) cells: Cells<'s>,
    pub(super) parts: Vec<Row<'s>>,
    /// How long it took to connect, in ns.
    connect_ns: u64,
}

impl Row<'_> {
    /// With its parts, or without them.
    pub(super) fn limited(mut self, with_parts: bool) -> Self {
        if !with_parts {
            self.parts.clear();
        }
        self
    }
}

/// The first line.
pub(super) const HEAD: &str = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect";

/// A sample, with the requests that it took.
pub(super) fn request<'s>(sample: &'s RequestSample<'_>) -> Row<'s> {
    let parts = sample.parts.iter().enumerate();
    let row = |(number, part)| Row {
        cells: self::part(sample, number, part),
        parts: Vec::new(),
        connect_ns: 0,
    };
    let connect_ns = phases(sample, &CONNECT);
    Row { cells: cells(sample), parts: parts.map(row).collect(), connect_ns }
}

/// The phases of a connection that is made.
const CONNECT: [&str; 3] = ["dns", "connect", "tls"];

/// The time of some phases of a sample, in ns.
fn phases(sample: &RequestSample<'_>, names: &[&str]) -> u64 {
    let of = |name: &&str| PHASES.iter().position(|own| own == name);
    names.iter().filter_map(of).filter_map(|at| sample.phases.0[at]).sum()
}

/// A sample in those columns.
fn cells<'s>(sample: &'s RequestSample<'_>) -> Cells<'s> {
    let own = |text: &'s str| Cell::Text(Cow::Borrowed(text));
    let ms = |ns: u64| Cell::Count((ns + 500_000) / 1_000_000);
    let connect = phases(sample, &CONNECT);
    let first_byte = phases(sample, &["first_byte"]);
    let latency = if first_byte > 0 { connect + first_byte } else { 0 };
    // JMeter's sampler of bytes over TCP has no URL, and one code for all that goes wrong.
    let is_tcp = sample.url.starts_with("tcp://");
    let code = match (&sample.error, sample.status) {
        // A program that ended has a code, whatever that is.
        (_, status) if sample.reason.is_some() => status.to_string(),
        (Some(_), 0) if is_tcp => "500".to_owned(),
        (Some((kind, _)), 0) => format!("Non HTTP response code: {kind}"),
        (_, status) => status.to_string(),
    };
    let failure = match &sample.error {
        // The code says it.
        Some(("status", _)) => Cow::Borrowed(""),
        Some((kind, detail)) if detail.is_empty() => Cow::Borrowed(*kind),
        Some((kind, detail)) => Cow::Owned(format!("{kind}: {detail}")),
        None => Cow::Borrowed(""),
    };
    let known = || reason(u16::try_from(sample.status).unwrap_or(0));
    let url = if sample.url.is_empty() || is_tcp { "null" } else { &sample.url };
    [
        Cell::Count(sample.unix_us / 1_000),
        ms(sample.latency_ns),
        own(&sample.name),
        Cell::Text(code.into()),
        own(sample.reason.as_deref().unwrap_or_else(known)),
        thread(sample.scenario, sample.scenario_number, sample.user),
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

/// One of several requests of a sample, which is the one of a number, from 0.
fn part<'s>(sample: &'s RequestSample<'_>, number: usize, part: &'s SamplePart) -> Cells<'s> {
    let ms = |us: u64| Cell::Count((us + 500) / 1_000);
    let failed = part.status == 0 || part.status >= 400;
    let code = match part.status {
        0 => Cow::Borrowed("Non HTTP response code: none"),
        status => status.to_string().into(),
    };
    [
        Cell::Count(part.unix_us / 1_000),
        ms(part.latency_us),
        Cell::Text(format!("{}-{number}", sample.name).into()),
        Cell::Text(code),
        Cell::Text(reason(part.status).into()),
        thread(sample.scenario, sample.scenario_number, sample.user),
        Cell::Text("text".into()),
        Cell::Text(if failed { "false" } else { "true" }.into()),
        Cell::Text("".into()),
        Cell::Count(part.bytes_in),
        Cell::Count(part.bytes_out),
        Cell::Count(sample.users.0),
        Cell::Count(sample.users.1),
        Cell::Text(part.url.as_str().into()),
        ms(part.first_byte_us),
        Cell::Count(0),
        Cell::Count(0),
    ]
}

/// A group in those columns: a transaction, or, if nothing was sampled in it, a sample of its own that sent nothing.
pub(super) fn group<'s>(group: &'s GroupSample<'_>) -> Row<'s> {
    let parts = group.parts.iter().flatten().map(|part| match part {
        GroupPart::Request(sample) => request(sample),
        GroupPart::Group(group) => self::group(group),
    });
    let parts: Vec<Row<'s>> = parts.collect();
    let connect_ns = parts.iter().map(|part| part.connect_ns).sum();
    let answer = group.answer.as_ref().filter(|_| parts.is_empty());
    let (code, message) = match answer {
        Some((status, reason)) => (Cell::Text(status.as_ref().into()), reason.as_ref().into()),
        None => of_parts(group, &parts),
    };
    let cells = [
        Cell::Count(group.unix_us / 1_000),
        Cell::Count((group.duration_ns + 500_000) / 1_000_000),
        Cell::Text(Cow::Borrowed(&group.name)),
        code,
        Cell::Text(message),
        thread(group.scenario, group.scenario_number, group.user),
        Cell::Text(if answer.is_some() { "text" } else { "" }.into()),
        Cell::Text(if group.failed { "false" } else { "true" }.into()),
        Cell::Text("".into()),
        Cell::Count(group.bytes_in),
        Cell::Count(group.bytes_out),
        Cell::Count(group.users.0),
        Cell::Count(group.users.1),
        Cell::Text("null".into()),
        Cell::Count(0),
        Cell::Count(0),
        Cell::Count((connect_ns + 500_000) / 1_000_000),
    ];
    Row { cells, parts, connect_ns }
}

/// The code and the message of a group that says nothing of that itself.
fn of_parts<'s>(group: &GroupSample<'_>, parts: &[Row<'s>]) -> (Cell<'s>, Cow<'s, str>) {
    let code = match parts.iter().find(|part| part.cells[SUCCESS] == FAILED) {
        _ if !group.failed => Cell::Text("200".into()),
        // That of the first part that failed.
        Some(part) => part.cells[CODE].clone(),
        None => Cell::Text("".into()),
    };
    let message = match group.samples {
        (0, _) if group.parts.is_none() => Cow::Borrowed("OK"),
        (samples, failed) => format!(
            "Number of samples in transaction : {samples}, number of failing samples : {failed}"
        )
        .into(),
    };
    (code, message)
}

/// A thread: the name of its group, the number of that, and its own, both from 1.
fn thread(scenario: &str, number: u64, user: u64) -> Cell<'static> {
    Cell::Text(format!("{scenario} {number}-{}", user + 1).into())
}

/// What a status code is called.
fn reason(status: u16) -> &'static str {
    let status = StatusCode::from_u16(status).ok();
    status.and_then(|status| status.canonical_reason()).unwrap_or("")
}
