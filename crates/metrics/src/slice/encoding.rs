//! The form of a slice on disk: sections with a kind and a length, of which a reader skips those that it
//! does not know.

use super::Slice;
use crate::checks::Checks;
use crate::codec::{self, DecodeError, VERSION};
use crate::load::Load;
use crate::metrics::{MAX_NUMBERS, MetricId, MetricKey, MetricStats};
use crate::names::{NameId, RowKey};
use crate::request_stats::RequestStats;
use crate::self_metrics::SelfMetrics;
use crate::slice::rows::{DecodeRow, Rows};
use crate::source::Source;
use crate::time_account::TimeAccount;

/// The first bytes of a slice.
const MAGIC: &[u8; 4] = b"SQSL";

/// Defines [`SectionKind`] with its numbers, which files keep for ever.
macro_rules! section_kinds {
    ($($(#[$doc:meta])* $name:ident = $number:literal,)*) => {
        /// What a section of an encoded slice holds.
        #[derive(Debug, Clone, Copy)]
        enum SectionKind { $($(#[$doc])* $name = $number,)* }

        impl SectionKind {
            /// The kind of a number; `None`: this version does not know it.
            fn from_number(number: u64) -> Option<SectionKind> {
                match number {
                    $($number => Some(SectionKind::$name),)*
                    _ => None,
                }
            }
        }
    };
}

section_kinds! {
    /// [`crate::Counters`], by name.
    Counters = 2,
    /// The [`TimeAccount`].
    TimeAccount = 3,
    /// [`SelfMetrics`].
    SelfMetrics = 4,
    /// Statistics of requests and programs, by the number of their name.
    Requests = 5,
    /// Statistics of groups and iterations, likewise.
    Spans = 6,
    /// Metrics that got a number in this second.
    MetricKeys = 7,
    /// What metrics recorded, by number.
    Metrics = 8,
    /// Rows that got a number in this second.
    Rows = 9,
    /// What checks came to, by number.
    Checks = 10,
    /// The [`Load`].
    Load = 11,
}

impl Slice {
    /// Appends its encoding: a head of magic bytes, version, source, second and the number of sections;
    /// then each section with its kind and its length in bytes. All numbers are varints.
    pub fn encode(&self, out: &mut Vec<u8>) {
        type Write<'w> = &'w dyn Fn(&mut Vec<u8>);
        let has_metrics = self.metrics().next().is_some();
        let sections: [(SectionKind, bool, Write<'_>); _] = [
            (SectionKind::Rows, !self.names.is_empty(), &|out| self.encode_names(out)),
            (SectionKind::Counters, true, &|out| self.encode_counters(out)),
            (SectionKind::TimeAccount, true, &|out| self.time_account.encode(out)),
            (SectionKind::SelfMetrics, true, &|out| self.self_metrics.encode(out)),
            (SectionKind::Requests, !self.requests.touched.is_empty(), &|out| {
                self.requests.encode(out);
            }),
            (SectionKind::Spans, !self.spans.touched.is_empty(), &|out| self.spans.encode(out)),
            (SectionKind::Load, !self.load.is_empty(), &|out| self.load.encode(out)),
            (SectionKind::Checks, !self.checks.is_empty(), &|out| self.checks.encode(out)),
            (SectionKind::MetricKeys, !self.metric_keys.is_empty(), &|out| {
                self.encode_metric_keys(out);
            }),
            (SectionKind::Metrics, has_metrics, &|out| self.encode_metrics(out)),
        ];
        let present = sections.iter().filter(|(_, is_present, _)| *is_present);
        out.extend_from_slice(MAGIC);
        let count = present.clone().count() as u64;
        for number in [VERSION, u64::from(self.source.number()), u64::from(self.second), count] {
            codec::put(out, number);
        }
        for (kind, _, write) in present {
            codec::put(out, *kind as u64);
            codec::put_block(out, write);
        }
    }

    fn encode_names(&self, out: &mut Vec<u8>) {
        codec::put(out, self.names.len() as u64);
        for (NameId(id), key) in &self.names {
            codec::put(out, u64::from(*id));
            codec::put_block(out, |out| key.encode(out));
        }
    }

    /// Counters that are 0 are left out.
    fn encode_counters(&self, out: &mut Vec<u8>) {
        let counted = || self.counters.named().filter(|(_, value)| *value > 0);
        codec::put(out, counted().count() as u64);
        for (name, value) in counted() {
            codec::put_text(out, name);
            codec::put(out, value);
        }
    }

    fn encode_metric_keys(&self, out: &mut Vec<u8>) {
        codec::put(out, self.metric_keys.len() as u64);
        for (MetricId(id), key) in &self.metric_keys {
            codec::put(out, u64::from(*id));
            codec::put_block(out, |out| key.encode(out));
        }
    }

    fn encode_metrics(&self, out: &mut Vec<u8>) {
        codec::put(out, self.metrics().count() as u64);
        for (MetricId(id), stats) in self.metrics() {
            codec::put(out, u64::from(id));
            codec::put_block(out, |out| stats.encode(out));
        }
    }

    /// Reads what [`Slice::encode`] wrote, of this version or an earlier one. Sections and counters that
    /// this version does not know are skipped. It takes no more memory than a small multiple of the
    /// bytes that it reads, and a constant.
    ///
    /// # Errors
    /// The bytes are not a slice, or of a later version.
    pub fn decode(bytes: &mut &[u8]) -> Result<Slice, DecodeError> {
        Slice::decode_with(bytes, RequestStats::decode)
    }

    /// The same without the times of requests, groups and iterations, of which there is only what was counted.
    ///
    /// # Errors
    /// As of [`Slice::decode`].
    pub fn decode_counts(bytes: &mut &[u8]) -> Result<Slice, DecodeError> {
        Slice::decode_with(bytes, RequestStats::decode_counts)
    }

    /// The same with latencies and corrected latencies, and no other times of requests, groups and iterations.
    ///
    /// # Errors
    /// As of [`Slice::decode`].
    pub fn decode_latencies(bytes: &mut &[u8]) -> Result<Slice, DecodeError> {
        Slice::decode_with(bytes, RequestStats::decode_latencies)
    }

    fn decode_with(bytes: &mut &[u8], row: DecodeRow) -> Result<Slice, DecodeError> {
        if &codec::take(bytes)? != MAGIC {
            return Err(DecodeError("these bytes are not a slice"));
        }
        let version = codec::get(bytes)?;
        if version > VERSION {
            return Err(DecodeError("the slice was written by a later version of squall"));
        }
        let source = Source::from_number(codec::get_u32(bytes)?);
        let mut slice = Slice::new(source, codec::get_u32(bytes)?);
        for _ in 0..codec::get(bytes)? {
            let kind = codec::get(bytes)?;
            slice.decode_section(kind, codec::get_bytes(bytes)?, (row, version))?;
        }
        Ok(slice)
    }

    fn decode_section(
        &mut self,
        kind: u64,
        mut bytes: &[u8],
        row: (DecodeRow, u64),
    ) -> Result<(), DecodeError> {
        let bytes = &mut bytes;
        match SectionKind::from_number(kind) {
            Some(SectionKind::Rows) => self.decode_names(bytes)?,
            Some(SectionKind::Counters) => self.decode_counters(bytes)?,
            Some(SectionKind::TimeAccount) => self.time_account = TimeAccount::decode(bytes)?,
            Some(SectionKind::SelfMetrics) => {
                self.self_metrics = SelfMetrics::decode(bytes, row.1)?
            }
            Some(SectionKind::Requests) => self.requests = Rows::decode(bytes, row)?,
            Some(SectionKind::Load) => self.load = Load::decode(bytes)?,
            Some(SectionKind::Checks) => self.checks = Checks::decode(bytes)?,
            Some(SectionKind::Spans) => self.spans = Rows::decode(bytes, row)?,
            Some(SectionKind::MetricKeys) => self.decode_metric_keys(bytes)?,
            Some(SectionKind::Metrics) => self.decode_metrics(bytes, row.1)?,
            None => {}
        }
        Ok(())
    }

    fn decode_names(&mut self, bytes: &mut &[u8]) -> Result<(), DecodeError> {
        for _ in 0..codec::get(bytes)? {
            let id = NameId(codec::get_u32(bytes)?);
            if let Some(key) = RowKey::decode(&mut codec::get_bytes(bytes)?)? {
                self.names.push((id, key));
            }
        }
        Ok(())
    }

    fn decode_metric_keys(&mut self, bytes: &mut &[u8]) -> Result<(), DecodeError> {
        for _ in 0..codec::get(bytes)? {
            let id = MetricId(codec::get_u32(bytes)?);
            self.metric_keys.push((id, MetricKey::decode(&mut codec::get_bytes(bytes)?)?));
        }
        Ok(())
    }

    fn decode_metrics(&mut self, bytes: &mut &[u8], version: u64) -> Result<(), DecodeError> {
        for _ in 0..codec::get(bytes)? {
            let id = codec::get_u32(bytes)?;
            let stats = MetricStats::decode(&mut codec::get_bytes(bytes)?, version)?;
            if id as usize >= MAX_NUMBERS || stats.count == 0 {
                return Err(DecodeError("the number of a metric is out of range"));
            }
            *self.metric(MetricId(id)) = stats;
        }
        Ok(())
    }

    fn decode_counters(&mut self, bytes: &mut &[u8]) -> Result<(), DecodeError> {
        for _ in 0..codec::get(bytes)? {
            let name = codec::get_text(bytes)?;
            let value = codec::get(bytes)?;
            let index = self.counters.named().position(|(own, _)| own == name);
            if let Some(counter) = index.and_then(|index| self.counters.all_mut().nth(index)) {
                *counter = value;
            }
        }
        Ok(())
    }
}
