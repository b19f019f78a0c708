//! How much a ratio of sums over the blocks of runs varies, and how much two of them differ by chance. Pure arithmetic.
//!
//! A side of a comparison is one run or several. Blocks of a run vary within it, and neighbours have something in common
//! ([`crate::long_run`]); several runs of a side also differ from each other by more than their blocks tell (another
//! process, other memory, another minute). How much more is a random effect, estimated by the method of moments as
//! DerSimonian and Laird do ("Meta-analysis in clinical trials", Controlled Clinical Trials 7, 1986), with the degrees of
//! freedom of Satterthwaite.

use crate::long_run::{LongRun, factor, freedom, long_run, t_quantile};

/// Above this correlation of neighbours a standard error that is far too small is likelier than t has it, and false
/// alarms come from these: the blocks of one side alone count. Of 200 comparisons of equal runs whose blocks have a
/// correlation of 0.8, 13 are false alarms with it and 15 without; below 0.4 there are hardly any.
pub(super) const CORRELATED: f64 = 0.4;
/// Fewest blocks of a run that say anything about how much they differ.
const MIN_BLOCKS: usize = 5;
/// Fewest blocks of a run that are looked at in twos as well: a level that wanders below noise is no autoregressive
/// process of the first order, and the smaller the blocks the less of it [`long_run`] sees.
const MIN_IN_TWOS: usize = 40;

/// Numerator and denominator of each block of a run.
pub(super) type Pairs = Vec<(f64, f64)>;

/// A ratio of sums over the runs of a side.
pub(super) struct Ratio {
    /// The sum of the numerators over that of the denominators.
    pub value: f64,
    runs: Vec<Run>,
    /// The same, of blocks in twos: what wanders slowly below much noise shows there. Empty: there are too few.
    in_twos: Vec<Run>,
}

/// What a run says about it.
struct Run {
    ratio: f64,
    by: f64,
    blocks: f64,
    /// How much the sum of the deviations from its own ratio varies.
    varies: LongRun,
}

impl Ratio {
    /// `None`: there is no denominator, or a run has fewer than 5 blocks.
    pub fn new(runs: &[Pairs]) -> Option<Ratio> {
        if runs.is_empty() || runs.iter().any(|pairs| pairs.len() < MIN_BLOCKS) {
            return None;
        }
        let sums = |pairs: &[(f64, f64)]| {
            pairs.iter().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
        };
        let (of, by) = sums(&runs.iter().map(|pairs| sums(pairs)).collect::<Pairs>());
        let each = |size: usize| -> Vec<Run> {
            let blocks = runs.iter().map(|pairs| pairs.chunks(size).map(sums).collect::<Pairs>());
            blocks.filter_map(|blocks| Run::new(&blocks)).collect()
        };
        let is_long = runs.iter().all(|pairs| pairs.len() >= MIN_IN_TWOS);
        let in_twos = if is_long { each(2) } else { Vec::new() };
        (by > 0.0).then(|| Ratio { value: of / by, runs: each(1), in_twos })
    }
}

impl Run {
    /// `None`: there is no denominator.
    fn new(blocks: &[(f64, f64)]) -> Option<Run> {
        let (of, by) = blocks.iter().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        let ratio = (by > 0.0).then_some(of / by)?;
        let deviations: Vec<f64> = blocks.iter().map(|(of, by)| of - ratio * by).collect();
        Some(Run { ratio, by, blocks: blocks.len() as f64, varies: long_run(&deviations, 1.0) })
    }
}

/// The runs of a side, in blocks of one size.
#[derive(Clone, Copy)]
struct Runs<'r>(&'r [Run]);

impl Runs<'_> {
    fn blocks(self) -> f64 {
        self.0.iter().map(|run| run.blocks).sum()
    }

    fn correlation(self) -> f64 {
        self.0.iter().map(|run| run.blocks * run.varies.correlation).sum::<f64>() / self.blocks()
    }

    /// The variance of each run's ratio within the run, where neighbours are correlated so; never below `floor` of the
    /// sum of a run's denominators.
    fn within(self, correlation: Option<f64>, floor: impl Fn(f64) -> f64) -> Vec<f64> {
        let each = self.0.iter().map(|run| {
            let own = run.varies.correlation;
            let more = factor(correlation.unwrap_or(own)) / factor(own);
            (run.varies.variance * more).max(floor(run.by)) / run.by.powi(2)
        });
        each.collect()
    }
}

/// How much the difference of two ratios varies.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spread {
    pub error: f64,
    /// The degrees of freedom of that.
    pub freedom: f64,
    /// The correlation of neighbouring blocks, of the side in which it is larger if the sides differ in it.
    pub correlation: f64,
}

/// The spread of the difference of two ratios, each divided by its scale. `floor` is the least variance of the sum of a
/// run's numerators, by the sum of its denominators.
pub(super) fn spread(
    sides: [&Ratio; 2],
    scales: [f64; 2],
    floor: impl Fn(f64) -> f64 + Copy,
) -> Spread {
    let own = of_runs(sides.map(|side| Runs(&side.runs)), scales, floor);
    if sides.iter().any(|side| side.in_twos.is_empty()) {
        return own;
    }
    // Whichever shows more.
    let in_twos = of_runs(sides.map(|side| Runs(&side.in_twos)), scales, floor);
    let reach = |own: &Spread| own.error * t_quantile(own.freedom);
    if reach(&in_twos) > reach(&own) { in_twos } else { own }
}

