//! The requests of a run by name, each with its last seconds. Pure.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use squall_analysis::Totals;
use squall_base::escape_control;
use squall_metrics::{RowKey, RowKind};
use squall_runner::Second;

/// Most rows that are shown one by one.
pub const MAX_ROWS: usize = 1_000;
/// Seconds of a row's curve.
pub const CURVE: usize = 120;

/// A request, resource, program, group or iteration.
#[derive(Debug)]
pub struct RowState {
    /// Its name, with its kind where that is no request; control characters escaped.
    pub label: String,
    pub scenario: String,
    pub kind: RowKind,
    pub count: u64,
    pub errors: u64,
    /// Latency over the whole load, in µs: median, 95th and 99th percentile, largest.
    pub latency_us: [u64; 4],
    /// Its last seconds, the latest last.
    pub curve: VecDeque<RowSecond>,
}

/// A second of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RowSecond {
    pub count: u64,
    pub errors: u64,
    /// Median of the latency, in µs.
    pub p50_us: u64,
    /// 95th percentile of the latency, in µs.
    pub p95_us: u64,
    /// 99th percentile of the latency, in µs.
    pub p99_us: u64,
}

#[derive(Debug, Default)]
pub struct Rows {
    rows: Vec<RowState>,
    places: HashMap<Arc<RowKey>, usize>,
    /// Rows that are too many.
    left_out: usize,
    /// The second that was last.
    latest: Option<u32>,
}

impl Rows {
    /// Adds a second. The numbers over the whole load are those of `totals`, in which the second is already.
    pub fn add(&mut self, second: &Second, totals: &Totals) {
        let number = second.second;
        if self.latest.is_none_or(|latest| number > latest) {
            self.latest = Some(number);
            for row in &mut self.rows {
                row.curve.push_back(RowSecond::default());
                if row.curve.len() > CURVE {
                    row.curve.pop_front();
                }
            }
        }
        for own in &second.rows {
            let Some(at) = self.place(&own.key) else { continue };
            let Some(last) = self.rows[at].curve.back_mut() else { continue };
            last.count += own.stats.count;
            last.errors += own.stats.errors;
            let at = |p| own.stats.latency.percentile(p);
            last.p50_us = last.p50_us.max(at(50.0));
            last.p95_us = last.p95_us.max(at(95.0));
            last.p99_us = last.p99_us.max(at(99.0));
        }
        self.left_out = 0;
        for (key, stats) in totals.rows() {
            let Some(at) = self.places.get(key) else {
                self.left_out += 1;
                continue;
            };
            let row = &mut self.rows[*at];
            // A row that got nothing new is as it was.
            if row.count != stats.count || row.errors != stats.errors {
                let at = |p| stats.latency.percentile(p);
                (row.count, row.errors) = (stats.count, stats.errors);
                row.latency_us = [at(50.0), at(95.0), at(99.0), stats.latency.max()];
            }
        }
    }

    fn place(&mut self, key: &Arc<RowKey>) -> Option<usize> {
        if let Some(at) = self.places.get(key) {
            return Some(*at);
        }
        if self.rows.len() >= MAX_ROWS {
            return None;
        }
        self.rows.push(RowState {
            label: label(key),
            scenario: escape_control(&key.place.scenario).into_owned(),
            kind: key.place.kind,
            count: 0,
            errors: 0,
            latency_us: [0; 4],
            curve: VecDeque::from([RowSecond::default()]),
        });
        self.places.insert(key.clone(), self.rows.len() - 1);
        Some(self.rows.len() - 1)
    }

    /// The rows, in the order in which they came.
    pub fn all(&self) -> &[RowState] {
        &self.rows
    }

    /// The second that was last, in which all curves end.
    pub fn latest(&self) -> Option<u32> {
        self.latest
    }

    /// How many there are besides.
    pub fn left_out(&self) -> usize {
        self.left_out
    }
}

/// A row's name as a person reads it.
pub fn label(key: &RowKey) -> String {
    let groups: String = key.place.group.iter().map(|group| format!("{group} / ")).collect();
    let name = format!("{groups}{}", key.name);
    let name = escape_control(&name);
    match key.place.kind {
        RowKind::Request => name.into_owned(),
        // They bear no name but that of their scenario.
        RowKind::Iteration => format!("[iteration] {}", escape_control(&key.place.scenario)),
        kind => format!("[{}] {name}", kind.label()),
    }
}

/// A check's name as a person reads it.
pub fn label_of_check(key: &RowKey) -> String {
    escape_control(&key.name).into_owned()
}
