//! Variants whose runs vary more than those of the others.
//!
//! The spread of a run is best known from all variants together. Where one varies much more than the rest, that would hide
//! its own spread and blur the others': its comparisons take their own, block by block, and the others' are without it.

use statrs::distribution::{ContinuousCDF, FisherSnedecor};

use super::fit::Fit;
use super::sample::Sample;

/// How often a variant like the others is taken for one that varies more.
const FALSE_ALARM: f64 = 0.01;
/// Fewest repeats and quiet variants with which that can be told.
const MIN_REPEATS: usize = 3;
const MIN_QUIET: usize = 2;

/// Who varies, and how much.
#[derive(Debug, Clone)]
pub(super) struct Noise {
    /// All variants fitted.
    all: Option<Fit>,
    /// Without the noisy ones.
    quiet: Option<Fit>,
    /// The noisy variants, in the order in which they were found.
    pub noisy: Vec<usize>,
}

impl Noise {
    pub fn new(sample: &Sample) -> Noise {
        let all = Fit::new(sample, |_| true);
        let mut noisy = Vec::new();
        while let Some(worst) = noisiest(sample, &noisy) {
            noisy.push(worst);
        }
        let quiet = Fit::new(sample, |variant| !noisy.contains(&variant));
        Noise { all, quiet, noisy }
    }

    pub fn all(&self) -> Option<&Fit> {
        self.all.as_ref()
    }

    /// The fit of the quiet variants, if these weights are of quiet variants alone.
    pub fn quiet_fit(&self, weights: &[f64]) -> Option<&Fit> {
        let fit = self.quiet.as_ref()?;
        weights.iter().enumerate().all(|(at, weight)| *weight == 0.0 || fit.has(at)).then_some(fit)
    }

    /// What tells how much a run varies that varies as most do.
    pub fn usual(&self) -> Option<&Fit> {
        self.quiet.as_ref().or(self.all.as_ref())
    }
}

/// The variant that varies most beside the others, if that is hardly chance.
///
/// How far a variant is from the mean of the others, block by block, varies by its own variance and a share of theirs, and is
/// independent of how much these differ among themselves: the ratio is Fisher's F.
fn noisiest(sample: &Sample, noisy: &[usize]) -> Option<usize> {
    let quiet: Vec<usize> =
        (0..sample.variants()).filter(|variant| !noisy.contains(variant)).collect();
    if quiet.len() <= MIN_QUIET {
        return None;
    }
    let ratio = |variant: usize| -> Option<(f64, usize)> {
        let others: Vec<usize> = quiet.iter().copied().filter(|other| *other != variant).collect();
        let fit = Fit::new(sample, |own| others.contains(&own))?;
        let apart: Vec<f64> = (sample.of_variant(variant))
            .filter_map(|(block, value)| {
                let theirs: Option<f64> =
                    others.iter().map(|other| sample.scaled(*other, block)).sum();
                Some(value - theirs? / others.len() as f64)
            })
            .collect();
        if apart.len() < MIN_REPEATS {
            return None;
        }
        let count = apart.len() as f64;
        let mean = apart.iter().sum::<f64>() / count;
        let own = apart.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let usual = fit.variance()? * (1.0 + 1.0 / others.len() as f64);
        let f = FisherSnedecor::new(count - 1.0, fit.freedom as f64).ok()?;
        let most = f.inverse_cdf(1.0 - FALSE_ALARM / sample.variants() as f64);
        (own > most * usual).then_some((own / usual.max(f64::MIN_POSITIVE), variant))
    };
    let found = quiet.iter().filter_map(|variant| ratio(*variant));
    found.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, variant)| variant)
}
