//! Whether a series changes: by a step at some moment, or all the time. Pure arithmetic on one value a
//! second.
//!
//! Series are compared on a logarithmic scale, on which a doubling counts as much as a halving, and against
//! how much they vary when the change is taken out ([`long_run`]): what is left has its own correlation,
//! while a change would look like a strong one.

use crate::long_run::long_run;

/// Fewest values in which a change is looked for.
const MIN_VALUES: usize = 8;
/// Fewest values before and after a step, ...
const MIN_SIDE: usize = 2;
/// ... and as a share of all: with many values, a few that differ are no change.
const MIN_SHARE: usize = 30;
/// The smallest change that makes a run unsteady.
pub(crate) const MIN_CHANGE: f64 = 0.1;
/// Quantiles for a step and for a drift, in standard errors, for endless series, and by how much they grow
/// with 1/n. Of 2,000 steady autoregressive series each, with correlations of 0 to 0.6 between neighbours
/// and 20 to 1,000 values, at most 1 in 100 exceeds them. For the step that is about Andrews' ("Tests for
/// parameter instability and structural change with unknown change point", Econometrica 61, 1993, table I:
/// 3.7 for 1% when 5% at each end are left out).
const STEP_QUANTILE: (f64, f64) = (3.9, 6.0);
const DRIFT_QUANTILE: (f64, f64) = (2.7, 3.0);

/// A step explains a series better than a drift if it leaves less than this share of what that leaves: the
/// best step through a straight line comes near it.
const CLEARLY: f64 = 0.85;

/// How a series changes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Change {
    /// Position of the first value after a step; `None`: it keeps changing.
    pub at: Option<usize>,
    /// By how much, as a share of what it was before.
    pub by: f64,
}

/// The change of a series, if it has one: a step (at the split that explains most, against its long-run
/// variance: Andrews, see above; Bai and Perron, "Estimating and testing linear models with multiple
/// structural changes", Econometrica 66, 1998) or a drift (least squares, likewise); where both are
/// significant, the drift, unless the step leaves clearly less unexplained.
pub(crate) fn change(series: &[f64]) -> Option<Change> {
    if series.len() < MIN_VALUES {
        return None;
    }
    let logs = logarithms(series);
    let significant = |fit: &Fit| {
        let quantile = fit.quantile.0 + fit.quantile.1 / logs.len() as f64;
        fit.standard_errors > quantile && fit.change.by.abs() >= MIN_CHANGE
    };
    let step = step(&logs).filter(significant);
    let drift = Some(drift(&logs)).filter(|fit| {
        significant(fit) || fit.change.by.abs() >= MIN_CHANGE && is_monotonous(&logs)
    });
    match (step, drift) {
        (Some(step), Some(drift)) if step.unexplained < CLEARLY * drift.unexplained => {
            Some(step.change)
        }
        (step, drift) => drift.or(step).map(|fit| fit.change),
    }
}

/// The step of a series, if it has one of at least `least` (a share of what it was before), and how many
/// standard errors it is large.
pub(crate) fn step_of(series: &[f64], least: f64) -> Option<(Change, f64)> {
    if series.len() < MIN_VALUES {
        return None;
    }
    let logs = logarithms(series);
    let found = step(&logs)?;
    let quantile = found.quantile.0 + found.quantile.1 / logs.len() as f64;
    let significant = found.standard_errors > quantile && found.change.by.abs() >= least;
    significant.then_some((found.change, found.standard_errors))
}

/// Whether the values before a cut differ from the rest, against how much the rest varies.
pub(crate) fn differs(series: &[f64], cut: usize) -> bool {
    let logs = logarithms(series);
    if cut == 0 || cut >= logs.len() {
        return false;
    }
    let (before, rest) = logs.split_at(cut);
    let mean = average(rest);
    let deviations: Vec<f64> = rest.iter().map(|value| value - mean).collect();
    let apart = average(before) - mean;
    let quantile = STEP_QUANTILE.0 + STEP_QUANTILE.1 / rest.len() as f64;
    standard_errors(&deviations, 1.0, apart, 1.0 / cut as f64 + 1.0 / rest.len() as f64) > quantile
}

/// A model of a change, fitted to a series.
struct Fit {
    change: Change,
    standard_errors: f64,
    quantile: (f64, f64),
    unexplained: f64,
}

