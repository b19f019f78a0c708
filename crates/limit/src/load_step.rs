//! One load level that was tried, and what was measured at it.

use squall_base::units::{count, rate};

use crate::sampled::StepMetric;

/// Most arrivals that may be dropped, as a share, before throughput no longer keeps up.
const MAX_DROPPED: f64 = 0.05;

/// What a load level counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LevelKind {
    /// Iterations started per second.
    Rate,
    Users,
    /// The factor by which the plan's own loads are multiplied.
    Factor,
}

impl LevelKind {
    /// Its name in results.
    pub fn label(self) -> &'static str {
        match self {
            LevelKind::Rate => "rate",
            LevelKind::Users => "users",
            LevelKind::Factor => "factor",
        }
    }
}

/// A load level in words, such as `50/s`, `200` or `1.50x`.
pub fn level_text(by: LevelKind, level: f64) -> String {
    match by {
        LevelKind::Rate => rate(level),
        LevelKind::Users => count(level.round() as u64),
        LevelKind::Factor => factor(level),
    }
}

/// A factor of the plan's loads: three digits that mean something.
fn factor(factor: f64) -> String {
    let digits = (2 - factor.abs().max(1e-9).log10().floor() as i32).clamp(0, 6);
    format!("{factor:.*}x", digits as usize)
}

/// The result of a requirement.
#[derive(Debug, Clone, PartialEq)]
pub struct RequirementResult {
    /// The requirement as it was written.
    pub text: String,
    /// Whether it was met.
    pub met: bool,
    /// Whether that is certain: a value so near to its limit that chance decides, or of too few responses, is not.
    pub certain: bool,
    /// How much of the limit was used: 1 is the limit itself, more violates it; `None`: it is not an
    /// upper or lower limit, or too little was measured.
    pub used: Option<f64>,
    /// Standard error of the logarithm of `used`; `None`: unknown.
    pub error: Option<f64>,
    /// The measured value as a person reads it.
    pub shown: String,
}

/// The outcome of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepOutcome {
    /// All requirements were met.
    Met,
    /// A requirement was violated, because of the target.
    Violated,
    /// A requirement was met or violated by so little that chance decided.
    Borderline,
    /// A requirement was violated, and the generator was, or may have been, the cause.
    Generator,
}

impl StepOutcome {
    /// Its name in results.
    pub fn label(self) -> &'static str {
        match self {
            StepOutcome::Met => "met",
            StepOutcome::Violated => "violated",
            StepOutcome::Borderline => "borderline",
            StepOutcome::Generator => "generator",
        }
    }
}

/// The arrivals of a step's open workloads.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Arrivals {
    /// Iterations to be started per second, if all the load is arrivals, so that throughput can be held against it.
    pub rate: Option<f64>,
    /// How many were due.
    pub due: u64,
    /// Those of them that were dropped, because no virtual user was free.
    pub dropped: u64,
}

impl Arrivals {
    /// Whether so many of them were dropped that throughput does not keep up.
    fn too_many_dropped(&self) -> bool {
        self.dropped as f64 > MAX_DROPPED * self.due as f64
    }

    /// Whether this throughput, in iterations per second over so many seconds, keeps up with them.
    pub fn keep_up(&self, throughput: f64, seconds: f64) -> bool {
        let reaches = |rate| LoadStep::keeps_up(throughput, rate, seconds);
        !self.too_many_dropped() && self.rate.is_none_or(reaches)
    }
}

/// A load level and what was measured at it, without its beginning.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadStep {
    /// Virtual users, or iterations started per second.
    pub level: f64,
    /// Length of the measured part, in s.
    pub seconds: f64,
    /// Iterations finished per second.
    pub throughput: f64,
    /// Requests finished per second.
    pub requests: f64,
    /// Mean number of requests in flight (Little's law: rate times mean latency).
    pub concurrency: f64,
    /// Mean latency in µs.
    pub mean_us: f64,
    /// Median latency in µs.
    pub p50_us: f64,
    /// 99th percentile of latency in µs.
    pub p99_us: f64,
    /// Share of the requests that were errors.
    pub error_rate: f64,
    /// Results of the requirements.
    pub requirements: Vec<RequirementResult>,
    /// Whether throughput keeps up with the arrivals; always true where there are only users.
    pub keeps_up: bool,
    /// The arrivals of its open workloads.
    pub arrivals: Arrivals,
    /// Why the generator, and not the target, may have been the bottleneck.
    pub generator: Vec<String>,
    /// That the target's machine was full, in a sentence.
    pub machine_full: Option<String>,
    /// What monitors sampled, in the order of names and tags.
    pub monitored: Vec<StepMetric>,
}

