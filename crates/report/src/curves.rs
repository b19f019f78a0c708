//! What the page draws over time: the run as a whole in the intervals of its series, from which it comes; its rows in
//! intervals of their own, computed from the recording in the same pass, in memory that does not grow with the run.
//! Percentiles over several seconds are those of their merged histograms.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use squall_analysis::{CompleteRow, RowNumbers};
use squall_metrics::{CheckCounts, Histogram, PHASES, RequestStats, RowKey, Slice, SliceSet};

use crate::distribution::bins;

/// Most intervals of all rows together: what bounds the size of the page.
const MAX_ROW_INTERVALS: u32 = 60_000;
/// Most rows that have curves of their own; those that were used first.
const MAX_ROWS: usize = 2_000;
/// An interval is complete when a second so much later has come: workers hand over the same second within
/// moments of each other.
const SECONDS_UNTIL_COMPLETE: u32 = 8;

/// The whole run over time. Interval n of a list begins `seconds` × n after the start; times are in µs.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Curves {
    /// Seconds of an interval of the whole.
    pub seconds: u32,
    /// Seconds of an interval of a row.
    pub row_seconds: u32,
    /// Slices that came too late to be drawn in the curves of rows.
    pub late: u64,
    /// Requests, resources and programs together.
    pub all: Whole,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Whole {
    /// Requests and their times.
    #[serde(flatten)]
    pub line: Line,
    /// 90th percentiles of the latency.
    pub p90: Vec<u64>,
    pub max: Vec<u64>,
    /// 99th percentiles of the corrected latency; empty: there is no schedule.
    pub corrected_p99: Vec<u64>,
    pub bytes_in: Vec<u64>,
    pub bytes_out: Vec<u64>,
    /// Latencies by bin: in each interval the first bin, and the counts from there on.
    pub heat: Vec<Vec<u64>>,
    pub error_kinds: BTreeMap<&'static str, Vec<u64>>,
    /// Responses by status code.
    pub status: BTreeMap<u16, Vec<u64>>,
    /// Time of a phase, as a mean over all requests that ended.
    pub phases: BTreeMap<&'static str, Vec<u64>>,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Line {
    /// How many have ended.
    pub count: Vec<u64>,
    /// How many of them were errors; empty: none ever.
    pub errors: Vec<u64>,
    /// Medians of the latency.
    pub p50: Vec<u64>,
    /// 95th percentiles.
    pub p95: Vec<u64>,
    /// 99th percentiles.
    pub p99: Vec<u64>,
}

/// Puts a value at its interval.
fn put<T: Clone + Default>(list: &mut Vec<T>, at: u32, value: T) {
    let at = at as usize;
    if list.len() <= at {
        list.resize(at + 1, T::default());
    }
    list[at] = value;
}

impl Line {
    fn put(&mut self, at: u32, count: u64, errors: u64, latency: &Histogram) {
        put(&mut self.count, at, count);
        if errors > 0 {
            put(&mut self.errors, at, errors);
        }
        if !latency.is_empty() {
            let lists = [&mut self.p50, &mut self.p95, &mut self.p99];
            for (list, value) in lists.into_iter().zip(latency.percentiles([50.0, 95.0, 99.0])) {
                put(list, at, value);
            }
        }
    }
}

impl Whole {
    fn put(&mut self, at: u32, stats: &RequestStats) {
        self.line.put(at, stats.count, stats.errors, &stats.latency);
        put(&mut self.bytes_in, at, stats.bytes_in);
        put(&mut self.bytes_out, at, stats.bytes_out);
        put(&mut self.heat, at, bins(&stats.latency));
        if !stats.latency.is_empty() {
            put(&mut self.p90, at, stats.latency.percentile(90.0));
            put(&mut self.max, at, stats.latency.max());
        }
        if !stats.corrected_latency.is_empty() {
            put(&mut self.corrected_p99, at, stats.corrected_latency.percentile(99.0));
        }
        for (kind, count) in &stats.error_kinds {
            put(self.error_kinds.entry(kind.label()).or_default(), at, *count);
        }
        for (status, count) in &stats.status {
            put(self.status.entry(*status).or_default(), at, *count);
        }
        let requests = stats.count.max(1) as f64;
        for (name, times) in PHASES.iter().zip(&stats.phases).filter(|(_, own)| !own.is_empty()) {
            let mean = (times.sum() / requests).round() as u64;
            put(self.phases.entry(name).or_default(), at, mean);
        }
    }
}

/// What an interval of a row holds until it is complete.
#[derive(Debug, Clone, Default)]
struct Open {
    count: u64,
    errors: u64,
    latency: Histogram,
}

