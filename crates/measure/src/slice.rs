//! What one worker recorded in one second.

use crate::codec::{self, DecodeError};
use crate::names::{NameId, NameKind};
use crate::request_stats::{RequestStats, Sample};
use crate::self_metrics::SelfMetrics;
use crate::time_account::TimeAccount;

/// Rows above which a slice frees its memory each second: so many names are rarely used again at once,
/// and allocating them anew costs less than keeping them.
const MAX_REUSED_ROWS: usize = 64;

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
    /// Requests retried on a new connection because the target had closed the old one.
    stale_retries,
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
    /// Statistics by number of the name.
    rows: Vec<Option<Box<RequestStats>>>,
    /// Numbers of the names that were used in this second, in the order of their first use.
    touched: Vec<u32>,
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
        if self.touched.len() > MAX_REUSED_ROWS {
            self.rows.clear();
        }
        for name in self.touched.drain(..) {
            if let Some(Some(row)) = self.rows.get_mut(name as usize) {
                row.clear();
            }
        }
    }

    /// Assigns a number to a name, from this slice on.
    pub fn announce(&mut self, name: NameId, kind: NameKind, text: &str) {
        self.names.push((name, kind, text.to_owned()));
    }

    /// Records a request.
    #[inline]
    pub fn record(&mut self, name: NameId, sample: &Sample) {
        self.row(name).record(sample);
    }

    /// Records a group that took `latency_us`.
    pub fn record_group(&mut self, name: NameId, latency_us: u64, failed: bool) {
        let row = self.row(name);
        row.count += 1;
        row.errors += u64::from(failed);
        row.latency.record(latency_us);
    }

    /// Records a group that the end of its load cut off.
    pub fn record_cut_off_group(&mut self, name: NameId) {
        self.row(name).cut_off += 1;
    }

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

    /// Statistics of the names that were used in this second.
    pub fn rows(&self) -> impl Iterator<Item = (NameId, &RequestStats)> {
        self.touched.iter().filter_map(|name| {
            let row = self.rows.get(*name as usize)?.as_deref()?;
            Some((NameId(*name), row))
        })
    }

    /// Heap memory, in bytes.
    pub fn heap_bytes(&self) -> usize {
        let rows =
            self.rows.iter().flatten().map(|row| size_of::<RequestStats>() + row.heap_bytes());
        self.rows.capacity() * 8
            + self.touched.capacity() * 4
            + rows.sum::<usize>()
            + self.self_metrics.heap_bytes()
    }

    /// Appends its encoding: version 1, all numbers varints.
    pub fn encode(&self, out: &mut Vec<u8>) {
        codec::put(out, 1);
        codec::put(out, u64::from(self.second));
        codec::put(out, u64::from(self.worker));
        codec::put(out, self.names.len() as u64);
        for (NameId(id), kind, text) in &self.names {
            codec::put(out, u64::from(*id));
            codec::put(out, *kind as u64);
            codec::put_text(out, text);
        }
        codec::put(out, self.counters.named().count() as u64);
        for (name, value) in self.counters.named() {
            codec::put_text(out, name);
            codec::put(out, value);
        }
        self.time_account.encode(out);
        self.self_metrics.encode(out);
        codec::put(out, self.touched.len() as u64);
        for (NameId(id), row) in self.rows() {
            codec::put(out, u64::from(id));
            row.encode(out);
        }
    }

    /// Reads what [`Slice::encode`] wrote. Counters that this version does not know are ignored.
    ///
    /// # Errors
    /// The bytes are not a slice.
    pub fn decode(bytes: &mut &[u8]) -> Result<Slice, DecodeError> {
        if codec::get(bytes)? != 1 {
            return Err(DecodeError("the slice was written by a later version of squall"));
        }
        let mut slice = Slice::new(0, number(bytes)?);
        slice.worker = number(bytes)?;
        for _ in 0..codec::get(bytes)? {
            let id = NameId(number(bytes)?);
            let kind = NameKind::from_number(codec::get(bytes)?);
            let kind = kind.ok_or(DecodeError("unknown kind of name"))?;
            slice.names.push((id, kind, codec::get_text(bytes)?));
        }
        for _ in 0..codec::get(bytes)? {
            let name = codec::get_text(bytes)?;
            let value = codec::get(bytes)?;
            let index = slice.counters.named().position(|(own, _)| own == name);
            if let Some(counter) = index.and_then(|index| slice.counters.all_mut().nth(index)) {
                *counter = value;
            }
        }
        slice.time_account = TimeAccount::decode(bytes)?;
        slice.self_metrics = SelfMetrics::decode(bytes)?;
        for _ in 0..codec::get(bytes)? {
            let id = number(bytes)?;
            let row = RequestStats::decode(bytes)?;
            if id > crate::MAX_NAMES as u32 * 4 || row.is_empty() {
                return Err(DecodeError("the number of a name is out of range"));
            }
            *slice.row(NameId(id)) = row;
        }
        Ok(slice)
    }
}

