//! Samples with the columns that JMeter 5.6 writes if nobody changes them, so that its own tools read them
//! (`CSVSaveService` and `jmeter.properties` of Apache JMeter 5.6.3). Times are whole milliseconds there.

use std::borrow::Cow;

use http::StatusCode;
use squall_metrics::{ErrorKind, PHASES};

use super::java_errors::exception;
use super::sample::{GroupPart, GroupSample, LoadedPage, RequestSample, SamplePart};
use crate::cell::Cell;

/// Where a row has what.
pub(super) const ELAPSED: usize = 1;
pub(super) const LABEL: usize = 2;
pub(super) const CODE: usize = 3;
pub(super) const MESSAGE: usize = 4;
pub(super) const SUCCESS: usize = 7;
pub(super) const FAILURE: usize = 8;
pub(super) const BYTES: usize = 9;
pub(super) const SENT_BYTES: usize = 10;
pub(super) const URL: usize = 13;
pub(super) const FAILED: Cell<'static> = Cell::Text(Cow::Borrowed("false"));

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

    /// Under another name; its parts are named after it.
    fn named(mut self, label: String) -> Self {
        let parts = std::mem::take(&mut self.parts).into_iter().enumerate();
        self.parts = parts.map(|(number, part)| part.named(format!("{label}-{number}"))).collect();
        self.cells[LABEL] = Cell::Text(label.into());
        self
    }
}

pub(super) const HEAD: &str = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect";

/// A sample, with the requests that it took, and what it loaded if it is a page.
pub(super) fn request<'s>(sample: &'s RequestSample<'_>) -> Row<'s> {
    let (cells, parts) = match &sample.page {
        Some(page) => of_page(sample, page),
        None => (cells(sample), requests(sample)),
    };
    Row { cells, parts, connect_ns: phases(sample, &CONNECT) }
}

/// The requests that a sample took, if there are several.
fn requests<'s>(sample: &'s RequestSample<'_>) -> Vec<Row<'s>> {
    let row = |(number, part)| Row {
        cells: self::part(sample, number, part),
        parts: Vec::new(),
        connect_ns: 0,
    };
    sample.parts.iter().enumerate().map(row).collect()
}

/// A page that has loaded something: one sample, whose parts are the page itself and what it has loaded. What fails of
/// that fails it, though its code stays.
fn of_page<'s>(
    sample: &'s RequestSample<'_>,
    page: &'s LoadedPage<'_>,
) -> (Cells<'s>, Vec<Row<'s>>) {
    let mut whole = cells(sample);
    let mut parts = requests(sample);
    if parts.is_empty() {
        let mut own = cells(sample);
        // It came, or there would be nothing to load; what is asserted of it, is asserted of the whole.
        own[SUCCESS] = Cell::Text("true".into());
        own[FAILURE] = Cell::Text("".into());
        parts.push(Row { cells: own, parts: Vec::new(), connect_ns: 0 });
    }
    let loaded: Vec<Row<'s>> = page.resources.iter().map(request).collect();
    let mut lost = String::new();
    for (row, resource) in loaded.iter().zip(&page.resources) {
        if resource.is_lost() {
            let text = |column: usize| text(&row.cells[column]);
            let [url, code, message] = [URL, CODE, MESSAGE].map(text);
            lost.push_str(&format!("{url} code:{code} message:{message}, "));
        }
    }
    if sample.has_failed() {
        whole[SUCCESS] = FAILED;
    }
    if !lost.is_empty() {
        whole[MESSAGE] = Cell::Text(format!("Embedded resource download error:{lost}").into());
    }
    let all = |own: u64, of: fn(&RequestSample<'_>) -> u64| {
        Cell::Count(own + page.resources.iter().map(of).sum::<u64>())
    };
    whole[ELAPSED] = ms(page.duration_ns);
    whole[BYTES] = all(sample.bytes_in, |resource| resource.bytes_in);
    whole[SENT_BYTES] = all(sample.bytes_out, |resource| resource.bytes_out);
    parts.extend(loaded);
    let parts = parts.into_iter().enumerate();
    let named = |(number, row): (usize, Row<'s>)| row.named(format!("{}-{number}", sample.name));
    (whole, parts.map(named).collect())
}

/// A time in whole milliseconds.
fn ms(ns: u64) -> Cell<'static> {
    Cell::Count((ns + 500_000) / 1_000_000)
}