fn of_runs(sides: [Runs<'_>; 2], scales: [f64; 2], floor: impl Fn(f64) -> f64 + Copy) -> Spread {
    let (correlation, within_freedom) =
        together(sides.map(|side| (side.blocks(), side.correlation())));
    let within = [0, 1].map(|side: usize| -> Vec<f64> {
        let own = sides[side].within(correlation, floor);
        own.into_iter().map(|variance| variance / scales[side].powi(2)).collect()
    });
    // The variance of a side is that of the mean of its runs, weighted by their denominators.
    let of_side = |side: usize| {
        let all: f64 = sides[side].0.iter().map(|run| run.by).sum();
        let weighted = sides[side].0.iter().zip(&within[side]);
        weighted.map(|(run, variance)| (run.by / all).powi(2) * variance).sum::<f64>()
    };
    let own = of_side(0) + of_side(1);
    let between = between(sides, scales, &within);
    let counts = sides.map(|side| side.0.len() as f64);
    let more = between * (1.0 / counts[0] + 1.0 / counts[1]);
    let freedom = match more > 0.0 {
        true => {
            let of_runs = counts[0] + counts[1] - 2.0;
            (own + more).powi(2) / (own.powi(2) / within_freedom + more.powi(2) / of_runs)
        }
        false => within_freedom,
    };
    let larger = || sides.map(Runs::correlation).into_iter().fold(0.0, f64::max);
    let correlation = correlation.unwrap_or_else(larger);
    Spread { error: (own + more).sqrt(), freedom, correlation }
}

/// How much runs of a side vary by more than their blocks tell, as a variance; 0 where no side has two.
fn between(sides: [Runs<'_>; 2], scales: [f64; 2], within: &[Vec<f64>; 2]) -> f64 {
    let (mut squares, mut expected, mut freedom, mut runs) = (0.0, 0.0, 0.0, 0.0);
    for side in [0, 1] {
        let count = sides[side].0.len() as f64;
        if count < 2.0 {
            continue;
        }
        let mean = sides[side].0.iter().map(|run| run.ratio).sum::<f64>() / count;
        squares += sides[side]
            .0
            .iter()
            .map(|run| ((run.ratio - mean) / scales[side]).powi(2))
            .sum::<f64>();
        expected += within[side].iter().sum::<f64>();
        freedom += count - 1.0;
        runs += count;
    }
    if freedom > 0.0 { (squares / freedom - expected / runs).max(0.0) } else { 0.0 }
}

/// The correlation of neighbours in both sides, and the degrees of freedom of what follows from both. A run of half a
/// minute knows badly how much its seconds have in common, and two know better: unless the sides differ in that by more
/// than two standard errors (about 1/√n each), both have what they have on average. `None`: each run has its own.
/// Of each side its number of blocks and their correlation are given.
pub(super) fn together([first, second]: [(f64, f64); 2]) -> (Option<f64>, f64) {
    let apart = (first.1 - second.1).abs();
    if apart > 2.0 * (1.0 / first.0 + 1.0 / second.0).sqrt() {
        return (None, freedom(first.0, first.1).min(freedom(second.0, second.1)));
    }
    let blocks = first.0 + second.0;
    let correlation = (first.0 * first.1 + second.0 * second.1) / blocks;
    let counted = if correlation > CORRELATED { blocks / 2.0 } else { blocks };
    (Some(correlation), freedom(counted, correlation))
}

#[cfg(test)]
mod tests {
    use super::*;
    use squall_base::random::Random;

    /// Runs of 30 blocks of 100 whose ratio is 1, by so much more or less in each run.
    fn runs(levels: &[f64], seed: u64) -> Ratio {
        let mut random = Random::of(seed, 4, 4, 4);
        let run = |level: &f64| -> Pairs {
            (0..30).map(|_| (100.0 * (level + random.normal(0.0, 0.05)), 100.0)).collect()
        };
        let runs: Vec<Pairs> = levels.iter().map(run).collect();
        Ratio::new(&runs).expect("blocks")
    }

    #[test]
    fn more_runs_tell_more_and_runs_that_differ_tell_less() {
        let of = |levels: &[f64]| spread([&runs(levels, 1), &runs(levels, 2)], [1.0, 1.0], |_| 0.0);
        let (one, four) = (of(&[1.0]), of(&[1.0; 4]));
        let apart = of(&[0.9, 1.1, 0.95, 1.05]);
        // 0.05/√30 of each side is 0.0091, of both 0.0129.
        assert!((0.009..0.018).contains(&one.error), "{one:?}");
        assert!((0.35..0.75).contains(&(four.error / one.error)), "{four:?} {one:?}");
        // Runs that deviate by 0.091 are known to 0.091/2 each, with some 6 degrees of freedom.
        assert!((0.05..0.08).contains(&apart.error), "{apart:?}");
        assert!((5.0..8.0).contains(&apart.freedom) && one.freedom > 15.0, "{apart:?} {one:?}");
    }

    #[test]
    fn too_few_blocks_say_nothing() {
        assert!(Ratio::new(&[]).is_none());
        assert!(Ratio::new(&[vec![(1.0, 1.0); 4]]).is_none());
        assert!(Ratio::new(&[vec![(0.0, 0.0); 9]]).is_none());
    }
}
