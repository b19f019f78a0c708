//! Two runs side by side: by how much each measure of each row differs, how well that is known, and whether it
//! is more than chance.

use squall_metrics::RowKey;

use super::advice::needed;
use super::comparison::{
    Comparison, Difference, DifferenceResult, FALSE_ALARM, RowComparison, SAME,
};
use super::estimate::{Estimate, Measured};
use super::measure::{GRID, MEASURES, Measure, Scale};
use super::percentiles::{Percentiles, Tails};
use super::probability::outside;
use super::sketch::{Block, RowSketch};
use super::spread::{Ratio, Spread, spread, together};
use crate::confidence::Unknown;
use crate::long_run::{Z, factor, freedom, t_quantile};

/// How much two runs of the same differ by more than their seconds show, as a share of what is measured (one
/// standard deviation of a run): other memory, other neighbours, another temperature. The figure is ours, and open to
/// argument; `docs/measurement.md` says how often pairs of real runs are right with it.
const BETWEEN_RUNS: f64 = 0.005;
/// The same of a latency, in µs: what waking up takes is another in each run.
const BETWEEN_RUNS_US: f64 = 10.0;
/// Times are compared as if they took at least this, in µs: a histogram counts from 1.
const LEAST_US: f64 = 0.5;
/// Quantile of the normal distribution for as many bands as the shift function has, all together, at 95%
/// (Šidák, "Rectangular confidence regions for the means of multivariate normal distributions", JASA 62, 1967).
const Z_ALL_BANDS: f64 = 2.88;
/// How far from a change its standard error is measured, on its scale.
const NEAR: (f64, f64) = (0.05, 0.005);

/// Compares two sides, each a run or several of the same thing ([`Measured::pool`]). A change counts as one if it is more
/// than chance among all that are looked at together: the chance that two equal sides show any is 5% at most (Holm, "A
/// simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6, 1979).
pub fn compare(before: &Measured, after: &Measured) -> Comparison {
    let (first, second) = (before.keys(), after.keys());
    let common = common_rows(&first, &second);
    let of_row = |(at, other): &(usize, usize)| {
        row(first[*at].clone(), &Row::new(before, *at), &Row::new(after, *other))
    };
    let mut rows: Vec<RowComparison> = common.iter().map(of_row).collect();
    let mut tested: Vec<&mut Difference> =
        rows.iter_mut().flat_map(|row| &mut row.differences).collect();
    let tests = decide(&mut tested);
    for own in tested.into_iter().filter(|own| own.result == DifferenceResult::Unclear) {
        own.needed = needed(own, own.wanted_error(tests), [before, after]);
    }
    let only = |own: &[Option<RowKey>], others: &[Option<RowKey>]| -> Vec<RowKey> {
        own.iter().filter(|key| !others.contains(key)).flatten().cloned().collect()
    };
    Comparison {
        rows,
        only_before: only(&first, &second),
        only_after: only(&second, &first),
        tests,
    }
}

fn row(key: Option<RowKey>, before: &Row<'_>, after: &Row<'_>) -> RowComparison {
    // Percentiles are looked at once.
    let grid = GRID.map(|p| difference(Measure::Percentile(p), before, after));
    let of = |measure| {
        let found = grid.iter().find(|own| own.measure == measure).copied();
        found.unwrap_or_else(|| difference(measure, before, after))
    };
    let is_known = before.sketch.is_some() && after.sketch.is_some();
    RowComparison {
        key,
        differences: MEASURES.map(of).to_vec(),
        shift: grid.into_iter().filter(|_| is_known).filter_map(band).collect(),
        curves: [before, after].map(curve),
    }
}

/// The rows that both have, by their positions. All requests together are left out where that is one row alone: it
/// would be tested twice.
fn common_rows(first: &[Option<RowKey>], second: &[Option<RowKey>]) -> Vec<(usize, usize)> {
    let requests = |keys: &[Option<RowKey>]| {
        keys.iter().flatten().filter(|key| key.place.kind.is_request()).count()
    };
    let all = first
        .iter()
        .enumerate()
        .filter_map(|(at, key)| Some((at, second.iter().position(|own| own == key)?)));
    let is_one = requests(first) == 1 && requests(second) == 1;
    let all: Vec<(usize, usize)> = all.collect();
    let has_rows = all
        .iter()
        .any(|(at, _)| first[*at].as_ref().is_some_and(|key| key.place.kind.is_request()));
    all.into_iter().filter(|(at, _)| !(is_one && has_rows) || first[*at].is_some()).collect()
}