/// Intervals of one length: those that are not complete, by number, and which are.
#[derive(Debug)]
struct Intervals<T> {
    seconds: u32,
    open: BTreeMap<u32, T>,
    /// The first one that may still be added to.
    next: u32,
}

impl<T: Default> Intervals<T> {
    fn of(seconds: u32) -> Intervals<T> {
        Intervals { seconds, open: BTreeMap::new(), next: 0 }
    }

    /// The interval of a second; `None`: it is complete.
    fn at(&mut self, second: u32) -> Option<&mut T> {
        let at = second / self.seconds;
        (at >= self.next).then(|| self.open.entry(at).or_default())
    }

    /// Takes those that are complete at a second out, or all of them at the end.
    fn complete(&mut self, second: Option<u32>) -> Vec<(u32, T)> {
        let before = second.map_or(u32::MAX, |second| {
            second.saturating_sub(SECONDS_UNTIL_COMPLETE) / self.seconds
        });
        let later = self.open.split_off(&before);
        self.next = self.next.max(before);
        std::mem::replace(&mut self.open, later).into_iter().collect()
    }
}

/// The length of intervals, a power of two of seconds, such that there are at most `most`.
fn interval(seconds: u32, most: u32) -> u32 {
    let lengths = (0..31).map(|power| 1u32 << power);
    lengths.into_iter().find(|own| seconds.div_ceil(*own) <= most.max(1)).unwrap_or(1 << 30)
}

/// The curves of a run and of its rows, checks among them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunCurves {
    pub(crate) whole: Curves,
    pub(crate) rows: HashMap<RowKey, Line>,
}

/// Computes the curves of a run as a whole from the rows of its series.
#[derive(Debug)]
pub struct WholeBuilder {
    seconds: u32,
    all: Whole,
}

impl WholeBuilder {
    /// For a series whose rows are so many seconds.
    pub fn new(seconds: u32) -> WholeBuilder {
        WholeBuilder { seconds, all: Whole::default() }
    }

    /// Adds a row of the series, once.
    pub fn add(&mut self, row: &CompleteRow) {
        self.all.put(row.second / self.seconds, &row.requests);
    }

    /// The curves of the whole, with those of the rows.
    pub fn finish(self, rows: RowCurves) -> RunCurves {
        let RowCurves { seconds: row_seconds, late, lines } = rows;
        let whole = Curves { seconds: self.seconds, row_seconds, late, all: self.all };
        RunCurves { whole, rows: lines }
    }
}

/// The curves of rows.
#[derive(Debug)]
pub struct RowCurves {
    /// Seconds of an interval.
    seconds: u32,
    /// Slices that came too late.
    late: u64,
    lines: HashMap<RowKey, Line>,
}

/// Computes [`RowCurves`] from all slices of a run, in the order in which they were recorded.
#[derive(Debug)]
pub struct RowsBuilder {
    late: u64,
    rows: RowNumbers,
    /// By the numbers of the rows.
    lines: Vec<Line>,
    seen: SliceSet,
    latest: u32,
    /// By the numbers of the rows too.
    parts: Intervals<Vec<Option<Open>>>,
}

impl RowsBuilder {
    /// For a run of so many seconds, of which a row of the series has `of_all`, with so many rows of its own, checks
    /// among them.
    pub fn new(seconds: u32, of_all: u32, rows: usize) -> RowsBuilder {
        let rows = u32::try_from(rows.clamp(1, MAX_ROWS)).unwrap_or(1);
        let of_row = interval(seconds, MAX_ROW_INTERVALS / rows).max(of_all);
        RowsBuilder {
            late: 0,
            rows: RowNumbers::new(MAX_ROWS),
            lines: Vec::new(),
            seen: SliceSet::default(),
            latest: 0,
            parts: Intervals::of(of_row),
        }
    }

    /// Adds a slice, once.
    pub fn add(&mut self, slice: &Slice) {
        if !self.seen.insert(slice.source, slice.second) {
            return;
        }
        self.rows.learn(slice);
        if slice.second > self.latest {
            self.latest = slice.second;
            self.close(Some(slice.second));
        }
        let Some(parts) = self.parts.at(slice.second) else {
            self.late += 1;
            return;
        };
        parts.resize_with(self.rows.keys().len(), || None);
        let row = |id| self.rows.get(slice.source, id);
        for (id, stats) in slice.rows() {
            if let Some(row) = row(id) {
                let open = parts[row].get_or_insert_default();
                open.count = open.count.saturating_add(stats.count);
                open.errors = open.errors.saturating_add(stats.errors);
                open.latency.merge(&stats.latency);
            }
        }
        for (id, CheckCounts { passed, failed, warned }) in slice.checks() {
            if let Some(row) = row(id) {
                let open = parts[row].get_or_insert_default();
                let failed = failed.saturating_add(warned);
                open.count = open.count.saturating_add(passed).saturating_add(failed);
                open.errors = open.errors.saturating_add(failed);
            }
        }
    }

