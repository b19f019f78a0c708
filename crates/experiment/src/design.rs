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

    /// The levels of a variant as text, `virtual, users 100`.
    pub fn name(&self, variant: usize) -> String {
        let levels = self.levels(variant).into_iter().enumerate();
        levels.map(|(factor, level)| self.level(factor, level)).collect::<Vec<_>>().join(", ")
    }

    /// What a level is called: a number, or a word such as `true`, says nothing without its factor.
    pub fn level(&self, factor: usize, level: usize) -> String {
        const ANSWERS: [&str; 6] = ["true", "false", "yes", "no", "on", "off"];
        let factor = &self.factors[factor];
        let level = &factor.levels[level];
        match level.starts_with(|c: char| c.is_ascii_digit()) || ANSWERS.contains(&level.as_str()) {
            true => format!("{} {level}", factor.name),
            false => level.clone(),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_that_says_nothing_alone_has_the_name_of_its_factor() {
        let factor = |name: &str, levels: [&str; 2]| Factor {
            name: name.into(),
            levels: levels.map(Into::into).to_vec(),
        };
        let design = Design::new(vec![
            factor("users", ["100", "1000"]),
            factor("parser", ["own", "gson"]),
            factor("reuse", ["true", "false"]),
        ]);
        let design = design.unwrap();
        assert_eq!(design.name(0), "users 100, own, reuse true");
        assert_eq!(design.name(7), "users 1000, gson, reuse false");
    }
}
