//! What one source recorded in one second.

mod counters;
mod encoding;
mod rows;
#[cfg(test)]
mod tests;

use crate::checks::{CheckCounts, CheckResult, Checks};
use crate::load::Load;
use crate::metrics::{MetricId, MetricKey, MetricKind, MetricStats, WrongValue};
use crate::names::{NameId, RowKey, RowKind};
use crate::request_stats::{RequestStats, Sample};
use crate::self_metrics::SelfMetrics;
use crate::source::Source;
use crate::time_account::TimeAccount;
pub use counters::Counters;
use rows::Rows;

/// What one worker, or a monitor, recorded in one second of the run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Slice {
    /// The second, from 0.
    pub second: u32,
    pub source: Source,
    /// Rows to which its source assigned numbers in this second.
    pub names: Vec<(NameId, RowKey)>,
    /// What is counted besides requests.
    pub counters: Counters,
    /// The load that was there.
    pub load: Load,
    /// How the worker's users spent their time.
    pub time_account: TimeAccount,
    pub self_metrics: SelfMetrics,
    /// Requests, resources and programs.
    requests: Rows,
    /// Groups and iterations: they hold requests that count by themselves.
    spans: Rows,
    /// What checks came to.
    checks: Checks,
    /// Metrics to which its source assigned numbers in this second.
    pub metric_keys: Vec<(MetricId, MetricKey)>,
    /// What these recorded, by number.
    metrics: Vec<MetricStats>,
}

impl Slice {
    pub fn new(source: impl Into<Source>, second: u32) -> Slice {
        Slice { second, source: source.into(), ..Slice::default() }
    }

    /// Empties it for another second.
    pub fn restart(&mut self, second: u32) {
        self.second = second;
        self.names.clear();
        self.counters = Counters::default();
        self.load.clear();
        self.time_account = TimeAccount::default();
        self.self_metrics.clear();
        self.requests.clear();
        self.spans.clear();
        self.checks.clear();
        self.metric_keys.clear();
        self.metrics.iter_mut().for_each(MetricStats::clear);
    }

    /// Assigns a number to a row, from this slice on.
    pub fn announce(&mut self, name: NameId, key: RowKey) {
        self.names.push((name, key));
    }

    #[inline]
    pub fn record(&mut self, name: NameId, sample: &Sample) {
        self.requests.row(name).record(sample);
    }

    /// Records what a check came to.
    #[inline]
    pub fn record_check(&mut self, check: NameId, result: CheckResult) {
        let counts = self.checks.of(check);
        match result {
            CheckResult::Passed => counts.passed += 1,
            CheckResult::Failed => counts.failed += 1,
            CheckResult::Warned => counts.warned += 1,
        }
    }

    /// Records a group or an iteration that took `latency_ns`.
    pub fn record_span(&mut self, name: NameId, latency_ns: u64, failed: bool) {
        let row = self.spans.row(name);
        row.count += 1;
        row.errors += u64::from(failed);
        row.latency.record_ns(latency_ns);
        if failed {
            row.error_latency.record_ns(latency_ns);
        }
    }

    /// Records a group or an iteration that the end of its load cut off after `waited_ns`.
    pub fn record_cut_off_span(&mut self, name: NameId, waited_ns: u64) {
        let row = self.spans.row(name);
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

    /// Takes what was recorded of a row of a kind elsewhere, in place of its own. It is held in as little memory as there
    /// is: see [`RequestStats::compact`].
    pub fn put_row(&mut self, name: NameId, kind: RowKind, stats: &RequestStats) {
        let rows = if kind.is_request() { &mut self.requests } else { &mut self.spans };
        if !stats.is_empty() {
            let mut own = Box::new(stats.clone());
            own.compact();
            rows.put(name.0, own);
        }
    }

    /// Adds what a check came to elsewhere.
    pub fn merge_check(&mut self, check: NameId, counts: &CheckCounts) {
        if counts.count() > 0 {
            self.checks.of(check).merge(counts);
        }
    }

    /// Adds what a metric recorded elsewhere.
    pub fn merge_metric(&mut self, metric: MetricId, stats: &MetricStats) {
        self.metric(metric).merge(stats);
    }

    /// What metrics recorded in this second.
    pub fn metrics(&self) -> impl Iterator<Item = (MetricId, &MetricStats)> {
        let numbered = self.metrics.iter().enumerate();
        let used = numbered.filter(|(_, stats)| stats.count > 0);
        used.map(|(number, stats)| (MetricId(number as u32), stats))
    }

    /// Statistics of the requests, resources and programs of this second.
    pub fn requests(&self) -> impl Iterator<Item = (NameId, &RequestStats)> {
        self.requests.iter()
    }

    /// Statistics of the groups and iterations of this second.
    pub fn spans(&self) -> impl Iterator<Item = (NameId, &RequestStats)> {
        self.spans.iter()
    }

    /// What the checks of this second came to.
    pub fn checks(&self) -> impl Iterator<Item = (NameId, CheckCounts)> {
        self.checks.iter()
    }

    /// Statistics of the rows that were used in this second, checks aside.
    pub fn rows(&self) -> impl Iterator<Item = (NameId, &RequestStats)> {
        self.requests().chain(self.spans())
    }

    /// Heap memory, in bytes.
    pub fn heap_bytes(&self) -> usize {
        let metrics = self.metrics.capacity() * size_of::<MetricStats>()
            + self.metrics.iter().map(MetricStats::heap_bytes).sum::<usize>();
        self.requests.heap_bytes()
            + self.spans.heap_bytes()
            + self.checks.heap_bytes()
            + self.self_metrics.heap_bytes()
            + self.load.heap_bytes()
            + metrics
    }
}
