//! What is recorded of requests: a [`Sample`] per request goes in, a [`RequestStats`] per name and second
//! comes out.

use crate::codec::{self, DecodeError};
use crate::error_kind::ErrorKind;
use crate::histogram::{COARSE, Histogram};

/// The phases of a request, in order.
pub const PHASES: [&str; 6] = ["pool", "dns", "connect", "tls", "first_byte", "body"];

/// How many histograms of three digits there are of a row.
pub(crate) const FINE_TIMES: usize = 7;

/// How long each phase of a request took, in ns; `None`: it had no such phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Phases(pub [Option<u64>; PHASES.len()]);

impl Phases {
    /// Adds time to a phase, in ns.
    pub fn add(&mut self, phase: usize, nanos: u64) {
        let time = &mut self.0[phase];
        *time = Some(time.unwrap_or(0).saturating_add(nanos));
    }

    /// The phases that the request had, each with its name, in µs.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, f64)> {
        PHASES.into_iter().zip(self.0).filter_map(|(name, time)| Some((name, time? as f64 / 1e3)))
    }
}

/// What is known about a request when it has ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// From the start of the request to the last byte, in ns; without a complete response, until it was
    /// given up.
    pub latency_ns: u64,
    /// The same from when it should have been sent, in ns; `None`: it has no schedule.
    pub corrected_latency_ns: Option<u64>,
    /// Whether a complete response was received: only then its times are those of a response.
    pub complete: bool,
    /// Status code; 0: none was received.
    pub status: u16,
    /// Why it is an error, if it is one.
    pub error: Option<ErrorKind>,
    pub bytes_in: u64,
    pub bytes_out: u64,
    /// How often it was sent again, because the target had closed its connection.
    pub retries: u64,
    /// How long its phases took.
    pub phases: Phases,
}

/// The version of slices from which on they say what was not sent, what was sent again, and how long failures took.
const HAS_FAILED_AFTER: u64 = 2;

/// What became of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It has ended, with a response or with an error.
    Ended,
    /// squall cut it off, because its load or the run had ended.
    CutOff,
    /// squall could not make it, so that the target was asked for nothing.
    NotSent,
}

impl Sample {
    /// A complete response with status 200, of which nothing else is known: what simulations and tests record.
    pub fn ok(latency_us: u64) -> Sample {
        Sample {
            latency_ns: latency_us.saturating_mul(1_000),
            corrected_latency_ns: None,
            complete: true,
            status: 200,
            error: None,
            bytes_in: 0,
            bytes_out: 0,
            retries: 0,
            phases: Phases::default(),
        }
    }

    /// What became of it. Only one that has ended counts as a request.
    #[inline]
    pub fn fate(&self) -> Fate {
        match self.error {
            Some(ErrorKind::Interrupted) => Fate::CutOff,
            Some(kind) if kind.is_of_making() && self.bytes_out == 0 => Fate::NotSent,
            _ => Fate::Ended,
        }
    }
}

/// What was recorded of the requests of one name.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RequestStats {
    /// Requests that have ended.
    pub count: u64,
    /// Those of them that were errors.
    pub errors: u64,
    /// Requests and groups that squall cut off, because their load or the run had ended: they count neither as ended nor
    /// as errors; how long they had taken is in `waited`.
    pub cut_off: u64,
    /// Requests that squall could not make, and did not send: they count neither as ended nor as errors; why is in
    /// `error_kinds`.
    pub not_sent: u64,
    /// How often requests were sent again, because the target had closed their connection.
    pub retries: u64,
    /// Errors by kind, and why requests were not sent.
    pub error_kinds: Vec<(ErrorKind, u64)>,
    /// Responses by status code, in ascending order.
    pub status: Vec<(u16, u64)>,
    pub bytes_in: u64,
    pub bytes_out: u64,
    /// Latency of complete responses, in µs.
    pub latency: Histogram,
    /// Latency of those of them that were errors, in µs.
    pub error_latency: Histogram,
    /// Corrected latency, in µs: from when the request should have been sent, where there is a schedule.
    pub corrected_latency: Histogram,
    /// How long requests had waited that were given up before their response was complete (timeouts, and
    /// what the end of the load cut off), in µs.
    pub waited: Histogram,
    /// The same since they should have been sent, in µs, where there is a schedule.
    pub corrected_waited: Histogram,
    /// How long it took until requests failed without a complete response for other reasons (a reset, a refused
    /// connection), in µs.
    pub failed_after: Histogram,
    /// The same since they should have been sent, in µs, where there is a schedule.
    pub corrected_failed_after: Histogram,
    /// Phases of a request, in µs, by [`PHASES`]; all but the pool's are parts of its latency.
    pub phases: [Histogram<COARSE>; PHASES.len()],
}

