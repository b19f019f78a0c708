//! What a run says about a measure of a row: a value, and how far the true one may be from it, from how much
//! the blocks of the run differ and how much neighbours have in common ([`crate::long_run`]).

use squall_metrics::RowKey;

use super::measure::Measure;
use super::sketch::{Block, RowSketch, Sketch};
use crate::confidence::{
    Interval, Unknown, Values, deviations, percentile_interval, ratio_interval,
};
use crate::long_run::Z;

/// A value with what is known about it, in the unit of its measure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    pub value: f64,
    /// The lower end of its 95% confidence interval; `None`: unknown.
    pub low: Option<f64>,
    /// The upper end; `None`: unknown.
    pub high: Option<f64>,
    /// From how many blocks that follows, ...
    pub blocks: f64,
    /// ... and how much neighbours among them were taken to be correlated.
    pub correlation: f64,
    /// Why an end is unknown.
    pub why: Option<&'static str>,
}

/// Values of a row: what identifies it (`None`: all requests together), and each measure that is known.
pub type RowValues = (Option<RowKey>, Vec<(Measure, Estimate)>);

/// What a side of a comparison is compared by: a run, or several of the same thing.
#[derive(Debug, Clone, PartialEq)]
pub enum Measured {
    Blocks(Sketch),
    /// Values alone, some with intervals: of a result without its recording.
    Values(Vec<RowValues>),
}

/// From so many blocks follows at least what has an interval.
const BLOCKS_ELSEWHERE: f64 = 20.0;

impl Estimate {
    /// A value of which nothing else is known, and why.
    pub fn alone(value: f64, why: &'static str) -> Estimate {
        Estimate { low: None, high: None, why: Some(why), ..Estimate::between(value, None, None) }
    }

    /// A value with an interval that was computed elsewhere.
    pub fn between(value: f64, low: Option<f64>, high: Option<f64>) -> Estimate {
        Estimate { value, low, high, blocks: BLOCKS_ELSEWHERE, correlation: 0.0, why: None }
    }

    fn of(value: f64, interval: Interval, pairs: &[(f64, f64)]) -> Estimate {
        Estimate {
            value,
            low: interval.low(),
            high: interval.high(),
            blocks: pairs.len() as f64,
            correlation: deviations(pairs).correlation,
            why: interval.why().map(Unknown::text),
        }
    }
}

impl Measured {
    /// What identifies its rows; `None`: all requests together.
    pub fn keys(&self) -> Vec<Option<RowKey>> {
        match self {
            Measured::Blocks(sketch) => sketch.rows.iter().map(|row| row.key.clone()).collect(),
            Measured::Values(rows) => rows.iter().map(|(key, _)| key.clone()).collect(),
        }
    }

    /// What it says about a measure of the row at a position; `None`: nothing.
    pub fn estimate(&self, row: usize, measure: Measure) -> Option<Estimate> {
        match self {
            Measured::Blocks(sketch) => sketch.estimate(sketch.rows.get(row)?, measure),
            Measured::Values(rows) => {
                let (_, values) = rows.get(row)?;
                values.iter().find(|(own, _)| *own == measure).map(|(_, estimate)| *estimate)
            }
        }
    }

    /// Several runs as one side. `None`: there is none, or one of several has values alone.
    pub fn pool(mut runs: Vec<Measured>) -> Option<Measured> {
        if runs.len() == 1 {
            return runs.pop();
        }
        let sketches = runs.into_iter().map(|run| match run {
            Measured::Blocks(sketch) => Some(sketch),
            Measured::Values(_) => None,
        });
        let sketches: Vec<Sketch> = sketches.collect::<Option<_>>()?;
        (!sketches.is_empty()).then(|| Measured::Blocks(Sketch::pool(sketches)))
    }

    /// Its blocks; `None`: it has none.
    pub fn sketch(&self) -> Option<&Sketch> {
        match self {
            Measured::Blocks(sketch) => Some(sketch),
            Measured::Values(_) => None,
        }
    }
}

