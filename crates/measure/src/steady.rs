//! The steady part of a run: what remains without its beginning, while caches were cold and the load rose,
//! and without its ragged end.

use crate::series::{Series, SeriesRow};
use crate::totals::Totals;

/// How the beginning of a run is cut off.
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

/// A part of a run, in whole seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Steady {
    /// Its first second, from 0.
    pub from: u32,
    /// The second after its last.
    pub to: u32,
    /// Why it is not steady after all, if it is not.
    pub unsteady: Option<Unsteady>,
}

/// Why the remaining part of a run is not steady.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Unsteady {
    /// The best cut lies in the second half of the run: the beginning may not be over even then.
    Late,
    /// The plan's warm-up leaves next to nothing.
    Short,
    /// It keeps rising or falling.
    Drift {
        /// What: `rate` or `mean latency`.
        of: &'static str,
        /// By how much from its first second to its last, as a share of its median.
        change: f64,
    },
}

/// What the plan says about the load over time.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Shape {
    /// How the beginning of a run is cut off.
    pub warmup: Warmup,
    /// Seconds after which the plan's load is constant; `None`: it never is.
    pub constant_from_s: Option<f64>,
    /// Seconds after which it changes again; `None`: it does not.
    pub constant_to_s: Option<f64>,
}

/// Length of a batch in runs that are long enough: batches smooth the series that MSER sees.
const BATCH_SECONDS: usize = 5;
/// Runs of at least this many seconds are evaluated in batches.
const MIN_BATCHED_SECONDS: usize = 60;
/// Fewer seconds than this say nothing.
const MIN_SECONDS: usize = 5;

/// Finds the steady part of a run of `elapsed_s` seconds. `None`: there is none, because the load changes
/// all the time or the run is too short.
pub fn steady(totals: &Totals, series: &Series, elapsed_s: f64, shape: Shape) -> Option<Steady> {
    let constant = shape.constant_from_s?.ceil() as u32;
    let account = totals.time_account(elapsed_s);
    let first_done = account.first_finished_ns.map_or(elapsed_s, |ns| ns as f64 / 1e9);
    // The last second is not a whole one.
    let end = elapsed_s.min(first_done).min(shape.constant_to_s.unwrap_or(f64::INFINITY));
    let to = end.floor() as u32;
    let whole =
        |row: &&SeriesRow| row.second >= constant && row.second.saturating_add(row.seconds) <= to;
    let rows: Vec<&SeriesRow> = series.rows().iter().filter(whole).collect();
    if rows.len() < MIN_SECONDS {
        return None;
    }
    let rates: Vec<f64> = rows.iter().map(|row| rate(row)).collect();
    let means: Vec<f64> = rows.iter().map(|row| row.mean_us).collect();
    let (cut, unsteady) = match shape.warmup {
        Warmup::None => (0, None),
        Warmup::Fixed(seconds) => {
            let cut = rows.iter().take_while(|row| f64::from(row.second) < seconds).count();
            (cut, (cut + MIN_SECONDS > rows.len()).then_some(Unsteady::Short))
        }
        Warmup::Auto => {
            let (rate, mean) = (mser(&rates), mser(&means));
            (rate.0.max(mean.0), (!rate.1 || !mean.1).then_some(Unsteady::Late))
        }
    };
    let drift = || {
        let drifts = [("rate", &rates), ("mean latency", &means)]
            .map(|(of, series)| (of, drift(&series[cut..]).unwrap_or(0.0)));
        let (of, change) = drifts.into_iter().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))?;
        (change != 0.0).then_some(Unsteady::Drift { of, change })
    };
    let from = rows.get(cut).map_or(to, |row| row.second);
    Some(Steady { from, to, unsteady: unsteady.or_else(drift) })
}

fn rate(row: &SeriesRow) -> f64 {
    row.requests as f64 / f64::from(row.seconds.max(1))
}

