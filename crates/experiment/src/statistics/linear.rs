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

    /// The inverse of a positive definite matrix. `None`: it is not positive definite, so that the equations do not determine
    /// all unknowns.
    pub fn inverse(&self) -> Option<Symmetric> {
        let lower = self.lower();
        (0..self.size).all(|row| lower.at(row, row) > 0.0).then(|| lower.inverse_of_square())
    }

    /// The inverse as far as there is one: an unknown that follows from those before it is 0 in all solutions.
    pub fn partial_inverse(&self) -> Symmetric {
        self.lower().inverse_of_square()
    }

    /// Cholesky's decomposition, its lower half; a row of zeros for an unknown that follows from those before it.
    fn lower(&self) -> Symmetric {
        let mut lower = Symmetric::zero(self.size);
        for row in 0..self.size {
            for column in 0..=row {
                let known: f64 = (0..column).map(|k| lower.at(row, k) * lower.at(column, k)).sum();
                let left = self.at(row, column) - known;
                let pivot = lower.at(column, column);
                let value = if row != column {
                    if pivot > 0.0 { left / pivot } else { 0.0 }
                } else if left > SINGULAR * self.at(row, row).abs() {
                    left.sqrt()
                } else {
                    0.0
                };
                lower.add(row, column, value);
            }
            if lower.at(row, row) == 0.0 {
                lower.cells[row * self.size..(row + 1) * self.size].fill(0.0);
            }
        }
        lower
    }

    /// The inverse of what this, a lower half, is the decomposition of.
    fn inverse_of_square(&self) -> Symmetric {
        let n = self.size;
        let mut inverse = Symmetric::zero(n);
        let divided = |left: f64, row: usize| match self.at(row, row) {
            pivot if pivot > 0.0 => left / pivot,
            _ => 0.0,
        };
        for column in (0..n).filter(|column| self.at(*column, *column) > 0.0) {
            let mut x = vec![0.0; n];
            for row in 0..n {
                let unit = if row == column { 1.0 } else { 0.0 };
                let known: f64 = (0..row).map(|k| self.at(row, k) * x[k]).sum();
                x[row] = divided(unit - known, row);
            }
            for row in (0..n).rev() {
                let known: f64 = (row + 1..n).map(|k| self.at(k, row) * x[k]).sum();
                x[row] = divided(x[row] - known, row);
            }
            for (row, value) in x.into_iter().enumerate() {
                inverse.add(row, column, value);
            }
        }
        inverse
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
        let solved = twice.partial_inverse().times(&[3.0, 3.0]);
        assert_eq!(twice.times(&solved), [3.0, 3.0]);
    }
}
