//! What a node recorded in a second, as bytes.

use std::sync::Arc;

use squall_metrics::{
    COLUMN_NAMES, COLUMNS, ColumnRows, Columns, DecodeError, HostSample, MetricId, NameId,
    RequestStats, RowKey, RowKind, Slice, Source, TimeAccount, codec,
};
use squall_runner::Second;

use super::aside::{Aside, SeenAside};
use super::bytes::{Packer, Unpacker, section};
use super::names;
use crate::protocol::io::Bytes;
use crate::seal::RunKey;

/// The first byte of a record: the version of its form.
const VERSION: u8 = 1;
/// The name of the rows of iterations: see [`super::Merger`], which knows them whole.
pub(super) const ITERATION: &str = "iteration";

/// Encodes what a node recorded in a second, merged over its workers, and what goes along.
pub fn encode(second: &Second, aside: &Aside) -> Bytes {
    let mut rows: Vec<(&RowKey, &RequestStats)> =
        second.rows.iter().map(|row| (&*row.key, &row.stats)).collect();
    // In one order on all nodes: names that resemble each other are next to each other.
    rows.sort_by_key(|(key, _)| *key);
    let stats: Vec<&RequestStats> = rows.iter().map(|(_, stats)| *stats).collect();
    let keys = rows.iter().map(|(key, _)| *key);
    let mut packer = Packer::new();
    let mut out = vec![VERSION];
    let (names, rest) = rest(second, keys);
    packer.put(&mut out, &names);
    packer.put(&mut out, &rest);
    packer.put(&mut out, &host(second));
    for column in Columns::of(&stats).0 {
        packer.put(&mut out, &column);
    }
    packer.put(&mut out, &aside.encode());
    Packer::put_as_is(&mut out, &aside.seal(&mut packer));
    out.into()
}

/// The last sample of its host, gauges before counters; nothing where none was taken.
fn host(second: &Second) -> Vec<u8> {
    let mut out = Vec::new();
    for (_, sample) in second.host.iter().rev().take(1) {
        sample.gauges().chain(sample.counters()).for_each(|(_, value)| codec::put(&mut out, value));
    }
    out
}

fn read_host(mut bytes: &[u8]) -> Result<Option<HostSample>, DecodeError> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let (none, mut sample) = (HostSample::default(), HostSample::default());
    for (name, _) in none.gauges().chain(none.counters()) {
        sample.set(name, codec::get(&mut bytes)?);
    }
    if !bytes.is_empty() {
        return Err(DecodeError("the sample of the host is longer than it should be"));
    }
    Ok(Some(sample))
}

/// The names, which begin with those of the rows in their order; and all but the rows, as slices: one of the node, then of
/// each worker how its users spent their time.
fn rest<'k>(second: &Second, rows: impl Iterator<Item = &'k RowKey>) -> (Vec<u8>, Vec<u8>) {
    let mut all = Slice::new(0, second.second);
    for key in rows {
        all.announce(NameId(all.names.len() as u32), key.clone());
    }
    for (key, counts) in &second.checks {
        let id = NameId(all.names.len() as u32);
        all.announce(id, (**key).clone());
        all.merge_check(id, counts);
    }
    all.load.in_flight = second.load.in_flight;
    for (scenario, load) in &second.load.scenarios {
        let id = NameId(all.names.len() as u32);
        all.announce(id, RowKey::new(RowKind::Iteration, scenario, ITERATION));
        all.load.scenarios.push((id, *load));
    }
    for (number, (key, stats)) in (0..).zip(&second.metrics) {
        all.announce_metric(MetricId(number), key);
        all.merge_metric(MetricId(number), stats);
    }
    all.counters = second.counters;
    all.self_metrics = second.self_metrics.clone();
    let names: Vec<RowKey> = all.names.drain(..).map(|(_, key)| key).collect();
    let names = names::encode(&names);
    let mut out = Vec::new();
    all.encode(&mut out);
    let has_time = |slice: &&Slice| slice.time_account != TimeAccount::default();
    for slice in second.slices.iter().filter(has_time) {
        let mut own = Slice::new(slice.source, second.second);
        own.time_account = slice.time_account;
        own.encode(&mut out);
    }
    (names, out)
}

/// What a node recorded in a second.
#[derive(Debug)]
pub struct Record {
    /// The names of its rows, checks and scenarios by their numbers, which are those of `rest`.
    pub(crate) names: Arc<[RowKey]>,
    /// Everything but rows and time accounting, merged over its workers.
    pub(crate) rest: Slice,
    /// The last sample of its host that was taken in it.
    pub(crate) host: Option<HostSample>,
    /// The statistics of its rows: those of the first names.
    pub(crate) rows: ColumnRows,
    /// Of each of its workers by number, how its users spent their time.
    pub(crate) accounts: Vec<(u32, TimeAccount)>,
    /// What went along.
    pub aside: SeenAside,
}

/// Reads what [`encode`] wrote, but for what is encrypted. The memory that it takes is bounded, whatever the bytes are.
///
/// # Errors
/// They are no record, or one of another version.
pub fn decode(bytes: &[u8]) -> Result<Record, DecodeError> {
    Decoder::default().decode(bytes)
}

/// Most lists of names that a decoder knows, and most bytes of each as it came.
const MAX_KNOWN: usize = 4;
const MAX_KNOWN_BYTES: usize = 64 << 10;

