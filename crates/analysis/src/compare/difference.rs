//! Two runs side by side: by how much each measure of each row differs, how well that is known, and whether it
//! is more than chance.

use squall_metrics::RowKey;

use super::estimate::{Estimate, Measured};
use super::measure::{GRID, MEASURES, Measure, Scale};
use crate::long_run::{Z, factor, freedom, t_quantile};

/// How much two runs of the same differ by more than their seconds show, as a share of what is measured (one
/// standard deviation of a run): other memory, other neighbours, another temperature. The figure is ours, and open to
/// argument; `docs/measurement.md` says how often pairs of real runs are right with it.
const BETWEEN_RUNS: f64 = 0.005;
/// The same of a latency, in µs: what waking up takes is another in each run.
const BETWEEN_RUNS_US: f64 = 10.0;
/// The chance that a comparison of two equal runs finds any change.
const FALSE_ALARM: f64 = 0.05;
/// Changes below are no matter: a value whose interval lies within is the same. As a share, or in points of errors.
const SAME: (f64, f64) = (0.05, 0.005);
/// Times are compared as if they took at least this, in µs: a histogram counts from 1.
const LEAST_US: f64 = 0.5;
/// Quantile of the normal distribution for as many bands as the shift function has, all together, at 95%
/// (Šidák, "Rectangular confidence regions for the means of multivariate normal distributions", JASA 62, 1967).
const Z_ALL_BANDS: f64 = 2.88;

/// What is said of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DifferenceResult {
    /// It is more than chance, with all others that were looked at.
    Changed,
    /// Whatever there is of a change is below 5%, or half a percentage point of errors.
    Same,
    /// There may be a change or not: the runs are too short, or vary too much.
    Unclear,
    /// Nothing is known.
    Unknown,
}

impl DifferenceResult {
    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            DifferenceResult::Changed => "changed",
            DifferenceResult::Same => "same",
            DifferenceResult::Unclear => "unclear",
            DifferenceResult::Unknown => "unknown",
        }
    }
}

/// How a measure differs between two runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// The measure.
    pub measure: Measure,
    /// What it was in the first run; `None`: it has no such value.
    pub before: Option<Estimate>,
    /// What it was in the second.
    pub after: Option<Estimate>,
    /// By how much it changed: as a share of what it was, or in points ([`Measure::scale`]).
    pub change: Option<f64>,
    /// The lower end of the 95% confidence interval of that.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// The probability of so large a change, or a larger one, between two equal runs; `None`: it is not known.
    pub p: Option<f64>,
    /// What is said of it.
    pub result: DifferenceResult,
}

/// How a row differs between two runs.
#[derive(Debug, Clone, PartialEq)]
pub struct RowComparison {
    /// What identifies it; `None`: all requests together.
    pub key: Option<RowKey>,
    /// Each of [`MEASURES`].
    pub differences: Vec<Difference>,
    /// How each percentile of [`GRID`] moved, with bands that hold all together with 95% confidence: the shift
    /// function (Doksum, "Empirical probability plots and statistical inference for nonlinear models in the
    /// two-sample case", Annals of Statistics 2, 1974). Empty: the distribution is not known.
    pub shift: Vec<Difference>,
    /// Its mean latency by block, in µs, in the first run and in the second; empty: not known.
    pub curves: [Vec<f64>; 2],
}

/// Two runs side by side.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Comparison {
    /// The rows that both have.
    pub rows: Vec<RowComparison>,
    /// Rows of the first alone.
    pub only_before: Vec<RowKey>,
    /// Rows of the second alone.
    pub only_after: Vec<RowKey>,
    /// How many differences were tested.
    pub tests: usize,
}

impl RowComparison {
    /// Its differences that are more than chance.
    pub fn changed(&self) -> impl Iterator<Item = &Difference> {
        self.differences.iter().filter(|own| own.result == DifferenceResult::Changed)
    }

    /// The difference of a measure.
    pub fn of(&self, measure: Measure) -> Option<&Difference> {
        self.differences.iter().find(|own| own.measure == measure)
    }
}

