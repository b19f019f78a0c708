//! Random numbers for delays and service times: fast and of good quality, not for secrets.

use std::f64::consts::TAU;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// By how much the state grows with each draw.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// SplitMix64 (Steele, Lea, Flood 2014): 64 bits of state, passes BigCrush. Its state only counts, so that
/// threads can share one: which of them draws does not change what is drawn next.
pub(crate) struct Random(AtomicU64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(AtomicU64::new(seed))
    }

    /// 64 random bits.
    pub(crate) fn bits(&self) -> u64 {
        mix(self.0.fetch_add(STEP, Relaxed).wrapping_add(STEP))
    }

    /// Uniform in the half-open interval from 0 to 1.
    pub(crate) fn unit(&self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Exponential with this mean, by inversion.
    pub(crate) fn exponential(&self, mean: f64) -> f64 {
        // 1 - unit() is never 0, so the logarithm is finite.
        -mean * (1.0 - self.unit()).ln()
    }

    /// Normal with this mean and standard deviation (Box and Muller 1958).
    pub(crate) fn normal(&self, mean: f64, sd: f64) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        mean + sd * radius * (TAU * self.unit()).cos()
    }
}

/// Scatters 64 bits over all others: SplitMix64's output function.
pub(crate) fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and standard deviation of 100,000 draws.
    fn moments(mut draw: impl FnMut() -> f64) -> (f64, f64) {
        let draws: Vec<f64> = (0..100_000).map(|_| draw()).collect();
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / draws.len() as f64;
        (mean, variance.sqrt())
    }

    fn near(got: (f64, f64), want: (f64, f64)) {
        // Six standard errors of a mean of 100,000 draws, with a fixed seed besides.
        let tolerance = 0.02 * want.0.max(want.1);
        assert!((got.0 - want.0).abs() < tolerance, "mean {got:?}, expected {want:?}");
        assert!((got.1 - want.1).abs() < tolerance, "deviation {got:?}, expected {want:?}");
    }

    /// The first numbers of seed 0 in the authors' own code.
    #[test]
    fn it_is_splitmix64() {
        let random = Random::new(0);
        let first = [random.bits(), random.bits()];
        assert_eq!(first, [0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4]);
    }

    #[test]
    fn distributions_have_their_moments() {
        let random = Random::new(1);
        near(moments(|| random.unit()), (0.5, (1.0f64 / 12.0).sqrt()));
        near(moments(|| random.exponential(5.0)), (5.0, 5.0));
        near(moments(|| random.normal(10.0, 2.0)), (10.0, 2.0));
    }
}
