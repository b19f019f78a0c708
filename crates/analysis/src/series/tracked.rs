//! The rows, checks and metrics that are followed by second: those with the most to count, so many that what is
//! held of them is bounded, whatever the length of the run and the number of names.

use std::collections::HashMap;
use std::hash::Hash;

use squall_metrics::{
    CheckCounts, MetricId, MetricKey, MetricKind, MetricStats, NameId, RequestStats, RowKey, Slice,
    Source, THOUSANDTHS, Times,
};

/// Most points of all tracks of a kind: 10 of the longest ones, or 200 of a run of a minute.
const MAX_POINTS: usize = 12_000;
/// The same of what nodes of a fleet and zones did: 20 nodes of a run of ten minutes.
const MAX_POINTS_OF_NODES: usize = 48_000;
/// What is followed of each node before all else: what is drawn.
const OF_NODES: [&str; 4] = ["zone_latency", "node_latency", "node_send_delay", "node_cpu"];

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
    /// Of a trend: the 95th percentile of the values.
    pub p95: Option<f64>,
}

impl MetricPoint {
    fn of(stats: &MetricStats, kind: MetricKind) -> MetricPoint {
        let p95 = || stats.trend.percentile(95.0) as f64 / THOUSANDTHS;
        let p95 = (kind == MetricKind::Trend).then(p95);
        MetricPoint { count: stats.count, value: stats.value(kind), p95 }
    }
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
    /// So many of the candidates (with how much each has to count) as the rows of the series allow; `numbers` are those of sources, each with the number of the candidate.
    fn new(
        mut candidates: Candidates<I, K>,
        numbers: &HashMap<(Source, I), I>,
        rows: usize,
    ) -> Self {
        // Stable: of those that have as much, the first come first.
        candidates.sort_by_key(|(count, ..)| std::cmp::Reverse(*count));
        candidates.truncate((MAX_POINTS / rows.max(1)).max(1));
        Self::of(candidates, numbers)
    }

    /// All of these.
    fn of(candidates: Candidates<I, K>, numbers: &HashMap<(Source, I), I>) -> Self {
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

/// The metrics that are followed in a series of so many rows. A monitor has a value for each second, and would come before
/// what the plan records now and then; nodes of a fleet have a room of their own, or there would be no other monitor.
fn followed(
    metrics: Candidates<MetricId, MetricKey>,
    rows: usize,
) -> Candidates<MetricId, MetricKey> {
    let of_node = |key: &MetricKey| {
        let place = OF_NODES.iter().position(|name| *name == key.name);
        place.filter(|_| key.is_of_monitor() && !key.tags.is_empty())
    };
    let room = |points: usize| (points / rows.max(1)).max(1);
    let (mut nodes, mut others): (Candidates<_, _>, Candidates<_, _>) =
        metrics.into_iter().partition(|(.., key)| of_node(key).is_some());
    // Stable: of those that have as much, the first come first.
    others.sort_by_key(|(count, _, key)| (key.is_of_monitor(), std::cmp::Reverse(*count)));
    others.truncate(room(MAX_POINTS));
    nodes.sort_by_key(|(_, _, key)| of_node(key));
    // As much of each, or a thousand nodes would have no curve but that of their latency.
    let most = (room(MAX_POINTS_OF_NODES) / OF_NODES.len()).max(1);
    let mut kept = [0; OF_NODES.len()];
    nodes.retain(|(_, _, key)| {
        let place = of_node(key).unwrap_or(0);
        kept[place] += 1;
        kept[place] <= most
    });
    others.extend(nodes);
    others
}

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
            rows: Tracks::new(rows, names, of_series),
            checks: Tracks::new(checks, names, of_series),
            metrics: Tracks::of(followed(metrics, of_series), metric_numbers),
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
            let point = MetricPoint::of(&own, track.key.kind);
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