fn number(bytes: &mut &[u8]) -> Result<u32, DecodeError> {
    u32::try_from(codec::get(bytes)?).map_err(|_| DecodeError("a number is out of range"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request_stats::Phases;
    use crate::{ErrorKind, Totals};
    use proptest::prelude::*;

    fn sample(latency_us: u64, status: u16) -> Sample {
        let mut phases = Phases::default();
        phases.add(3, latency_us * 900);
        phases.add(4, latency_us * 100);
        Sample {
            latency_us,
            corrected_latency_us: None,
            complete: true,
            status,
            error: (status >= 400).then_some(ErrorKind::Status),
            bytes_in: 1_000,
            bytes_out: 100,
            phases,
        }
    }

    proptest! {
        #[test]
        fn encoding_loses_nothing(
            samples in prop::collection::vec((0u32..20, 1u64..1_000_000, 100u16..600), 0..100),
            dropped in any::<u64>(),
        ) {
            let mut slice = Slice::new(3, 7);
            slice.announce(NameId(0), NameKind::Request, "GET /ü");
            slice.counters.arrivals_dropped = dropped;
            for (name, latency, status) in samples {
                slice.record(NameId(name), &sample(latency, status));
            }
            let mut bytes = Vec::new();
            slice.encode(&mut bytes);
            let read = Slice::decode(&mut bytes.as_slice()).expect("what was encoded");
            prop_assert_eq!(read.rows().collect::<Vec<_>>(), slice.rows().collect::<Vec<_>>());
            prop_assert_eq!((read.counters, read.names, read.second, read.worker), (slice.counters, slice.names, 7, 3));
            // Cut anywhere, it is an error and no panic.
            for length in 0..bytes.len() {
                prop_assert!(Slice::decode(&mut &bytes[..length]).is_err());
            }
        }

        #[test]
        fn decoding_anything_does_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Slice::decode(&mut bytes.as_slice());
        }
    }

    /// The budget: 1,000 names on 2 workers, 200 requests a name and second, within 32 MiB for what
    /// the workers hold and the totals of the run.
    #[test]
    fn a_thousand_names_cost_little() {
        let mut totals = Totals::new();
        let mut worst = 0;
        for second in 0..3 {
            let mut slices = [Slice::new(0, second), Slice::new(1, second)];
            for slice in &mut slices {
                for name in 0..1_000u32 {
                    if second == 0 {
                        slice.announce(
                            NameId(name),
                            NameKind::Request,
                            &format!("GET /page/{name}"),
                        );
                    }
                    let mut random = u64::from(name) * 7_919 + u64::from(second);
                    for _ in 0..100 {
                        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                        let part = (random >> 33) as f64 / (1u64 << 31) as f64;
                        let latency = 300.0 * 100f64.powf(part);
                        slice.record(NameId(name), &sample(latency as u64, 200));
                    }
                }
            }
            let in_slices: usize = slices.iter().map(Slice::heap_bytes).sum();
            slices.iter().for_each(|slice| totals.add(slice));
            worst = worst.max(in_slices + totals.heap_bytes());
            slices.iter_mut().for_each(|slice| slice.restart(second + 1));
            assert!(slices.iter().all(|slice| slice.heap_bytes() < 64 << 10));
        }
        assert!(worst < 32 << 20, "{worst} bytes");
    }
}