/// How a percentile moved, with a band that holds with those of all others; `None`: there is no such change.
fn band(narrow: Difference) -> Option<Difference> {
    let change = narrow.change?;
    let wider = |end: Option<f64>| {
        let end = (1.0 + end?).ln() - (1.0 + change).ln();
        Some(((1.0 + change).ln() + end * Z_ALL_BANDS / Z).exp() - 1.0)
    };
    let (low, high) = (wider(narrow.low), wider(narrow.high));
    Some(Difference { low, high, result: of_band(narrow.measure, low, high), ..narrow })
}

/// What a band says: it holds with all others, so that one beside 0 is a change.
fn of_band(measure: Measure, low: Option<f64>, high: Option<f64>) -> DifferenceResult {
    let is_beside = low.is_some_and(|low| low > 0.0) || high.is_some_and(|high| high < 0.0);
    match (low, high) {
        _ if is_beside => DifferenceResult::Changed,
        (Some(low), Some(high)) if is_same(measure, low, high) => DifferenceResult::Same,
        (None, None) => DifferenceResult::Unknown,
        _ => DifferenceResult::Unclear,
    }
}

/// The mean latency of a row, by block; a block without any has that before it.
fn curve(row: &Row<'_>) -> Vec<f64> {
    let mut last = 0.0;
    let means = row.sketch.into_iter().flat_map(RowSketch::blocks).map(|block| {
        if !block.latency.is_empty() {
            last = block.sum_us / block.latency.count() as f64;
        }
        last
    });
    means.collect()
}

/// A row of a side.
pub(super) struct Row<'m> {
    measured: &'m Measured,
    at: usize,
    sketch: Option<&'m RowSketch>,
    tails: Option<Tails>,
}

impl<'m> Row<'m> {
    /// The row at a position.
    pub fn new(measured: &'m Measured, at: usize) -> Row<'m> {
        let sketch = measured.sketch().and_then(|sketch| sketch.rows.get(at));
        Row { measured, at, sketch, tails: sketch.map(Tails::new) }
    }

    /// What was counted, by run and block; `None`: that is not known.
    fn ratio(&self, of: impl Fn(&Block, u64) -> (f64, f64)) -> Option<Ratio> {
        let seconds = &self.measured.sketch()?.seconds;
        let run = |(run, seconds): (&Vec<Block>, &Vec<u64>)| {
            run.iter().zip(seconds).map(|(block, seconds)| of(block, *seconds)).collect()
        };
        let runs: Vec<_> = self.sketch?.runs.iter().zip(seconds).map(run).collect();
        Ratio::new(&runs)
    }

    /// How many runs it is of: those that lack the row say nothing about it.
    fn runs(&self) -> f64 {
        let has_any = |run: &&Vec<Block>| run.iter().any(|block| block.count > 0);
        let runs = self.sketch.map_or(1, |sketch| sketch.runs.iter().filter(has_any).count());
        runs.max(1) as f64
    }
}

/// How much is known of the difference of two sides, on its scale: of the logarithms, or of the shares themselves.
struct Contrast<'r> {
    by: f64,
    /// The standard error between runs.
    between: f64,
    known: Known<'r>,
}

/// From what that follows.
enum Known<'r> {
    /// A standard error, of means and rates.
    Even(Spread),
    /// One downward and one upward, from the ends of two intervals: the variances of both add up, each on the side on
    /// which it counts (the method of variance estimates recovery: Zou and Donner, "Construction of confidence limits
    /// about effect measures", Statistics in Medicine 27, 2008).
    Ends { down: Option<f64>, up: Option<f64>, freedom: f64 },
    /// A test that can be asked about each change.
    Percentile(Percentiles<'r>),
}

