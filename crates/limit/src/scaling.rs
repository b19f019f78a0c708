//! How throughput scales with concurrency: the universal scalability law (Gunther, "A simple
//! capacity model of massively parallel transaction systems", CMG 1993; "Guerrilla Capacity Planning",
//! 2007, chapter 4).

use crate::load_step::{LoadStep, StepOutcome};

/// X(N) = lambda N / (1 + alpha (N - 1) + beta N (N - 1)).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scaling {
    /// Throughput with one request in flight, per second.
    pub lambda: f64,
    /// Contention: the share of the work that is serialised.
    pub alpha: f64,
    /// Coherency (crosstalk): what each request in flight costs each other one; above 0, throughput falls
    /// beyond a peak.
    pub beta: f64,
}

impl Scaling {
    /// The fit with the smallest relative squares. `None`: fewer than four different levels are known.
    pub fn fit(steps: &[LoadStep]) -> Option<Scaling> {
        let points: Vec<(f64, f64)> = steps
            .iter()
            .filter(|step| step.outcome() != StepOutcome::Generator)
            .filter(|step| step.requests > 0.0 && step.concurrency > 0.0)
            .map(|step| (step.concurrency, step.requests))
            .collect();
        let mut levels: Vec<f64> = points.iter().map(|(n, _)| *n).collect();
        levels.sort_by(f64::total_cmp);
        levels.dedup_by(|a, b| (*a - *b).abs() < 0.01 * *a);
        if levels.len() < 4 {
            return None;
        }
        // N / X is linear in 1, N - 1 and N (N - 1); none of the factors is negative.
        const TRIES: [&[usize]; 4] = [&[0, 1, 2], &[0, 1], &[0, 2], &[0]];
        let fitted = TRIES.iter().filter_map(|terms| {
            let factors = least_squares(&points, terms)?;
            (factors[0] > 0.0 && factors.iter().all(|factor| *factor >= 0.0)).then(|| {
                let error: f64 =
                    points.iter().map(|point| residual(*point, &factors).powi(2)).sum();
                (error, factors)
            })
        });
        let (_, [one, contention, crosstalk]) = fitted.min_by(|a, b| a.0.total_cmp(&b.0))?;
        Some(Scaling { lambda: 1.0 / one, alpha: contention / one, beta: crosstalk / one })
    }

    /// Throughput per second with `n` requests in flight.
    pub fn throughput(&self, n: f64) -> f64 {
        self.lambda * n / (1.0 + self.alpha * (n - 1.0) + self.beta * n * (n - 1.0))
    }

    /// Requests in flight at the highest throughput; `None`: throughput never falls.
    pub fn peak(&self) -> Option<f64> {
        (self.beta > 0.0).then(|| ((1.0 - self.alpha).max(0.0) / self.beta).sqrt().max(1.0))
    }

    /// The highest throughput per second; `None`: it is unbounded.
    pub fn highest(&self) -> Option<f64> {
        match self.peak() {
            Some(peak) => Some(self.throughput(peak)),
            None => (self.alpha > 0.0).then(|| self.lambda / self.alpha),
        }
    }

    /// Concurrency at which the line through a single request meets the highest throughput (asymptotic
    /// bounds).
    pub fn knee(&self) -> Option<f64> {
        Some(self.highest()? / self.lambda)
    }
}

fn terms_of(n: f64) -> [f64; 3] {
    [1.0, n - 1.0, n * (n - 1.0)]
}

/// The relative error of a fit at a point.
fn residual((n, x): (f64, f64), factors: &[f64; 3]) -> f64 {
    let fitted: f64 = terms_of(n).iter().zip(factors).map(|(term, factor)| term * factor).sum();
    fitted * x / n - 1.0
}

/// Factors of some of the terms, the others 0, by normal equations.
fn least_squares(points: &[(f64, f64)], terms: &[usize]) -> Option<[f64; 3]> {
    let size = terms.len();
    // One row an unknown; the last column is the right side.
    let mut rows = vec![vec![0.0; size + 1]; size];
    for (n, x) in points {
        let weighted: Vec<f64> = terms.iter().map(|term| terms_of(*n)[*term] * x / n).collect();
        for (row, left) in rows.iter_mut().zip(&weighted) {
            for (cell, right) in row.iter_mut().zip(weighted.iter().chain([&1.0])) {
                *cell += left * right;
            }
        }
    }
    let solved = solve(rows)?;
    let mut factors = [0.0; 3];
    for (term, factor) in terms.iter().zip(solved) {
        factors[*term] = factor;
    }
    Some(factors)
}

/// Solves linear equations by Gauss's elimination with pivots; `None`: they have no single solution.
fn solve(mut rows: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let size = rows.len();
    for column in 0..size {
        let pivot = (column..size)
            .max_by(|a, b| rows[*a][column].abs().total_cmp(&rows[*b][column].abs()))?;
        rows.swap(column, pivot);
        let scale = rows[column][column];
        if scale.abs() < 1e-12 {
            return None;
        }
        rows[column].iter_mut().for_each(|cell| *cell /= scale);
        let pivot_row = rows[column].clone();
        for (at, row) in rows.iter_mut().enumerate() {
            if at != column {
                let factor = row[column];
                row.iter_mut().zip(&pivot_row).for_each(|(cell, pivot)| *cell -= factor * pivot);
            }
        }
    }
    Some(rows.iter().map(|row| row[size]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load_step::tests::step;

    fn steps(law: Scaling, noise: &[f64]) -> Vec<LoadStep> {
        [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]
            .iter()
            .zip(noise.iter().cycle())
            .map(|(n, noise)| LoadStep {
                concurrency: *n,
                requests: law.throughput(*n) * noise,
                ..step(*n, 0.5)
            })
            .collect()
    }

    #[test]
    fn a_law_is_found_again() {
        let law = Scaling { lambda: 100.0, alpha: 0.05, beta: 0.001 };
        let fitted = Scaling::fit(&steps(law, &[1.0])).expect("a fit");
        assert!((fitted.lambda - 100.0).abs() < 1e-6 && (fitted.alpha - 0.05).abs() < 1e-9);
        assert!((fitted.peak().expect("it falls") - 30.8).abs() < 0.1);
        let noisy = Scaling::fit(&steps(law, &[1.05, 0.97, 1.02, 0.96])).expect("a fit");
        let highest = noisy.highest().expect("there is one");
        assert!((highest / law.highest().expect("there is one") - 1.0).abs() < 0.1, "{highest}");
    }

    #[test]
    fn what_scales_without_end_has_no_knee() {
        let law = Scaling { lambda: 10.0, alpha: 0.0, beta: 0.0 };
        let fitted = Scaling::fit(&steps(law, &[1.0])).expect("a fit");
        assert!(fitted.alpha < 1e-9 && fitted.peak().is_none(), "{fitted:?}");
        let law = Scaling { lambda: 10.0, alpha: 0.1, beta: 0.0 };
        let fitted = Scaling::fit(&steps(law, &[1.0])).expect("a fit");
        assert!((fitted.knee().expect("a knee") - 10.0).abs() < 0.1, "{fitted:?}");
        assert_eq!(Scaling::fit(&[step(1.0, 0.5), step(2.0, 0.5)]), None);
    }
}
