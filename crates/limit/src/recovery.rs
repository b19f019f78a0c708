//! When a target is well again after too much load. Pure.

use std::collections::VecDeque;

use crate::load_step::LoadStep;

/// The target has recovered when its mean latency is at most this many times the normal one, plus this many µs
/// for chance, ...
const MAX_FACTOR: f64 = 1.5;
const MAX_EXTRA_US: f64 = 1_000.0;
/// ... over so many responses in a row, ...
const MIN_RESPONSES: usize = 10;
/// ... and so many seconds, ...
const MIN_SECONDS: f64 = 0.1;
/// ... of which at most this share more than normal are errors.
const MAX_MORE_ERRORS: f64 = 0.01;

/// A response, or an error in its place.
#[derive(Debug, Clone, Copy)]
struct Response {
    ended_s: f64,
    latency_us: f64,
    failed: bool,
}

/// Finds the moment from which the target has recovered, by single responses.
#[derive(Debug, Clone)]
pub struct RecoveryDetector {
    normal_us: f64,
    errors: f64,
    /// The last responses that may show it, the oldest first.
    recent: VecDeque<Response>,
    recovered: Option<f64>,
}

impl RecoveryDetector {
    /// A detector that compares with a normal step.
    pub fn new(before: &LoadStep) -> RecoveryDetector {
        let (normal_us, errors) = (before.mean_us, before.error_rate);
        RecoveryDetector { normal_us, errors, recent: VecDeque::new(), recovered: None }
    }

    /// Adds a response that ended so many seconds after the watch began. `true`: the target has recovered.
    pub fn add(&mut self, ended_s: f64, latency_us: f64, failed: bool) -> bool {
        if self.recovered.is_some() {
            return true;
        }
        self.recent.push_back(Response { ended_s, latency_us, failed });
        // The shortest run of responses that is long enough.
        while let Some(second) = self.recent.get(1)
            && self.recent.len() > MIN_RESPONSES
            && ended_s - second.ended_s >= MIN_SECONDS
        {
            self.recent.pop_front();
        }
        let first = self.recent.front().map_or(ended_s, |first| first.ended_s);
        if self.recent.len() < MIN_RESPONSES || ended_s - first < MIN_SECONDS || !self.is_normal() {
            return false;
        }
        self.recovered = Some(first);
        true
    }

    /// Seconds after the watch began from which the target was well; `None`: not yet.
    pub fn recovered(&self) -> Option<f64> {
        self.recovered
    }

    fn is_normal(&self) -> bool {
        let count = self.recent.len() as f64;
        let failed = self.recent.iter().filter(|response| response.failed).count() as f64;
        let mean = self.recent.iter().map(|response| response.latency_us).sum::<f64>() / count;
        mean <= MAX_FACTOR * self.normal_us + MAX_EXTRA_US
            && failed <= (self.errors * count).ceil() + MAX_MORE_ERRORS * count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load_step::tests::step;

    /// A detector for a target that normally takes 20 ms.
    fn detector() -> RecoveryDetector {
        RecoveryDetector::new(&step(10.0, 0.1))
    }

    #[test]
    fn it_is_seen_as_soon_as_it_is_so() {
        let mut detector = detector();
        // 20 a second; the backlog of 3 s is gone after 4 s.
        let seen = (1..).map(|at| f64::from(at) * 0.05).find(|at| {
            let latency = if *at < 4.0 { 3e6 - at * 7e5 } else { 2e4 };
            detector.add(*at, latency, false)
        });
        let recovered = detector.recovered().expect("it recovers");
        assert!((recovered - 4.0).abs() < 0.11, "{recovered}");
        assert!(seen.expect("it is seen") < 4.6, "{seen:?}");
    }

    #[test]
    fn errors_and_few_responses_are_no_recovery() {
        let mut failing = detector();
        assert!((0..500).all(|at| !failing.add(f64::from(at) * 0.05, 1e3, at % 5 == 0)));
        let mut few = detector();
        assert!((0..9).all(|at| !few.add(f64::from(at), 1e3, false)));
        assert!(few.add(9.0, 1e3, false));
        // A thousand responses in a moment say nothing of the next one.
        let mut burst = detector();
        assert!((0..1_000).all(|at| !burst.add(f64::from(at) * 5e-5, 1e3, false)));
    }
}