impl LoadStep {
    pub fn outcome(&self) -> StepOutcome {
        let violates = |result: &RequirementResult| !result.met && result.certain;
        match (self.met(), self.generator.is_empty()) {
            (false, false) => StepOutcome::Generator,
            _ if !self.keeps_up || self.requirements.iter().any(violates) => StepOutcome::Violated,
            _ if self.requirements.iter().all(|result| result.certain) => StepOutcome::Met,
            _ => StepOutcome::Borderline,
        }
    }

    /// Whether all requirements were met, for certain or not.
    pub fn met(&self) -> bool {
        self.keeps_up && self.requirements.iter().all(|result| result.met)
    }

    /// How much of its limit the requirement closest to it used.
    pub fn used(&self) -> Option<f64> {
        self.closest()?.used
    }

    /// The requirement that is closest to its limit, or furthest beyond it.
    pub(crate) fn closest(&self) -> Option<&RequirementResult> {
        let used = |result: &&RequirementResult| result.used.is_some();
        let all = self.requirements.iter().filter(used);
        all.max_by(|a, b| a.used.unwrap_or(0.0).total_cmp(&b.used.unwrap_or(0.0)))
    }

    /// How throughput fell behind the arrivals, in words; nothing: it keeps up.
    pub fn behind(&self) -> Vec<String> {
        let Arrivals { rate: wanted, due, dropped } = self.arrivals;
        let mut words = Vec::new();
        if let Some(wanted) = wanted
            && !LoadStep::keeps_up(self.throughput, wanted, self.seconds)
        {
            let done = rate(self.throughput);
            words.push(format!("throughput fell behind: {done} of {}", rate(wanted)));
        }
        if self.arrivals.too_many_dropped() {
            words.push(format!("{} of {} arrivals were dropped", count(dropped), count(due)));
        }
        words
    }

    /// Whether a throughput keeps up with an arrival rate: it may fall behind by 5%, and by what chance
    /// explains in so short a time (three standard deviations of a Poisson process).
    pub fn keeps_up(throughput: f64, rate: f64, seconds: f64) -> bool {
        throughput >= 0.95 * rate - 3.0 * (rate / seconds.max(1.0)).sqrt()
    }
}

/// How long the target took to recover.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recovery {
    /// The level that violated a requirement.
    pub from: f64,
    /// The level at which the target was watched.
    pub at: f64,
    /// Seconds from the end of the step until its latency was normal again; `None`: not while it was watched.
    pub seconds: Option<f64>,
    /// How long it was watched at most, in s, from the end of the step as well.
    pub watched_s: f64,
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A step that used this much of its limit.
    pub(crate) fn step(level: f64, used: f64) -> LoadStep {
        let met = used <= 1.0;
        let requirement = RequirementResult {
            text: "p99 < 1s".to_owned(),
            met,
            certain: used.ln().abs() > 0.2,
            used: Some(used),
            error: Some(0.05),
            shown: format!("{used:.2} s"),
        };
        LoadStep {
            level,
            seconds: 10.0,
            throughput: level,
            requests: level,
            concurrency: level * used * 0.2,
            mean_us: used * 2e5,
            p50_us: used * 1e5,
            p99_us: used * 1e6,
            error_rate: 0.0,
            requirements: vec![requirement],
            keeps_up: true,
            arrivals: Arrivals::default(),
            generator: Vec::new(),
            machine_full: None,
            monitored: Vec::new(),
        }
    }

    #[test]
    fn outcomes_of_steps() {
        assert_eq!(step(1.0, 0.5).outcome(), StepOutcome::Met);
        assert_eq!(step(1.0, 1.5).outcome(), StepOutcome::Violated);
        assert_eq!(step(1.0, 0.95).outcome(), StepOutcome::Borderline);
        assert_eq!(step(1.0, 1.05).outcome(), StepOutcome::Borderline);
        assert!(step(1.0, 0.95).met() && !step(1.0, 1.05).met());
        let behind = LoadStep { keeps_up: false, ..step(1.0, 0.5) };
        assert_eq!(behind.outcome(), StepOutcome::Violated);
        let generator = LoadStep { generator: vec!["cpu".to_owned()], ..behind };
        assert_eq!(generator.outcome(), StepOutcome::Generator);
        let met = LoadStep { generator: vec!["cpu".to_owned()], ..step(1.0, 0.5) };
        assert_eq!(met.outcome(), StepOutcome::Met);
    }

    #[test]
    fn throughput_may_fall_behind_by_chance_only() {
        assert!(LoadStep::keeps_up(95.0, 100.0, 10.0) && LoadStep::keeps_up(86.0, 100.0, 10.0));
        assert!(!LoadStep::keeps_up(85.0, 100.0, 10.0));
        assert!(!LoadStep::keeps_up(9_300.0, 10_000.0, 10.0));
    }
}