impl Contrast<'_> {
    /// The standard error toward another difference, and its degrees of freedom.
    fn error_toward(&self, other: f64) -> Option<(f64, f64)> {
        let (own, freedom) = match &self.known {
            Known::Even(own) => (own.error, own.freedom),
            Known::Ends { down, up, freedom } => {
                (if other <= self.by { *down } else { *up }?, *freedom)
            }
            Known::Percentile(own) => own.error_toward(self.by, other)?,
        };
        Some((own.hypot(self.between), freedom))
    }

    /// The lower or the upper end of its interval, at 95% confidence.
    fn end(&self, is_above: bool) -> Option<f64> {
        let sign = if is_above { 1.0 } else { -1.0 };
        let far = match &self.known {
            Known::Percentile(own) => {
                let (far, quantile) = own.end(self.by, is_above)?;
                far.hypot(quantile * self.between)
            }
            _ => {
                let (error, freedom) = self.error_toward(sign * f64::INFINITY)?;
                error * t_quantile(freedom)
            }
        };
        Some(self.by + sign * far)
    }

    /// The probability of so large a difference from another, or a larger one to either side, where that is the true
    /// one. `None`: it is not known.
    fn probability(&self, other: f64) -> Option<f64> {
        if self.by == other {
            return Some(1.0);
        }
        match self.error_toward(other) {
            Some((error, freedom)) => Some(outside((self.by - other).abs() / error, freedom)),
            // Nothing tells the two apart, though both sides are known.
            None => matches!(self.known, Known::Percentile(_)).then_some(1.0),
        }
    }

    /// Its standard error about where it is.
    fn error(&self, near: f64) -> Option<f64> {
        let toward = |other: f64| self.error_toward(other).map(|(error, _)| error);
        let (down, up) = (toward(self.by - near), toward(self.by + near));
        Some(down.into_iter().chain(up).fold(f64::NAN, f64::max)).filter(|own| own.is_finite())
    }
}

/// How a measure differs. Whether that is more than chance depends on what else is looked at: [`decide`].
pub(super) fn difference(measure: Measure, before: &Row<'_>, after: &Row<'_>) -> Difference {
    difference_and_doubt(measure, before, after, None).0
}

/// The same, and the probability of so small a difference, or a smaller one, where another is the true one, which is
/// given as a change.
pub(super) fn difference_and_doubt(
    measure: Measure,
    before: &Row<'_>,
    after: &Row<'_>,
    other: Option<f64>,
) -> (Difference, Option<f64>) {
    let estimates = [before, after].map(|row| row.measured.estimate(row.at, measure));
    let [own, of_other] = estimates;
    let mut found = Difference {
        measure,
        before: own,
        after: of_other,
        change: None,
        low: None,
        high: None,
        p: None,
        result: DifferenceResult::Unknown,
        error: None,
        between_runs: 0.0,
        why: None,
        needed: None,
    };
    let (Some(own), Some(of_other)) = (own, of_other) else { return (found, None) };
    let (from, to) = (scaled(measure, own.value), scaled(measure, of_other.value));
    if !from.is_finite() || !to.is_finite() {
        return (found, None);
    }
    let shown = |by: f64| match measure.scale() {
        Scale::Points => by,
        Scale::Ratio => by.exp() - 1.0,
    };
    let of_runs = |row: &Row<'_>, value| between_runs(measure, value) / row.runs().sqrt();
    let between = of_runs(before, own.value).hypot(of_runs(after, of_other.value));
    found.change = Some(shown(to - from));
    found.between_runs = between;
    let known = match known(measure, before, after, [own, of_other]) {
        Ok(known) => known,
        Err(why) => return (Difference { why: Some(why), ..found }, None),
    };
    let contrast = Contrast { by: to - from, between, known };
    let near = if measure.scale() == Scale::Points { NEAR.1 } else { NEAR.0 };
    found.low = contrast.end(false).map(shown);
    found.high = contrast.end(true).map(shown);
    found.p = contrast.probability(0.0);
    found.error = contrast.error(near);
    let other = other.map(|other| match measure.scale() {
        Scale::Points => other,
        Scale::Ratio => (1.0 + other).ln(),
    });
    let doubt = other.and_then(|other| {
        let is_short_of = if other >= 0.0 { contrast.by < other } else { contrast.by > other };
        Some(if is_short_of { contrast.probability(other)? / 2.0 } else { 0.5 })
    });
    (found, doubt)
}

/// A value on the scale on which it is compared.
fn scaled(measure: Measure, value: f64) -> f64 {
    match measure.scale() {
        Scale::Points => value,
        Scale::Ratio if measure.is_time() => value.max(LEAST_US).ln(),
        Scale::Ratio => value.ln(),
    }
}

/// What is known of how a difference varies, or why nothing is.
fn known<'r>(
    measure: Measure,
    before: &'r Row<'_>,
    after: &'r Row<'_>,
    estimates: [Estimate; 2],
) -> Result<Known<'r>, &'static str> {
    let even = |of: fn(&Block, u64) -> (f64, f64)| {
        let (first, second) = (before.ratio(of)?, after.ratio(of)?);
        // Nothing is a share of nothing.
        let scales = [first.value, second.value].map(|value| value.max(1e-9));
        let found = spread([&first, &second], scales, |_| 0.0);
        Some(Known::Even(found))
    };
    let found = match (measure, &before.tails, &after.tails) {
        (Measure::Rate, Some(_), Some(_)) => {
            even(|block, seconds| (block.count as f64, seconds as f64))
        }
        (Measure::Mean, Some(_), Some(_)) => {
            even(|block, _| (block.sum_us, block.latency.count() as f64))
        }
        (Measure::Percentile(p), Some(before), Some(after)) => {
            let known = Percentiles { before, after, share: 1.0 - p / 100.0 };
            known.evidence(0.0).map(|_| Known::Percentile(known))
        }
        _ => return ends(measure, estimates),
    };
    found.ok_or(Unknown::Seconds.text())
}

