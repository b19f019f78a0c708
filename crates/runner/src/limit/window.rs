//! Measures a run at one load level: its slices become a step.

use squall_analysis::{Facts, Reason, SeriesBuilder, Threshold, Validity, assess};
use squall_limit::{LoadStep, Records};
use squall_metrics::{HostMetrics, Slice};
use squall_report::Recording;

/// Rules of the validity that say that the generator was the bottleneck: fewer than those that are about squall and its
/// machine ([`Reason::is_of_generator`]), some of which keep no step from its load.
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

/// The records of the measured part of a run; what lies before and after it is ignored.
pub struct Window {
    seconds: u32,
    records: Records,
    recording: Recording,
}

impl Window {
    /// So many seconds, from second `first` on.
    ///
    /// # Errors
    /// There can be no temporary file.
    pub fn new(first: u32, seconds: u32) -> std::io::Result<Window> {
        let seconds = seconds.max(1);
        let records = Records::new(first, seconds);
        Ok(Window { seconds, records, recording: Recording::unnamed()? })
    }

    /// Adds a worker's slice.
    pub fn add(&mut self, slice: &Slice) {
        if self.records.add(slice) {
            self.recording.append(slice);
        }
    }

    /// The result; `arrivals` as in [`Records::step`].
    ///
    /// # Errors
    /// The recording cannot be read.
    pub fn step(
        &mut self,
        level: f64,
        arrivals: Option<f64>,
        requirements: &[Threshold],
        host: &HostMetrics,
    ) -> std::io::Result<LoadStep> {
        let mut series = self.records.all().series();
        self.recording.replay(|slice| series.add(slice))?;
        let step = self.records.step(level, arrivals, requirements);
        let elapsed_s = f64::from(self.seconds);
        let reasons = reasons(&self.records, series, elapsed_s, host, requirements);
        let full = reasons.iter().find(|reason| reason.rule == "machine_full");
        let machine_full = full.map(|reason| reason.observed.clone());
        Ok(LoadStep { generator: by_generator(reasons), machine_full, ..step })
    }
}

/// What the numbers of a window of `elapsed_s` seconds may suffer from.
fn reasons(
    window: &Records,
    series: SeriesBuilder,
    elapsed_s: f64,
    host: &HostMetrics,
    requirements: &[Threshold],
) -> Vec<Reason> {
    let (totals, series) = (window.all(), series.finish());
    let all = totals.all();
    let is_corrected = |asked: &Threshold| asked.of_latency().is_some_and(|(_, own)| own);
    assess(&Facts {
        totals,
        series: &series,
        all: &all,
        elapsed_s,
        host,
        fleet: None,
        steady: None,
        // A value close to its limit says where the limit is: what would be doubted beside it alone must not end the
        // search.
        thresholds: &[],
        results: &[],
        // A step has no corrected latency unless it is asked for.
        shows_corrected: requirements.iter().any(is_corrected),
    })
}

/// Why the generator, or its machine, may have been the bottleneck.
fn by_generator(reasons: Vec<Reason>) -> Vec<String> {
    let by_generator = |reason: &Reason| {
        GENERATOR_RULES.contains(&reason.rule) && reason.validity() >= Validity::Questionable
    };
    reasons.into_iter().filter(by_generator).map(|reason| reason.observed).collect()
}

#[cfg(test)]
mod tests {
    use squall_metrics::{NameId, RowKey, RowKind, Sample};

    use super::*;

    /// Why the generator may have been the bottleneck of a step of ten seconds, each with a hundred requests of these
    /// latencies in turn, in µs. So many of a hundred are sent late by so many µs.
    fn generator(latencies: [u64; 2], late: u64, by_us: u64, requirement: &str) -> Vec<String> {
        let mut window = Window::new(0, 10).expect("a temporary file");
        for second in 0..10 {
            let mut slice = Slice::new(0, second);
            if second == 0 {
                slice.announce(NameId(0), RowKey::new(RowKind::Request, "s", "a"));
            }
            for n in 0..100 {
                let delay = if n < late { by_us } else { 0 };
                slice.self_metrics.send_delay.record(delay);
                let latency = latencies[(n % 2) as usize];
                let corrected_latency_ns = Some((latency + delay) * 1_000);
                let sample = Sample { corrected_latency_ns, ..Sample::ok(latency) };
                slice.record(NameId(0), &sample);
            }
            window.add(&slice);
        }
        let asked = [Threshold::parse(requirement).expect("a threshold")];
        let step = window.step(100.0, None, &asked, &HostMetrics::default());
        step.expect("readable").generator
    }

    #[test]
    fn a_step_that_is_sent_late_is_the_generators_if_it_moves_what_is_asked() {
        let (queue, fast) = ([1_000, 40_000], [100, 100]);
        let found = generator(queue, 100, 50_000, "p99 < 20ms");
        assert!(matches!(&found[..], [own] if own.contains("behind schedule")), "{found:?}");
        // What a busy machine does to a few of them is little beside the latency, ...
        assert_eq!(generator(queue, 2, 1_500, "p99 < 20ms"), [] as [&str; 0]);
        // ... and nothing to a target that has nothing to do when they come, ...
        assert_eq!(generator(fast, 2, 5_000, "p99 < 50us"), [] as [&str; 0]);
        // ... but it is in the corrected latency.
        assert_eq!(generator(fast, 2, 5_000, "corrected_p99 < 2ms").len(), 1);
        // What is not sent in the time of the step is no load.
        assert_eq!(generator(fast, 100, 1_000_000, "p99 < 50us").len(), 1);
    }
}
