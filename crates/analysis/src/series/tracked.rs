//! The rows, checks and metrics that are followed by second: those with the most to count, so many that what is
//! held of them is bounded, whatever the length of the run and the number of names.

use std::collections::HashMap;
use std::hash::Hash;

use squall_metrics::{
    CheckCounts, MetricId, MetricKey, MetricStats, NameId, RequestStats, RowKey, Slice, Source,
    Times,
};

/// Most points of all tracks of a kind: 10 of the longest ones, or 200 of a run of a minute.
const MAX_POINTS: usize = 12_000;

/// Something that is followed by second.
#[derive(Debug, Clone, PartialEq)]
pub struct Track<K, P> {
    pub key: K,
    /// Seconds in which there was something to count, in order, each the first of its row of the series.
    pub points: Vec<(u32, P)>,
}

/// What was recorded of a request, a group or iterations in a row of the series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RowPoint {
    /// How many have ended.
    pub count: u64,
    /// How many of them were errors.
    pub errors: u64,
    /// Latency of complete responses, in µs; `None`: there was none.
    pub latency: Option<Times>,
}

/// What a check came to in a row of the series.
pub type CheckPoint = CheckCounts;

/// What a metric over time came to in a row of the series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MetricPoint {
    /// How many values were recorded.
    pub count: u64,
    /// See [`MetricStats::value`].
    pub value: f64,
}

/// Tracks of one kind, and the numbers of sources for them.
#[derive(Debug, Clone)]
struct Tracks<I, K, P> {
    tracks: Vec<Track<K, P>>,
    places: HashMap<(Source, I), usize>,
}

impl<I, K, P> Default for Tracks<I, K, P> {
    fn default() -> Self {
        Tracks { tracks: Vec::new(), places: HashMap::new() }
    }
}

impl<I: Copy + Eq + Hash, K, P> Tracks<I, K, P> {
    /// So many of the candidates (with how much each has to count) as the rows of the series allow, those that are
    /// `last` only after all others; `numbers` are those of sources, each with the number of the candidate.
    fn new(
        mut candidates: Candidates<I, K>,
        last: impl Fn(&K) -> bool,
        numbers: &HashMap<(Source, I), I>,
        rows: usize,
    ) -> Self {
        // Stable: of those that have as much, the first come first.
        candidates.sort_by_key(|(count, _, key)| (last(key), std::cmp::Reverse(*count)));
        candidates.truncate((MAX_POINTS / rows.max(1)).max(1));
        let chosen = candidates.iter().enumerate().map(|(at, (_, id, _))| (*id, at));
        let chosen: HashMap<I, usize> = chosen.collect();
        let place = |(own, here): (&(Source, I), &I)| Some((*own, *chosen.get(here)?));
        let places = numbers.iter().filter_map(place).collect();
        let track = |(_, _, key)| Track { key, points: Vec::new() };
        Tracks { tracks: candidates.into_iter().map(track).collect(), places }
    }

    fn place(&self, source: Source, id: I) -> Option<usize> {
        self.places.get(&(source, id)).copied()
    }

    fn sort(&mut self) {
        self.tracks.iter_mut().for_each(|own| own.points.sort_by_key(|(second, _)| *second));
    }
}

/// What there is to choose tracks from: how much each has to count, its number, and what it is.
pub(crate) type Candidates<I, K> = Vec<(u64, I, K)>;

/// Everything that is followed by second.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tracker {
    rows: Tracks<NameId, RowKey, RowPoint>,
    checks: Tracks<NameId, RowKey, CheckPoint>,
    metrics: Tracks<MetricId, MetricKey, MetricPoint>,
}

impl Tracker {
    /// Chooses what is followed, for a series of so many rows.
    pub(crate) fn new(
        rows: Candidates<NameId, RowKey>,
        checks: Candidates<NameId, RowKey>,
        metrics: Candidates<MetricId, MetricKey>,
        names: &HashMap<(Source, NameId), NameId>,
        metric_numbers: &HashMap<(Source, MetricId), MetricId>,
        of_series: usize,
    ) -> Tracker {
        Tracker {
            rows: Tracks::new(rows, |_| false, names, of_series),
            checks: Tracks::new(checks, |_| false, names, of_series),
            // A monitor has a value for each second, and would come before what the plan records now and then.
            metrics: Tracks::new(metrics, MetricKey::is_of_monitor, metric_numbers, of_series),
        }
    }

    pub(super) fn rows(&self) -> &[Track<RowKey, RowPoint>] {
        &self.rows.tracks
    }

    pub(super) fn checks(&self) -> &[Track<RowKey, CheckPoint>] {
        &self.checks.tracks
    }

    pub(super) fn metrics(&self) -> &[Track<MetricKey, MetricPoint>] {
        &self.metrics.tracks
    }

    /// Nothing yet, of a row of the series.
    pub(super) fn open(&self) -> OpenTracks {
        OpenTracks::default()
    }

    /// A row of the series is complete.
    pub(super) fn close(&mut self, second: u32, open: OpenTracks) {
        for (at, own) in open.rows {
            let (count, errors) = (own.count, own.errors);
            let point = RowPoint { count, errors, latency: Times::of(&own.latency) };
            self.rows.tracks[at].points.push((second, point));
        }
        for (at, own) in open.checks {
            self.checks.tracks[at].points.push((second, own));
        }
        for (at, own) in open.metrics {
            let track = &mut self.metrics.tracks[at];
            let point = MetricPoint { count: own.count, value: own.value(track.key.kind) };
            track.points.push((second, point));
        }
    }

    /// Rows may have been complete in another order than theirs.
    pub(super) fn sort(&mut self) {
        self.rows.sort();
        self.checks.sort();
        self.metrics.sort();
    }
}

/// What was recorded of all tracks in a row of the series that is not complete, by place.
#[derive(Debug, Clone, Default)]
pub(super) struct OpenTracks {
    rows: HashMap<usize, RequestStats>,
    checks: HashMap<usize, CheckCounts>,
    metrics: HashMap<usize, MetricStats>,
}

impl OpenTracks {
    pub(super) fn add(&mut self, slice: &Slice, tracks: &Tracker) {
        for (id, own) in slice.rows() {
            if let Some(at) = tracks.rows.place(slice.source, id) {
                self.rows.entry(at).or_default().merge(own);
            }
        }
        for (id, own) in slice.checks() {
            if let Some(at) = tracks.checks.place(slice.source, id) {
                self.checks.entry(at).or_default().merge(&own);
            }
        }
        for (id, own) in slice.metrics() {
            if let Some(at) = tracks.metrics.place(slice.source, id) {
                self.metrics.entry(at).or_default().merge(own);
            }
        }
    }

    /// Gives back the memory that it does not need until more is added.
    pub(super) fn compact(&mut self) {
        self.rows.values_mut().for_each(RequestStats::compact);
    }
}