/// Reads records one after the other, and knows the names of the last ones: nodes have the same in every second. Without a
/// run's key, what is encrypted is left out.
#[derive(Debug, Default)]
pub struct Decoder {
    key: Option<RunKey>,
    known: Vec<(Vec<u8>, Arc<[RowKey]>)>,
}

impl Decoder {
    /// One for the records of the run that has this key.
    pub fn of_run(key: RunKey) -> Decoder {
        Decoder { key: Some(key), ..Decoder::default() }
    }

    /// Reads a record.
    ///
    /// # Errors
    /// As of [`decode`]. What is encrypted makes none: what of it cannot be read is counted as left out.
    pub fn decode(&mut self, bytes: &[u8]) -> Result<Record, DecodeError> {
        let (version, mut bytes) = bytes.split_first().ok_or(DecodeError("the record is empty"))?;
        if *version != VERSION {
            return Err(DecodeError("the record was written by another version of squall"));
        }
        let bytes = &mut bytes;
        let mut unpacker = Unpacker::new()?;
        let names = self.names(section(bytes)?, &mut unpacker)?;
        let rest = unpacker.take(bytes)?;
        let host = read_host(&unpacker.take(bytes)?)?;
        let mut columns: [Vec<u8>; COLUMNS] = Default::default();
        for column in &mut columns {
            *column = unpacker.take(bytes)?;
        }
        let mut aside = SeenAside::decode(&unpacker.take(bytes)?)?;
        let sealed = unpacker.take(bytes)?;
        if let Some(key) = &self.key {
            aside.open(&sealed, key, &mut unpacker);
        }
        if !bytes.is_empty() {
            return Err(DecodeError("the record is longer than it says"));
        }
        let rows = ColumnRows::decode(columns.each_ref().map(Vec::as_slice))?;
        let (rest, accounts) = read_rest(&rest)?;
        if names.len() < rows.len() {
            return Err(DecodeError("the record does not name its rows"));
        }
        Ok(Record { names, rest, host, rows, accounts, aside })
    }

    /// The names of a section.
    fn names(
        &mut self,
        section: &[u8],
        unpacker: &mut Unpacker,
    ) -> Result<Arc<[RowKey]>, DecodeError> {
        if let Some((_, names)) = self.known.iter().find(|(own, _)| own == section) {
            return Ok(names.clone());
        }
        let names: Arc<[RowKey]> = names::decode(&unpacker.take(&mut { section })?)?.into();
        if section.len() <= MAX_KNOWN_BYTES {
            self.known.truncate(MAX_KNOWN - 1);
            self.known.insert(0, (section.to_vec(), names.clone()));
        }
        Ok(names)
    }
}

/// The sections of a record: what each holds, and its bytes before and after it was compressed.
///
/// # Errors
/// As of [`decode`].
pub fn section_bytes(bytes: &[u8]) -> Result<Vec<(&'static str, usize, usize)>, DecodeError> {
    let (_, mut bytes) = bytes.split_first().ok_or(DecodeError("the record is empty"))?;
    let bytes = &mut bytes;
    let mut unpacker = Unpacker::new()?;
    let before = ["names", "the rest", "host"].into_iter();
    let names = before.chain(COLUMN_NAMES).chain(["aside", "copies"]);
    let measured = |name| {
        let before = bytes.len();
        Ok((name, unpacker.take(bytes)?.len(), before - bytes.len()))
    };
    names.map(measured).collect()
}

/// All sections as they are once they are decompressed, one after the other.
#[cfg(test)]
pub(super) fn plain_sections(bytes: &[u8]) -> Result<Vec<u8>, DecodeError> {
    let mut bytes = bytes.get(1..).unwrap_or_default();
    let (mut plain, mut unpacker) = (Vec::new(), Unpacker::new()?);
    while !bytes.is_empty() {
        plain.extend(unpacker.take(&mut bytes)?);
    }
    Ok(plain)
}

fn read_rest(mut bytes: &[u8]) -> Result<(Slice, Vec<(u32, TimeAccount)>), DecodeError> {
    let bytes = &mut bytes;
    let rest = Slice::decode(bytes)?;
    let mut accounts = Vec::new();
    while !bytes.is_empty() {
        let own = Slice::decode(bytes)?;
        if let Source::Worker(worker) = own.source {
            accounts.push((worker, own.time_account));
        }
    }
    Ok((rest, accounts))
}

impl Record {
    /// The rows with their places in `rows`.
    pub(super) fn rows(&self) -> impl Iterator<Item = (usize, &RowKey)> {
        self.names.iter().take(self.rows.len()).enumerate()
    }

    /// The name of a number.
    pub(super) fn key(&self, NameId(id): NameId) -> Option<&RowKey> {
        self.names.get(id as usize)
    }

    /// The last value of a gauge that the node's monitor of its host has, such as `squall_cpu`; `None`: it does not report
    /// it.
    pub(crate) fn of_host(&self, name: &str) -> Option<f64> {
        let mut keys = self.rest.metric_keys.iter();
        let (id, _) = keys.find(|(_, key)| key.is_of_monitor() && key.name == name)?;
        let stats = self.rest.metrics().find(|(own, _)| own == id)?.1;
        stats.gauge().map(|gauge| gauge.last)
    }

    /// Gives the copies the number of their node, as each node numbers groups for itself.
    pub fn of_node(mut self, node: u32) -> Record {
        self.aside.of_node(node);
        self
    }

    /// The copies of exchanges, in the order in which they ended.
    pub fn exchanges(&self) -> &[Arc<squall_engine::Exchange>] {
        &self.aside.exchanges
    }
}
