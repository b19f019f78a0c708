//! What one worker recorded in one second.

use crate::codec::{self, DecodeError};
use crate::metrics::{MAX_METRICS, MetricId, MetricKey, MetricKind, MetricStats, WrongValue};
use crate::names::{NameId, NameKind};
use crate::request_stats::{RequestStats, Sample};
use crate::self_metrics::SelfMetrics;
use crate::time_account::TimeAccount;

/// Rows above which a slice frees its memory each second: so many names are rarely used again at once,
/// and allocating them anew costs less than keeping them.
const MAX_REUSED_ROWS: usize = 64;

/// The first bytes of a slice.
const MAGIC: &[u8; 4] = b"SQSL";
/// Version of the encoding. A new kind of section needs no new one.
const VERSION: u64 = 1;

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
    /// Names that got a number in this second.
    Names = 1,
    /// [`Counters`], by name.
    Counters = 2,
    /// The [`TimeAccount`].
    TimeAccount = 3,
    /// [`SelfMetrics`].
    SelfMetrics = 4,
    /// Statistics of requests and programs, by the number of their name.
    Requests = 5,
    /// Statistics of groups, likewise.
    Groups = 6,
    /// Metrics that got a number in this second.
    MetricKeys = 7,
    /// What metrics recorded, by number.
    Metrics = 8,
}
/// Most numbers of names: those of the names, and one for `other` of each kind.
const MAX_NUMBERS: u32 = crate::MAX_NAMES_LIMIT as u32 + 3;

/// Defines [`Counters`] once, with its names.
macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// What is counted besides requests. All are sums, except for the gauges that say so.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct Counters { $($(#[$doc])* pub $name: u64,)* }

        impl Counters {
            /// Name and value of each counter.
            pub fn named(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$((stringify!($name), self.$name),)*].into_iter()
            }

            /// The value of the counter of this name.
            pub fn get(&self, name: &str) -> Option<u64> {
                self.named().find(|(own, _)| *own == name).map(|(_, value)| value)
            }

            fn all_mut(&mut self) -> impl Iterator<Item = &mut u64> {
                [$(&mut self.$name,)*].into_iter()
            }
        }
    };
}

counters! {
    /// Most users active at once in the second; users of an open workload are active while they serve an
    /// arrival (a gauge, summed over workers).
    users_active,
    /// Iterations started.
    iterations_started,
    /// Iterations finished.
    iterations_done,
    /// Arrivals that the schedule asked for.
    arrivals_due,
    /// Arrivals dropped because no user was free.
    arrivals_dropped,
    /// Arrivals that were due and never began, because the run was ended or its data had no more rows.
    arrivals_cut_off,
    /// Connections opened.
    connections_opened,
    /// Of these, connections that speak HTTP/2.
    http2_connections,
    /// Requests retried on a new connection because the target had closed the old one.
    stale_retries,
    /// TCP segments that squall's own connections sent again, as far as slow responses made it look.
    segments_retransmitted,
    /// Responses that came without a request; their connections were closed.
    unsolicited_responses,
    /// Redirects followed.
    redirects,
    /// Resources that were not requested because their user's cache had them fresh.
    cache_hits,
    /// Checks that passed.
    checks_passed,
    /// Checks that failed.
    checks_failed,
    /// Failed checks that are only warnings, and expressions that could not be evaluated.
    warnings,
    /// Users that stopped because a data source had no more rows.
    data_exhausted,
    /// Lines that did not fit into the run's log.
    log_dropped,
    /// Requests counted under `other`, because there were more names than the plan's `max_names`.
    names_beyond_limit,
}

impl Counters {
    /// Adds the counters of another worker in the same second.
    pub fn merge(&mut self, other: &Counters) {
        for (own, (_, theirs)) in self.all_mut().zip(other.named()) {
            *own = own.saturating_add(theirs);
        }
    }

    /// Adds the counters of a later second.
    pub fn add_later(&mut self, later: &Counters) {
        let users = later.users_active;
        self.merge(later);
        self.users_active = users;
    }
}

/// What one worker recorded in one second of the run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Slice {
    /// The second, from 0.
    pub second: u32,
    /// The worker.
    pub worker: u32,
    /// Names to which the worker assigned numbers in this second.
    pub names: Vec<(NameId, NameKind, String)>,
    /// What is counted besides requests.
    pub counters: Counters,
    /// How the worker's users spent their time.
    pub time_account: TimeAccount,
    /// The worker's self-metrics.
    pub self_metrics: SelfMetrics,
    /// Requests and programs.
    requests: Rows,
    /// Groups: they hold requests that count by themselves.
    groups: Rows,
    /// Metrics of the plan to which the worker assigned numbers in this second.
    pub metric_keys: Vec<(MetricId, MetricKey)>,
    /// What these recorded, by number.
    metrics: Vec<MetricStats>,
}

/// Statistics by the number of a name.
#[derive(Debug, Clone, PartialEq, Default)]
struct Rows {
    rows: Vec<Option<Box<RequestStats>>>,
    /// Numbers of the names that were used in this second, in the order of their first use.
    touched: Vec<u32>,
}

