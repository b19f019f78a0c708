//! Chance that can be repeated: every number follows from a seed and from what it is drawn for.

/// A small generator: SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", 2014). Eight bytes, so that every user can have one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Random(u64);

/// By how much the state grows with each draw: 2^64 by the golden ratio.
pub const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

impl Random {
    /// A generator from a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The generator of something that three numbers tell apart, such as scenario, user, iteration.
    pub fn of(seed: u64, a: u64, b: u64, c: u64) -> Random {
        let mut state = mix(seed.wrapping_add(STEP));
        for part in [a, b, c] {
            state = mix(state ^ mix(part.wrapping_add(STEP)));
        }
        Random(state)
    }

    /// The next 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mix(self.0)
    }

    /// A number from 0 up to, not including, `end`, which is at least 1. The lower ones come more often, below 2^32 by less than one part
    /// in 2^32.
    #[inline]
    pub fn below(&mut self, end: usize) -> usize {
        (self.next_u64() % end as u64) as usize
    }

    /// Evenly from [0, 1).
    pub fn uniform(&mut self) -> f64 {
        uniform(self.next_u64())
    }

    pub fn exponential(&mut self, mean: f64) -> f64 {
        exponential(mean, self.uniform())
    }

    /// Normally distributed (Box and Muller, 1958).
    pub fn normal(&mut self, mean: f64, sd: f64) -> f64 {
        normal(mean, sd, self.uniform(), self.uniform())
    }
}

/// 64 random bits as a number from [0, 1).
pub fn uniform(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1u64 << 53) as f64
}

/// An exponentially distributed number, by inversion, from one that is uniform in [0, 1).
pub fn exponential(mean: f64, uniform: f64) -> f64 {
    // 1 - uniform is never 0, so the logarithm is finite.
    -mean * (1.0 - uniform).ln()
}

/// A normally distributed number (Box and Muller, 1958), from two that are uniform in [0, 1).
pub fn normal(mean: f64, sd: f64, first: f64, second: f64) -> f64 {
    let radius = (-2.0 * (1.0 - first).ln()).sqrt();
    mean + sd * radius * (std::f64::consts::TAU * second).cos()
}

/// A number of a Poisson distribution, from numbers that are uniform in [0, 1) (Knuth, 1969). A sum of such numbers is one
/// of the sum of their means: so a large mean is drawn in parts, whose exponentials are not 0.
pub fn poisson(mean: f64, mut uniform: impl FnMut() -> f64) -> i64 {
    const PART: f64 = 500.0;
    let (mut number, mut left) = (0, mean);
    while left > 0.0 {
        let part = left.min(PART);
        left -= part;
        let limit = (-part).exp();
        let mut product = 1.0 - uniform();
        while product > limit {
            number += 1;
            product *= 1.0 - uniform();
        }
    }
    number
}

/// SplitMix64's finalizer: scatters 64 bits over all others.
pub fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let numbers = |mut random: Random| [random.next_u64(), random.next_u64()];
        assert_eq!(numbers(Random::of(1, 2, 3, 4)), numbers(Random::of(1, 2, 3, 4)));
        assert_ne!(numbers(Random::of(1, 2, 3, 4)), numbers(Random::of(1, 2, 4, 3)));
        // The reference implementation's first outputs for seed 0.
        assert_eq!(numbers(Random::new(0)), [0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4]);
    }

    #[test]
    fn distributions_have_their_mean_and_deviation() {
        let mut random = Random::new(1);
        let n = 200_000;
        let moments = |draw: &mut dyn FnMut() -> f64| {
            let all: Vec<f64> = (0..n).map(|_| draw()).collect();
            let mean = all.iter().sum::<f64>() / f64::from(n);
            let variance = all.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / f64::from(n);
            (mean, variance.sqrt())
        };
        let close = |(mean, sd): (f64, f64), expected: (f64, f64)| {
            assert!(
                (mean - expected.0).abs() < 0.02 && (sd - expected.1).abs() < 0.02,
                "{mean} {sd}"
            );
        };
        close(moments(&mut || random.uniform()), (0.5, (1.0f64 / 12.0).sqrt()));
        close(moments(&mut || random.exponential(1.0)), (1.0, 1.0));
        close(moments(&mut || random.normal(3.0, 1.0)), (3.0, 1.0));
    }
}
