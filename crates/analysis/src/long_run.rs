//! How much sums of correlated values vary. Pure arithmetic.
//!
//! Latencies are correlated: a queue that is long stays long for a while. So a sum of n values varies more
//! than n times as much as one, by a factor that must be estimated from the same values, and is itself
//! known badly when the run is short. Both are part of every interval and every test here.

/// Most values that are looked at: neighbours are added up until there are no more. Fewer values forget more
/// of each other from one to the next, which makes the model of [`long_run`] fit better; but they tell less
/// about their own spread. Of 15, 20, 30, 40, 60 and 120 this is the most that held what it promises in
/// simulated queues and autoregressive series.
pub(crate) const MAX_VALUES: usize = 60;
/// Highest correlation of neighbours that is assumed, ...
const MAX_CORRELATION: f64 = 0.93;
/// ... the least of the variance that the fit of a model is taken to have left, ...
const MIN_LEFT: f64 = 0.25;
/// ... and the fewest degrees of freedom. Beyond these intervals become far wider and hold no more: of
/// autoregressive series with a memory of a sixth of the run 95% are held with them and without.
const MIN_FREEDOM: f64 = 3.0;
/// Quantile of the normal distribution for 95% confidence.
pub(crate) const Z: f64 = 1.959_964;

/// How much a sum of correlated values varies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LongRun {
    /// Variance of the sum.
    pub variance: f64,
    /// The factor by which t exceeds the normal quantile, because the variance is only estimated.
    pub widening: f64,
    /// The correlation of neighbours that was taken for the true one.
    pub correlation: f64,
}

impl LongRun {
    /// Half the width of the interval of the sum, at 95% confidence.
    pub fn half(&self) -> f64 {
        Z * self.widening * self.variance.sqrt()
    }

    /// So many standard errors, less what may be due to the standard error being estimated: to be
    /// compared with quantiles of the normal distribution.
    pub fn standard_errors(&self, sum: f64) -> f64 {
        if sum == 0.0 { 0.0 } else { sum.abs() / (self.variance.sqrt() * self.widening) }
    }
}

/// The variance of the sum of values, from their deviations from a model of which so many parameters were
/// fitted (1: their mean).
///
/// Values are taken for an autoregressive process of the first order, as batch means are in N-Skart
/// (Tafazzoli, Steiger and Wilson, "N-Skart: a nonsequential skewness- and autoregression-adjusted
/// batch-means procedure for simulation analysis", IEEE Transactions on Automatic Control 56, 2011): with
/// a correlation r of neighbours the variance of a long sum is (1 + r)/(1 - r) times that of independent
/// values. Other than there,
/// - r is corrected for its bias (Kendall, "Note on bias in the estimation of autocorrelation", Biometrika
///   41, 1954), and so is the variance of the values, which deviate less from their own mean than from the
///   true one;
/// - t has the degrees of freedom that belong to the variance of the estimate (Satterthwaite, "An
///   approximate distribution of estimates of variance components", Biometrics 2, 1946): that of ln s² is
///   2/n, and by the delta method that of ln((1 + r)/(1 - r)) is 4/((1 - r²) n).
///
/// r below 0 counts as 0: intervals only ever become wider.
pub(crate) fn long_run(deviations: &[f64], fitted: f64) -> LongRun {
    let n = deviations.len() as f64;
    let squares: f64 = deviations.iter().map(|value| value * value).sum();
    if squares <= 0.0 {
        return LongRun { variance: 0.0, widening: 1.0, correlation: 0.0 };
    }
    let products: f64 = deviations.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let seen = products / squares;
    let r = seen + (fitted + (2.0 + 2.0 * fitted) * seen) / n;
    let r = r.clamp(0.0, MAX_CORRELATION);
    let factor = factor(r);
    let left = (1.0 - fitted * factor / n).max(MIN_LEFT);
    LongRun {
        variance: squares * factor / left,
        widening: t_quantile(freedom(n, r)) / Z,
        correlation: r,
    }
}

/// How many times as much a long sum varies as if its values were independent, where neighbours are correlated.
pub(crate) fn factor(correlation: f64) -> f64 {
    (1.0 + correlation) / (1.0 - correlation)
}

/// The degrees of freedom of the variance of a sum of so many values ([`long_run`]).
pub(crate) fn freedom(values: f64, correlation: f64) -> f64 {
    (values / (1.0 + 2.0 / (1.0 - correlation * correlation))).max(MIN_FREEDOM)
}

/// The 97.5% quantile of Student's t with so many degrees of freedom, at least 1 (Abramowitz and
/// Stegun, "Handbook of Mathematical Functions", 26.7.5: right to three digits from 4 degrees on; below,
/// its table 26.10).
pub fn student(freedom: usize) -> f64 {
    const EXACT: [f64; 4] = [12.706, 12.706, 4.303, 3.182];
    EXACT.get(freedom).copied().unwrap_or_else(|| t_quantile(freedom as f64))
}

/// The same for fractions too: by its expansion, and below 3 degrees between the values of the table.
pub(crate) fn t_quantile(freedom: f64) -> f64 {
    let (z, v) = (Z, freedom.max(1.0));
    if v < 2.0 {
        return 12.706 + (4.303 - 12.706) * (1.0 - 1.0 / v) / 0.5;
    }
    if v < MIN_FREEDOM {
        return 4.303 + (3.182 - 4.303) * (0.5 - 1.0 / v) * 6.0;
    }
    z + (z.powi(3) + z) / (4.0 * v)
        + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * v * v)
        + (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / (384.0 * v.powi(3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_student() {
        for (freedom, expected) in [
            (1, 12.706),
            (2, 4.303),
            (3, 3.182),
            (4, 2.776),
            (9, 2.262),
            (19, 2.093),
            (29, 2.045),
            (1_000, 1.962),
        ] {
            assert!((student(freedom) - expected).abs() < 0.01, "{freedom} {}", student(freedom));
        }
    }

    #[test]
    fn correlation_widens() {
        let alone = long_run(&[1.0, -1.0, 1.0, -1.0, 1.0, -1.0], 1.0);
        assert!((alone.variance - 7.2).abs() < 1e-9, "6 values of variance 6/5: {alone:?}");
        let together = long_run(&[1.0, 1.0, 1.0, -1.0, -1.0, -1.0], 1.0);
        assert!(together.variance > 3.0 * alone.variance && together.half() > 2.0 * alone.half());
        assert_eq!(
            long_run(&[0.0; 9], 1.0),
            LongRun { variance: 0.0, widening: 1.0, correlation: 0.0 }
        );
    }
}
