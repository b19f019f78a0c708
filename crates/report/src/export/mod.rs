//! What was recorded, as other programs read it: a line for each second and row, as CSV, as lines of JSON, as
//! Parquet, or as an HdrHistogram log. Computed from the recording in memory that does not grow with the run.

mod lines;
mod table;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_json::Value;
use squall_base::{escape_control, escape_json};
use squall_metrics::{
    HostSample, MetricId, MetricKey, NameId, RowKey, RowKind, Slice, SliceSet, Source,
};

use crate::hlog;
use crate::parquet::Table;
use crate::planned::PlannedLoads;
use crate::recording::Recording;
use crate::run::Run;
use lines::Second;
use table::{cell, cells, columns, value};

/// Seconds that are open at a time: workers hand over the same second within moments of each other.
const OPEN_SECONDS: usize = 8;

/// A format of exports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated values with a head.
    Csv,
    /// A JSON object a line, with statuses, errors, phases, counters, tags and host metrics besides.
    Jsonl,
    /// HdrHistogram's interval log of the latencies.
    Hlog,
    /// The columns of CSV, as Parquet.
    Parquet,
}

/// Writes what was recorded in a run.
///
/// # Errors
/// The recording cannot be read, or the export cannot be written.
pub fn export(
    run: &Run,
    recording: &mut Recording,
    format: Format,
    to: &mut (dyn Write + Send),
) -> io::Result<()> {
    let mut writer = Writer::new(format, run.meta.started_unix, to)?;
    let planned = PlannedLoads::of(run);
    let (mut known, mut written) = (Known::new(run.host.series()), Ok(()));
    let left_out = recording.replay(|slice| {
        if written.is_ok() && known.seen.insert(slice.source, slice.second) {
            known.add(slice);
            while written.is_ok() && known.open.len() > OPEN_SECONDS {
                written = known.close(&planned, &mut writer);
            }
        }
    })?;
    while written.is_ok() && !known.open.is_empty() {
        written = known.close(&planned, &mut writer);
    }
    written?;
    known.close_host(u32::MAX, &mut writer)?;
    writer.finish()?;
    match left_out {
        Some(reason) => Err(io::Error::other(format!("{reason}; what follows it is left out"))),
        None => Ok(()),
    }
}

/// Where an export goes, and in which form.
enum Writer<'w> {
    Csv(&'w mut (dyn Write + Send)),
    Jsonl(&'w mut (dyn Write + Send)),
    Hlog(&'w mut (dyn Write + Send)),
    Parquet(Box<Table<&'w mut (dyn Write + Send)>>),
}

impl Writer<'_> {
    fn new(
        format: Format,
        started_unix: f64,
        to: &mut (dyn Write + Send),
    ) -> io::Result<Writer<'_>> {
        Ok(match format {
            Format::Csv => {
                let names: Vec<&str> = columns().map(|(name, _)| name).collect();
                writeln!(to, "{}", names.join(","))?;
                Writer::Csv(to)
            }
            Format::Hlog => {
                to.write_all(hlog::header(started_unix).as_bytes())?;
                Writer::Hlog(to)
            }
            Format::Jsonl => Writer::Jsonl(to),
            Format::Parquet => {
                Writer::Parquet(Box::new(Table::new(to, &columns().collect::<Vec<_>>())?))
            }
        })
    }

    fn line(&mut self, line: &Value) -> io::Result<()> {
        match self {
            Writer::Hlog(_) => Ok(()),
            Writer::Jsonl(to) => writeln!(to, "{}", escape_json(&line.to_string())),
            Writer::Csv(to) => {
                let cells = columns().map(|(name, _)| cell(value(line, name).as_deref()));
                writeln!(to, "{}", escape_control(&cells.collect::<Vec<_>>().join(",")))
            }
            Writer::Parquet(table) => table.add(cells(line)),
        }
    }

    /// A second is complete.
    fn second(&mut self, at: u32, second: &Second, planned: &PlannedLoads) -> io::Result<()> {
        let Writer::Hlog(to) = self else {
            return second.lines(at, planned).iter().try_for_each(|line| self.line(line));
        };
        let mut text = String::new();
        for (key, row) in second.rows.iter().filter(|(_, row)| !row.latency.is_empty()) {
            let group = key.place.group.iter().map(String::as_str);
            let parts = [key.place.kind.label(), &key.place.scenario].into_iter().chain(group);
            let name = key.label();
            let parts: Vec<&str> = parts.chain([name.as_str()]).collect();
            hlog::line(&parts, f64::from(at), 1.0, &row.latency, &mut text);
        }
        to.write_all(text.as_bytes())
    }

    fn finish(self) -> io::Result<()> {
        match self {
            Writer::Parquet(table) => table.finish(),
            Writer::Csv(_) | Writer::Jsonl(_) | Writer::Hlog(_) => Ok(()),
        }
    }
}

/// What is known while the slices are read.
struct Known<'r> {
    seen: SliceSet,
    keys: BTreeMap<(Source, NameId), RowKey>,
    metrics: BTreeMap<(Source, MetricId), MetricKey>,
    open: BTreeMap<u32, Second>,
    /// Samples of the host that were not written yet, with their seconds.
    host: &'r [(u32, HostSample)],
}

impl<'r> Known<'r> {
    fn new(host: &'r [(u32, HostSample)]) -> Known<'r> {
        Known {
            seen: SliceSet::default(),
            keys: BTreeMap::new(),
            metrics: BTreeMap::new(),
            open: BTreeMap::new(),
            host,
        }
    }

    fn add(&mut self, slice: &Slice) {
        for (id, key) in &slice.names {
            self.keys.insert((slice.source, *id), key.clone());
        }
        for (id, key) in &slice.metric_keys {
            self.metrics.insert((slice.source, *id), key.clone());
        }
        let second = self.open.entry(slice.second).or_default();
        second.has_workers |= slice.source.is_worker();
        let key = |id| self.keys.get(&(slice.source, id));
        for (id, row) in slice.rows() {
            if let Some(key) = key(id) {
                second.rows.entry(key.clone()).or_default().merge(row);
            }
        }
        for (id, counts) in slice.checks() {
            if let Some(key) = key(id) {
                second.checks.entry(key.clone()).or_default().merge(&counts);
            }
        }
        for (id, load) in &slice.load.scenarios {
            if let Some(key) = key(*id).filter(|key| key.place.kind == RowKind::Iteration) {
                let own = second.scenarios.entry(key.place.scenario.clone()).or_default();
                own.add_worker(load);
            }
        }
        for (id, stats) in slice.metrics() {
            if let Some(key) = self.metrics.get(&(slice.source, id)) {
                second.metrics.entry(key.clone()).or_default().merge(stats);
            }
        }
        second.counters.merge(&slice.counters);
        second.in_flight.add_worker(slice.load.in_flight);
        second.own.merge(&slice.self_metrics);
    }

    /// Writes the earliest open second.
    fn close(&mut self, planned: &PlannedLoads, to: &mut Writer<'_>) -> io::Result<()> {
        let Some((at, second)) = self.open.pop_first() else { return Ok(()) };
        to.second(at, &second, planned)?;
        self.close_host(at, to)
    }

    /// Writes the samples of the host up to a second.
    fn close_host(&mut self, at: u32, to: &mut Writer<'_>) -> io::Result<()> {
        let (now, later) =
            self.host.split_at(self.host.partition_point(|(second, _)| *second <= at));
        self.host = later;
        now.iter().try_for_each(|(second, sample)| to.line(&lines::host_line(*second, sample)))
    }
}