/// The same from intervals of both values.
fn ends<'r>(measure: Measure, [own, other]: [Estimate; 2]) -> Result<Known<'r>, &'static str> {
    let sides = [&own, &other].map(|side| (side.blocks, side.correlation));
    let (correlation, both_freedom) = together(sides);
    let error = |estimate: &Estimate, end: Option<f64>| {
        let far = (scaled(measure, end?) - scaled(measure, estimate.value)).abs();
        let own = estimate.correlation;
        let more = (factor(correlation.unwrap_or(own)) / factor(own)).sqrt();
        Some(far / t_quantile(freedom(estimate.blocks, own)) * more)
    };
    let both = |first: Option<f64>, second: Option<f64>| Some(first?.hypot(second?));
    let down = both(error(&own, own.high), error(&other, other.low));
    let up = both(error(&own, own.low), error(&other, other.high));
    if down.is_none() && up.is_none() {
        return Err(own.why.or(other.why).unwrap_or(Unknown::Seconds.text()));
    }
    Ok(Known::Ends { down, up, freedom: both_freedom })
}

/// How much a measure differs between runs by itself, on its scale.
fn between_runs(measure: Measure, value: f64) -> f64 {
    match measure {
        Measure::ErrorRate => 0.0,
        Measure::Rate => BETWEEN_RUNS,
        Measure::Mean | Measure::Percentile(_) => {
            BETWEEN_RUNS.hypot(BETWEEN_RUNS_US / value.max(LEAST_US))
        }
    }
}

/// Says of each difference whether it is more than chance, and returns how many were tested.
pub(super) fn decide(differences: &mut [&mut Difference]) -> usize {
    let mut tested: Vec<(usize, f64)> =
        differences.iter().enumerate().filter_map(|(at, own)| Some((at, own.p?))).collect();
    tested.sort_by(|a, b| a.1.total_cmp(&b.1));
    let count = tested.len();
    let holds = |(rank, (_, p)): &(usize, &(usize, f64))| p * ((count - rank) as f64) < FALSE_ALARM;
    let real: Vec<usize> =
        tested.iter().enumerate().take_while(holds).map(|(_, own)| own.0).collect();
    for (at, own) in differences.iter_mut().enumerate() {
        own.result = match (own.p, own.low, own.high) {
            _ if real.contains(&at) => DifferenceResult::Changed,
            (_, Some(low), Some(high)) if is_same(own.measure, low, high) => DifferenceResult::Same,
            (None, None, None) => DifferenceResult::Unknown,
            _ => DifferenceResult::Unclear,
        };
    }
    count
}

fn is_same(measure: Measure, low: f64, high: f64) -> bool {
    let most = match measure.scale() {
        Scale::Ratio => SAME.0,
        Scale::Points => SAME.1,
    };
    low.abs() <= most && high.abs() <= most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_one_among_all_that_are_looked_at() {
        let nothing = Measured::Values(Vec::new());
        let none = Row::new(&nothing, 0);
        let of = |p: f64| Difference {
            p: Some(p),
            change: Some(0.1),
            low: Some(0.01),
            high: Some(0.2),
            ..difference(Measure::Mean, &none, &none)
        };
        let mut all = [of(0.02), of(0.001), of(0.6), of(0.015)];
        let count = decide(&mut all.iter_mut().collect::<Vec<_>>());
        let results = all.map(|own| own.result);
        use DifferenceResult::{Changed, Unclear};
        // 0.001 × 4 and 0.015 × 3 are below 5%, 0.02 × 2 too; 0.6 is not.
        assert_eq!((count, results), (4, [Changed, Changed, Unclear, Changed]));
        let mut one_of_many = [of(0.02), of(0.6), of(0.7)];
        decide(&mut one_of_many.iter_mut().collect::<Vec<_>>());
        assert_eq!(one_of_many[0].result, Unclear, "0.02 × 3 is not below 5%");
    }
}