/// The step that explains most.
fn step(logs: &[f64]) -> Option<Fit> {
    let n = logs.len();
    let side = MIN_SIDE.max(n / MIN_SHARE);
    let sum: f64 = logs.iter().sum();
    let (mut before, mut best) = (0.0, (0.0, 0));
    for (at, value) in logs.iter().enumerate() {
        if at >= side && at + side <= n {
            let apart = (sum - before) / (n - at) as f64 - before / at as f64;
            let explained = apart * apart * (at * (n - at)) as f64;
            best = if explained > best.0 { (explained, at) } else { best };
        }
        before += value;
    }
    let at = best.1;
    if at == 0 {
        return None;
    }
    let (first, second) = (average(&logs[..at]), average(&logs[at..]));
    let level = |position| if position < at { first } else { second };
    let deviations: Vec<f64> =
        logs.iter().enumerate().map(|(position, value)| value - level(position)).collect();
    let spread = 1.0 / at as f64 + 1.0 / (n - at) as f64;
    Some(Fit {
        change: Change { at: Some(at), by: (second - first).exp() - 1.0 },
        standard_errors: standard_errors(&deviations, 2.0, second - first, spread),
        quantile: STEP_QUANTILE,
        unexplained: squares(&deviations),
    })
}

/// The straight line that explains most.
fn drift(logs: &[f64]) -> Fit {
    let n = logs.len() as f64;
    let (mean, middle) = (average(logs), (n - 1.0) / 2.0);
    let spread = n * (n * n - 1.0) / 12.0;
    let products = logs.iter().enumerate().map(|(at, value)| (at as f64 - middle) * (value - mean));
    let slope = products.sum::<f64>() / spread;
    let line = |at: usize| mean + slope * (at as f64 - middle);
    let deviations: Vec<f64> =
        logs.iter().enumerate().map(|(at, value)| value - line(at)).collect();
    Fit {
        change: Change { at: None, by: (slope * (n - 1.0)).exp() - 1.0 },
        standard_errors: standard_errors(&deviations, 2.0, slope, 1.0 / spread),
        quantile: DRIFT_QUANTILE,
        unexplained: squares(&deviations),
    }
}

/// Batches in which [`is_monotonous`] looks at a series, ...
const MONOTONOUS_BATCHES: usize = 10;
/// ... and how many of their 45 pairs more must rise than fall, or the other way round. At most 3 pairs may
/// not fit: by chance that happens to one of 7,000 series of independent values.
const MONOTONOUS_PAIRS: f64 = 39.0;

/// Whether a series rises, or falls, nearly all the time: Mann's test ("Nonparametric tests against trend",
/// Econometrica 13, 1945) over batches. What rises along a curve, as the latency of an overloaded target
/// does, lies off every straight line for so long that it looks correlated; of the order of values that
/// says nothing.
fn is_monotonous(logs: &[f64]) -> bool {
    let size = logs.len() / MONOTONOUS_BATCHES;
    if size == 0 {
        return false;
    }
    let means: Vec<f64> = logs.rchunks_exact(size).take(MONOTONOUS_BATCHES).map(average).collect();
    let pairs = means.iter().enumerate().flat_map(|(at, late)| {
        means[at + 1..].iter().map(move |early| match late - early {
            0.0 => 0.0,
            rise => rise.signum(),
        })
    });
    pairs.sum::<f64>().abs() >= MONOTONOUS_PAIRS
}

/// How many standard errors an estimate lies from 0, whose variance is so many times that of one value
/// (were the values independent), by the deviations from a model with so many parameters.
fn standard_errors(deviations: &[f64], fitted: f64, estimate: f64, spread: f64) -> f64 {
    let values = deviations.len() as f64;
    let varies = long_run(deviations, fitted);
    if varies.variance <= 0.0 {
        return if estimate == 0.0 { 0.0 } else { f64::INFINITY };
    }
    varies.standard_errors(estimate * (values / spread).sqrt())
}

/// The logarithms of a series; what is below a hundredth of its median counts as that, so that a second in
/// which nothing happened has one.
fn logarithms(series: &[f64]) -> Vec<f64> {
    let mut sorted = series.to_vec();
    sorted.sort_by(f64::total_cmp);
    let least = sorted.get(sorted.len() / 2).copied().unwrap_or(0.0) / 100.0;
    let least = if least > 0.0 { least } else { 1.0 };
    series.iter().map(|value| value.max(least).ln()).collect()
}

fn average(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / (values.len() as f64).max(1.0)
}

fn squares(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum()
}

#[cfg(test)]
mod tests;