/// A cell that has a text.
fn text<'c>(cell: &'c Cell<'_>) -> &'c str {
    match cell {
        Cell::Text(text) => text,
        Cell::Empty | Cell::Count(_) | Cell::Number(_) => "",
    }
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
    let connect = phases(sample, &CONNECT);
    let first_byte = phases(sample, &["first_byte"]);
    let latency = if first_byte > 0 { connect + first_byte } else { 0 };
    let (code, message) = outcome(sample);
    let failure = match &sample.error {
        Some((ErrorKind::Check | ErrorKind::Extract, detail)) => detail,
        // Code and message say it.
        Some(_) | None => "",
    };
    let url = if sample.url.is_empty() || is_tcp(sample) { "null" } else { &sample.url };
    [
        Cell::Count(sample.unix_us / 1_000),
        ms(sample.latency_ns),
        own(&sample.name),
        Cell::Text(code),
        Cell::Text(message),
        thread(sample.scenario, sample.scenario_number, sample.user),
        own("text"),
        own(if sample.error.is_none() { "true" } else { "false" }),
        own(failure),
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

/// The code and the message of a sample.
fn outcome<'s>(sample: &'s RequestSample<'_>) -> (Cow<'s, str>, Cow<'s, str>) {
    // A program that ended has a code, whatever that is.
    if let Some(reason) = &sample.reason {
        return (sample.status.to_string().into(), reason.as_ref().into());
    }
    let error = sample.error.as_ref();
    match error.and_then(|(kind, detail)| exception(*kind, detail, &sample.url)) {
        // There it has one code for all that goes wrong.
        Some(_) if is_tcp(sample) => ("500".into(), of_tcp(sample)),
        Some((class, message)) => (
            format!("Non HTTP response code: {class}").into(),
            format!("Non HTTP response message: {message}").into(),
        ),
        None => {
            let known = reason(u16::try_from(sample.status).unwrap_or(0));
            (sample.status.to_string().into(), known.into())
        }
    }
}

/// What is said of bytes over TCP that came to nothing: as far as JMeter's own client is what says it.
fn of_tcp(sample: &RequestSample<'_>) -> Cow<'static, str> {
    match sample.error {
        Some((ErrorKind::ConnectRefused, _)) => {
            "java.net.ConnectException: Connection refused".into()
        }
        Some((ErrorKind::TimeoutFirstByte | ErrorKind::TimeoutBody, _)) => {
            let class = "org.apache.jmeter.protocol.tcp.sampler.ReadException";
            format!("{class}: Error reading from server, bytes read: {}", sample.bytes_in).into()
        }
        _ => "".into(),
    }
}

/// Whether it is bytes over TCP, which have no URL in JMeter.
fn is_tcp(sample: &RequestSample<'_>) -> bool {
    sample.url.starts_with("tcp://")
}

/// One of several requests of a sample, which is the one of a number, from 0.
fn part<'s>(sample: &'s RequestSample<'_>, number: usize, part: &'s SamplePart) -> Cells<'s> {
    let ms = |us: u64| Cell::Count((us + 500) / 1_000);
    let failed = part.status == 0 || part.status >= 400;
    let (code, message) = match part.status {
        // It is the last one: what became of it, became of the whole.
        0 => outcome(sample),
        status => (status.to_string().into(), reason(status).into()),
    };
    [
        Cell::Count(part.unix_us / 1_000),
        ms(part.latency_us),
        Cell::Text(format!("{}-{number}", sample.name).into()),
        Cell::Text(code),
        Cell::Text(message),
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
    let failure = group.answer.as_ref().map_or("", |own| &own.failure);
    // One sample with its parts says how many there are.
    let answer = group.answer.as_ref().filter(|_| group.parts.is_none());
    let (code, message) = match answer {
        Some(own) => (Cell::Text(own.status.as_ref().into()), own.reason.as_ref().into()),
        None => of_parts(group, &parts),
    };
    let cells = [
        Cell::Count(group.unix_us / 1_000),
        ms(group.duration_ns),
        Cell::Text(Cow::Borrowed(&group.name)),
        code,
        Cell::Text(message),
        thread(group.scenario, group.scenario_number, group.user),
        Cell::Text(if answer.is_some() { "text" } else { "" }.into()),
        Cell::Text(if group.failed { "false" } else { "true" }.into()),
        Cell::Text(failure.into()),
        Cell::Count(group.bytes_in),
        Cell::Count(group.bytes_out),
        Cell::Count(group.users.0),
        Cell::Count(group.users.1),
        Cell::Text("null".into()),
        Cell::Count(0),
        Cell::Count(0),
        ms(connect_ns),
    ];
    Row { cells, parts, connect_ns }
}

/// What the message of a transaction begins with.
pub(super) const TRANSACTION: &str = "Number of samples in transaction : ";

/// The code and the message of a group that says nothing of that itself.
fn of_parts<'s>(group: &GroupSample<'_>, parts: &[Row<'s>]) -> (Cell<'s>, Cow<'s, str>) {
    let code = match parts.iter().find(|part| part.cells[SUCCESS] == FAILED) {
        // It has none where it was left, unless it is one sample.
        _ if group.is_left && group.parts.is_none() => Cell::Text("".into()),
        _ if !group.failed => Cell::Text("200".into()),
        // That of the first part that failed.
        Some(part) => part.cells[CODE].clone(),
        // What it is as a whole failed, and no part of it.
        None if group.parts.is_some() => Cell::Text("200".into()),
        None => Cell::Text("".into()),
    };
    let message = match group.samples {
        (0, _) if group.parts.is_none() => Cow::Borrowed("OK"),
        (samples, failed) => {
            format!("{TRANSACTION}{samples}, number of failing samples : {failed}").into()
        }
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
