//! A measure over many runs, and where it stepped.

use crate::change::step_of;

/// Steps below are no matter, as a share of what was before.
const SMALLEST_STEP: f64 = 0.02;

/// The fewest runs in which a step is looked for.
const LEAST_WINDOW: usize = 8;

/// A step of a series of runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrendStep {
    /// The first run after it, from 0.
    pub at: usize,
    /// By how much, as a share of what it was before.
    pub by: f64,
}

/// Where a series of values, one a run, stepped: the split that explains most, if it is more than chance
/// ([`crate::change`]), and again in what is before and after it (binary segmentation: Scott and Knott, "A cluster
/// analysis method for grouping means in the analysis of variance", Biometrics 30, 1974). As a step up may hide one
/// down, overlapping halves, quarters and so on are looked at too, and the clearest step counts (Kovács et al.,
/// "Seeded binary segmentation", Biometrika 110, 2023). Fewer than 8 runs show no step, and neither does the last
/// run alone.
pub fn steps(values: &[f64]) -> Vec<TrendStep> {
    let mut found = Vec::new();
    let mut parts = vec![(0, values.len())];
    while let Some((from, to)) = parts.pop() {
        if let Some(at) = clearest(values, from, to) {
            parts.extend([(from, at), (at, to)]);
            found.push(at);
        }
    }
    found.sort_unstable();
    let ends = found.iter().skip(1).copied().chain([values.len()]);
    let begins = std::iter::once(0).chain(found.iter().copied());
    let sizes = begins.zip(found.iter().copied().zip(ends)).map(|(from, (at, to))| {
        let [before, after] = [&values[from..at], &values[at..to]].map(middle);
        TrendStep { at, by: after / before - 1.0 }
    });
    sizes.collect()
}

/// The clearest step of a part, in all of it or in one of the windows within.
fn clearest(values: &[f64], from: usize, to: usize) -> Option<usize> {
    let mut best: Option<(usize, f64)> = None;
    let mut length = to - from;
    while length >= LEAST_WINDOW {
        for begin in (from..=to - length).step_by(length.div_ceil(2)).chain([to - length]) {
            let step = step_of(&values[begin..begin + length], SMALLEST_STEP);
            let found = step.and_then(|(step, clear)| Some((begin + step.at?, clear)));
            best = found.filter(|(_, clear)| best.is_none_or(|(_, own)| *clear > own)).or(best);
        }
        length = length.div_ceil(2);
    }
    best.map(|(at, _)| at)
}

/// The median: one run that was disturbed does not count.
fn middle(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;
    use squall_base::random::Random;

    fn series(levels: &[(usize, f64)], noise: f64, seed: u64) -> Vec<f64> {
        let mut random = Random::of(seed, 1, 2, 3);
        let all = levels.iter().flat_map(|(runs, level)| std::iter::repeat_n(*level, *runs));
        all.map(|level| level * random.normal(1.0, noise)).collect()
    }

    #[test]
    fn steps_are_found_where_they_are() {
        assert_eq!(steps(&[]), []);
        assert_eq!(steps(&[5.0; 7]), []);
        let mut right = 0;
        for seed in 0..100 {
            let values = series(&[(18, 100.0), (12, 105.0)], 0.01, seed);
            let found = steps(&values);
            right += usize::from(found.len() == 1 && found[0].at.abs_diff(18) <= 1);
        }
        assert!(right >= 95, "{right} of 100");
        let found = steps(&series(&[(15, 100.0), (15, 120.0), (15, 90.0)], 0.01, 1));
        assert_eq!(found.iter().map(|step| step.at).collect::<Vec<_>>(), [15, 30]);
        assert!((found[0].by - 0.2).abs() < 0.02 && (found[1].by + 0.25).abs() < 0.02, "{found:?}");
    }

    #[test]
    fn chance_is_no_step() {
        let wrong = (0..200).filter(|seed| !steps(&series(&[(30, 100.0)], 0.03, *seed)).is_empty());
        let wrong = wrong.count();
        assert!(wrong <= 10, "{wrong} of 200");
    }
}
