//! What goes along with a second: lines of the log, with the examples of errors, and copies of requests and groups, all
//! of them bounded.

use std::sync::Arc;

use squall_engine::{ErrorExample, Exchange, LogLine, SeenGroup};
use squall_metrics::DecodeError;

use super::bytes::{get, get_bytes, get_kind, get_text, get_u32, put, put_bytes};
use super::copies;

/// Most bytes of log lines in a second, before they are compressed.
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
/// server.
#[derive(Debug, Default)]
pub struct Aside {
    log: Vec<u8>,
    exchanges: Vec<u8>,
    groups: Vec<u8>,
    left_out: LeftOut,
}

impl Aside {
    /// Adds a line of the log, whose secrets are masked.
    pub fn log(&mut self, line: &LogLine) {
        if !append(&mut self.log, MAX_LOG, |out| put_line(out, line)) {
            self.left_out.log += 1;
        }
    }

    /// Adds lines that were left out before they came here.
    pub fn log_left_out(&mut self, lines: u64) {
        self.left_out.log += lines;
    }

    /// Adds copies of requests that were left out before they came here.
    pub fn exchanges_left_out(&mut self, copies: u64) {
        self.left_out.exchanges += copies;
    }

    /// Adds a copy of a request, and masks its secrets.
    pub fn exchange(&mut self, exchange: &Exchange) {
        // What is too long is not masked first, which takes its time.
        let most = MAX_COPIES.saturating_sub(self.groups.len());
        let fits = self.exchanges.len() + exchange.copied_bytes() <= most;
        if !fits || !append(&mut self.exchanges, most, |out| copies::put_exchange(out, exchange)) {
            self.left_out.exchanges += 1;
        }
    }

    /// Adds a group, and masks its secrets.
    pub fn group(&mut self, group: &SeenGroup) {
        let most = MAX_COPIES.saturating_sub(self.exchanges.len());
        if !append(&mut self.groups, most, |out| copies::put_group(out, group)) {
            self.left_out.groups += 1;
        }
    }

    /// Whether nothing goes along.
    pub fn is_empty(&self) -> bool {
        self.log.is_empty()
            && self.exchanges.is_empty()
            && self.groups.is_empty()
            && self.left_out == LeftOut::default()
    }

    /// What it is on the wire: nothing, if there is nothing.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        if !self.is_empty() {
            let LeftOut { log, exchanges, groups } = self.left_out;
            [log, exchanges, groups].into_iter().for_each(|number| put(&mut out, number));
            [&self.log, &self.exchanges, &self.groups]
                .into_iter()
                .for_each(|own| put_bytes(&mut out, own));
        }
        out
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
    /// Copies of requests, in the order in which they ended.
    pub exchanges: Vec<Arc<Exchange>>,
    /// Groups, likewise.
    pub groups: Vec<Arc<SeenGroup>>,
    /// What did not fit.
    pub left_out: LeftOut,
}

impl SeenAside {
    pub(super) fn decode(mut bytes: &[u8]) -> Result<SeenAside, DecodeError> {
        if bytes.is_empty() {
            return Ok(SeenAside::default());
        }
        let bytes = &mut bytes;
        let left_out = LeftOut { log: get(bytes)?, exchanges: get(bytes)?, groups: get(bytes)? };
        Ok(SeenAside {
            left_out,
            log: list(get_bytes(bytes)?, MAX_LOG, get_line)?,
            exchanges: list(get_bytes(bytes)?, MAX_COPIES, copies::get_exchange)?,
            groups: list(get_bytes(bytes)?, MAX_COPIES, copies::get_group)?,
        })
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

fn put_line(out: &mut Vec<u8>, line: &LogLine) {
    put(out, u64::from(line.worker));
    put(out, u64::from(line.second));
    put(out, u64::from(line.is_failure));
    put_bytes(out, line.text.as_bytes());
    if let Some(example) = &line.example {
        for text in [&example.scenario, &example.name, &example.excerpt] {
            put_bytes(out, text.as_bytes());
        }
        put_bytes(out, example.kind.label().as_bytes());
        put(out, u64::from(example.status));
        put(out, example.number);
    }
}

fn get_line(bytes: &mut &[u8]) -> Result<LogLine, DecodeError> {
    let (worker, second) = (get_u32(bytes)?, get_u32(bytes)?);
    let (is_failure, text) = (get(bytes)? != 0, get_text(bytes)?);
    let mut line = LogLine { worker, second, text, is_failure, example: None };
    if bytes.is_empty() {
        return Ok(line);
    }
    let (scenario, name, excerpt) = (get_text(bytes)?, get_text(bytes)?, get_text(bytes)?);
    let kind = get_kind(bytes)?;
    let status = u16::try_from(get(bytes)?).map_err(|_| DecodeError("a status is out of range"))?;
    let number = get(bytes)?;
    line.example = Some(ErrorExample { scenario, name, kind, status, number, excerpt });
    Ok(line)
}