/// Where to cut a series: MSER (White, "An effective truncation heuristic for bias reduction in
/// simulation output", Simulation 69, 1997), and over batches of five in long series, MSER-5 (White,
/// Cobb and Spratt, "A comparison of five steady-state truncation heuristics for simulation", WSC
/// 2000). The cut d minimises the squared standard error of the mean of what is left,
/// sum (x_i - mean)² / (n - d)², over the first half of the series. A minimum in the second half says
/// that the series has not become steady (`false`), but only if the standard error there is less than
/// half of that in the first half: otherwise it may be there by chance.
fn mser(series: &[f64]) -> (usize, bool) {
    let batch = if series.len() >= MIN_BATCHED_SECONDS { BATCH_SECONDS } else { 1 };
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
        if count >= MIN_SECONDS as f64 {
            least = least.min(error);
            if cut <= means.len() / 2 && error <= best.0 {
                best = (error, cut);
            }
        }
    }
    (best.1 * batch, best.0 <= 4.0 * least)
}

/// Number of batches in which a drift is looked for: so few that neighbours hardly correlate.
const DRIFT_BATCHES: usize = 10;
/// The 99.5 % quantile of the normal distribution: one steady run of a hundred looks like a drift, ...
const DRIFT_Z: f64 = 2.576;
/// ... and must be at least this share of the median to matter.
pub(crate) const MIN_DRIFT: f64 = 0.1;

/// By how much a series keeps rising or falling from its beginning to its end, as a share of its
/// median, if it does: the test of Mann ("Nonparametric tests against trend", Econometrica 13, 1945),
/// with the slope of Sen ("Estimates of the regression coefficient based on Kendall's tau", JASA 63,
/// 1968), over batches of the series.
fn drift(series: &[f64]) -> Option<f64> {
    let size = series.len().div_ceil(DRIFT_BATCHES).max(1);
    let means: Vec<f64> =
        series.chunks_exact(size).map(|batch| batch.iter().sum::<f64>() / size as f64).collect();
    let n = means.len() as f64;
    let (mut signs, mut slopes) = (0.0, Vec::new());
    for (at, early) in means.iter().enumerate() {
        for (distance, late) in means[at..].iter().enumerate().skip(1) {
            let rise = late - early;
            signs += if rise == 0.0 { 0.0 } else { rise.signum() };
            slopes.push(rise / distance as f64);
        }
    }
    let deviation = (n * (n - 1.0) * (2.0 * n + 5.0) / 18.0).sqrt();
    if signs.abs() - 1.0 < DRIFT_Z * deviation {
        return None;
    }
    let change = median(slopes) * (n - 1.0) / median(means);
    (change.is_finite() && change.abs() >= MIN_DRIFT).then_some(change)
}

/// The middle one of some values.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
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

    #[test]
    fn what_goes_on_rising_or_falling_drifts() {
        let near = |drift: Option<f64>, to: f64| drift.is_some_and(|is| (is - to).abs() < 0.02);
        let line = |count, to: f64| -> Vec<f64> {
            (0..count).map(|at| 100.0 + to * f64::from(at) / f64::from(count - 1)).collect()
        };
        assert!(near(drift(&line(7, 100.0)), 0.67));
        assert!(near(drift(&line(300, -50.0)), -0.60));
        assert_eq!(drift(&line(300, 5.0)), None, "too little to matter");
        assert_eq!(drift(&line(5, 100.0)), None, "too few to tell");
        assert_eq!((drift(&[]), drift(&[0.0; 20])), (None, None));
        let mut chance = Chance(3);
        let noise: Vec<usize> = (0..300)
            .filter(|_| {
                let series: Vec<f64> = (0..60).map(|_| 10.0 + 5.0 * chance.normal()).collect();
                drift(&series).is_some()
            })
            .collect();
        assert!(noise.len() <= 9, "one of a hundred: {noise:?}");
    }
}
