//! By how much what was observed may have changed the numbers of a run: what decides whether it is worth
//! more than a note.

use super::Validity;
use squall_base::units::percent;

/// A change of the numbers by less than this share is a note: repeated runs differ by as much.
const MIN_EFFECT: f64 = 0.02;
/// Numbers that may be off by more than this share say more about the generator than about the target.
const MAX_QUESTIONABLE: f64 = 0.5;

/// By how much the numbers of a run may be off at most, as shares of them; 0: not at all.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Effect {
    /// Of the throughput.
    pub rate: f64,
    /// Of the mean, of the corrected latency where the load has a schedule.
    pub mean: f64,
    /// Of the 99th percentile, likewise.
    pub p99: f64,
}

impl Effect {
    /// It changes nothing.
    pub const NONE: Effect = Effect { rate: 0.0, mean: 0.0, p99: 0.0 };

    /// An effect on the throughput alone.
    pub fn on_rate(share: f64) -> Effect {
        Effect { rate: share.clamp(0.0, 1.0), ..Effect::NONE }
    }

    /// The largest of its shares.
    pub fn largest(&self) -> f64 {
        self.rate.max(self.mean).max(self.p99)
    }

    /// The larger effect on each number.
    pub fn or(self, other: Effect) -> Effect {
        Effect {
            rate: self.rate.max(other.rate),
            mean: self.mean.max(other.mean),
            p99: self.p99.max(other.p99),
        }
    }

    /// How far numbers can be trusted that may be off by so much.
    pub fn validity(&self) -> Validity {
        match self.largest() {
            largest if largest < MIN_EFFECT => Validity::Valid,
            largest if largest <= MAX_QUESTIONABLE => Validity::Questionable,
            _ => Validity::Invalid,
        }
    }

    /// The effect in words.
    pub fn text(&self) -> String {
        let parts: Vec<String> = [("rate", self.rate), ("mean", self.mean), ("p99", self.p99)]
            .into_iter()
            .filter(|(_, share)| *share >= 0.000_5)
            .map(|(name, share)| format!("{name} by up to {}", percent(share)))
            .collect();
        if parts.is_empty() { "none".to_owned() } else { parts.join(", ") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_effect_decides() {
        for (rate, mean, p99, validity, text) in [
            (0.0, 0.0, 0.0, Validity::Valid, "none"),
            (0.019, 0.0, 0.0, Validity::Valid, "rate by up to 1.9%"),
            (0.01, 0.0, 0.02, Validity::Questionable, "rate by up to 1%, p99 by up to 2%"),
            (0.0, 0.51, 0.0, Validity::Invalid, "mean by up to 51%"),
        ] {
            let effect = Effect { rate, mean, p99 };
            assert_eq!((effect.validity(), effect.text().as_str()), (validity, text));
        }
        assert_eq!(Effect::on_rate(3.0).rate, 1.0);
        let both = Effect::on_rate(0.1).or(Effect { mean: 0.2, ..Effect::NONE });
        assert_eq!(both, Effect { rate: 0.1, mean: 0.2, p99: 0.0 });
    }
}
