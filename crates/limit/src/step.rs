//! One level of load that was tried, and what was seen.

/// What the level is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// Iterations begun a second.
    Rate,
    /// Users.
    Users,
}

impl By {
    /// Its name in results.
    pub fn label(self) -> &'static str {
        match self {
            By::Rate => "rate",
            By::Users => "users",
        }
    }
}

/// A rule that must hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept {
    /// The rule as it was written.
    pub text: String,
    /// Whether it held.
    pub held: bool,
    /// How much of what is allowed was used: 1 is the limit itself, above it is broken; `None`: it is
    /// no rule of that kind, or there was nothing to measure.
    pub used: Option<f64>,
    /// The number as a person reads it.
    pub shown: String,
}

/// What a step came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// All held.
    Held,
    /// Something did not hold, and it was the target.
    Broken,
    /// Something did not hold, and it was the generator, or it cannot be told.
    Generator,
}

impl Outcome {
    /// Its name in results.
    pub fn label(self) -> &'static str {
        match self {
            Outcome::Held => "held",
            Outcome::Broken => "broken",
            Outcome::Generator => "generator",
        }
    }
}

/// A level and what was seen at it, its beginning left out.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Users, or iterations begun a second.
    pub level: f64,
    /// Length of what was measured, in s.
    pub seconds: f64,
    /// Iterations done a second.
    pub throughput: f64,
    /// Requests done a second.
    pub requests: f64,
    /// Requests under way at a time, in the mean (Little's law: rate times mean latency).
    pub concurrency: f64,
    /// Mean latency in µs.
    pub mean_us: f64,
    /// Median latency in µs.
    pub p50_us: f64,
    /// 99th percentile of latency in µs.
    pub p99_us: f64,
    /// Part of the requests that were errors.
    pub error_rate: f64,
    /// The rules.
    pub kept: Vec<Kept>,
    /// Whether throughput follows the load; always, by users.
    pub follows: bool,
    /// Why the generator, and not the target, may have been the limit.
    pub generator: Vec<String>,
}

impl Step {
    /// What it came to.
    pub fn outcome(&self) -> Outcome {
        match (self.follows && self.kept.iter().all(|kept| kept.held), self.generator.is_empty()) {
            (true, _) => Outcome::Held,
            (false, true) => Outcome::Broken,
            (false, false) => Outcome::Generator,
        }
    }

    /// How much of what is allowed was used, by the rule that is nearest to its limit.
    pub fn used(&self) -> Option<f64> {
        self.kept.iter().filter_map(|kept| kept.used).max_by(f64::total_cmp)
    }

    /// Whether a throughput follows an arrival rate: it may stay behind by 5 %, and by what chance does
    /// in so short a time (three standard deviations of a Poisson process).
    pub fn follows(throughput: f64, rate: f64, seconds: f64) -> bool {
        throughput >= 0.95 * rate - 3.0 * (rate / seconds.max(1.0)).sqrt()
    }
}

/// How long it took the target to be as before.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recovery {
    /// The level that broke something.
    pub from: f64,
    /// The level at which the target was watched.
    pub at: f64,
    /// Seconds until its latency was normal again; `None`: not while it was watched.
    pub seconds: Option<f64>,
    /// How long it was watched at most, in s.
    pub watched_s: f64,
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A step that used so much of what is allowed.
    pub(crate) fn step(level: f64, used: f64) -> Step {
        let held = used <= 1.0;
        let kept = Kept {
            text: "p99 < 1s".to_owned(),
            held,
            used: Some(used),
            shown: format!("{used:.2} s"),
        };
        Step {
            level,
            seconds: 10.0,
            throughput: level,
            requests: level,
            concurrency: level * used * 0.2,
            mean_us: used * 2e5,
            p50_us: used * 1e5,
            p99_us: used * 1e6,
            error_rate: 0.0,
            kept: vec![kept],
            follows: true,
            generator: Vec::new(),
        }
    }

    #[test]
    fn what_a_step_came_to() {
        assert_eq!(step(1.0, 0.5).outcome(), Outcome::Held);
        assert_eq!(step(1.0, 1.5).outcome(), Outcome::Broken);
        let behind = Step { follows: false, ..step(1.0, 0.5) };
        assert_eq!(behind.outcome(), Outcome::Broken);
        let own = Step { generator: vec!["cpu".to_owned()], ..behind };
        assert_eq!(own.outcome(), Outcome::Generator);
        let held = Step { generator: vec!["cpu".to_owned()], ..step(1.0, 0.5) };
        assert_eq!(held.outcome(), Outcome::Held);
    }

    #[test]
    fn throughput_may_stay_behind_by_chance_only() {
        assert!(Step::follows(95.0, 100.0, 10.0) && Step::follows(86.0, 100.0, 10.0));
        assert!(!Step::follows(85.0, 100.0, 10.0));
        assert!(!Step::follows(9_300.0, 10_000.0, 10.0));
    }
}
