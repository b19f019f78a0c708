//! Measures a run at one load level: slices go into windows, and each window becomes a step.

use squall_limit::{LevelKind, LoadStep, RequirementResult};
use squall_measure::{
    Facts, HostMetrics, Reason, Series, SeriesBuilder, Slice, Threshold, Totals, Validity, assess,
    samples_needed,
};
use squall_report::Recording;

/// Rules of the validity that say that the generator was the bottleneck.
const GENERATOR_RULES: [&str; 7] =
    ["cpu_bound", "starved", "stalled", "send_delay", "ports", "files", "link"];
/// A value beyond this many times its limit violates it even with few responses.
const FAR_BEYOND_LIMIT: f64 = 2.0;
/// The target has recovered when its latency is at most this many times the normal one, plus this many
/// µs for chance, ...
const MAX_RECOVERED_FACTOR: f64 = 1.5;
const MAX_RECOVERED_EXTRA_US: f64 = 1_000.0;
/// ... for this many seconds in a row.
const MIN_RECOVERED_S: usize = 3;

/// The records of a run in windows of equal length; what lies before and after them is ignored.
pub struct Windows {
    first: u32,
    length: u32,
    totals: Vec<Totals>,
    recording: Recording,
}

impl Windows {
    /// `count` windows of `length` seconds each, the first of which begins at second `first`.
    ///
    /// # Errors
    /// There can be no temporary file.
    pub fn new(first: u32, length: u32, count: u32) -> std::io::Result<Windows> {
        let totals = (0..count).map(|_| Totals::new()).collect();
        Ok(Windows { first, length: length.max(1), totals, recording: Recording::unnamed()? })
    }

    /// Adds a worker's slice.
    pub fn add(&mut self, slice: &Slice) {
        let at = window(slice.second, self.first, self.length);
        for (index, totals) in self.totals.iter_mut().enumerate() {
            if at != Some(index) {
                totals.learn(slice);
            } else if totals.add(slice) {
                self.recording.append(slice);
            }
        }
    }

    /// How many windows are over when the seconds before this one are.
    pub fn complete(&self, second: u32) -> usize {
        let complete = second.saturating_sub(self.first) / self.length;
        self.totals.len().min(complete as usize)
    }

    /// The results, one step per window.
    ///
    /// # Errors
    /// The recording cannot be read.
    pub fn steps(
        &mut self,
        by: LevelKind,
        level: f64,
        requirements: &[Threshold],
        host: &HostMetrics,
    ) -> std::io::Result<Vec<LoadStep>> {
        let mut series: Vec<SeriesBuilder> = self.totals.iter().map(Totals::series).collect();
        self.recording.replay(|slice| {
            let at = window(slice.second, self.first, self.length);
            if let Some(series) = at.and_then(|at| series.get_mut(at)) {
                series.add(slice);
            }
        })?;
        let seconds = f64::from(self.length);
        let step = |(totals, series): (_, SeriesBuilder)| {
            step(totals, &series.finish(), seconds, by, level, requirements, host)
        };
        Ok(self.totals.iter().zip(series).map(step).collect())
    }
}

/// The window that a second belongs to; `None`: it lies before the first.
fn window(second: u32, first: u32, length: u32) -> Option<usize> {
    Some((second.checked_sub(first)? / length) as usize)
}

fn step(
    totals: &Totals,
    series: &Series,
    seconds: f64,
    by: LevelKind,
    level: f64,
    requirements: &[Threshold],
    host: &HostMetrics,
) -> LoadStep {
    let (all, counters) = (totals.all(), totals.counters());
    let throughput = counters.iterations_done as f64 / seconds;
    let requests = all.count as f64 / seconds;
    let requirements =
        requirements.iter().map(|requirement| result(requirement, totals, seconds)).collect();
    let facts = Facts {
        totals,
        series,
        all: &all,
        elapsed_s: seconds,
        host,
        steady: None,
        thresholds: &[],
    };
    // A few late requests change no response of the target; many may.
    let by_generator = |reason: &Reason| {
        let least = match reason.rule {
            "send_delay" => Validity::Invalid,
            _ => Validity::Questionable,
        };
        GENERATOR_RULES.contains(&reason.rule) && reason.validity() >= least
    };
    let reasons = assess(&facts).into_iter().filter(by_generator);
    LoadStep {
        level,
        seconds,
        throughput,
        requests,
        concurrency: requests * all.latency.mean() / 1e6,
        mean_us: all.latency.mean(),
        p50_us: all.latency.percentile(50.0) as f64,
        p99_us: all.latency.percentile(99.0) as f64,
        error_rate: all.errors as f64 / all.count.max(1) as f64,
        requirements,
        keeps_up: by == LevelKind::Users || LoadStep::keeps_up(throughput, level, seconds),
        generator: reasons.map(|reason| reason.observed).collect(),
    }
}

/// The result of a requirement. A percentile of too few responses violates it only far beyond its limit:
/// at the low levels with which a search begins, a single slow response is the p99.
fn result(requirement: &Threshold, totals: &Totals, seconds: f64) -> RequirementResult {
    let result = requirement.evaluate(totals, seconds);
    let used = result.value.and_then(|value| requirement.used(value));
    let few = requirement
        .percentile_of(totals)
        .filter(|(percentile, count)| *count < samples_needed(*percentile));
    match (few, used) {
        (Some((_, count)), Some(used)) if !result.passed && used < FAR_BEYOND_LIMIT => {
            RequirementResult {
                text: result.text,
                met: true,
                used: Some(1.0),
                shown: format!("{} of {count} responses: too few to tell", result.shown),
            }
        }
        _ => RequirementResult { text: result.text, met: result.passed, used, shown: result.shown },
    }
}

/// Finds the second from which the target has recovered.
pub struct RecoveryDetector {
    totals: Totals,
    normal_us: f64,
    errors: f64,
}

impl RecoveryDetector {
    /// A detector that compares with a normal step.
    pub fn new(before: &LoadStep) -> RecoveryDetector {
        let (normal_us, errors) = (before.mean_us, before.error_rate);
        RecoveryDetector { totals: Totals::new(), normal_us, errors }
    }

    /// Adds a worker's slice. `Some`: the second from which the target has recovered.
    pub fn add(&mut self, slice: &Slice) -> Option<f64> {
        self.totals.add(slice);
        // A second is complete when all workers have started the one after the next.
        let recovered: Vec<(u32, bool)> = self
            .totals
            .recent()
            .filter(|row| row.second + 1 < slice.second)
            .map(|row| {
                let errors = row.errors as f64 / row.requests.max(1) as f64;
                let normal =
                    row.mean_us <= MAX_RECOVERED_FACTOR * self.normal_us + MAX_RECOVERED_EXTRA_US;
                (row.second, row.requests > 0 && normal && errors <= self.errors + 0.01)
            })
            .collect();
        let found = recovered
            .windows(MIN_RECOVERED_S)
            .find(|rows| rows.iter().all(|(_, normal)| *normal))?;
        Some(f64::from(found[0].0))
    }
}
