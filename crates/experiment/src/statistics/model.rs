//! The values of the variants as sums of what their levels do, by least squares over the variants that have runs: which weights of
//! these variants give an effect. Pure arithmetic.
//!
//! With all variants there, the weights of an effect are those of the means over all that have a level. Without some of them the
//! same sums give it as far as the rest tells, where the interactions that are left out of the sums are none (Searle, "Linear
//! Models", 1971, chapter 5: estimable functions).

use super::linear::{Symmetric, product};
use crate::design::Design;

/// How far sums may be off by rounding, where weights are of the order of 1.
const ROUNDING: f64 = 1e-7;

/// Sums of effects, fitted to some of the variants.
pub(super) struct Model<'m> {
    design: &'m Design,
    /// The effects that are summed: each one factor, or two that depend on each other.
    effects: &'m [Vec<usize>],
    /// The variants that have runs, each with its part of each unknown.
    variants: Vec<(usize, Vec<f64>)>,
    inverse: Symmetric,
}

impl<'m> Model<'m> {
    pub fn new(design: &'m Design, there: &[usize], effects: &'m [Vec<usize>]) -> Model<'m> {
        let row = |variant: usize| {
            let levels = design.levels(variant);
            let parts = effects.iter().flat_map(|factors| {
                let parts = factors.iter().map(|factor| part(design, *factor, levels[*factor]));
                together(parts)
            });
            // What all variants have in common comes first.
            std::iter::once(1.0).chain(parts).collect::<Vec<f64>>()
        };
        let variants: Vec<(usize, Vec<f64>)> = there.iter().map(|own| (*own, row(*own))).collect();
        let size = variants.first().map_or(0, |(_, row)| row.len());
        let mut squares = Symmetric::zero(size);
        for (_, row) in &variants {
            for (at, one) in row.iter().enumerate().filter(|own| *own.1 != 0.0) {
                for (beside, other) in row.iter().enumerate() {
                    squares.add(at, beside, one * other);
                }
            }
        }
        Model { design, effects, variants, inverse: squares.partial_inverse() }
    }

    /// The weight of each variant in a contrast of levels, each with the one that it is compared with. `None`: the variants that
    /// have runs do not tell.
    pub fn weights(&self, factors: &[usize], levels: &[(usize, usize)]) -> Option<Vec<f64>> {
        let differences = factors.iter().zip(levels).map(|(factor, (level, other))| {
            let other = part(self.design, *factor, *other);
            let parts = part(self.design, *factor, *level).into_iter().zip(other);
            parts.map(|(own, other)| own - other).collect()
        });
        let wanted_part = together(differences);
        let size = |factors: &Vec<usize>| -> usize {
            factors.iter().map(|own| self.design.factors()[*own].levels.len() - 1).product()
        };
        let of_effects = self.effects.iter().flat_map(|own| match own == factors {
            true => wanted_part.clone(),
            false => vec![0.0; size(own)],
        });
        let wanted: Vec<f64> = std::iter::once(0.0).chain(of_effects).collect();
        let solved = self.inverse.times(&wanted);
        let mut weights = vec![0.0; self.design.variants()];
        let mut sums = vec![0.0; wanted.len()];
        for (variant, row) in &self.variants {
            let weight = product(row, &solved);
            weights[*variant] = if weight.abs() < ROUNDING { 0.0 } else { weight };
            sums.iter_mut().zip(row).for_each(|(sum, own)| *sum += weight * own);
        }
        let is_found = wanted.iter().zip(&sums).all(|(own, sum)| (own - sum).abs() < ROUNDING);
        (is_found && !self.variants.is_empty()).then_some(weights)
    }
}

/// The part that a level has of its factor's unknowns, one fewer than it has levels: the last level is what the others leave, so
/// that all of them add up to 0.
fn part(design: &Design, factor: usize, level: usize) -> Vec<f64> {
    let unknowns = design.factors()[factor].levels.len() - 1;
    match level == unknowns {
        true => vec![-1.0; unknowns],
        false => (0..unknowns).map(|own| if own == level { 1.0 } else { 0.0 }).collect(),
    }
}

/// The parts of several factors together: each product of one of each.
fn together(parts: impl Iterator<Item = Vec<f64>>) -> Vec<f64> {
    parts.fold(vec![1.0], |all, own| {
        all.iter().flat_map(|one| own.iter().map(move |other| one * other)).collect()
    })
}