impl RequestStats {
    pub fn record(&mut self, sample: &Sample) {
        self.bytes_in += sample.bytes_in;
        self.bytes_out += sample.bytes_out;
        self.retries += sample.retries;
        match sample.fate() {
            Fate::Ended => self.record_ended(sample),
            Fate::CutOff => {
                self.cut_off += 1;
                self.record_incomplete(sample);
            }
            Fate::NotSent => {
                self.not_sent += 1;
                sample.error.into_iter().for_each(|kind| add(&mut self.error_kinds, kind, 1));
            }
        }
    }

    fn record_ended(&mut self, sample: &Sample) {
        self.count += 1;
        if let Some(kind) = sample.error {
            self.errors += 1;
            add(&mut self.error_kinds, kind, 1);
        }
        if sample.status != 0 {
            add(&mut self.status, sample.status, 1);
        }
        if !sample.complete {
            self.record_incomplete(sample);
            return;
        }
        self.latency.record_ns(sample.latency_ns);
        if sample.error.is_some() {
            self.error_latency.record_ns(sample.latency_ns);
        }
        if let Some(corrected) = sample.corrected_latency_ns {
            self.corrected_latency.record_ns(corrected);
        }
        for (histogram, time) in self.phases.iter_mut().zip(sample.phases.0) {
            if let Some(time) = time {
                histogram.record_ns(time);
            }
        }
    }

    /// Records the times of a request without a complete response: whether it was waited for in vain, or failed.
    fn record_incomplete(&mut self, sample: &Sample) {
        let Some(kind) = sample.error else { return };
        let is_of_pool = kind == ErrorKind::PoolTimeout;
        // The wait for the plan's pool is no part of a latency, so that this one has none.
        if kind.is_given_up() {
            self.waited.record_ns(sample.latency_ns);
        } else if !is_of_pool {
            self.failed_after.record_ns(sample.latency_ns);
        }
        let Some(corrected) = sample.corrected_latency_ns else { return };
        if kind.is_given_up() || is_of_pool {
            self.corrected_waited.record_ns(corrected);
        } else {
            self.corrected_failed_after.record_ns(corrected);
        }
    }

