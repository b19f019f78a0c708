//! How much longer runs would have to be, or how many there would have to be, to tell what these do not.

use super::comparison::{Difference, FALSE_ALARM, Needed, SAME};
use super::estimate::Measured;
use super::measure::Scale;
use super::probability::normal_quantile;
use crate::long_run::Z;

/// How often a change that is there should be seen: in 80 of 100 comparisons, as a quantile of the normal distribution.
const POWER: f64 = 0.84;
/// The margin of advice: how much the next runs vary is itself uncertain.
const MARGIN: f64 = 1.3;

/// What would make a standard error as small as it should be. `None`: that is not known.
pub(super) fn needed(own: &Difference, wanted: f64, sides: [&Measured; 2]) -> Option<Needed> {
    let sketches = [sides[0].sketch()?, sides[1].sketch()?];
    let runs = sketches.map(|sketch| sketch.seconds.len()).into_iter().min()?.max(1) as f64;
    let each =
        |at: usize| sketches[at].total_seconds() as f64 / sketches[at].seconds.len().max(1) as f64;
    let seconds = each(0).min(each(1));
    let (all, between) = (own.error?.powi(2) * MARGIN, own.between_runs.powi(2));
    let left = wanted.powi(2) - between;
    let longer = (all - between).max(0.0) / left;
    Some(Needed {
        seconds: (left > 0.0).then(|| seconds * longer.max(1.0)),
        runs: ((runs * all / wanted.powi(2)).ceil() as u64).max(runs as u64 + 1),
    })
}

impl Difference {
    /// The standard error with which a change like this one is told among so many tests, or, where it may be none, one of
    /// 5% (half a point of errors) from none.
    pub(super) fn wanted_error(&self, tests: usize) -> f64 {
        let points = self.measure.scale() == Scale::Points;
        let by =
            self.change.map_or(0.0, |change| if points { change } else { (1.0 + change).ln() });
        match self.excludes_none() {
            true => by.abs() / (normal_quantile(FALSE_ALARM / tests.max(1) as f64) + POWER),
            false if points => SAME.1 / (Z + POWER),
            false => (1.0 + SAME.0).ln() / (Z + POWER),
        }
    }
}

/// The standard error with which a gate tells a change that it is to catch from none: it is missed in 4 of 100
/// comparisons, and nothing is said in 10.
pub(super) fn wanted_by_gate(scaled: f64) -> f64 {
    const ONE_SIDED: f64 = 1.751;
    const UNSAID: f64 = 1.282;
    scaled.abs() / (ONE_SIDED + UNSAID)
}
