//! A difference between variants, with its interval.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::fit::Fit;
use super::noise::Noise;
use super::sample::Sample;

/// In what share of experiments one interval or another may miss the truth.
const FAMILY: f64 = 0.05;
/// How often a difference that is there should be seen, where repeats are advised.
const POWER: f64 = 0.8;
/// The margin of advice, as a factor of the variance: it is itself known from few repeats.
const MARGIN: f64 = 1.3;
/// Most repeats that are advised: beyond that the answer is "too many".
const MOST_REPEATS: usize = 10_000;

/// How much more one side has than the other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contrast {
    /// 0.13: 13 % more, or 0.13 more, as the [`super::Scale`] of the sample says. Of an interaction of ratios: the ratio of two
    /// ratios, less 1.
    pub value: f64,
    /// Its interval, which holds together with all others of the experiment: in 95 of 100 experiments none of them misses
    /// the truth (Bonferroni). `None`: a single repeat says nothing about chance.
    pub interval: Option<(f64, f64)>,
    /// How probable so large a difference is by chance alone, before the number of comparisons is considered.
    pub p: Option<f64>,
    /// The error and what it depends on, on the scale on which values are compared.
    spread: Option<Spread>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Spread {
    /// The variance of the difference by one repeat of each run.
    variance: f64,
    /// Variants whose runs tell how much a run varies; 2: the difference's own, block by block.
    variants: usize,
    /// The share of chance of one interval.
    outside: f64,
    sample: super::Scale,
}

impl Contrast {
    /// The contrast of the variants with these weights, which add up to 0, where so many contrasts are looked at. `None`: a
    /// variant with a weight has no run, or none together with the others.
    pub(super) fn new(
        sample: &Sample,
        noise: &Noise,
        weights: &[f64],
        contrasts: usize,
    ) -> Option<Contrast> {
        let outside = FAMILY / contrasts.max(1) as f64;
        let (value, variance, freedom, repeats, variants) = match noise.quiet_fit(weights) {
            Some(fit) => of_fit(sample, fit, weights)?,
            None => block_by_block(sample, weights)
                .or_else(|| noise.all().and_then(|fit| of_fit(sample, fit, weights)))?,
        };
        let mut contrast =
            Contrast { value: sample.told(value), interval: None, p: None, spread: None };
        if let (Some(variance), Some(t)) = (variance, student(freedom)) {
            // What is equal but for rounding is no difference.
            let error = variance.sqrt().max(sample.rounding());
            let reach = error * t.inverse_cdf(1.0 - outside / 2.0);
            contrast.interval = Some((sample.told(value - reach), sample.told(value + reach)));
            contrast.p = Some(match error > 0.0 {
                true => 2.0 * (1.0 - t.cdf(value.abs() / error)),
                false if value == 0.0 => 1.0,
                false => 0.0,
            });
            let variance = variance * repeats;
            contrast.spread = Some(Spread { variance, variants, outside, sample: sample.scale() });
        }
        Some(contrast)
    }

    /// Whether the interval leaves no doubt that there is a difference.
    pub fn is_real(&self) -> bool {
        self.interval.is_some_and(|(low, high)| low > 0.0 || high < 0.0)
    }

    /// The largest difference that the interval does not exclude.
    pub fn at_most(&self) -> Option<f64> {
        self.interval.map(|(low, high)| low.abs().max(high.abs()))
    }

    /// How many repeats would show a difference of such a size in 80 of 100 experiments, if runs vary as these did. `None`: that
    /// is not known, or more than 10,000.
    pub fn repeats_for(&self, difference: f64) -> Option<usize> {
        let own = self.spread?;
        let by = own.scaled(difference).abs();
        (2..=MOST_REPEATS).find(|repeats| own.reach(*repeats).is_some_and(|reach| reach <= by))
    }

    /// The least difference that so many repeats would show in 80 of 100 experiments. `None`: that is not known.
    pub fn detectable(&self, repeats: usize) -> Option<f64> {
        let own = self.spread?;
        let reach = own.reach(repeats)?;
        Some(match own.sample {
            super::Scale::Ratio => reach.exp_m1(),
            super::Scale::Difference => reach,
        })
    }
}

impl Spread {
    fn scaled(&self, told: f64) -> f64 {
        match self.sample {
            super::Scale::Ratio => told.max(-0.999).ln_1p(),
            super::Scale::Difference => told,
        }
    }

    /// The least difference that so many repeats show, on the scale on which values are compared.
    fn reach(&self, repeats: usize) -> Option<f64> {
        let t = student((self.variants - 1) * repeats.checked_sub(1)?)?;
        let quantiles = t.inverse_cdf(1.0 - self.outside / 2.0) + t.inverse_cdf(POWER);
        Some(quantiles * (self.variance * MARGIN / repeats as f64).sqrt())
    }
}

/// Value, variance, degrees of freedom, repeats, and how many variants tell how much a run varies.
type Found = (f64, Option<f64>, usize, f64, usize);

fn of_fit(sample: &Sample, fit: &Fit, weights: &[f64]) -> Option<Found> {
    let (value, unit) = fit.contrast(weights)?;
    let variance = fit.variance().map(|own| own * unit);
    Some((value, variance, fit.freedom, sample.blocks() as f64, fit.variants()))
}

/// The contrast in each block that has all its runs: right however much the variants differ in how much they vary, as each
/// block gives one value of the difference.
fn block_by_block(sample: &Sample, weights: &[f64]) -> Option<Found> {
    let of_block = |block: usize| {
        let of_variant = |(variant, weight): (usize, &f64)| match *weight == 0.0 {
            true => Some(0.0),
            false => sample.scaled(variant, block).map(|value| weight * value),
        };
        weights.iter().enumerate().map(of_variant).sum::<Option<f64>>()
    };
    let values: Vec<f64> = (0..sample.blocks()).filter_map(of_block).collect();
    let count = values.len() as f64;
    (!values.is_empty()).then(|| {
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let variance = (values.len() > 1).then(|| squares / (count - 1.0) / count);
        (mean, variance, values.len() - 1, count, 2)
    })
}

/// Student's t. `None`: without a degree of freedom there is none.
pub(super) fn student(freedom: usize) -> Option<StudentsT> {
    (freedom > 0).then(|| StudentsT::new(0.0, 1.0, freedom as f64).ok()).flatten()
}