impl Sketch {
    /// What a row says about a measure; `None`: nothing was counted.
    pub fn estimate(&self, row: &RowSketch, measure: Measure) -> Option<Estimate> {
        let ratio = |pairs: Vec<(f64, f64)>| {
            let (of, by) = pairs.iter().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
            let value = (by > 0.0).then_some(of / by)?;
            Some(Estimate::of(value, ratio_interval(&pairs), &pairs))
        };
        let blocks = || row.blocks();
        if row.count() == 0 {
            return None;
        }
        match measure {
            Measure::Rate => {
                let counts = blocks().map(|block| block.count as f64);
                let seconds = self.seconds.iter().flatten();
                ratio(counts.zip(seconds.map(|seconds| *seconds as f64)).collect())
            }
            Measure::Mean => {
                ratio(blocks().map(|block| (block.sum_us, block.latency.count() as f64)).collect())
            }
            Measure::ErrorRate => Some(errors(row)),
            Measure::Percentile(p) => {
                let percentiles = Percentiles { sketch: self, row };
                let interval = percentile_interval(&percentiles, p);
                let pairs = percentiles.above(1.0 - p / 100.0);
                (!row.latency.is_empty()).then(|| Estimate::of(row.percentile(p), interval, &pairs))
            }
        }
    }
}

/// The share of errors. Its ends are those of a Poisson mean (Garwood, "Fiducial limits for the Poisson
/// distribution", Biometrika 28, 1936) for so many errors as are independent: their number divided by how much
/// they come together, as for percentiles. So no error in n requests is still up to 3.7 in n.
fn errors(row: &RowSketch) -> Estimate {
    let pairs: Vec<(f64, f64)> =
        row.blocks().map(|block| (block.errors as f64, block.count as f64)).collect();
    let (errors, count) = pairs.iter().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let share = errors / count;
    if pairs.len() < 2 {
        return Estimate::alone(share, Unknown::Seconds.text());
    }
    let varies = deviations(&pairs);
    let alone = errors * (1.0 - share);
    // Never fewer than if they were independent: that they are even is not known from a few.
    let effect = match alone > 0.0 {
        true => (varies.variance / alone).max(1.0) * varies.widening.powi(2),
        false => 1.0,
    };
    let independent = errors / effect;
    let quantile = |shape: f64, z: f64| {
        // Wilson and Hilferty, "The distribution of chi-square", PNAS 17, 1931.
        shape * (1.0 - 1.0 / (9.0 * shape) + z / (3.0 * shape.sqrt())).max(0.0).powi(3)
    };
    let low = if independent < 0.5 { 0.0 } else { quantile(independent, -Z) };
    let high = quantile(independent + 1.0, Z);
    let (low, high) = (low * effect / count, (high * effect / count).min(1.0));
    Estimate {
        blocks: pairs.len() as f64,
        correlation: varies.correlation,
        ..Estimate::between(share, Some(low), Some(high.max(share)))
    }
}

/// The latencies of a row, as far as intervals of percentiles need them.
struct Percentiles<'s> {
    sketch: &'s Sketch,
    row: &'s RowSketch,
}

impl Values for Percentiles<'_> {
    fn count(&self) -> f64 {
        self.row.latency.count() as f64
    }

    fn batches(&self) -> usize {
        self.row.blocks().count()
    }

    fn seconds(&self) -> f64 {
        self.sketch.total_seconds() as f64
    }

    fn above(&self, share: f64) -> Vec<(f64, f64)> {
        let value = self.row.latency.percentile((1.0 - share) * 100.0);
        let of =
            |block: &Block| (block.latency.count_above(value) as f64, block.latency.count() as f64);
        self.row.blocks().map(of).collect()
    }

    fn exceeded_by(&self, many: f64) -> (f64, f64) {
        let value = self.row.percentile((1.0 - many / self.count()).max(0.0) * 100.0);
        (value, value)
    }
}