impl Rows {
    fn row(&mut self, NameId(name): NameId) -> &mut RequestStats {
        let index = name as usize;
        if self.rows.len() <= index {
            self.rows.resize_with(index + 1, || None);
        }
        let row = self.rows[index].get_or_insert_with(Box::default);
        if row.is_empty() {
            self.touched.push(name);
        }
        row
    }

    fn iter(&self) -> impl Iterator<Item = (NameId, &RequestStats)> {
        self.touched.iter().filter_map(|name| {
            let row = self.rows.get(*name as usize)?.as_deref()?;
            Some((NameId(*name), row))
        })
    }

    fn clear(&mut self) {
        if self.touched.len() > MAX_REUSED_ROWS {
            self.rows.clear();
        }
        for name in self.touched.drain(..) {
            if let Some(Some(row)) = self.rows.get_mut(name as usize) {
                row.clear();
            }
        }
    }

    fn heap_bytes(&self) -> usize {
        let rows =
            self.rows.iter().flatten().map(|row| size_of::<RequestStats>() + row.heap_bytes());
        self.rows.capacity() * 8 + self.touched.capacity() * 4 + rows.sum::<usize>()
    }

    fn encode(&self, out: &mut Vec<u8>) {
        codec::put(out, self.touched.len() as u64);
        for (NameId(id), row) in self.iter() {
            codec::put(out, u64::from(id));
            codec::put_block(out, |out| row.encode(out));
        }
    }

    fn decode(bytes: &mut &[u8]) -> Result<Rows, DecodeError> {
        let mut rows = Rows::default();
        for _ in 0..codec::get(bytes)? {
            let id = codec::number(bytes)?;
            let row = RequestStats::decode(&mut codec::get_block(bytes)?)?;
            if id >= MAX_NUMBERS || row.is_empty() {
                return Err(DecodeError("the number of a name is out of range"));
            }
            *rows.row(NameId(id)) = row;
        }
        Ok(rows)
    }
}

impl Slice {
    /// An empty slice.
    pub fn new(worker: u32, second: u32) -> Slice {
        Slice { second, worker, ..Slice::default() }
    }

    /// Empties it for another second.
    pub fn restart(&mut self, second: u32) {
        self.second = second;
        self.names.clear();
        self.counters = Counters::default();
        self.time_account = TimeAccount::default();
        self.self_metrics.clear();
        self.requests.clear();
        self.groups.clear();
        self.metric_keys.clear();
        self.metrics.iter_mut().for_each(MetricStats::clear);
    }

    /// Assigns a number to a name, from this slice on.
    pub fn announce(&mut self, name: NameId, kind: NameKind, text: &str) {
        self.names.push((name, kind, text.to_owned()));
    }

    /// Records a request.
    #[inline]
    pub fn record(&mut self, name: NameId, sample: &Sample) {
        self.requests.row(name).record(sample);
    }

    /// Records a group that took `latency_ns`.
    pub fn record_group(&mut self, name: NameId, latency_ns: u64, failed: bool) {
        let row = self.groups.row(name);
        row.count += 1;
        row.errors += u64::from(failed);
        row.latency.record_ns(latency_ns);
    }

    /// Records a group that the end of its load cut off after `waited_ns`.
    pub fn record_cut_off_group(&mut self, name: NameId, waited_ns: u64) {
        let row = self.groups.row(name);
        row.cut_off += 1;
        row.waited.record_ns(waited_ns);
    }

    /// Assigns a number to a metric, from this slice on.
    pub fn announce_metric(&mut self, metric: MetricId, key: &MetricKey) {
        self.metric_keys.push((metric, key.clone()));
    }

    /// Records a value of a metric, `at` ns after the start of the run.
    ///
    /// # Errors
    /// The kind takes no such value.
    pub fn record_metric(
        &mut self,
        metric: MetricId,
        kind: MetricKind,
        value: f64,
        at: u64,
    ) -> Result<(), WrongValue> {
        self.metric(metric).record(kind, value, at)
    }

    fn metric(&mut self, MetricId(metric): MetricId) -> &mut MetricStats {
        let index = metric as usize;
        if self.metrics.len() <= index {
            self.metrics.resize_with(index + 1, MetricStats::default);
        }
        &mut self.metrics[index]
    }

    /// What the metrics of the plan recorded in this second.
    pub fn metrics(&self) -> impl Iterator<Item = (MetricId, &MetricStats)> {
        let numbered = self.metrics.iter().enumerate();
        let used = numbered.filter(|(_, stats)| stats.count > 0);
        used.map(|(number, stats)| (MetricId(number as u32), stats))
    }

    /// Statistics of the requests and programs of this second.
    pub fn requests(&self) -> impl Iterator<Item = (NameId, &RequestStats)> {
        self.requests.iter()
    }

    /// Statistics of the groups of this second.
    pub fn groups(&self) -> impl Iterator<Item = (NameId, &RequestStats)> {
        self.groups.iter()
    }

