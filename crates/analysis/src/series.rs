//! A run second by second. The records of all seconds take too much memory to be held, so that the series
//! is computed from a stream of slices at the end: a [`SeriesBuilder`] holds the histograms of those rows
//! that are not complete yet, and what remains of a row is a few numbers.

use std::collections::BTreeMap;

use squall_metrics::Histogram;
use squall_metrics::RequestStats;
use squall_metrics::SelfMetrics;
use squall_metrics::Slice;
use squall_metrics::SliceSet;

/// Most rows; in longer runs each covers several seconds.
const MAX_ROWS: usize = 1_200;
/// Open rows above which those that are there give back the memory that they do not need.
const MAX_OPEN_ROWS: usize = 4;

/// One second of a run, all workers and names together; in long runs, several seconds. Times are in µs
/// where nothing else is said.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SeriesRow {
    /// The first second, from 0.
    pub second: u32,
    /// How many seconds it covers; the last row may cover fewer.
    pub seconds: u32,
    /// Most users active in any of the seconds.
    pub users: u64,
    /// Requests that have ended.
    pub requests: u64,
    /// Those of them that were errors.
    pub errors: u64,
    /// Bytes read.
    pub bytes_in: u64,
    /// Bytes written.
    pub bytes_out: u64,
    /// Mean latency.
    pub mean_us: f64,
    /// Median latency.
    pub p50_us: u64,
    /// 90th percentile of the latency.
    pub p90_us: u64,
    /// 99th percentile of the latency.
    pub p99_us: u64,
    /// Largest latency.
    pub max_us: u64,
    /// Arrivals dropped because no user was free.
    pub arrivals_dropped: u64,
    /// 99th percentile of the receive delay.
    pub receive_delay_p99_us: u64,
    /// 99th percentile of the send delay.
    pub send_delay_p99_us: u64,
    /// The longest iteration of an event loop.
    pub loop_iteration_max_us: u64,
    /// The longest of all delays of the workers.
    pub longest_delay_us: u64,
    /// Time in which workers were ready to run but had no CPU, in ns.
    pub starved_ns: u64,
    /// CPU time of the busiest worker in any of the seconds, in ns per second.
    pub busiest_ns: u64,
}

/// What is recorded of a row of the series while it is not complete.
#[derive(Debug, Clone, Default)]
pub(crate) struct OpenRow {
    requests: u64,
    errors: u64,
    bytes_in: u64,
    bytes_out: u64,
    latency: Histogram,
    arrivals_dropped: u64,
    self_metrics: SelfMetrics,
    busiest_ns: u64,
    /// Users by second: those of a second add up over the workers.
    users: Vec<(u32, u64)>,
}

impl OpenRow {
    /// Adds a slice of one of its seconds.
    pub fn add(&mut self, slice: &Slice) {
        slice.requests().for_each(|(_, row)| self.add_requests(row));
        let dropped = slice.counters.arrivals_dropped;
        self.arrivals_dropped = self.arrivals_dropped.saturating_add(dropped);
        self.self_metrics.merge(&slice.self_metrics);
        self.busiest_ns = self.busiest_ns.max(slice.self_metrics.cpu_ns);
        let users = slice.counters.users_active;
        match self.users.binary_search_by_key(&slice.second, |(second, _)| *second) {
            Ok(at) => self.users[at].1 = self.users[at].1.saturating_add(users),
            Err(at) => self.users.insert(at, (slice.second, users)),
        }
    }

    fn add_requests(&mut self, row: &RequestStats) {
        self.requests = self.requests.saturating_add(row.count);
        self.errors = self.errors.saturating_add(row.errors);
        self.bytes_in = self.bytes_in.saturating_add(row.bytes_in);
        self.bytes_out = self.bytes_out.saturating_add(row.bytes_out);
        self.latency.merge(&row.latency);
    }

    /// Gives back the memory that it does not need until more is added.
    pub fn compact(&mut self) {
        self.latency.compact();
        self.self_metrics.compact();
    }

    /// Most users active in any of its seconds.
    pub fn users(&self) -> u64 {
        self.users.iter().map(|(_, users)| *users).max().unwrap_or(0)
    }

