//! Several scenarios in one load, mixed by weight: which of them user or arrival number i runs.

use crate::error::ShapeError;

/// Weights over members. Number i goes to a member such that every beginning of the sequence has the
/// weights as closely as whole numbers allow.
#[derive(Debug, Clone, PartialEq)]
pub struct Mix {
    /// The members of one round, which then repeats.
    round: Box<[u16]>,
}

/// Length of a round when weights have no small common measure.
const ROUND: usize = 10_000;

impl Mix {
    /// A mix by weight.
    ///
    /// # Errors
    /// There is no member, or a weight is not above 0.
    pub fn new(weights: &[f64]) -> Result<Mix, ShapeError> {
        if weights.is_empty() || weights.len() > usize::from(u16::MAX) {
            return Err(ShapeError("a shared load needs 1 to 65,535 scenarios".to_owned()));
        }
        if !weights.iter().all(|weight| weight.is_finite() && *weight > 0.0) {
            return Err(ShapeError("a weight must be above 0".to_owned()));
        }
        let total: f64 = weights.iter().sum();
        let length = if weights.len() == 1 { 1 } else { round_length(weights, total) };
        // The member that lags most behind its part goes next: no beginning is more than one off.
        let mut given = vec![0.0; weights.len()];
        let round = (1..=length)
            .map(|n| {
                let lag = |member: usize| weights[member] / total * n as f64 - given[member];
                let most =
                    (0..weights.len()).max_by(|a, b| lag(*a).total_cmp(&lag(*b)).then(b.cmp(a)));
                let member = most.unwrap_or(0);
                given[member] += 1.0;
                member as u16
            })
            .collect();
        Ok(Mix { round })
    }

    /// The member whose turn number `i` is.
    pub fn member(&self, i: u64) -> usize {
        usize::from(self.round[(i % self.round.len() as u64) as usize])
    }
}

/// The sum of the weights if all are small whole numbers, otherwise a long round.
fn round_length(weights: &[f64], total: f64) -> usize {
    let whole = weights.iter().all(|weight| weight.fract() == 0.0);
    if whole && total <= ROUND as f64 { total as usize } else { ROUND }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nine_to_one() {
        let mix = Mix::new(&[9.0, 1.0]).expect("good weights");
        let seconds = (0..1_000).filter(|i| mix.member(*i) == 1).count();
        assert_eq!(seconds, 100);
    }

    #[test]
    fn bad_weights_are_errors() {
        assert!(Mix::new(&[]).is_err());
        assert!(Mix::new(&[1.0, 0.0]).is_err());
        assert!(Mix::new(&[f64::NAN]).is_err());
    }

    proptest! {
        #[test]
        fn every_beginning_is_close_to_the_weights(
            weights in prop::collection::vec(1u32..20, 1..6),
            n in 1u64..500,
        ) {
            let weights: Vec<f64> = weights.into_iter().map(f64::from).collect();
            let total: f64 = weights.iter().sum();
            let mix = Mix::new(&weights).expect("good weights");
            for (member, weight) in weights.iter().enumerate() {
                let got = (0..n).filter(|i| mix.member(*i) == member).count() as f64;
                prop_assert!((got - weight / total * n as f64).abs() < weights.len() as f64);
            }
        }
    }
}