    /// Whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.count == 0 && self.cut_off == 0 && self.not_sent == 0
    }

    /// Adds the statistics of other requests. Saturates: a file may contain anything.
    pub fn merge(&mut self, other: &RequestStats) {
        self.merge_outcomes(other);
        self.retries = self.retries.saturating_add(other.retries);
        self.bytes_in = self.bytes_in.saturating_add(other.bytes_in);
        self.bytes_out = self.bytes_out.saturating_add(other.bytes_out);
        self.latency.merge(&other.latency);
        self.error_latency.merge(&other.error_latency);
        self.corrected_latency.merge(&other.corrected_latency);
        self.waited.merge(&other.waited);
        self.corrected_waited.merge(&other.corrected_waited);
        self.failed_after.merge(&other.failed_after);
        self.corrected_failed_after.merge(&other.corrected_failed_after);
        for (own, theirs) in self.phases.iter_mut().zip(&other.phases) {
            own.merge(theirs);
        }
    }

    /// Adds counts, errors by kind and statuses of other requests, and nothing of their times.
    pub fn merge_outcomes(&mut self, other: &RequestStats) {
        self.count = self.count.saturating_add(other.count);
        self.errors = self.errors.saturating_add(other.errors);
        self.cut_off = self.cut_off.saturating_add(other.cut_off);
        self.not_sent = self.not_sent.saturating_add(other.not_sent);
        for (kind, count) in &other.error_kinds {
            add(&mut self.error_kinds, *kind, *count);
        }
        for (status, count) in &other.status {
            add(&mut self.status, *status, *count);
        }
    }

    /// Resets all values and keeps the memory.
    pub fn clear(&mut self) {
        (self.count, self.errors, self.cut_off, self.not_sent) = (0, 0, 0, 0);
        (self.retries, self.bytes_in, self.bytes_out) = (0, 0, 0);
        self.error_kinds.clear();
        self.status.clear();
        self.latency.clear();
        self.error_latency.clear();
        self.corrected_latency.clear();
        self.waited.clear();
        self.corrected_waited.clear();
        self.failed_after.clear();
        self.corrected_failed_after.clear();
        self.phases.iter_mut().for_each(Histogram::clear);
    }

    /// Its histograms of three digits, in an order of their own: `latency` first.
    pub(crate) fn fine(&self) -> [&Histogram; FINE_TIMES] {
        [
            &self.latency,
            &self.corrected_latency,
            &self.error_latency,
            &self.waited,
            &self.corrected_waited,
            &self.failed_after,
            &self.corrected_failed_after,
        ]
    }

    /// The same, to be changed.
    pub(crate) fn fine_mut(&mut self) -> [&mut Histogram; FINE_TIMES] {
        [
            &mut self.latency,
            &mut self.corrected_latency,
            &mut self.error_latency,
            &mut self.waited,
            &mut self.corrected_waited,
            &mut self.failed_after,
            &mut self.corrected_failed_after,
        ]
    }

    /// See [`Histogram::compact`].
    pub fn compact(&mut self) {
        self.fine_mut().into_iter().for_each(Histogram::compact);
        self.phases.iter_mut().for_each(Histogram::compact);
    }

    /// Heap memory, in bytes.
    pub fn heap_bytes(&self) -> usize {
        let phases: usize = self.phases.iter().map(Histogram::heap_bytes).sum();
        self.error_kinds.capacity() * 16
            + self.status.capacity() * 16
            + self.latency.heap_bytes()
            + self.error_latency.heap_bytes()
            + self.corrected_latency.heap_bytes()
            + self.waited.heap_bytes()
            + self.corrected_waited.heap_bytes()
            + self.failed_after.heap_bytes()
            + self.corrected_failed_after.heap_bytes()
            + phases
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        for number in [
            self.count,
            self.errors,
            self.cut_off,
            self.bytes_in,
            self.bytes_out,
            self.not_sent,
            self.retries,
        ] {
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
        self.corrected_latency.encode(out);
        self.waited.encode(out);
        self.corrected_waited.encode(out);
        self.failed_after.encode(out);
        self.corrected_failed_after.encode(out);
        self.error_latency.encode(out);
        codec::put(out, self.phases.len() as u64);
        self.phases.iter().for_each(|phase| phase.encode(out));
    }

    /// Reads what was counted, and none of the times, into one that is empty, of slices of a version.
    pub(crate) fn decode_counts(
        &mut self,
        bytes: &mut &[u8],
        version: u64,
    ) -> Result<(), DecodeError> {
        let known = [&mut self.count, &mut self.errors, &mut self.cut_off];
        let known = known.into_iter().chain([&mut self.bytes_in, &mut self.bytes_out]);
        let new = [&mut self.not_sent, &mut self.retries];
        let new = new.into_iter().take(if version >= HAS_FAILED_AFTER { 2 } else { 0 });
        for number in known.chain(new) {
            *number = codec::get(bytes)?;
        }
        for _ in 0..codec::get(bytes)? {
            let kind = ErrorKind::from_number(codec::get(bytes)?);
            let count = codec::get(bytes)?;
            // Of kinds that only later versions know there is nothing to say but that they are errors.
            if let Some(kind) = kind {
                add(&mut self.error_kinds, kind, count);
            }
        }
        for _ in 0..codec::get(bytes)? {
            let status = u16::try_from(codec::get(bytes)?);
            let status = status.map_err(|_| DecodeError("a status is out of range"))?;
            add(&mut self.status, status, codec::get(bytes)?);
        }
        Ok(())
    }

    /// Reads what was counted and the latencies, and no other times, into one that is empty.
    pub(crate) fn decode_latencies(
        &mut self,
        bytes: &mut &[u8],
        version: u64,
    ) -> Result<(), DecodeError> {
        self.decode_counts(bytes, version)?;
        self.latency.read(bytes, version)?;
        self.corrected_latency.read(bytes, version)?;
        Ok(())
    }

    /// Reads all into one that is empty: where it lies, as it is large.
    pub(crate) fn decode(&mut self, bytes: &mut &[u8], version: u64) -> Result<(), DecodeError> {
        self.decode_latencies(bytes, version)?;
        self.waited.read(bytes, version)?;
        self.corrected_waited.read(bytes, version)?;
        if version >= HAS_FAILED_AFTER {
            self.failed_after.read(bytes, version)?;
            self.corrected_failed_after.read(bytes, version)?;
            self.error_latency.read(bytes, version)?;
        }
        // An earlier version may know fewer.
        let phases = usize::try_from(codec::get(bytes)?).unwrap_or(usize::MAX);
        for phase in self.phases.iter_mut().take(phases) {
            phase.read(bytes, version)?;
        }
        Ok(())
    }
}

/// Adds to a count in a short, sorted list.
pub(crate) fn add<K: Copy + Ord>(list: &mut Vec<(K, u64)>, key: K, count: u64) {
    match list.binary_search_by_key(&key, |(own, _)| *own) {
        Ok(at) => list[at].1 = list[at].1.saturating_add(count),
        Err(at) => list.insert(at, (key, count)),
    }
}
