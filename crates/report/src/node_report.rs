//! What a node did: one entry for each node of a fleet, and one where one process ran the load.

use std::collections::BTreeMap;

use crate::generator::GeneratorDocument;
use crate::schema::document;

document! {
    /// What a node did, and what squall and its machine needed for it.
    NodeReport {
        /// Its name; empty in a run of one process.
        node: String,
        /// Where it is; empty: it does not say.
        zone: String,
        /// What became of it: `done`, `lost` or `left`; empty: the run did not finish.
        end: String,
        /// Since when it was lost or had left, in seconds after the start of the load; null: it was there until the end.
        ended_s: Option<f64>,
        /// Shards that it had in the first second; a run of one process has one.
        shards: u64,
        /// Seconds in which it drove at least one shard.
        seconds: u64,
        /// Requests and programs that ended.
        requests: u64,
        /// Those of them that were errors.
        errors: u64,
        /// Latency of complete responses.
        latency_us: NodeTimes,
        /// CPUs that squall used on average.
        cpu_cores: f64,
        /// Share of its machine's CPU time in which it was busy, with squall and others, from 0 to 1.
        host_busy: f64,
        /// What squall itself used there, and its own delays.
        generator: GeneratorDocument,
        /// Metrics of its machine: gauges at their highest, and what was counted during the run.
        host_metrics: BTreeMap<String, u64>,
    }

    /// Latencies of a node or a zone, in µs.
    NodeTimes {
        /// The median.
        p50: f64,
        /// The 95th percentile.
        p95: f64,
        /// The 99th percentile.
        p99: f64,
    }
}

impl NodeTimes {
    /// Of a histogram of times in µs.
    pub fn of(times: &squall_metrics::Histogram) -> NodeTimes {
        let [p50, p95, p99] = [50.0, 95.0, 99.0].map(|p| times.percentile(p) as f64);
        NodeTimes { p50, p95, p99 }
    }
}

impl NodeReport {
    /// What became of it, in words: `done`, `lost at 12 s`.
    pub fn end_text(&self) -> String {
        match self.ended_s {
            Some(at) => format!("{} at {at:.0} s", self.end),
            None => self.end.clone(),
        }
    }

    /// A metric of its machine; 0: unknown.
    pub(crate) fn of_host(&self, name: &str) -> u64 {
        self.host_metrics.get(name).copied().unwrap_or(0)
    }
}
