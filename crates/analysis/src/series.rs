//! A run second by second. The records of all seconds take too much memory to be held, so that the series
//! is computed from a stream of slices at the end: a [`SeriesBuilder`] holds the histograms of those rows
//! that are not complete yet, and what remains of a row is a few numbers.

mod open;
mod row;
mod scenarios;
mod tracked;

use std::collections::BTreeMap;

use squall_metrics::{RequestStats, Slice, SliceSet};

pub(crate) use open::OpenRow;
pub use row::{PhaseTimes, ScenarioRow, SeriesRow};
pub(crate) use scenarios::Scenarios;
pub(crate) use tracked::Tracker;
pub use tracked::{CheckPoint, MetricPoint, RowPoint, Track};

/// Most rows; in longer runs each covers several seconds.
const MAX_ROWS: usize = 1_200;
/// Open rows above which those that are there give back the memory that they do not need.
const MAX_OPEN_ROWS: usize = 4;

/// How many slices there are for each row of the series, and so how long a row is open.
#[derive(Debug, Clone)]
pub(crate) struct Extent {
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

    /// Of what [`Extent::parts`] returned.
    pub fn of_parts(resolution: u32, slices: Vec<u32>) -> Extent {
        Extent { resolution: resolution.max(1), slices }
    }

    /// Seconds per row, and slices by row.
    pub fn parts(&self) -> (u32, &[u32]) {
        (self.resolution, &self.slices)
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.slices.len()
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
    scenarios: Vec<String>,
    tracks: Tracker,
}

impl Series {
    /// The series of a run that still goes on: rows that are complete, in order, all of the same length.
    pub fn of_rows(rows: Vec<SeriesRow>) -> Series {
        Series { rows, ..Series::default() }
    }

    /// The rows; a second in which no worker recorded anything has none.
    pub fn rows(&self) -> &[SeriesRow] {
        &self.rows
    }

    /// The names of the scenarios, in the order of [`SeriesRow::scenarios`].
    pub fn scenarios(&self) -> &[String] {
        &self.scenarios
    }

    /// The requests, groups and so on with the most to count, each by second. How many there are is bounded, so
    /// that the series of a long run and one with many names is no larger than others.
    pub fn requests(&self) -> &[Track<squall_metrics::RowKey, RowPoint>] {
        self.tracks.rows()
    }

    /// The same of checks.
    pub fn checks(&self) -> &[Track<squall_metrics::RowKey, CheckPoint>] {
        self.tracks.checks()
    }

    /// The same of metrics over time.
    pub fn metrics(&self) -> &[Track<squall_metrics::MetricKey, MetricPoint>] {
        self.tracks.metrics()
    }
}

/// Computes a [`Series`] from all slices of a run. They may come in any order; memory stays small as long
/// as the slices of a second come about the same time.
#[derive(Debug, Clone)]
pub struct SeriesBuilder {
    extent: Extent,
    scenarios: Scenarios,
    tracks: Tracker,
    seen: SliceSet,
    /// Rows of which slices are missing.
    open: BTreeMap<usize, Open>,
    rows: BTreeMap<usize, SeriesRow>,
}

/// A row of which slices are missing.
#[derive(Debug, Clone)]
struct Open {
    row: OpenRow,
    tracks: tracked::OpenTracks,
    /// How many are missing.
    missing: u32,
}

/// All requests of the seconds of a row of the series together.
#[derive(Debug, Clone, PartialEq)]
pub struct CompleteRow {
    pub second: u32,
    pub requests: RequestStats,
}

impl SeriesBuilder {
    pub(crate) fn new(extent: Extent, scenarios: Scenarios, tracks: Tracker) -> SeriesBuilder {
        let (seen, open, rows) = (SliceSet::default(), BTreeMap::new(), BTreeMap::new());
        SeriesBuilder { extent, scenarios, tracks, seen, open, rows }
    }

    pub fn resolution(&self) -> u32 {
        self.extent.resolution
    }

    /// Adds a slice. One that the totals do not know, or that was added already, is left out.
    pub fn add(&mut self, slice: &Slice) {
        self.complete(slice);
    }

    /// The same; returns the row that is complete with it.
    pub fn complete(&mut self, slice: &Slice) -> Option<CompleteRow> {
        let at = self.extent.index(slice.second);
        let of_row = self.extent.slices.get(at).copied().unwrap_or(0);
        if of_row == 0
            || self.rows.contains_key(&at)
            || !self.seen.insert(slice.source, slice.second)
        {
            return None;
        }
        if !self.open.contains_key(&at) && self.open.len() >= MAX_OPEN_ROWS {
            self.open.values_mut().for_each(|open| {
                open.row.compact();
                open.tracks.compact();
            });
        }
        let new = || Open { row: OpenRow::default(), tracks: self.tracks.open(), missing: of_row };
        let open = self.open.entry(at).or_insert_with(new);
        open.row.add(slice, Some(&self.scenarios));
        open.tracks.add(slice, &self.tracks);
        open.missing -= 1;
        if open.missing == 0 { self.close(at) } else { None }
    }

    fn close(&mut self, at: usize) -> Option<CompleteRow> {
        let open = self.open.remove(&at)?;
        let seconds = self.extent.resolution;
        let second = at as u32 * seconds;
        self.tracks.close(second, open.tracks);
        if open.row.has_workers() {
            let mut row = open.row.row(second, seconds);
            row.scenarios.resize_with(self.scenarios.names.len(), ScenarioRow::default);
            self.rows.insert(at, row);
        }
        Some(CompleteRow { second, requests: open.row.into_requests() })
    }

    /// Completes the rows of which slices are missing with what there was, and returns them.
    pub fn complete_rest(&mut self) -> Vec<CompleteRow> {
        let open: Vec<usize> = self.open.keys().copied().collect();
        open.into_iter().filter_map(|at| self.close(at)).collect()
    }

    /// The series. Rows of which slices are missing hold what there was.
    pub fn finish(mut self) -> Series {
        self.complete_rest();
        self.tracks.sort();
        Series {
            rows: self.rows.into_values().collect(),
            scenarios: self.scenarios.names,
            tracks: self.tracks,
        }
    }
}
