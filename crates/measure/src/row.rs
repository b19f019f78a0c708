//! What is recorded of a request: one sample in, one row a name and second.

use crate::codec::{self, DecodeError};
use crate::histogram::{COARSE, Histogram};
use crate::kind::ErrorKind;

/// The parts of a request, in order. Their definitions are in [`crate::DEFINITIONS`].
pub const PHASES: [&str; 5] = ["dns", "connect", "tls", "first_byte", "body"];

/// How long each part of a request took, in ns; `None`: there was no such part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Phases(pub [Option<u64>; PHASES.len()]);

impl Phases {
    /// Adds time to a part, in nanoseconds.
    pub fn add(&mut self, phase: usize, nanos: u64) {
        let part = &mut self.0[phase];
        *part = Some(part.unwrap_or(0).saturating_add(nanos));
    }

    /// The parts there were, each with its name, in µs.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, u64)> {
        PHASES.into_iter().zip(self.0).filter_map(|(name, time)| Some((name, time? / 1_000)))
    }
}

/// What is known of a request when it is over.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// From when the user had the request ready to the last byte, in µs.
    pub latency_us: u64,
    /// From when it was due, where there is a schedule, in µs.
    pub due_latency_us: Option<u64>,
    /// Whether a complete answer came: only then its times are counted.
    pub answered: bool,
    /// Status code; 0: none came.
    pub status: u16,
    /// What makes it an error.
    pub error: Option<ErrorKind>,
    /// Bytes read.
    pub bytes_in: u64,
    /// Bytes written.
    pub bytes_out: u64,
    /// Where the time went.
    pub phases: Phases,
}

/// What was recorded under one name.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Row {
    /// Requests that are over.
    pub count: u64,
    /// Those of them that were errors.
    pub errors: u64,
    /// Errors by kind.
    pub error_kinds: Vec<(ErrorKind, u64)>,
    /// Answers by status code, in ascending order.
    pub status: Vec<(u16, u64)>,
    /// Bytes read.
    pub bytes_in: u64,
    /// Bytes written.
    pub bytes_out: u64,
    /// Latency of complete answers, in µs.
    pub latency: Histogram,
    /// The same from when the request was due, where there is a schedule.
    pub due_latency: Histogram,
    /// Parts of the latency, in µs, by [`PHASES`].
    pub phases: [Histogram<COARSE>; PHASES.len()],
}

impl Row {
    /// Records a request.
    pub fn record(&mut self, sample: &Sample) {
        self.count += 1;
        self.bytes_in += sample.bytes_in;
        self.bytes_out += sample.bytes_out;
        if let Some(kind) = sample.error {
            self.errors += 1;
            add(&mut self.error_kinds, kind, 1);
        }
        if sample.status != 0 {
            add(&mut self.status, sample.status, 1);
        }
        if !sample.answered {
            return;
        }
        self.latency.record(sample.latency_us);
        if let Some(due) = sample.due_latency_us {
            self.due_latency.record(due);
        }
        for (histogram, time) in self.phases.iter_mut().zip(sample.phases.0) {
            if let Some(time) = time {
                histogram.record(time / 1_000);
            }
        }
    }

    /// Adds what another row has. Saturates: what is read from a file may be anything.
    pub fn merge(&mut self, other: &Row) {
        self.count = self.count.saturating_add(other.count);
        self.errors = self.errors.saturating_add(other.errors);
        self.bytes_in = self.bytes_in.saturating_add(other.bytes_in);
        self.bytes_out = self.bytes_out.saturating_add(other.bytes_out);
        for (kind, count) in &other.error_kinds {
            add(&mut self.error_kinds, *kind, *count);
        }
        for (status, count) in &other.status {
            add(&mut self.status, *status, *count);
        }
        self.latency.merge(&other.latency);
        self.due_latency.merge(&other.due_latency);
        for (own, theirs) in self.phases.iter_mut().zip(&other.phases) {
            own.merge(theirs);
        }
    }

    /// Forgets everything but its memory.
    pub fn clear(&mut self) {
        (self.count, self.errors, self.bytes_in, self.bytes_out) = (0, 0, 0, 0);
        self.error_kinds.clear();
        self.status.clear();
        self.latency.clear();
        self.due_latency.clear();
        self.phases.iter_mut().for_each(Histogram::clear);
    }

    /// Bytes that it has on the heap.
    pub fn heap_bytes(&self) -> usize {
        let phases: usize = self.phases.iter().map(Histogram::heap_bytes).sum();
        self.error_kinds.capacity() * 16
            + self.status.capacity() * 16
            + self.latency.heap_bytes()
            + self.due_latency.heap_bytes()
            + phases
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        for number in [self.count, self.errors, self.bytes_in, self.bytes_out] {
            codec::put(out, number);
        }
        codec::put(out, self.error_kinds.len() as u64);
        for (kind, count) in &self.error_kinds {
            codec::put(out, *kind as u64);
            codec::put(out, *count);
        }
        codec::put(out, self.status.len() as u64);
        for (status, count) in &self.status {
            codec::put(out, u64::from(*status));
            codec::put(out, *count);
        }
        self.latency.encode(out);
        self.due_latency.encode(out);
        self.phases.iter().for_each(|phase| phase.encode(out));
    }

    pub(crate) fn decode(bytes: &mut &[u8]) -> Result<Row, DecodeError> {
        let mut row = Row {
            count: codec::get(bytes)?,
            errors: codec::get(bytes)?,
            bytes_in: codec::get(bytes)?,
            bytes_out: codec::get(bytes)?,
            ..Row::default()
        };
        for _ in 0..codec::get(bytes)? {
            let kind = ErrorKind::from_number(codec::get(bytes)?);
            let kind = kind.ok_or(DecodeError("an unknown kind of error"))?;
            add(&mut row.error_kinds, kind, codec::get(bytes)?);
        }
        for _ in 0..codec::get(bytes)? {
            let status = u16::try_from(codec::get(bytes)?);
            let status = status.map_err(|_| DecodeError("a status is out of range"))?;
            add(&mut row.status, status, codec::get(bytes)?);
        }
        row.latency = Histogram::decode(bytes)?;
        row.due_latency = Histogram::decode(bytes)?;
        for phase in &mut row.phases {
            *phase = Histogram::decode(bytes)?;
        }
        Ok(row)
    }
}

/// Adds to a count in a short list that is kept in order.
fn add<K: Copy + Ord>(list: &mut Vec<(K, u64)>, key: K, count: u64) {
    match list.binary_search_by_key(&key, |(own, _)| *own) {
        Ok(at) => list[at].1 = list[at].1.saturating_add(count),
        Err(at) => list.insert(at, (key, count)),
    }
}
