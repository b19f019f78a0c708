//! The steady part of a run in batches of whole seconds: what intervals are computed from.

use crate::confidence::{Interval, Latencies, rate_interval};
use crate::long_run::MAX_VALUES;
use crate::series::{CompleteRow, Series};
use crate::steady::Steady;
use squall_metrics::{Histogram, RequestStats};

/// The steady part of a run, in batches of whole seconds.
#[derive(Debug, Clone, Default)]
pub struct Batches {
    latency: Latencies,
    corrected_latency: Latencies,
    /// Requests that have ended, and seconds, of each batch.
    load: Vec<(u64, u64)>,
    errors: u64,
}

impl Batches {
    pub fn latency(&self) -> &Latencies {
        &self.latency
    }

    /// Corrected latencies; none where there is no schedule.
    pub fn corrected_latency(&self) -> &Latencies {
        &self.corrected_latency
    }

    /// Requests that have ended.
    pub fn requests(&self) -> u64 {
        self.load.iter().fold(0u64, |sum, (requests, _)| sum.saturating_add(*requests))
    }

    /// Those of them that were errors.
    pub fn errors(&self) -> u64 {
        self.errors
    }

    /// How many seconds it is long.
    pub fn seconds(&self) -> u64 {
        self.load.iter().map(|(_, seconds)| seconds).sum()
    }

    pub fn rate(&self) -> f64 {
        self.requests() as f64 / (self.seconds() as f64).max(1.0)
    }

    /// The interval of the rate.
    pub fn rate_interval(&self) -> Interval {
        rate_interval(&self.load)
    }
}

/// The latencies of all requests in a row of the series, in as little memory as there is: which rows are steady is known when
/// all are complete.
#[derive(Debug, Clone)]
pub struct RowLatencies {
    /// The first second of the row.
    second: u32,
    latency: Histogram,
    corrected_latency: Histogram,
}

impl From<CompleteRow> for RowLatencies {
    fn from(row: CompleteRow) -> RowLatencies {
        let CompleteRow { second, requests } = row;
        let RequestStats { mut latency, mut corrected_latency, .. } = requests;
        latency.compact();
        corrected_latency.compact();
        RowLatencies { second, latency, corrected_latency }
    }
}

impl Batches {
    /// Groups those rows of the series that begin within the steady part; `latencies` are those of its rows, in any order.
    pub fn of(series: &Series, steady: Steady, latencies: &[RowLatencies]) -> Batches {
        let first = series.rows().partition_point(|row| row.second < steady.from);
        let rest = &series.rows()[first..];
        let rows = &rest[..rest.partition_point(|row| row.second < steady.to)];
        let size = rows.len().div_ceil(MAX_VALUES).max(1);
        let count = (rows.len() / size).max(1);
        // The rest after the last whole batch belongs to the last one.
        let batch = |at: usize| (at / size).min(count - 1);
        let mut load = vec![(0u64, 0u64); count];
        for (at, row) in rows.iter().enumerate() {
            let (requests, seconds) = &mut load[batch(at)];
            *requests = requests.saturating_add(row.requests);
            *seconds += u64::from(row.seconds);
        }
        let errors = rows.iter().fold(0u64, |sum, row| sum.saturating_add(row.errors));
        let seconds = load.iter().map(|(_, seconds)| seconds).sum();
        let mut latency = Latencies::new(count, seconds);
        let mut corrected_latency = latency.clone();
        for own in latencies {
            if let Ok(at) = rows.binary_search_by_key(&own.second, |row| row.second) {
                latency.add(batch(at), &own.latency);
                corrected_latency.add(batch(at), &own.corrected_latency);
            }
        }
        Batches { latency, corrected_latency, load, errors }
    }
}
