//! What follows from one measure of all runs of an experiment: the value of each variant, effects of the factors, comparisons
//! of the variants, and drift. The unit of all of them is a run: what happens within one is not independent of itself.

mod contrast;
mod effects;
mod fit;
mod linear;
mod model;
mod noise;
#[cfg(test)]
mod recorded;
mod sample;
#[cfg(test)]
mod tests;

pub use contrast::Contrast;
pub use effects::{Assumes, Effect, LevelContrast};
pub use sample::{Sample, Scale};

use crate::design::Design;
use contrast::student;
use noise::Noise;
use statrs::distribution::ContinuousCDF;

/// Everything that is said of one measure.
#[derive(Debug, Clone, PartialEq)]
pub struct Statistics {
    pub scale: Scale,
    /// By variant.
    pub cells: Vec<Cell>,
    /// Main effects, then interactions of two factors.
    pub effects: Vec<Effect>,
    /// Each two variants that differ in one factor, the earlier one first.
    pub pairs: Vec<PairContrast>,
    pub shares: Shares,
    pub drift: Option<Drift>,
    /// Variants whose runs vary more than those of the others, so that their comparisons take their own spread.
    pub noisy: Vec<usize>,
}

/// The value of a variant over its repeats: the mean, of ratios the geometric one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell {
    pub value: Option<f64>,
    /// Of this variant's own repeats, at 95 % (Student's t).
    pub interval: Option<(f64, f64)>,
    /// How many repeats have a value.
    pub repeats: usize,
}

/// How much more the second of two variants has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairContrast {
    pub of: usize,
    pub with: usize,
    /// `None`: one of them has no run.
    pub contrast: Option<Contrast>,
}

/// What the variation of all runs that no [`Effect`] explains is due to, as shares of all variation.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Shares {
    /// Interactions of three factors and more.
    pub higher: f64,
    /// Differences between blocks: when a run was made.
    pub blocks: f64,
    /// What differs between repeats of the same.
    pub chance: f64,
}

/// How much more all variants have in the last block than in the first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drift {
    pub value: f64,
    /// At 95 %.
    pub interval: Option<(f64, f64)>,
}

impl Drift {
    pub fn is_real(&self) -> bool {
        self.interval.is_some_and(|(low, high)| low > 0.0 || high < 0.0)
    }
}

impl Statistics {
    /// `measures`: how many measures of this experiment are looked at; each gives its differences another chance to look
    /// real, so that all intervals are wider for it.
    pub fn new(design: &Design, sample: &Sample, measures: usize) -> Statistics {
        let noise = Noise::new(sample);
        let all_squares = squares_about_mean(sample);
        let compared = compared(design);
        let contrasts = measures * (compared.len() + effects::beside_pairs(design));
        let effects = effects::effects(design, sample, &noise, all_squares, contrasts);
        Statistics {
            scale: sample.scale(),
            cells: (0..sample.variants()).map(|variant| cell(sample, variant)).collect(),
            shares: shares(sample, &noise, &effects, all_squares),
            effects,
            pairs: pairs(sample, &noise, &compared, contrasts),
            drift: drift(sample, &noise),
            noisy: noise.noisy,
        }
    }
}

/// Half the width of a variant's interval, as a share of its value. `None`: fewer than two repeats have a value, or it is 0.
pub(crate) fn half_width(sample: &Sample, variant: usize) -> Option<f64> {
    let own = cell(sample, variant);
    let (low, high) = own.interval?;
    let value = own.value.filter(|value| *value != 0.0)?;
    Some((high - low) / 2.0 / value.abs())
}

fn cell(sample: &Sample, variant: usize) -> Cell {
    let values: Vec<f64> = sample.of_variant(variant).map(|(_, value)| value).collect();
    let count = values.len() as f64;
    if values.is_empty() {
        return Cell { value: None, interval: None, repeats: 0 };
    }
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let reach = student(values.len() - 1)
        .map(|t| t.inverse_cdf(0.975) * (squares / (count - 1.0) / count).sqrt());
    let back = |value: f64| match sample.scale() {
        Scale::Ratio => value.exp(),
        Scale::Difference => value,
    };
    Cell {
        value: Some(back(mean)),
        interval: reach.map(|reach| (back(mean - reach), back(mean + reach))),
        repeats: values.len(),
    }
}

/// Each two variants that differ in one factor: of others, nobody could say which factor made the difference, and each comparison
/// more makes all intervals wider.
fn compared(design: &Design) -> Vec<(usize, usize)> {
    let levels: Vec<Vec<usize>> = (0..design.variants()).map(|own| design.levels(own)).collect();
    let apart = |of: usize, with: usize| {
        levels[of].iter().zip(&levels[with]).filter(|(own, other)| own != other).count()
    };
    let all = (0..levels.len()).flat_map(|of| (of + 1..levels.len()).map(move |with| (of, with)));
    all.filter(|(of, with)| apart(*of, *with) == 1).collect()
}

fn pairs(
    sample: &Sample,
    noise: &Noise,
    compared: &[(usize, usize)],
    contrasts: usize,
) -> Vec<PairContrast> {
    let pair = |(of, with): &(usize, usize)| {
        let mut weights = vec![0.0; sample.variants()];
        (weights[*of], weights[*with]) = (-1.0, 1.0);
        let contrast = Contrast::new(sample, noise, &weights, contrasts);
        PairContrast { of: *of, with: *with, contrast }
    };
    compared.iter().map(pair).collect()
}

fn squares_about_mean(sample: &Sample) -> f64 {
    let values: Vec<f64> =
        (0..sample.variants()).flat_map(|own| sample.of_variant(own)).map(|own| own.1).collect();
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

fn shares(sample: &Sample, noise: &Noise, effects: &[Effect], all_squares: f64) -> Shares {
    let Some(fit) = noise.all().filter(|_| all_squares > 0.0) else {
        return Shares::default();
    };
    // With variants alone, and no blocks: what blocks explain beyond that is theirs.
    let within: f64 = (0..sample.variants())
        .map(|variant| {
            let own: Vec<f64> = sample.of_variant(variant).map(|(_, value)| value).collect();
            let mean = own.iter().sum::<f64>() / own.len().max(1) as f64;
            own.iter().map(|value| (value - mean).powi(2)).sum::<f64>()
        })
        .sum();
    let chance = fit.squares() / all_squares;
    let blocks = (within / all_squares - chance).max(0.0);
    let explained: f64 = effects.iter().filter_map(|effect| effect.share).sum();
    Shares { higher: (1.0 - explained - blocks - chance).max(0.0), blocks, chance }
}

fn drift(sample: &Sample, noise: &Noise) -> Option<Drift> {
    let fit = noise.usual()?;
    let there: Vec<usize> =
        (0..sample.blocks()).filter(|block| fit.blocks[*block].is_some()).collect();
    let (first, last) = (*there.first()?, *there.last()?);
    if first == last {
        return None;
    }
    let value = fit.blocks[last]? - fit.blocks[first]?;
    let runs = |block: usize| {
        let own = (0..sample.variants()).filter(|variant| fit.has(*variant));
        own.filter(|variant| sample.value(*variant, block).is_some()).count() as f64
    };
    let variance = fit.variance().map(|own| own * (1.0 / runs(first) + 1.0 / runs(last)));
    let reach =
        variance.zip(student(fit.freedom)).map(|(own, t)| own.sqrt() * t.inverse_cdf(0.975));
    let interval = reach.map(|reach| (sample.told(value - reach), sample.told(value + reach)));
    Some(Drift { value: sample.told(value), interval })
}
