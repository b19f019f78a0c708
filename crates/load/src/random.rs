//! Chance that can be repeated: every number follows from a seed and from what it is drawn for.

/// A small generator: SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", 2014). Eight bytes, so that every user can have one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Random(u64);

const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

impl Random {
    /// A generator from a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The generator of something that three numbers tell apart, such as scenario, user, iteration.
    pub fn of(seed: u64, a: u64, b: u64, c: u64) -> Random {
        let mut state = mix(seed.wrapping_add(GOLDEN));
        for part in [a, b, c] {
            state = mix(state ^ mix(part.wrapping_add(GOLDEN)));
        }
        Random(state)
    }

    /// The next 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mix(self.0)
    }

    /// Evenly from [0, 1).
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Exponentially distributed.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        // 1 - u is never 0.
        -mean * (1.0 - self.uniform()).ln()
    }

    /// Normally distributed (Box and Muller, 1958).
    pub fn normal(&mut self, mean: f64, sd: f64) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        mean + sd * radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// SplitMix64's finalizer.
fn mix(mut z: u64) -> u64 {
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
