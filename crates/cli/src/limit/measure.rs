//! What is seen in a run at one level: slices into windows, and a window into a step.

use squall_limit::{By, Kept, Step};
use squall_measure::{
    Facts, Reason, Slice, Surroundings, Threshold, Totals, Trust, samples_needed, verdict,
};

/// Rules of the verdict that say that the generator was the limit.
const OWN: [&str; 7] = ["cpu_bound", "starved", "stalled", "sends_late", "ports", "files", "link"];
/// So many times what is allowed is far beyond it.
const FAR_BEYOND: f64 = 2.0;
/// Latency is normal again if it is no more than this many times what it was before, and so many µs
/// (less is chance), ...
const NORMAL: f64 = 1.5;
const CHANCE_US: f64 = 1_000.0;
/// ... for so many seconds.
const CALM_S: usize = 3;

/// The records of a run, in windows of equal length; what comes before and after them is left out.
pub struct Windows {
    first: u32,
    length: u32,
    totals: Vec<Totals>,
}

impl Windows {
    /// `count` windows of `length` seconds each, the first of which begins at second `first`.
    pub fn new(first: u32, length: u32, count: u32) -> Windows {
        let totals = (0..count).map(|_| Totals::new()).collect();
        Windows { first, length: length.max(1), totals }
    }

    /// Takes what a worker hands over.
    pub fn take(&mut self, slice: &Slice) {
        let at = slice.second.checked_sub(self.first).map(|since| (since / self.length) as usize);
        for (index, totals) in self.totals.iter_mut().enumerate() {
            match at == Some(index) {
                true => totals.add(slice),
                false => totals.learn(slice),
            }
        }
    }

    /// What was seen, a step a window.
    pub fn steps(
        &self,
        by: By,
        level: f64,
        keep: &[Threshold],
        surroundings: &Surroundings,
    ) -> Vec<Step> {
        let step = |totals| step(totals, f64::from(self.length), by, level, keep, surroundings);
        self.totals.iter().map(step).collect()
    }
}

fn step(
    totals: &Totals,
    seconds: f64,
    by: By,
    level: f64,
    keep: &[Threshold],
    surroundings: &Surroundings,
) -> Step {
    let (all, counters) = (totals.all(), totals.counters());
    let throughput = counters.iterations_done as f64 / seconds;
    let requests = all.count as f64 / seconds;
    let kept = keep.iter().map(|rule| kept(rule, totals, seconds)).collect();
    let facts = Facts { totals, all: &all, surroundings, steady: None, thresholds: &[] };
    // Some late sends change no answer of a target; many may.
    let own = |reason: &Reason| {
        OWN.contains(&reason.rule)
            && (reason.rule != "sends_late" || reason.trust == Trust::Invalid)
    };
    let reasons = verdict(&facts).into_iter().filter(own);
    Step {
        level,
        seconds,
        throughput,
        requests,
        concurrency: requests * all.latency.mean() / 1e6,
        mean_us: all.latency.mean(),
        p50_us: all.latency.percentile(50.0) as f64,
        p99_us: all.latency.percentile(99.0) as f64,
        error_rate: all.errors as f64 / all.count.max(1) as f64,
        kept,
        follows: by == By::Users || Step::follows(throughput, level, seconds),
        generator: reasons.map(|reason| reason.seen).collect(),
    }
}

/// What became of a rule. A percentile of too few answers breaks nothing if it is not far beyond what is
/// allowed: at the low levels that a search begins with, one slow answer is its p99.
fn kept(rule: &Threshold, totals: &Totals, seconds: f64) -> Kept {
    let judged = rule.judge(totals, seconds);
    let used = judged.value.and_then(|value| rule.used(value));
    let few = rule
        .percentile_of(totals)
        .filter(|(percentile, count)| *count < samples_needed(*percentile));
    match (few, used) {
        (Some((_, count)), Some(used)) if !judged.passed && used < FAR_BEYOND => Kept {
            text: judged.text,
            held: true,
            used: Some(1.0),
            shown: format!("{} of {count} answers: too few to say", judged.shown),
        },
        _ => Kept { text: judged.text, held: judged.passed, used, shown: judged.shown },
    }
}

/// Looks for the second from which latency is normal again.
pub struct Calm {
    totals: Totals,
    normal_us: f64,
    errors: f64,
}

impl Calm {
    /// What was normal before.
    pub fn new(before: &Step) -> Calm {
        let (normal_us, errors) = (before.mean_us, before.error_rate);
        Calm { totals: Totals::new(), normal_us, errors }
    }

    /// Takes what a worker hands over. `Some`: the second from which it is as before.
    pub fn take(&mut self, slice: &Slice) -> Option<f64> {
        self.totals.add(slice);
        // A second is complete when all workers have begun the one after the next.
        let calm: Vec<(u32, bool)> = self
            .totals
            .series()
            .filter(|row| row.second + 1 < slice.second)
            .map(|row| {
                let errors = row.errors as f64 / row.requests.max(1) as f64;
                let normal = row.latency.mean() <= NORMAL * self.normal_us + CHANCE_US;
                (row.second, row.requests > 0 && normal && errors <= self.errors + 0.01)
            })
            .collect();
        let found = calm.windows(CALM_S).find(|rows| rows.iter().all(|(_, calm)| *calm))?;
        Some(f64::from(found[0].0))
    }
}
