//! The steady part of a run: what remains without its beginning, while caches were cold and the load rose,
//! and without its ragged end.

use crate::change::{Change, change, differs};
use crate::series::{Series, SeriesRow};
use crate::totals::Totals;

/// How the beginning of a run is cut off.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Warmup {
    #[default]
    Auto,
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
    /// The plan's warm-up leaves next to nothing.
    Short,
    /// It became another at some moment.
    Step {
        /// What: `rate`, `mean latency` or `median latency`.
        of: &'static str,
        /// The first second after the change.
        at: u32,
        /// By how much, as a share of what it was before.
        change: f64,
    },
    /// It kept rising or falling.
    Drift {
        /// What: `rate`, `mean latency` or `median latency`.
        of: &'static str,
        /// By how much from its first second to its last, as a share of what it was in the first.
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

/// How many whole seconds a time has. One that lacks a hundredth is one: a load of 5 s may end after 4.9995.
pub fn whole_seconds(seconds: f64) -> u32 {
    (seconds + 0.01).floor() as u32
}

/// Finds the steady part of a run of `elapsed_s` seconds. `None`: there is none, because the load changes
/// all the time or the run is too short.
pub fn steady(totals: &Totals, series: &Series, elapsed_s: f64, shape: Shape) -> Option<Steady> {
    let constant = shape.constant_from_s?.ceil() as u32;
    let account = totals.time_account(elapsed_s);
    let first_done = account.first_finished_ns.map_or(elapsed_s, |ns| ns as f64 / 1e9);
    // The last second is not a whole one, most of the time.
    let end = elapsed_s.min(first_done).min(shape.constant_to_s.unwrap_or(f64::INFINITY));
    let to = whole_seconds(end);
    let whole =
        |row: &&SeriesRow| row.second >= constant && row.second.saturating_add(row.seconds) <= to;
    let rows: Vec<&SeriesRow> = series.rows().iter().filter(whole).collect();
    if rows.len() < MIN_SECONDS {
        return None;
    }
    let watched = Watched::new(&rows);
    let (cut, found) = match shape.warmup {
        Warmup::None => (0, watched.change(0)),
        Warmup::Auto => watched.cut(),
        Warmup::Fixed(seconds) => {
            let cut = rows.iter().take_while(|row| f64::from(row.second) < seconds).count();
            (cut, watched.change(cut))
        }
    };
    let second = |at: usize| rows.get(at).map_or(to, |row| row.second);
    let unsteady = match found {
        _ if cut + MIN_SECONDS > rows.len() => Some(Unsteady::Short),
        Some((of, Change { at: Some(at), by })) => {
            Some(Unsteady::Step { of, at: second(at), change: by })
        }
        Some((of, Change { at: None, by })) => Some(Unsteady::Drift { of, change: by }),
        None => None,
    };
    Some(Steady { from: second(cut), to, unsteady })
}

/// What is watched for changes, by second.
struct Watched([(&'static str, Vec<f64>); 3]);

impl Watched {
    fn new(rows: &[&SeriesRow]) -> Watched {
        let of = |value: fn(&SeriesRow) -> f64| rows.iter().map(|row| value(row)).collect();
        Watched([
            ("rate", of(rate)),
            ("mean latency", of(|row| row.mean_us)),
            ("median latency", of(|row| row.p50_us)),
        ])
    }

    /// The largest change after a cut, and of what.
    fn change(&self, cut: usize) -> Option<(&'static str, Change)> {
        let changes = self.0.iter().filter_map(|(of, series)| {
            let change = change(&series[cut..])?;
            Some((*of, Change { at: change.at.map(|at| at + cut), ..change }))
        });
        changes.max_by(|a, b| size(a.1.by).total_cmp(&size(b.1.by)))
    }

    /// Where the beginning ends, and what changes after it. A cut counts only if what it cuts off differs
    /// from the rest: where nothing has to be cut off, the best cut is that behind the slowest moments of
    /// the first half, without which the rest looks faster and steadier than the target is. And what
    /// changes from beginning to end, or in the second half, has no beginning that could be cut off.
    fn cut(&self) -> (usize, Option<(&'static str, Change)>) {
        let whole = self.change(0);
        let [(_, rate), (_, mean), _] = &self.0;
        let beginning = |change: Change| change.at.is_some_and(|at| at < rate.len() / 2);
        if whole.is_some_and(|(_, change)| !beginning(change)) {
            return (0, whole);
        }
        let cuts = [rate, mean].map(|series| (series, mser(series)));
        let cuts = cuts.into_iter().filter(|(series, cut)| differs(series, *cut));
        match cuts.map(|(_, cut)| cut).max() {
            Some(cut) => (cut, self.change(cut)),
            None => (0, whole),
        }
    }
}

/// The size of a change, in which a halving is as large as a doubling.
fn size(by: f64) -> f64 {
    by.ln_1p().abs()
}

fn rate(row: &SeriesRow) -> f64 {
    row.requests as f64 / f64::from(row.seconds.max(1))
}

/// Where to cut a series: MSER (White, "An effective truncation heuristic for bias reduction in
/// simulation output", Simulation 69, 1997), and over batches of five in long series, MSER-5 (White,
/// Cobb and Spratt, "A comparison of five steady-state truncation heuristics for simulation", WSC
/// 2000). The cut d minimises the squared standard error of the mean of what is left,
/// sum (x_i - mean)² / (n - d)², over the first half of the series.
fn mser(series: &[f64]) -> usize {
    let batch = if series.len() >= MIN_BATCHED_SECONDS { BATCH_SECONDS } else { 1 };
    let means: Vec<f64> = series
        .chunks_exact(batch)
        .map(|batch| batch.iter().sum::<f64>() / batch.len() as f64)
        .collect();
    let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
    let mut best = (f64::INFINITY, 0);
    // From the end: each step adds the value before. A handful of values at the end can be equal by
    // chance, which would beat everything.
    for (cut, value) in means.iter().enumerate().rev() {
        count += 1.0;
        sum += value;
        squares += value * value;
        let spread = (squares - sum * sum / count).max(0.0);
        let error = spread / (count * count);
        if count >= MIN_SECONDS as f64 && cut <= means.len() / 2 && error <= best.0 {
            best = (error, cut);
        }
    }
    best.1 * batch
}

#[cfg(test)]
mod tests;
