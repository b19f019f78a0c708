//! A value for each variant and each block: y = variant + block + chance, by least squares.
//!
//! What all runs of a block have in common (a machine that gets warm, a neighbour that is busy for an hour) is no part of a
//! comparison within it; order within a block is random, so that what changes there is chance. With all runs there,
//! this is the analysis of randomised complete blocks (Fisher, "The Design of Experiments", 1935; Jain, "The Art of Computer
//! Systems Performance Analysis", 1991, chapters 17, 18 and 21 to 23); a run that is missing takes nothing from the others.

use super::linear::{Symmetric, product};
use super::sample::Sample;

/// Variants and blocks fitted to some of the variants of a sample.
#[derive(Debug, Clone)]
pub(super) struct Fit {
    /// The value of each variant, up to a constant that all share; `None`: the variant is left out, or has no run.
    values: Vec<Option<f64>>,
    /// The value of each block, above the same constant.
    pub blocks: Vec<Option<f64>>,
    /// The row of each variant in `spread`.
    rows: Vec<Option<usize>>,
    /// Covariances of the values, in units of the variance of a run; right for contrasts, whose weights add up to 0.
    spread: Symmetric,
    /// The squares that the fit leaves.
    squares: f64,
    /// Their degrees of freedom.
    pub freedom: usize,
}

impl Fit {
    /// `None`: fewer than two variants have runs, or no block connects them all, so that nothing can be compared.
    pub fn new(sample: &Sample, takes: impl Fn(usize) -> bool) -> Option<Fit> {
        let variants = sample.variants();
        let mut rows = vec![None; variants];
        let mut taken = Vec::new();
        for variant in (0..variants).filter(|variant| takes(*variant)) {
            if sample.of_variant(variant).next().is_some() {
                rows[variant] = Some(taken.len());
                taken.push(variant);
            }
        }
        if taken.len() < 2 {
            return None;
        }
        // The normal equations with the blocks' values eliminated; the constant added to each cell makes the values add
        // up to 0, which changes no contrast.
        let (mut equations, mut sums) = (Symmetric::zero(taken.len()), vec![0.0; taken.len()]);
        let (mut count, mut blocks_there) = (0, 0);
        for block in 0..sample.blocks() {
            let own: Vec<(usize, f64)> = (taken.iter().enumerate())
                .filter_map(|(row, variant)| Some((row, sample.scaled(*variant, block)?)))
                .collect();
            if own.is_empty() {
                continue;
            }
            (count, blocks_there) = (count + own.len(), blocks_there + 1);
            let size = own.len() as f64;
            let mean = own.iter().map(|(_, value)| value).sum::<f64>() / size;
            for (row, value) in &own {
                equations.add(*row, *row, 1.0);
                sums[*row] += value - mean;
                for (column, _) in &own {
                    equations.add(*row, *column, -1.0 / size);
                }
            }
        }
        for row in 0..taken.len() {
            for column in 0..taken.len() {
                equations.add(row, column, 1.0 / taken.len() as f64);
            }
        }
        let spread = equations.inverse()?;
        let fitted = spread.times(&sums);
        let values: Vec<Option<f64>> = rows.iter().map(|row| row.map(|row| fitted[row])).collect();
        let mut fit = Fit { values, blocks: Vec::new(), rows, spread, squares: 0.0, freedom: 0 };
        fit.blocks = (0..sample.blocks()).map(|block| fit.block(sample, block)).collect();
        fit.squares = taken
            .iter()
            .flat_map(|variant| fit.residuals(sample, *variant))
            .map(|left| left * left)
            .sum();
        fit.freedom = count.saturating_sub(taken.len() + blocks_there - 1);
        Some(fit)
    }

    fn block(&self, sample: &Sample, block: usize) -> Option<f64> {
        let own: Vec<f64> = (self.values.iter().enumerate())
            .filter_map(|(variant, value)| Some(sample.scaled(variant, block)? - (*value)?))
            .collect();
        (!own.is_empty()).then(|| own.iter().sum::<f64>() / own.len() as f64)
    }

    /// What the fit leaves of each run of a variant.
    fn residuals<'f>(
        &'f self,
        sample: &'f Sample,
        variant: usize,
    ) -> impl Iterator<Item = f64> + 'f {
        sample.of_variant(variant).filter_map(move |(block, value)| {
            Some(value - self.values[variant]? - self.blocks[block]?)
        })
    }

    /// The variance of a run; `None`: no degree of freedom is left for it.
    pub fn variance(&self) -> Option<f64> {
        (self.freedom > 0).then(|| self.squares / self.freedom as f64)
    }

    /// The squares that the fit leaves: what neither variants nor blocks explain.
    pub fn squares(&self) -> f64 {
        self.squares
    }

    /// How many variants tell how much a run varies.
    pub fn variants(&self) -> usize {
        self.rows.iter().flatten().count()
    }

    pub fn has(&self, variant: usize) -> bool {
        self.rows[variant].is_some()
    }

    /// A contrast of the variants: its value, and its variance in units of that of a run. `None`: a variant with a weight is
    /// not in the fit.
    pub fn contrast(&self, weights: &[f64]) -> Option<(f64, f64)> {
        let value = weights.iter().zip(&self.values).filter(|(weight, _)| **weight != 0.0);
        let value = value.map(|(weight, value)| Some(weight * (*value)?)).sum::<Option<f64>>()?;
        Some((value, self.covariance(weights, weights)?))
    }

    /// The covariance of two contrasts, in units of the variance of a run.
    pub fn covariance(&self, a: &[f64], b: &[f64]) -> Option<f64> {
        let by_row = |weights: &[f64]| -> Option<Vec<f64>> {
            let mut own = vec![0.0; self.variants()];
            for (variant, weight) in weights.iter().enumerate().filter(|own| *own.1 != 0.0) {
                own[self.rows[variant]?] = *weight;
            }
            Some(own)
        };
        Some(product(&by_row(a)?, &self.spread.times(&by_row(b)?)))
    }
}
