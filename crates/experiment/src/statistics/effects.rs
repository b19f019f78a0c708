//! What each factor does: main effects and interactions of two factors.
//!
//! The effect of a level is the mean of all variants that have it, each counting the same; an interaction is how much the effect
//! of one factor depends on another. The share of the variation that an effect explains is its sum of squares divided by the
//! sum of all (Jain, "The Art of Computer Systems Performance Analysis", 1991, chapters 17, 18 and 22).

use statrs::distribution::{ContinuousCDF, FisherSnedecor};

use super::contrast::Contrast;
use super::fit::Fit;
use super::linear::{Symmetric, product};
use super::noise::Noise;
use super::sample::Sample;
use crate::design::Design;

/// The effect of a factor, or of two together.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    /// One factor (a main effect), or two (an interaction), by number.
    pub factors: Vec<usize>,
    /// The share of the variation of all runs that it explains, 0 to 1. `None`: a variant has no run.
    pub share: Option<f64>,
    /// How probable so much is by chance alone (Fisher's F).
    pub p: Option<f64>,
    /// Of a main effect: each level beside each before it. Of an interaction: each combination of levels beside the first ones.
    pub contrasts: Vec<LevelContrast>,
}

/// How much more one level has than another, or how much that differs between levels of another factor.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelContrast {
    /// For each factor of the effect: the level, and the one that it is compared with.
    pub levels: Vec<(usize, usize)>,
    /// `None`: a variant that it needs has no run.
    pub contrast: Option<Contrast>,
}

impl Effect {
    /// Whether one of its contrasts leaves no doubt.
    pub fn is_real(&self) -> bool {
        self.contrasts.iter().any(|own| own.contrast.is_some_and(|own| own.is_real()))
    }
}

/// Main effects, then interactions, of factors that have two levels or more; so many contrasts are looked at in all.
pub(super) fn effects(
    design: &Design,
    sample: &Sample,
    noise: &Noise,
    all_squares: f64,
    contrasts: usize,
) -> Vec<Effect> {
    let of = |factors: Vec<usize>| {
        let levels = compared(design, &factors);
        let contrasts = levels.into_iter().map(|levels| {
            let weights = weights(design, &factors, &levels);
            LevelContrast { levels, contrast: Contrast::new(sample, noise, &weights, contrasts) }
        });
        let contrasts = contrasts.collect();
        let test = noise.all().and_then(|fit| squares(design, fit, &factors));
        let share = test.as_ref().map(|(squares, _)| *squares / all_squares);
        Effect {
            share: share.filter(|share| share.is_finite()),
            p: test.and_then(|(squares, freedom)| {
                let fit = noise.all()?;
                let f = FisherSnedecor::new(freedom as f64, fit.freedom as f64).ok()?;
                let ratio = squares / freedom as f64 / fit.variance()?;
                Some(if ratio.is_finite() { 1.0 - f.cdf(ratio) } else { 0.0 })
            }),
            contrasts,
            factors,
        }
    };
    subjects(design).into_iter().map(of).collect()
}

/// How many contrasts of effects there are that are no comparison of two variants.
pub(super) fn beside_pairs(design: &Design) -> usize {
    match subjects(design).as_slice() {
        [_] => 0,
        more => more.iter().map(|factors| compared(design, factors).len()).sum(),
    }
}

fn subjects(design: &Design) -> Vec<Vec<usize>> {
    let has_levels = |factor: &usize| design.factors()[*factor].levels.len() > 1;
    let factors: Vec<usize> = (0..design.factors().len()).filter(has_levels).collect();
    let pairs = (factors.iter().enumerate())
        .flat_map(|(at, one)| factors[at + 1..].iter().map(|two| vec![*one, *two]));
    factors.iter().map(|factor| vec![*factor]).chain(pairs).collect()
}

/// The levels that are compared: of one factor each with each, of two each with the first.
fn compared(design: &Design, factors: &[usize]) -> Vec<Vec<(usize, usize)>> {
    let count = |factor: usize| design.factors()[factor].levels.len();
    match *factors {
        [factor] => {
            let pairs = |level| (0..level).map(move |other| vec![(level, other)]);
            (1..count(factor)).flat_map(pairs).collect()
        }
        [one, two] => {
            let pairs = |level| (1..count(two)).map(move |other| vec![(level, 0), (other, 0)]);
            (1..count(one)).flat_map(pairs).collect()
        }
        _ => Vec::new(),
    }
}

/// The weight of each variant in a contrast of levels, averaged over all other factors.
fn weights(design: &Design, factors: &[usize], compared: &[(usize, usize)]) -> Vec<f64> {
    let others = (design.factors().iter().enumerate()).filter(|(at, _)| !factors.contains(at));
    let each = 1.0 / others.map(|(_, factor)| factor.levels.len() as f64).product::<f64>();
    let of_variant = |variant| {
        let levels = design.levels(variant);
        let signs = factors.iter().zip(compared).map(|(factor, (level, other))| {
            let own = levels[*factor];
            f64::from(u8::from(own == *level)) - f64::from(u8::from(own == *other))
        });
        each * signs.product::<f64>()
    };
    (0..design.variants()).map(of_variant).collect()
}

/// The sum of squares of an effect, and its degrees of freedom: what all its contrasts together explain, (Cm)'(CSC')⁻¹(Cm).
fn squares(design: &Design, fit: &Fit, factors: &[usize]) -> Option<(f64, usize)> {
    let mut rows: Vec<Vec<(usize, usize)>> = vec![Vec::new()];
    for factor in factors {
        let levels = 1..design.factors()[*factor].levels.len();
        rows = (rows.iter())
            .flat_map(|row| levels.clone().map(move |at| [row.as_slice(), &[(at, 0)]].concat()))
            .collect();
    }
    let rows: Vec<Vec<f64>> = rows.iter().map(|row| weights(design, factors, row)).collect();
    let values: Option<Vec<f64>> = rows.iter().map(|row| Some(fit.contrast(row)?.0)).collect();
    let mut spread = Symmetric::zero(rows.len());
    for (at, one) in rows.iter().enumerate() {
        for (beside, two) in rows.iter().enumerate() {
            spread.add(at, beside, fit.covariance(one, two)?);
        }
    }
    let values = values?;
    Some((product(&values, &spread.inverse()?.times(&values)), rows.len()))
}
