//! The steady part of a run: what is left when its beginning, in which caches were cold and load rose,
//! and its ragged end are cut off.

use crate::totals::{SecondRow, Totals};

/// How the beginning is cut off.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Warmup {
    /// Where MSER says.
    #[default]
    Auto,
    /// Not at all.
    None,
    /// After so many seconds.
    Fixed(f64),
}

/// A part of a run in whole seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Steady {
    /// Its first second, from 0.
    pub from: u32,
    /// The second after its last.
    pub to: u32,
    /// Whether it is steady. If the best cut lies in the second half of the run, then what follows it
    /// is not known to be the end of the beginning.
    pub found: bool,
}

/// What is known of a load beside what was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Shape {
    /// How the beginning is cut off.
    pub warmup: Warmup,
    /// Seconds after which the plan's load stays as it is; `None`: it never does.
    pub constant_from_s: Option<f64>,
    /// Seconds after which it changes again; `None`: it does not.
    pub constant_to_s: Option<f64>,
}

/// Batches of so many seconds, in runs that are long enough: they smooth what the rule looks at.
const BATCH: usize = 5;
/// From so many seconds on.
const BATCHED_FROM: usize = 60;
/// In fewer seconds than this nothing can be told from anything.
const LEAST: usize = 5;

/// Finds the steady part of a run of so many seconds. `None`: there is none, because the load changes
/// all the time, or the run is too short.
pub fn steady(totals: &Totals, elapsed_s: f64, shape: Shape) -> Option<Steady> {
    let constant = shape.constant_from_s?.ceil() as u32;
    let ledger = totals.ledger(elapsed_s);
    let first_done = ledger.first_finished_ns.map_or(elapsed_s, |ns| ns as f64 / 1e9);
    // Of the last second only a part was seen.
    let end = elapsed_s.min(first_done).min(shape.constant_to_s.unwrap_or(f64::INFINITY));
    let to = end.floor() as u32;
    let whole = |row: &&SecondRow| row.second >= constant && row.second + row.seconds <= to;
    let rows: Vec<&SecondRow> = totals.series().filter(whole).collect();
    if rows.len() < LEAST {
        return None;
    }
    let (cut, found) = match shape.warmup {
        Warmup::None => (0, true),
        Warmup::Fixed(seconds) => {
            let cut = rows.iter().take_while(|row| f64::from(row.second) < seconds).count();
            (cut, cut + LEAST <= rows.len())
        }
        Warmup::Auto => {
            let rate = mser(&rows.iter().map(|row| rate(row)).collect::<Vec<_>>());
            let mean = mser(&rows.iter().map(|row| row.latency.mean()).collect::<Vec<_>>());
            (rate.0.max(mean.0), rate.1 && mean.1)
        }
    };
    let from = rows.get(cut).map_or(to, |row| row.second);
    Some(Steady { from, to, found })
}

fn rate(row: &SecondRow) -> f64 {
    row.requests as f64 / f64::from(row.seconds.max(1))
}

/// Where a series is to be cut: MSER (White, "An effective truncation heuristic for bias reduction in
/// simulation output", Simulation 69, 1997), and over batches of five in long series, MSER-5 (White,
/// Cobb and Spratt, "A comparison of five steady-state truncation heuristics for simulation", WSC
/// 2000). The cut d minimises the squared standard error of the mean of what is left,
/// sum (x_i - mean)² / (n - d)², over the first half of the series. A minimum in the second half says
/// that the series has not become steady (`false`), unless it is there by chance: only if the
/// standard error there is less than half of that in the first.
fn mser(series: &[f64]) -> (usize, bool) {
    let batch = if series.len() >= BATCHED_FROM { BATCH } else { 1 };
    let means: Vec<f64> = series
        .chunks_exact(batch)
        .map(|batch| batch.iter().sum::<f64>() / batch.len() as f64)
        .collect();
    let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
    let (mut best, mut least) = ((f64::INFINITY, 0), f64::INFINITY);
    // From the end: each step adds the value before. A handful of values at the end can be equal by
    // chance, which would beat everything.
    for (cut, value) in means.iter().enumerate().rev() {
        count += 1.0;
        sum += value;
        squares += value * value;
        let spread = (squares - sum * sum / count).max(0.0);
        let error = spread / (count * count);
        if count >= LEAST as f64 {
            least = least.min(error);
            if cut <= means.len() / 2 && error <= best.0 {
                best = (error, cut);
            }
        }
    }
    (best.1 * batch, best.0 <= 4.0 * least)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chance that is the same in every run.
    struct Chance(u64);

    impl Chance {
        /// About normal: the sum of twelve uniform numbers, less 6.
        fn normal(&mut self) -> f64 {
            let mut sum = -6.0;
            for _ in 0..12 {
                self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                sum += (self.0 >> 11) as f64 / (1u64 << 53) as f64;
            }
            sum
        }
    }

    #[test]
    fn the_beginning_is_cut_off() {
        let mut chance = Chance(7);
        for (length, transient) in [(20, 4), (30, 0), (100, 20), (600, 100)] {
            let series: Vec<f64> = (0..length)
                .map(|at| {
                    let start = if at < transient { 50.0 } else { 0.0 };
                    100.0 + start + chance.normal()
                })
                .collect();
            let (cut, found) = mser(&series);
            assert!(found, "{length} {transient}");
            assert!(cut >= transient && cut <= length / 2, "{length} {transient}: {cut}");
        }
    }

    #[test]
    fn what_rises_to_the_end_is_not_steady() {
        let series: Vec<f64> = (0..300).map(f64::from).collect();
        assert!(!mser(&series).1);
        let late: Vec<f64> = (0..100).map(|at| if at < 70 { 1.0 } else { 100.0 }).collect();
        assert!(!mser(&late).1);
        let equal = [5.0; 30];
        assert_eq!(mser(&equal), (0, true));
    }
}
