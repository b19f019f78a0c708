//! One measure of all runs of an experiment.

/// How differences of a measure are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// As a ratio, `13 %`: logarithms are compared. For latencies, rates, CPU time: what is twice as much.
    Ratio,
    /// As a difference in the measure's own unit. For shares that may be 0, as an error rate.
    Difference,
}

impl Scale {
    /// `ratio`, `difference`.
    pub fn label(self) -> &'static str {
        match self {
            Scale::Ratio => "ratio",
            Scale::Difference => "difference",
        }
    }
}

/// A measure of each run: by variant, then by block. A run that is missing, or has no such value, is `None`.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    scale: Scale,
    values: Vec<Vec<Option<f64>>>,
}

impl Sample {
    /// Values that are not finite are missing. Ratios need values above 0: if one is not, differences are told instead.
    pub fn new(scale: Scale, mut values: Vec<Vec<Option<f64>>>) -> Sample {
        let blocks = values.iter().map(Vec::len).max().unwrap_or(0);
        for own in &mut values {
            own.resize(blocks, None);
            for value in own.iter_mut() {
                *value = value.filter(|value| value.is_finite());
            }
        }
        let are_positive = values.iter().flatten().flatten().all(|value| *value > 0.0);
        Sample { scale: if are_positive { scale } else { Scale::Difference }, values }
    }

    pub fn scale(&self) -> Scale {
        self.scale
    }

    pub fn variants(&self) -> usize {
        self.values.len()
    }

    /// How many blocks there are: each is one repeat of every variant.
    pub fn blocks(&self) -> usize {
        self.values.first().map_or(0, Vec::len)
    }

    /// The value of a run, as it was measured.
    pub fn value(&self, variant: usize, block: usize) -> Option<f64> {
        self.values[variant][block]
    }

    /// The value of a run as it is compared: its logarithm, where ratios are told.
    pub(super) fn scaled(&self, variant: usize, block: usize) -> Option<f64> {
        self.value(variant, block).map(|value| match self.scale {
            Scale::Ratio => value.ln(),
            Scale::Difference => value,
        })
    }

    /// How far values that are equal may be apart by rounding alone, as they are compared.
    pub(super) fn rounding(&self) -> f64 {
        const DIGITS: f64 = 1e-12;
        let all = (0..self.variants()).flat_map(|variant| self.of_variant(variant));
        all.map(|(_, value)| value.abs()).fold(0.0, f64::max) * DIGITS
    }

    /// The blocks in which a variant has a value, with the value as it is compared.
    pub(super) fn of_variant(&self, variant: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        (0..self.blocks()).filter_map(move |block| Some((block, self.scaled(variant, block)?)))
    }

    /// A difference as it is told: 0.13 for 13 % more, or the difference itself.
    pub(super) fn told(&self, difference: f64) -> f64 {
        match self.scale {
            Scale::Ratio => difference.exp_m1(),
            Scale::Difference => difference,
        }
    }
}