    /// Its numbers.
    pub fn row(&self, second: u32, seconds: u32) -> SeriesRow {
        let own = &self.self_metrics;
        let delays = [&own.receive_delay, &own.send_delay, &own.loop_iteration, &own.timer_delay];
        SeriesRow {
            second,
            seconds,
            users: self.users(),
            requests: self.requests,
            errors: self.errors,
            bytes_in: self.bytes_in,
            bytes_out: self.bytes_out,
            mean_us: self.latency.mean(),
            p50_us: self.latency.percentile(50.0),
            p90_us: self.latency.percentile(90.0),
            p99_us: self.latency.percentile(99.0),
            max_us: self.latency.max(),
            arrivals_dropped: self.arrivals_dropped,
            receive_delay_p99_us: own.receive_delay.percentile(99.0),
            send_delay_p99_us: own.send_delay.percentile(99.0),
            loop_iteration_max_us: own.loop_iteration.max(),
            longest_delay_us: delays.into_iter().map(Histogram::max).max().unwrap_or(0),
            starved_ns: own.starved_ns,
            busiest_ns: self.busiest_ns,
        }
    }
}

/// How many slices there are for each row of the series, and so how long a row is open.
#[derive(Debug, Clone)]
pub(crate) struct Extent {
    /// Seconds per row.
    resolution: u32,
    /// Slices by row: row n begins at second n × resolution.
    slices: Vec<u32>,
}

impl Default for Extent {
    fn default() -> Extent {
        Extent { resolution: 1, slices: Vec::new() }
    }
}

impl Extent {
    /// Counts a slice. Where there would be too many rows, neighbours become one.
    pub fn add(&mut self, second: u32) {
        while (second / self.resolution) as usize >= MAX_ROWS {
            self.resolution *= 2;
            let pairs = self.slices.chunks(2);
            self.slices =
                pairs.map(|pair| pair.iter().fold(0u32, |a, b| a.saturating_add(*b))).collect();
        }
        let at = self.index(second);
        if self.slices.len() <= at {
            self.slices.resize(at + 1, 0);
        }
        self.slices[at] = self.slices[at].saturating_add(1);
    }

    /// The row that a second belongs to.
    fn index(&self, second: u32) -> usize {
        (second / self.resolution) as usize
    }
}

/// The rows of a run, in order.
#[derive(Debug, Clone, Default)]
pub struct Series {
    rows: Vec<SeriesRow>,
    extent: Extent,
}

impl Series {
    /// The series of a run that still goes on: rows that are complete, in order, all of the same length.
    pub fn of_rows(rows: Vec<SeriesRow>) -> Series {
        let resolution = rows.first().map_or(1, |row| row.seconds.max(1));
        Series { rows, extent: Extent { resolution, slices: Vec::new() } }
    }

    /// The rows; a second in which no worker recorded anything has none.
    pub fn rows(&self) -> &[SeriesRow] {
        &self.rows
    }

    /// The position of the row that a second belongs to.
    pub(crate) fn position(&self, second: u32) -> Option<usize> {
        let first = self.extent.index(second) as u32 * self.extent.resolution;
        self.rows.binary_search_by_key(&first, |row| row.second).ok()
    }
}

/// Computes a [`Series`] from all slices of a run. They may come in any order; memory stays small as long
/// as the slices of a second come about the same time.
#[derive(Debug, Clone)]
pub struct SeriesBuilder {
    extent: Extent,
    seen: SliceSet,
    /// Rows of which slices are missing, and how many are.
    open: BTreeMap<usize, (OpenRow, u32)>,
    rows: BTreeMap<usize, SeriesRow>,
}

impl SeriesBuilder {
    pub(crate) fn new(extent: Extent) -> SeriesBuilder {
        let (seen, open, rows) = (SliceSet::default(), BTreeMap::new(), BTreeMap::new());
        SeriesBuilder { extent, seen, open, rows }
    }

    /// Adds a slice. One that the totals do not know, or that was added already, is left out.
    pub fn add(&mut self, slice: &Slice) {
        let at = self.extent.index(slice.second);
        let of_row = self.extent.slices.get(at).copied().unwrap_or(0);
        if of_row == 0
            || self.rows.contains_key(&at)
            || !self.seen.insert(slice.worker, slice.second)
        {
            return;
        }
        if !self.open.contains_key(&at) && self.open.len() >= MAX_OPEN_ROWS {
            self.open.values_mut().for_each(|(row, _)| row.compact());
        }
        let (row, missing) = self.open.entry(at).or_insert_with(|| (OpenRow::default(), of_row));
        row.add(slice);
        *missing -= 1;
        if *missing == 0 {
            self.close(at);
        }
    }

    fn close(&mut self, at: usize) {
        if let Some((row, _)) = self.open.remove(&at) {
            let seconds = self.extent.resolution;
            self.rows.insert(at, row.row(at as u32 * seconds, seconds));
        }
    }

    /// The series. Rows of which slices are missing hold what there was.
    pub fn finish(mut self) -> Series {
        let open: Vec<usize> = self.open.keys().copied().collect();
        open.into_iter().for_each(|at| self.close(at));
        Series { rows: self.rows.into_values().collect(), extent: self.extent }
    }
}
