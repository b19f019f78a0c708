//! What each factor does: main effects and interactions of two factors.
//!
//! The effect of a level is the mean of all variants that have it, each counting the same; an interaction is how much the effect
//! of one factor depends on another. Where a variant has no run, effects are estimated from the others (`model.rs`). The share of the variation that an effect explains is its sum of squares divided by the
//! sum of all (Jain, "The Art of Computer Systems Performance Analysis", 1991, chapters 17, 18 and 22).

use statrs::distribution::{ContinuousCDF, FisherSnedecor};

use super::contrast::Contrast;
use super::fit::Fit;
use super::linear::{Symmetric, product};
use super::model::Model;
use super::noise::Noise;
use super::sample::Sample;
use crate::design::Design;

/// The effect of a factor, or of two together.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    /// One factor (a main effect), or two (an interaction), by number.
    pub factors: Vec<usize>,
    /// What is taken for granted, as variants have no run.
    pub assumes: Assumes,
    /// The share of the variation of all runs that it explains, 0 to 1. `None`: the variants that have runs do not tell.
    pub share: Option<f64>,
    /// How probable so much is by chance alone (Fisher's F).
    pub p: Option<f64>,
    /// Of a main effect: each level beside each before it. Of an interaction: each combination of levels beside the first ones.
    pub contrasts: Vec<LevelContrast>,
}

/// What is taken for granted so that an effect can be estimated although variants have no run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Assumes {
    Nothing,
    /// That there are no interactions of three factors and more.
    NoHigherInteractions,
    /// That no factor's effect depends on another factor.
    NoInteractions,
}

impl Assumes {
    /// In a few words; empty: nothing.
    pub fn label(self) -> &'static str {
        match self {
            Assumes::Nothing => "",
            Assumes::NoHigherInteractions => "no interactions of three factors",
            Assumes::NoInteractions => "no interactions",
        }
    }
}

/// How much more one level has than another, or how much that differs between levels of another factor.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelContrast {
    /// For each factor of the effect: the level, and the one that it is compared with.
    pub levels: Vec<(usize, usize)>,
    /// `None`: the variants that have runs do not tell.
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
    let subjects = subjects(design);
    let there: Vec<usize> = (0..sample.variants())
        .filter(|variant| sample.of_variant(*variant).next().is_some())
        .collect();
    let whole = Model::new(design, &there, &subjects);
    let main = Model::new(
        design,
        &there,
        &subjects[..subjects.iter().filter(|own| own.len() == 1).count()],
    );
    let is_complete = there.len() == sample.variants();
    let of = |factors: Vec<usize>| {
        let levels = compared(design, &factors);
        let told = |model: &Model<'_>| {
            levels.iter().filter(|own| model.weights(&factors, own).is_some()).count()
        };
        let (model, assumes) = match factors.len() {
            _ if is_complete => (&whole, Assumes::Nothing),
            1 if told(&whole) < told(&main) => (&main, Assumes::NoInteractions),
            _ if has_higher(&subjects) => (&whole, Assumes::NoHigherInteractions),
            _ => (&whole, Assumes::Nothing),
        };
        let contrasts = levels.into_iter().map(|levels| {
            let weights = model.weights(&factors, &levels);
            let contrast = weights.and_then(|own| Contrast::new(sample, noise, &own, contrasts));
            LevelContrast { levels, contrast }
        });
        let contrasts = contrasts.collect();
        let test = noise.all().and_then(|fit| squares(design, model, fit, &factors));
        let share = test.as_ref().map(|(squares, _)| *squares / all_squares);
        Effect {
            assumes,
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
    subjects.iter().cloned().map(of).collect()
}

/// Whether there are three factors, which may depend on each other all together.
fn has_higher(subjects: &[Vec<usize>]) -> bool {
    subjects.iter().filter(|own| own.len() == 1).count() > 2
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

/// The sum of squares of an effect, and its degrees of freedom: what all its contrasts together explain, (Cm)'(CSC')⁻¹(Cm).
fn squares(
    design: &Design,
    model: &Model<'_>,
    fit: &Fit,
    factors: &[usize],
) -> Option<(f64, usize)> {
    let mut rows: Vec<Vec<(usize, usize)>> = vec![Vec::new()];
    for factor in factors {
        let levels = 1..design.factors()[*factor].levels.len();
        rows = (rows.iter())
            .flat_map(|row| levels.clone().map(move |at| [row.as_slice(), &[(at, 0)]].concat()))
            .collect();
    }
    let rows = rows.iter().map(|row| model.weights(factors, row));
    let rows: Vec<Vec<f64>> = rows.collect::<Option<_>>()?;
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
