//! What goes along with a second: lines of the log, and what requests and responses had in them (examples of errors, copies
//! of requests, groups), all of them bounded. The lines are for whoever may read the server; the rest is encrypted with the
//! run's key.

use std::sync::Arc;

use squall_engine::{ErrorExample, Exchange, LogLine, SeenGroup};
use squall_metrics::DecodeError;
use squall_metrics::codec::{get, get_bytes, get_text, get_u32, put, put_bytes, put_text};

use super::bytes::{Packer, Unpacker, get_kind};
use super::copies;
use crate::seal::RunKey;

/// Most bytes of log lines and their examples in a second, before they are compressed.
const MAX_LOG: usize = 64 << 10;
/// Most bytes of copies in a second, likewise.
const MAX_COPIES: usize = 512 << 10;

/// How much did not fit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Lines of the log.
    pub log: u64,
    /// Copies of requests.
    pub exchanges: u64,
    /// Groups.
    pub groups: u64,
}

/// Collects what goes along with a second. What it holds has no secrets any more: messages of a fleet are stored by a
/// server. Without a run's key nothing of a request's content goes along.
#[derive(Debug, Default)]
pub struct Aside {
    key: Option<RunKey>,
    log: Vec<u8>,
    copies: Copies,
    left_out: LeftOut,
}

/// What is encrypted.
#[derive(Debug, Default)]
struct Copies {
    /// Those of lines of the log, in their order.
    examples: Vec<u8>,
    exchanges: Vec<u8>,
    groups: Vec<u8>,
    /// How many of each there are.
    counts: Counts,
}

/// Copies that are encrypted. Their numbers are not, so that those are counted that cannot be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counts {
    exchanges: u64,
    groups: u64,
}

impl Copies {
    fn parts(&self) -> [&Vec<u8>; 3] {
        [&self.examples, &self.exchanges, &self.groups]
    }

    fn is_empty(&self) -> bool {
        self.parts().into_iter().all(Vec::is_empty)
    }
}

impl Aside {
    /// What goes along with a second of the run that has this key.
    pub fn of_run(key: RunKey) -> Aside {
        Aside { key: Some(key), ..Aside::default() }
    }

    /// Adds a line of the log, whose secrets are masked.
    pub fn log(&mut self, line: &LogLine) {
        let mut example = Vec::new();
        let known = line.example.as_ref().filter(|_| self.key.is_some());
        known.into_iter().for_each(|own| put_example(&mut example, own));
        let most = MAX_LOG.saturating_sub(self.copies.examples.len() + example.len());
        if !append(&mut self.log, most, |out| put_line(out, line, known.is_some())) {
            self.left_out.log += 1;
        } else if known.is_some() {
            put_bytes(&mut self.copies.examples, &example);
        }
    }

    /// Adds copies of requests that were left out before they came here.
    pub fn exchanges_left_out(&mut self, copies: u64) {
        self.left_out.exchanges += copies;
    }

    /// Adds a copy of a request, and masks its secrets.
    pub fn exchange(&mut self, exchange: &Exchange) {
        let Copies { exchanges, groups, counts, .. } = &mut self.copies;
        // What is too long is not masked first, which takes its time.
        let most = MAX_COPIES.saturating_sub(groups.len());
        let fits = self.key.is_some() && exchanges.len() + exchange.copied_bytes() <= most;
        if fits && append(exchanges, most, |out| copies::put_exchange(out, exchange)) {
            counts.exchanges += 1;
        } else {
            self.left_out.exchanges += 1;
        }
    }

    /// Adds a group, and masks its secrets.
    pub fn group(&mut self, group: &SeenGroup) {
        let Copies { exchanges, groups, counts, .. } = &mut self.copies;
        let most = MAX_COPIES.saturating_sub(exchanges.len());
        let fits = self.key.is_some();
        if fits && append(groups, most, |out| copies::put_group(out, group)) {
            counts.groups += 1;
        } else {
            self.left_out.groups += 1;
        }
    }

    /// Whether nothing goes along.
    pub fn is_empty(&self) -> bool {
        self.log.is_empty() && self.copies.is_empty() && self.left_out == LeftOut::default()
    }

    /// What anybody may read who may read the server: nothing, if nothing goes along.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        if !self.is_empty() {
            let LeftOut { log, exchanges, groups } = self.left_out;
            let counts = self.copies.counts;
            [log, exchanges, groups, counts.exchanges, counts.groups]
                .into_iter()
                .for_each(|number| put(&mut out, number));
            put_bytes(&mut out, &self.log);
        }
        out
    }

    /// The rest, compressed and then encrypted; nothing, if there is none. Should the system give no random numbers, which it
    /// did when it joined, nothing of it goes along.
    pub(super) fn seal(&self, packer: &mut Packer) -> Vec<u8> {
        let Some(key) = self.key.as_ref().filter(|_| !self.copies.is_empty()) else {
            return Vec::new();
        };
        let (mut plain, mut packed) = (Vec::new(), Vec::new());
        self.copies.parts().into_iter().for_each(|own| put_bytes(&mut plain, own));
        packer.put(&mut packed, &plain);
        key.encrypt(&packed).unwrap_or_default()
    }
}

/// Appends what `write` appends with its length before it, if all stays within so many bytes; `false`: it does not.
fn append(out: &mut Vec<u8>, most: usize, write: impl FnOnce(&mut Vec<u8>)) -> bool {
    let mut own = Vec::new();
    write(&mut own);
    let fits = out.len() + own.len() <= most;
    if fits {
        put_bytes(out, &own);
    }
    fits
}