    /// Statistics of the names that were used in this second.
    pub fn rows(&self) -> impl Iterator<Item = (NameId, &RequestStats)> {
        self.requests().chain(self.groups())
    }

    /// Heap memory, in bytes.
    pub fn heap_bytes(&self) -> usize {
        let metrics = self.metrics.capacity() * size_of::<MetricStats>()
            + self.metrics.iter().map(MetricStats::heap_bytes).sum::<usize>();
        self.requests.heap_bytes()
            + self.groups.heap_bytes()
            + self.self_metrics.heap_bytes()
            + metrics
    }

    /// Appends its encoding: a head of magic bytes, version, worker, second and the number of sections;
    /// then each section with its kind and its length in bytes. All numbers are varints.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut sections = Vec::new();
        let mut count = 0;
        let mut section = |kind: SectionKind, write: &dyn Fn(&mut Vec<u8>)| {
            codec::put(&mut sections, kind as u64);
            codec::put_block(&mut sections, |out| write(out));
            count += 1;
        };
        if !self.names.is_empty() {
            section(SectionKind::Names, &|out| self.encode_names(out));
        }
        section(SectionKind::Counters, &|out| self.encode_counters(out));
        section(SectionKind::TimeAccount, &|out| self.time_account.encode(out));
        section(SectionKind::SelfMetrics, &|out| self.self_metrics.encode(out));
        for (kind, rows) in
            [(SectionKind::Requests, &self.requests), (SectionKind::Groups, &self.groups)]
        {
            if !rows.touched.is_empty() {
                section(kind, &|out| rows.encode(out));
            }
        }
        if !self.metric_keys.is_empty() {
            section(SectionKind::MetricKeys, &|out| self.encode_metric_keys(out));
        }
        if self.metrics().next().is_some() {
            section(SectionKind::Metrics, &|out| self.encode_metrics(out));
        }
        out.extend_from_slice(MAGIC);
        for number in [VERSION, u64::from(self.worker), u64::from(self.second), count] {
            codec::put(out, number);
        }
        out.extend_from_slice(&sections);
    }

    fn encode_names(&self, out: &mut Vec<u8>) {
        codec::put(out, self.names.len() as u64);
        for (NameId(id), kind, text) in &self.names {
            codec::put(out, u64::from(*id));
            codec::put(out, *kind as u64);
            codec::put_text(out, text);
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
        if &codec::take(bytes)? != MAGIC {
            return Err(DecodeError("these bytes are not a slice"));
        }
        if codec::get(bytes)? > VERSION {
            return Err(DecodeError("the slice was written by a later version of squall"));
        }
        let worker = codec::number(bytes)?;
        let mut slice = Slice::new(worker, codec::number(bytes)?);
        for _ in 0..codec::get(bytes)? {
            let kind = codec::get(bytes)?;
            slice.decode_section(kind, codec::get_block(bytes)?)?;
        }
        Ok(slice)
    }

    fn decode_section(&mut self, kind: u64, mut bytes: &[u8]) -> Result<(), DecodeError> {
        let bytes = &mut bytes;
        match SectionKind::from_number(kind) {
            Some(SectionKind::Names) => self.decode_names(bytes)?,
            Some(SectionKind::Counters) => self.decode_counters(bytes)?,
            Some(SectionKind::TimeAccount) => self.time_account = TimeAccount::decode(bytes)?,
            Some(SectionKind::SelfMetrics) => self.self_metrics = SelfMetrics::decode(bytes)?,
            Some(SectionKind::Requests) => self.requests = Rows::decode(bytes)?,
            Some(SectionKind::Groups) => self.groups = Rows::decode(bytes)?,
            Some(SectionKind::MetricKeys) => self.decode_metric_keys(bytes)?,
            Some(SectionKind::Metrics) => self.decode_metrics(bytes)?,
            None => {}
        }
        Ok(())
    }

    fn decode_names(&mut self, bytes: &mut &[u8]) -> Result<(), DecodeError> {
        for _ in 0..codec::get(bytes)? {
            let id = NameId(codec::number(bytes)?);
            let kind = NameKind::from_number(codec::get(bytes)?);
            let kind = kind.ok_or(DecodeError("unknown kind of name"))?;
            self.names.push((id, kind, codec::get_text(bytes)?));
        }
        Ok(())
    }

    fn decode_metric_keys(&mut self, bytes: &mut &[u8]) -> Result<(), DecodeError> {
        for _ in 0..codec::get(bytes)? {
            let id = MetricId(codec::number(bytes)?);
            self.metric_keys.push((id, MetricKey::decode(&mut codec::get_block(bytes)?)?));
        }
        Ok(())
    }

    fn decode_metrics(&mut self, bytes: &mut &[u8]) -> Result<(), DecodeError> {
        for _ in 0..codec::get(bytes)? {
            let id = codec::number(bytes)?;
            let stats = MetricStats::decode(&mut codec::get_block(bytes)?)?;
            // As many as there can be, and one for the rest of each kind.
            if id as usize >= MAX_METRICS + MetricKind::NAMES.len() || stats.count == 0 {
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

#[cfg(test)]
mod tests;