/// Compares two runs. A change counts as one if it is more than chance among all that are looked at together:
/// the chance that two equal runs show any is 5% at most (Holm, "A simple sequentially rejective multiple test
/// procedure", Scandinavian Journal of Statistics 6, 1979).
pub fn compare(before: &Measured, after: &Measured) -> Comparison {
    let (first, second) = (before.keys(), after.keys());
    let common = common_rows(&first, &second);
    let mut rows: Vec<RowComparison> = common
        .iter()
        .map(|(at, other)| {
            let of = |measure| {
                difference(measure, before.estimate(*at, measure), after.estimate(*other, measure))
            };
            RowComparison {
                key: first[*at].clone(),
                differences: MEASURES.map(of).to_vec(),
                shift: shift((before, *at), (after, *other)),
                curves: [curve(before, *at), curve(after, *other)],
            }
        })
        .collect();
    let mut tested: Vec<&mut Difference> =
        rows.iter_mut().flat_map(|row| &mut row.differences).collect();
    let tests = decide(&mut tested);
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

/// How each percentile moved.
fn shift(before: (&Measured, usize), after: (&Measured, usize)) -> Vec<Difference> {
    let own = |(evidence, row): (&Measured, usize), measure| {
        evidence.sketch().and_then(|_| evidence.estimate(row, measure))
    };
    let points = GRID.iter().map(|p| {
        let measure = Measure::Percentile(*p);
        let narrow = difference(measure, own(before, measure), own(after, measure));
        let wider = |change: f64, end: Option<f64>| {
            let end = (1.0 + end?).ln() - (1.0 + change).ln();
            Some(((1.0 + change).ln() + end * Z_ALL_BANDS / Z).exp() - 1.0)
        };
        match narrow.change {
            Some(change) => {
                let (low, high) = (wider(change, narrow.low), wider(change, narrow.high));
                Difference { low, high, result: of_band(measure, low, high), ..narrow }
            }
            None => narrow,
        }
    });
    points.filter(|point| point.change.is_some()).collect()
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
fn curve(evidence: &Measured, row: usize) -> Vec<f64> {
    let blocks = evidence.sketch().and_then(|sketch| sketch.rows.get(row)).map(|row| &row.blocks);
    let mut last = 0.0;
    let means = blocks.into_iter().flatten().map(|block| {
        if block.complete > 0 {
            last = block.sum_us / block.complete as f64;
        }
        last
    });
    means.collect()
}

/// How a measure differs, by what two runs say of it. Whether that is more than chance depends on what else
/// is looked at: [`decide`].
///
/// The variances of both add up, each on the side on which it counts (the method of variance estimates
/// recovery: Zou and Donner, "Construction of confidence limits about effect measures", Statistics in Medicine
/// 27, 2008).
pub(super) fn difference(
    measure: Measure,
    before: Option<Estimate>,
    after: Option<Estimate>,
) -> Difference {
    let none = Difference {
        measure,
        before,
        after,
        change: None,
        low: None,
        high: None,
        p: None,
        result: DifferenceResult::Unknown,
    };
    let (Some(own), Some(other)) = (before, after) else { return none };
    let scaled = |value: f64| match measure.scale() {
        Scale::Points => value,
        Scale::Ratio if measure.is_time() => value.max(LEAST_US).ln(),
        Scale::Ratio => value.ln(),
    };
    let (from, to) = (scaled(own.value), scaled(other.value));
    if !from.is_finite() || !to.is_finite() {
        return none;
    }
    let shown = |by: f64| match measure.scale() {
        Scale::Points => by,
        Scale::Ratio => by.exp() - 1.0,
    };
    let together = Together::new(&own, &other);
    // The standard error of an estimate toward one of its ends.
    let error = |estimate: &Estimate, end: Option<f64>| {
        let far = (scaled(end?) - scaled(estimate.value)).abs();
        Some(
            far / t_quantile(freedom(estimate.blocks, estimate.correlation))
                * together.factor(estimate),
        )
    };
    let between = between_runs(measure, own.value).hypot(between_runs(measure, other.value));
    let reach = |first: Option<f64>, second: Option<f64>| {
        let standard_error = first?.hypot(second?).hypot(between);
        Some(Reach { standard_error, freedom: together.freedom })
    };
    let down = reach(error(&own, own.high), error(&other, other.low));
    let up = reach(error(&own, own.low), error(&other, other.high));
    let by = to - from;
    let toward_zero = if by >= 0.0 { down } else { up };
    Difference {
        change: Some(shown(by)),
        low: down.map(|reach| shown(by - reach.half())),
        high: up.map(|reach| shown(by + reach.half())),
        p: toward_zero.map(|reach| reach.probability(by.abs())),
        ..none
    }
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

/// Above this correlation of neighbours a standard error that is far too small is likelier than t has it, and false
/// alarms come from these: the blocks of one run alone count. Of 200 comparisons of equal runs whose blocks have a
/// correlation of 0.8, 13 are false alarms with it and 15 without; below 0.4 there are hardly any.
const CORRELATED: f64 = 0.4;

/// What is known of the correlation of seconds in two runs.
struct Together {
    /// That of both; `None`: each has its own.
    correlation: Option<f64>,
    /// The degrees of freedom of what follows from both.
    freedom: f64,
}

impl Together {
    /// A run of half a minute knows badly how much its seconds have in common, and two know better: unless they
    /// differ in that by more than two standard errors (about 1/√n each), both have what they have on average.
    fn new(own: &Estimate, other: &Estimate) -> Together {
        let blocks = own.blocks + other.blocks;
        let apart = (own.correlation - other.correlation).abs();
        if apart > 2.0 * (1.0 / own.blocks + 1.0 / other.blocks).sqrt() {
            let each = [own, other].map(|one| freedom(one.blocks, one.correlation));
            return Together { correlation: None, freedom: each[0].min(each[1]) };
        }
        let sum = own.blocks * own.correlation + other.blocks * other.correlation;
        let correlation = sum / blocks;
        let counted = if correlation > CORRELATED { blocks / 2.0 } else { blocks };
        let freedom = freedom(counted, correlation);
        Together { correlation: Some(correlation), freedom }
    }

    /// By which factor that changes the standard error of an estimate.
    fn factor(&self, estimate: &Estimate) -> f64 {
        let both = self.correlation.unwrap_or(estimate.correlation);
        (factor(both) / factor(estimate.correlation)).sqrt()
    }
}

/// How far a difference may be from the true one.
#[derive(Debug, Clone, Copy)]
struct Reach {
    standard_error: f64,
    freedom: f64,
}

impl Reach {
    /// Half the width of its interval, at 95% confidence.
    fn half(&self) -> f64 {
        self.standard_error * t_quantile(self.freedom)
    }

    /// The probability of so large a difference, or a larger one to either side, where there is none.
    fn probability(&self, by: f64) -> f64 {
        if by == 0.0 {
            return 1.0;
        }
        let (t, v) = (by / self.standard_error, self.freedom);
        // Wallace, "Bounds on normal approximations to Student's and the chi-square distributions", Annals of
        // Mathematical Statistics 30, 1959: right to 2% of itself, which is enough to compare with 5%.
        let z = match v.is_finite() {
            true => (8.0 * v + 1.0) / (8.0 * v + 3.0) * (v * (1.0 + t * t / v).ln()).sqrt(),
            false => t,
        };
        normal_outside(z)
    }
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
    fn probabilities_are_those_of_tables() {
        for (z, expected) in [(0.0, 1.0), (1.959_964, 0.05), (3.290_5, 0.001), (4.891_6, 1e-6)] {
            let own = normal_outside(z);
            assert!((own / expected - 1.0).abs() < 1e-3, "{z}: {own}");
        }
        for (t, freedom, expected) in
            [(2.228, 10.0, 0.05), (4.587, 10.0, 0.001), (3.850, 20.0, 0.001)]
        {
            let reach = Reach { standard_error: 1.0, freedom };
            let own = reach.probability(t);
            assert!((own / expected - 1.0).abs() < 0.03, "t {t}, {freedom}: {own}");
        }
    }

    #[test]
    fn a_change_is_one_among_all_that_are_looked_at() {
        let of = |p: f64| Difference {
            p: Some(p),
            change: Some(0.1),
            low: Some(0.01),
            high: Some(0.2),
            ..difference(Measure::Mean, None, None)
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
