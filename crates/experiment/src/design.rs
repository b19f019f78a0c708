//! The variants of an experiment, and the order of its runs.

use squall_base::random::Random;

/// Most variants of an experiment: each is run several times, so that more are a mistake in the file.
pub const MAX_VARIANTS: usize = 256;

/// Something that differs between the variants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Factor {
    pub name: String,
    /// Its values, as text; at least one.
    pub levels: Vec<String>,
}

/// All combinations of the levels of some factors. A plain list of variants is a design with one factor.
///
/// Variants are numbered from 0; the last factor's level changes fastest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Design {
    factors: Vec<Factor>,
}

/// There are more combinations than [`MAX_VARIANTS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLarge;

impl Design {
    /// Factors without a level are left out: they have nothing to combine.
    pub fn new(mut factors: Vec<Factor>) -> Result<Design, TooLarge> {
        factors.retain(|factor| !factor.levels.is_empty());
        let variants = factors.iter().try_fold(1_usize, |all, factor| {
            all.checked_mul(factor.levels.len()).filter(|all| *all <= MAX_VARIANTS)
        });
        variants.map(|_| Design { factors }).ok_or(TooLarge)
    }

    pub fn factors(&self) -> &[Factor] {
        &self.factors
    }

    /// How many variants there are, at least 1.
    pub fn variants(&self) -> usize {
        self.factors.iter().map(|factor| factor.levels.len()).product()
    }

    /// The level of each factor in a variant.
    pub fn levels(&self, variant: usize) -> Vec<usize> {
        let mut left = variant;
        let mut levels: Vec<usize> = (self.factors.iter().rev())
            .map(|factor| {
                let level = left % factor.levels.len();
                left /= factor.levels.len();
                level
            })
            .collect();
        levels.reverse();
        levels
    }

    /// The levels of a variant as text, `virtual, gson`.
    pub fn name(&self, variant: usize) -> String {
        let levels = self.levels(variant);
        let names = self.factors.iter().zip(levels).map(|(factor, at)| factor.levels[at].as_str());
        names.collect::<Vec<_>>().join(", ")
    }

    /// The variants of a block in the order in which they are run: each once, in an order drawn from the seed and the
    /// block's number, so that what changes with time falls on none of them in particular (Fisher, "The Design of
    /// Experiments", 1935: randomised blocks).
    pub fn block(&self, seed: u64, block: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.variants()).collect();
        let mut random = Random::of(seed, block as u64, 0, 0);
        for last in (1..order.len()).rev() {
            order.swap(last, random.below(last + 1));
        }
        order
    }
}
