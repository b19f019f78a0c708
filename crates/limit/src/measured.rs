//! Judges a step: whether each requirement was met, and whether so few seconds can tell. Pure.

use squall_analysis::{Threshold, Totals, samples_needed, student};
use squall_metrics::Slice;

use crate::failures;
use crate::load_step::{Arrivals, LoadStep, RequirementResult};
use crate::sampled::StepMetrics;

/// Most groups of seconds of a step.
const MAX_GROUPS: u32 = 8;
/// Fewest groups that say anything.
const MIN_GROUPS: usize = 4;
/// A value beyond this many times its limit violates it even with few responses, ...
const FAR_BEYOND_LIMIT: f64 = 2.0;
/// ... and only one below this share of it meets it for certain.
const FAR_BELOW_LIMIT: f64 = 0.5;
/// A value is on one side of its limit for certain if it is so many half 95 % intervals away: about 99.5 % on
/// either side, as a search has many steps.
const CERTAIN: f64 = 1.5;
/// Standard error that a step cannot see in itself (of the logarithm of the used share): a long queue that happens to
/// come, or not to come, within it.
const UNSEEN: f64 = 0.06;
/// Standard error of a percentile of too few responses: it says nothing (logarithm of the used share).
pub(crate) const TOO_FEW: f64 = 1.0;
/// Used shares are taken to be within this factor of the limit: beyond it they say no more.
const MOST_USED: f64 = 1e3;

/// The records of a step: all, and all but each of some groups of seconds, from which follows how much chance is in a
/// value (the delete-a-group jackknife: Shao and Tu, "The Jackknife and Bootstrap", 1995, chapter 2).
#[derive(Debug)]
pub struct Records {
    first: u32,
    seconds: u32,
    all: Totals,
    without: Vec<Totals>,
    monitored: StepMetrics,
}

impl Records {
    /// For the seconds from `first` on, so many.
    pub fn new(first: u32, seconds: u32) -> Records {
        let groups = seconds.min(MAX_GROUPS) as usize;
        let without = if groups < MIN_GROUPS { 0 } else { groups };
        let totals = |count| (0..count).map(|_| Totals::new()).collect();
        Records {
            first,
            seconds: seconds.max(1),
            all: Totals::new(),
            without: totals(without),
            monitored: StepMetrics::default(),
        }
    }

    /// Adds a worker's slice. `false`: it lies before or after the step, or was added before, and is left out.
    pub fn add(&mut self, slice: &Slice) -> bool {
        let at = slice.second.checked_sub(self.first).filter(|at| *at < self.seconds);
        let groups = self.without.len() as u64;
        let own = at.map(|at| u64::from(at) * groups / u64::from(self.seconds));
        for (group, totals) in self.without.iter_mut().enumerate() {
            match own {
                Some(own) if own != group as u64 => {
                    totals.add(slice);
                }
                _ => totals.learn(slice),
            }
        }
        self.monitored.add(slice, at.is_some());
        match at {
            Some(_) => self.all.add(slice),
            None => {
                self.all.learn(slice);
                false
            }
        }
    }

    pub fn all(&self) -> &Totals {
        &self.all
    }

    /// The step, without what is known of the generator. `arrivals`: iterations started per second, if all the load
    /// is arrivals, so that throughput can be held against it.
    pub fn step(&self, level: f64, arrivals: Option<f64>, requirements: &[Threshold]) -> LoadStep {
        let seconds = f64::from(self.seconds);
        let (all, counters) = (self.all.all(), self.all.counters());
        let throughput = counters.iterations_done as f64 / seconds;
        let requests = all.count as f64 / seconds;
        let (due, dropped) = (counters.arrivals_due, counters.arrivals_dropped);
        let arrivals = Arrivals { rate: arrivals, due, dropped };
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
            requirements: requirements.iter().map(|one| self.judge(one)).collect(),
            keeps_up: arrivals.keep_up(throughput, seconds),
            arrivals,
            generator: Vec::new(),
            machine_full: None,
            monitored: self.monitored.all(),
        }
    }

    /// The result of a requirement. A percentile of too few responses violates it only far beyond its limit:
    /// at the low levels with which a search begins, a single slow response is the p99.
    fn judge(&self, requirement: &Threshold) -> RequirementResult {
        let seconds = f64::from(self.seconds);
        let result = requirement.evaluate(&self.all, seconds);
        let value = failures::value(requirement, &self.all, seconds);
        let used = value.and_then(|value| used(requirement, value));
        let changed = value != result.value;
        let met = if changed { used.is_some_and(|used| used < 1.0) } else { result.passed };
        let shown = match value {
            Some(value) if changed => failures::shown(requirement, value),
            _ => result.shown,
        };
        let few = requirement
            .percentile_of(&self.all)
            .filter(|(percentile, count)| *count < samples_needed(*percentile));
        let error = used.and_then(|used| self.error(requirement, used));
        // What is no upper or lower limit (`==`) is taken as it is.
        let certain = used.is_none_or(|used| logarithm(used).abs() > self.uncertainty(error));
        let text = result.text;
        match (few, used) {
            (Some((_, count)), Some(used)) if !met && used < FAR_BEYOND_LIMIT => {
                let shown = format!("{shown} of {count} responses: too few to tell");
                RequirementResult {
                    text,
                    met: true,
                    certain: false,
                    used: None,
                    error: None,
                    shown,
                }
            }
            (Some(_), Some(used)) => {
                let certain = certain && (!met || used < FAR_BELOW_LIMIT);
                RequirementResult {
                    text,
                    met,
                    certain,
                    used: Some(used),
                    error: Some(TOO_FEW),
                    shown,
                }
            }
            _ => RequirementResult { text, met, certain, used, error, shown },
        }
    }

    /// How far from its limit a value must be to be certainly on its side (logarithm of the used share).
    fn uncertainty(&self, error: Option<f64>) -> f64 {
        let seen = error.map_or(0.0, |error| student(self.without.len() - 1) * error);
        CERTAIN * seen.hypot(2.0 * UNSEEN)
    }

    /// The standard error of the logarithm of the used share. `None`: there are too few groups.
    fn error(&self, requirement: &Threshold, used: f64) -> Option<f64> {
        let groups = self.without.len() as f64;
        if self.without.is_empty() {
            return None;
        }
        let seconds = f64::from(self.seconds) * (groups - 1.0) / groups;
        let values: Vec<f64> = self
            .without
            .iter()
            .map(|totals| {
                failures::value(requirement, totals, seconds)
                    .and_then(|value| self::used(requirement, value))
                    .map_or(logarithm(used), logarithm)
            })
            .collect();
        let mean = values.iter().sum::<f64>() / groups;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Some(((groups - 1.0) / groups * squares).sqrt())
    }
}

/// How much of its limit a value uses; `None`: the requirement is not an upper or lower limit.
fn used(requirement: &Threshold, value: f64) -> Option<f64> {
    if value.is_infinite() { Some(f64::INFINITY) } else { requirement.used(value) }
}

/// The logarithm of a used share.
pub(crate) fn logarithm(used: f64) -> f64 {
    used.clamp(1.0 / MOST_USED, MOST_USED).ln()
}