    fn close(&mut self, second: Option<u32>) {
        self.lines.resize_with(self.rows.keys().len(), Line::default);
        for (at, parts) in self.parts.complete(second) {
            for (line, open) in self.lines.iter_mut().zip(parts) {
                if let Some(open) = open {
                    line.put(at, open.count, open.errors, &open.latency);
                }
            }
        }
    }

    pub fn finish(mut self) -> RowCurves {
        self.close(None);
        let RowsBuilder { late, rows, lines, parts, .. } = self;
        let lines = rows.into_keys().into_iter().zip(lines).collect();
        RowCurves { seconds: parts.seconds, late, lines }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use squall_analysis::Totals;
    use squall_metrics::{CheckResult, NameId, RowKind, Sample};

    fn slice(worker: u32, second: u32) -> Slice {
        let mut slice = Slice::new(worker, second);
        if second == 0 {
            slice.announce(NameId(worker), RowKey::new(RowKind::Request, "s", "a"));
            slice.announce(NameId(7), RowKey::new(RowKind::Check, "s", "ok"));
        }
        for n in 1..=100 {
            slice.record(NameId(worker), &Sample::ok(n * 1_000));
        }
        slice.record_check(NameId(7), CheckResult::Failed);
        slice
    }

    #[test]
    fn intervals_are_so_long_that_there_are_not_too_many() {
        assert_eq!(
            [0, 1, 1_200, 1_201, 3_600, 86_400].map(|s| interval(s, 1_200)),
            [1, 1, 1, 2, 4, 128]
        );
        assert_eq!(RowsBuilder::new(3_600, 4, 210).parts.seconds, 16);
        assert_eq!(RowsBuilder::new(60, 1, 1_000_000).parts.seconds, 2);
        assert_eq!(RowsBuilder::new(60, 4, 1).parts.seconds, 4, "no finer than the whole");
    }

    /// Percentiles of two workers and several seconds are those of all values, whatever the order of the slices.
    #[test]
    fn workers_and_seconds_are_merged() {
        let slices = |second| [slice(1, second), slice(0, second), slice(0, second)];
        let mut totals = Totals::new();
        (0..2_400).flat_map(slices).for_each(|slice| {
            totals.add(&slice);
        });
        let mut series = totals.series();
        let mut whole = WholeBuilder::new(series.resolution());
        let mut builder = RowsBuilder::new(2_400, series.resolution(), 2);
        for slice in (0..2_400).flat_map(slices) {
            series.complete(&slice).iter().for_each(|row| whole.add(row));
            builder.add(&slice);
        }
        assert_eq!(series.complete_rest(), []);
        let RunCurves { whole: curves, rows } = whole.finish(builder.finish());
        assert_eq!((curves.seconds, curves.late, curves.all.line.count.len()), (2, 0, 1_200));
        assert!(curves.all.line.count.iter().all(|count| *count == 400));
        assert!(curves.all.line.p95.iter().all(|p95| *p95 == 95_039), "{:?}", curves.all.line.p95);
        let a = &rows[&RowKey::new(RowKind::Request, "s", "a")];
        assert_eq!((a.count.iter().sum::<u64>(), a.errors.len()), (480_000, 0));
        assert!(a.p95.iter().all(|p95| *p95 == 95_039), "{:?}", a.p95);
        let check = &rows[&RowKey::new(RowKind::Check, "s", "ok")];
        assert_eq!(check.errors.iter().sum::<u64>(), 4_800);
    }

    /// One that comes a few seconds late is in; one that comes much later is counted.
    #[test]
    fn late_slices() {
        let mut builder = RowsBuilder::new(100, 1, 2);
        (0..10).for_each(|second| builder.add(&slice(0, second)));
        let mut late = slice(1, 5);
        late.announce(NameId(1), RowKey::new(RowKind::Request, "s", "a"));
        builder.add(&late);
        builder.add(&slice(1, 0));
        let RowCurves { late, lines, .. } = builder.finish();
        let a = &lines[&RowKey::new(RowKind::Request, "s", "a")];
        assert_eq!((late, &a.count[..6]), (1, &[100, 100, 100, 100, 100, 200][..]));
    }
}
