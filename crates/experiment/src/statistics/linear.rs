//! Small symmetric systems of linear equations. Pure arithmetic.

/// The least share of a pivot's own size that it may shrink to: below that the equations do not determine all unknowns.
const SINGULAR: f64 = 1e-9;

/// A symmetric matrix, row by row.
#[derive(Debug, Clone)]
pub(super) struct Symmetric {
    size: usize,
    cells: Vec<f64>,
}

impl Symmetric {
    pub fn zero(size: usize) -> Symmetric {
        Symmetric { size, cells: vec![0.0; size * size] }
    }

    pub fn at(&self, row: usize, column: usize) -> f64 {
        self.cells[row * self.size + column]
    }

    pub fn add(&mut self, row: usize, column: usize, value: f64) {
        self.cells[row * self.size + column] += value;
    }

    pub fn times(&self, vector: &[f64]) -> Vec<f64> {
        let rows = self.cells.chunks(self.size.max(1));
        rows.map(|row| product(row, vector)).collect()
    }

    /// The inverse of a positive definite matrix, by Cholesky's decomposition. `None`: it is not positive definite, so that
    /// the equations do not determine all unknowns.
    pub fn inverse(&self) -> Option<Symmetric> {
        let n = self.size;
        let mut lower = Symmetric::zero(n);
        for row in 0..n {
            for column in 0..=row {
                let known: f64 = (0..column).map(|k| lower.at(row, k) * lower.at(column, k)).sum();
                let left = self.at(row, column) - known;
                let value = if row != column {
                    left / lower.at(column, column)
                } else if left > SINGULAR * self.at(row, row).abs() {
                    left.sqrt()
                } else {
                    return None;
                };
                lower.add(row, column, value);
            }
        }
        let mut inverse = Symmetric::zero(n);
        for column in 0..n {
            let mut x = vec![0.0; n];
            for row in 0..n {
                let unit = if row == column { 1.0 } else { 0.0 };
                let known: f64 = (0..row).map(|k| lower.at(row, k) * x[k]).sum();
                x[row] = (unit - known) / lower.at(row, row);
            }
            for row in (0..n).rev() {
                let known: f64 = (row + 1..n).map(|k| lower.at(k, row) * x[k]).sum();
                x[row] = (x[row] - known) / lower.at(row, row);
            }
            for (row, value) in x.into_iter().enumerate() {
                inverse.add(row, column, value);
            }
        }
        Some(inverse)
    }
}

pub(super) fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_inverse_undoes_its_matrix(values in prop::collection::vec(-3.0_f64..3.0, 16), at in 0_usize..4) {
            // A product with itself and something on the diagonal is positive definite.
            let mut matrix = Symmetric::zero(4);
            for row in 0..4 {
                for column in 0..4 {
                    let own = |line: usize| &values[line * 4..line * 4 + 4];
                    matrix.add(row, column, product(own(row), own(column)) + if row == column { 0.5 } else { 0.0 });
                }
            }
            let mut unit = vec![0.0; 4];
            unit[at] = 1.0;
            let back = matrix.times(&matrix.inverse().expect("positive definite").times(&unit));
            for (row, value) in back.iter().enumerate() {
                prop_assert!((value - unit[row]).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn equations_that_say_the_same_twice_have_no_inverse() {
        let mut twice = Symmetric::zero(2);
        for (row, column) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            twice.add(row, column, 1.0);
        }
        assert!(twice.inverse().is_none());
    }
}
