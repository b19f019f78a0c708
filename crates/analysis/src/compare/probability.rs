//! How probable a deviation is.

/// The probability that a variable of Student's t with so many degrees of freedom is farther than so much from 0.
///
/// Wallace, "Bounds on normal approximations to Student's and the chi-square distributions", Annals of Mathematical
/// Statistics 30, 1959: right to 2% of itself, which is enough to compare with 5%.
pub(super) fn outside(t: f64, v: f64) -> f64 {
    let z = match v.is_finite() {
        true => (8.0 * v + 1.0) / (8.0 * v + 3.0) * (v * (1.0 + t * t / v).ln()).sqrt(),
        false => t,
    };
    normal_outside(z)
}

/// The probability that a normal variable is farther than so many deviations from its mean (erfc of z/√2, by the
/// Chebyshev fit of Press et al., *Numerical Recipes*, 6.2: right to 1.2e-7 of itself).
fn normal_outside(z: f64) -> f64 {
    const FIT: [f64; 10] = [
        -1.265_512_23,
        1.000_023_68,
        0.374_091_96,
        0.096_784_18,
        -0.186_288_06,
        0.278_868_07,
        -1.135_203_98,
        1.488_515_87,
        -0.822_152_23,
        0.170_872_77,
    ];
    let x = z.abs() / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.5 * x);
    let sum = FIT.iter().rev().fold(0.0, |sum, factor| sum * t + factor);
    t * (-x * x + sum).exp()
}

/// How many deviations from its mean a normal variable is farther with such a probability.
pub(super) fn normal_quantile(outside: f64) -> f64 {
    let (mut low, mut high) = (0.0, 10.0);
    for _ in 0..50 {
        let middle = (low + high) / 2.0;
        if normal_outside(middle) > outside { low = middle } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_those_of_tables() {
        for (z, expected) in [(0.0, 1.0), (1.959_964, 0.05), (3.290_5, 0.001), (4.891_6, 1e-6)] {
            let own = normal_outside(z);
            assert!((own / expected - 1.0).abs() < 1e-3, "{z}: {own}");
        }
        for (t, freedom, expected) in
            [(2.228, 10.0, 0.05), (4.587, 10.0, 0.001), (3.850, 20.0, 0.001)]
        {
            let own = outside(t, freedom);
            assert!((own / expected - 1.0).abs() < 0.03, "t {t}, {freedom}: {own}");
        }
    }

    #[test]
    fn quantiles_are_those_of_tables() {
        for (outside, expected) in [(0.05, 1.96), (0.01, 2.576), (0.001, 3.2905)] {
            assert!((normal_quantile(outside) - expected).abs() < 1e-3, "{outside}");
        }
    }
}
