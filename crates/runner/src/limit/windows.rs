//! Measures a run at one load level: slices go into windows, and each window becomes a step.

use squall_analysis::{Facts, Reason, SeriesBuilder, Threshold, Validity, assess};
use squall_limit::{LoadStep, Records};
use squall_metrics::{HostMetrics, Slice};
use squall_report::Recording;

/// Rules of the validity that say that the generator was the bottleneck.
const GENERATOR_RULES: [&str; 9] = [
    "host_busy",
    "cpu_bound",
    "starved",
    "stalled",
    "generator_time",
    "send_delay",
    "ports",
    "files",
    "link",
];

/// The records of a run in windows of equal length; what lies before and after them is ignored.
pub struct Windows {
    first: u32,
    length: u32,
    windows: Vec<Records>,
    recording: Recording,
}

impl Windows {
    /// One window, from second `first` on.
    ///
    /// # Errors
    /// There can be no temporary file.
    pub fn one(first: u32, length: u32) -> std::io::Result<Windows> {
        Windows::of(first, length, vec![Records::new(first, length.max(1))])
    }

    /// `count` windows of `length` seconds each, the first of which begins at second `first`.
    ///
    /// # Errors
    /// There can be no temporary file.
    pub fn many(first: u32, length: u32, count: u32) -> std::io::Result<Windows> {
        let starts = (0..count).map(|at| first.saturating_add(at.saturating_mul(length)));
        let windows = starts.map(|start| Records::ungrouped(start, length.max(1))).collect();
        Windows::of(first, length, windows)
    }

    fn of(first: u32, length: u32, windows: Vec<Records>) -> std::io::Result<Windows> {
        Ok(Windows { first, length: length.max(1), windows, recording: Recording::unnamed()? })
    }

    /// Adds a worker's slice.
    pub fn add(&mut self, slice: &Slice) {
        let mut is_new = false;
        // Each window learns the names in it.
        self.windows.iter_mut().for_each(|window| is_new |= window.add(slice));
        if is_new {
            self.recording.append(slice);
        }
    }

    /// How many windows are over when the seconds before this one are.
    pub fn complete(&self, second: u32) -> usize {
        let complete = second.saturating_sub(self.first) / self.length;
        self.windows.len().min(complete as usize)
    }

    /// The results, one step per window; `arrivals` as in [`Records::step`].
    ///
    /// # Errors
    /// The recording cannot be read.
    pub fn steps(
        &mut self,
        level: f64,
        arrivals: Option<f64>,
        requirements: &[Threshold],
        host: &HostMetrics,
    ) -> std::io::Result<Vec<LoadStep>> {
        let all = self.windows.iter().map(|window| window.all().series());
        let mut series: Vec<SeriesBuilder> = all.collect();
        let (first, length) = (self.first, self.length);
        self.recording.replay(|slice| {
            let at = slice.second.checked_sub(first).map(|after| (after / length) as usize);
            if let Some(series) = at.and_then(|at| series.get_mut(at)) {
                series.add(slice);
            }
        })?;
        let step = |(window, series): (&Records, SeriesBuilder)| {
            let step = window.step(level, arrivals, requirements);
            let reasons = reasons(window, series, f64::from(length), host);
            let full = reasons.iter().find(|reason| reason.rule == "machine_full");
            let machine_full = full.map(|reason| reason.observed.clone());
            LoadStep { generator: by_generator(reasons), machine_full, ..step }
        };
        Ok(self.windows.iter().zip(series).map(step).collect())
    }
}

/// What the numbers of a window of `elapsed_s` seconds may suffer from.
fn reasons(
    window: &Records,
    series: SeriesBuilder,
    elapsed_s: f64,
    host: &HostMetrics,
) -> Vec<Reason> {
    let (totals, series) = (window.all(), series.finish());
    let all = totals.all();
    assess(&Facts {
        totals,
        series: &series,
        all: &all,
        elapsed_s,
        host,
        steady: None,
        thresholds: &[],
    })
}

/// Why the generator, or its machine, may have been the bottleneck.
fn by_generator(reasons: Vec<Reason>) -> Vec<String> {
    // A few late requests change no response of the target; many may.
    let by_generator = |reason: &Reason| {
        let least = match reason.rule {
            "send_delay" => Validity::Invalid,
            _ => Validity::Questionable,
        };
        GENERATOR_RULES.contains(&reason.rule) && reason.validity() >= least
    };
    reasons.into_iter().filter(by_generator).map(|reason| reason.observed).collect()
}