/// What went along with a second.
#[derive(Debug, Default)]
pub struct SeenAside {
    /// Lines of the log, each with its worker and second.
    pub log: Vec<LogLine>,
    /// Of them those that have an example, by their places.
    with_example: Vec<usize>,
    /// How many copies are encrypted.
    sealed: Counts,
    /// Copies of requests, in the order in which they ended.
    pub exchanges: Vec<Arc<Exchange>>,
    /// Groups, likewise.
    pub groups: Vec<Arc<SeenGroup>>,
    /// What did not fit, and copies that were damaged on their way.
    pub left_out: LeftOut,
}

impl SeenAside {
    /// Reads what anybody may read.
    pub(super) fn decode(mut bytes: &[u8]) -> Result<SeenAside, DecodeError> {
        if bytes.is_empty() {
            return Ok(SeenAside::default());
        }
        let bytes = &mut bytes;
        let left_out = LeftOut { log: get(bytes)?, exchanges: get(bytes)?, groups: get(bytes)? };
        let sealed = Counts { exchanges: get(bytes)?, groups: get(bytes)? };
        if sealed.exchanges.max(sealed.groups) > MAX_COPIES as u64 {
            return Err(DecodeError("more goes along with the record than may"));
        }
        let lines = list(get_bytes(bytes)?, MAX_LOG, get_line)?;
        let with_example = lines.iter().enumerate().filter(|(_, (_, has_example))| *has_example);
        let with_example = with_example.map(|(at, _)| at).collect();
        let log = lines.into_iter().map(|(line, _)| line).collect();
        Ok(SeenAside { log, with_example, sealed, left_out, ..SeenAside::default() })
    }

    /// Reads the rest with the run's key. Copies that are damaged, or were encrypted with another key, are left out: what was
    /// measured does not go with them.
    pub(super) fn open(&mut self, sealed: &[u8], key: &RunKey, unpacker: &mut Unpacker) {
        if !sealed.is_empty()
            && let Ok(packed) = key.decrypt(sealed)
            && let Ok(plain) = unpacker.take(&mut &packed[..])
            && self.read(&plain).is_ok()
        {
            return;
        }
        let LeftOut { exchanges, groups, .. } = &mut self.left_out;
        *exchanges = exchanges.saturating_add(self.sealed.exchanges);
        *groups = groups.saturating_add(self.sealed.groups);
    }

    /// The same once it is decrypted and decompressed: all of it, or nothing.
    pub(super) fn read(&mut self, mut plain: &[u8]) -> Result<(), DecodeError> {
        let bytes = &mut plain;
        let examples = list(get_bytes(bytes)?, MAX_LOG, get_example)?;
        let exchanges = list(get_bytes(bytes)?, MAX_COPIES, copies::get_exchange)?;
        let groups = list(get_bytes(bytes)?, MAX_COPIES, copies::get_group)?;
        (self.exchanges, self.groups) = (exchanges, groups);
        for (at, example) in self.with_example.iter().zip(examples) {
            self.log[*at].example = Some(example);
        }
        Ok(())
    }

    pub(super) fn of_node(&mut self, node: u32) {
        for exchange in self.exchanges.iter_mut().filter_map(Arc::get_mut) {
            exchange.part_of = exchange.part_of.map(|number| of_node(number, node));
        }
        for group in self.groups.iter_mut().filter_map(Arc::get_mut) {
            group.one_sample = group.one_sample.map(|number| of_node(number, node));
            group.part_of = group.part_of.map(|number| of_node(number, node));
        }
    }
}

/// A number that no other node gives: groups are numbered one after the other, and no node has 2^40 of them.
fn of_node(number: u64, node: u32) -> u64 {
    u64::from(node) << 40 | number & ((1 << 40) - 1)
}

/// What was appended one after the other. Their lengths before them take as many bytes again at most.
fn list<T>(
    mut bytes: &[u8],
    most: usize,
    read: fn(&mut &[u8]) -> Result<T, DecodeError>,
) -> Result<Vec<T>, DecodeError> {
    if bytes.len() > 2 * most {
        return Err(DecodeError("more goes along with the record than may"));
    }
    let mut all = Vec::new();
    while !bytes.is_empty() {
        all.push(read(&mut get_bytes(&mut bytes)?)?);
    }
    Ok(all)
}

fn put_line(out: &mut Vec<u8>, line: &LogLine, has_example: bool) {
    put(out, u64::from(line.worker));
    put(out, u64::from(line.second));
    put(out, u64::from(line.is_failure) | u64::from(has_example) << 1);
    put_text(out, &line.text);
}

/// A line of the log, and whether it has an example.
fn get_line(bytes: &mut &[u8]) -> Result<(LogLine, bool), DecodeError> {
    let (worker, second, flags) = (get_u32(bytes)?, get_u32(bytes)?, get(bytes)?);
    let (is_failure, text) = (flags & 1 != 0, get_text(bytes)?);
    Ok((LogLine { worker, second, text, is_failure, example: None }, flags & 2 != 0))
}

fn put_example(out: &mut Vec<u8>, example: &ErrorExample) {
    for text in [&example.scenario, &example.name, &example.excerpt] {
        put_text(out, text);
    }
    put_text(out, example.kind.label());
    put(out, u64::from(example.status));
    put(out, example.number);
}

fn get_example(bytes: &mut &[u8]) -> Result<ErrorExample, DecodeError> {
    let (scenario, name, excerpt) = (get_text(bytes)?, get_text(bytes)?, get_text(bytes)?);
    let kind = get_kind(bytes)?;
    let status = u16::try_from(get(bytes)?).map_err(|_| DecodeError("a status is out of range"))?;
    Ok(ErrorExample { scenario, name, kind, status, number: get(bytes)?, excerpt })
}
