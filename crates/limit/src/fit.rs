//! The edge as a regression: at which level the used share of a limit is 1, and how well that is known.
//!
//! The logarithm of the used share, y, is a curve in the logarithm of the level, u = ln(level / edge):
//! y = s (exp(k u) - 1) / k. It is 0 at the edge, has the slope s there, rises ever faster (k > 0), as queues do
//! near their capacity, and has a floor: what a request takes when nobody else is there. For M/M/1 k is
//! about 1 + s, for queues with more servers about three times that; a closed workload beyond its knee is a
//! straight line (k = 0; asymptotic bounds: Lazowska, Zahorjan, Graham and Sevcik, "Quantitative System Performance",
//! 1984, chapter 5).
//!
//! The edge itself is a parameter, so its interval is a profile: all edges at which the best curve fits not much
//! worse than the best of all (profile likelihood with a variance ratio: Bates and Watts, "Nonlinear
//! Regression Analysis and Its Applications", 1988, chapter 6; for a straight line this is Fieller's
//! interval, JRSS B 16, 1954).

use squall_analysis::student;

/// A step as the regression sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    pub level: f64,
    /// Length of the step, in s.
    pub seconds: f64,
    /// Logarithm of the used share of the limit.
    pub y: f64,
    /// Standard error of `y`.
    pub error: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Fit {
    pub edge: f64,
    /// Ends of its 95 % interval.
    pub low: f64,
    pub high: f64,
    /// By this factor the interval has to be wider on either side, because steps are short.
    pub margin: f64,
    pub points: usize,
    curve: Curve,
}

impl Fit {
    /// The level at which the logarithm of the used share is `y`, or, below the limit, the one at which the curve has
    /// three quarters of the slope that it has at the edge: further down it says little about the edge.
    pub(crate) fn level_at(&self, y: f64) -> f64 {
        let Curve { edge, slope, bend, .. } = self.curve;
        if bend < 1e-9 {
            return edge * (y / slope).exp();
        }
        edge * ((1.0 + bend * y / slope).max(0.75).ln() / bend).exp()
    }
}

/// Fewest points for a curve.
const MIN_POINTS: usize = 4;
/// Points count that the curve puts within this distance of the limit (logarithm of the used share): further
/// away the curve need not be right.
const WINDOW: f64 = 0.5;
/// The curve is only nearly right: by this share of its distance from the limit.
const MISFIT: f64 = 0.15;
/// Bends k that are tried, in units of 1 + slope.
const BENDS: [f64; 9] = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0];
/// Which of them is expected, and by how much it may differ (mean and standard deviation).
const EXPECTED_BEND: (f64, f64) = (2.0, 1.0);
/// Edges that are tried.
const EDGES: usize = 240;
/// Weight, in steps, of the assumption that the steps scatter as their own errors say.
const TRUSTED_ERRORS: f64 = 4.0;
/// The interval is wider on either side by this time, as a share of a step: a step is too short to see the
/// longest queues, so that its percentiles are a little low, and the curve is only nearly right.
const MARGIN_S: f64 = 0.7;
/// Steps scatter at least this much, whatever they say.
const MIN_ERROR: f64 = 0.005;

/// How well the best curve through an edge fits.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Curve {
    edge: f64,
    slope: f64,
    bend: f64,
    /// Weighted sum of squares.
    squares: f64,
}

/// Fits the curve to the points near the edge, which lies between `low` and `high`. `None`: there are too few
/// points, or no curve that rises fits.
pub(crate) fn fit(points: &[Point], low: f64, high: f64) -> Option<Fit> {
    let points = &unbiased(points);
    let mut near = points.to_vec();
    let mut best: Option<(Vec<Point>, Vec<Curve>, Curve)> = None;
    for _ in 0..4 {
        let weights = weights(&near, best.as_ref().map(|(_, _, curve)| curve));
        let curves = curves(&near, &weights, low / 1.5, high * 1.5);
        let curve = curves.iter().copied().min_by(|a, b| a.squares.total_cmp(&b.squares))?;
        best = Some((near.clone(), curves, curve));
        let within = |point: &&Point| curve.at(point.level).abs() <= WINDOW;
        let next: Vec<Point> = points.iter().filter(within).copied().collect();
        if next.len() < MIN_POINTS {
            break;
        }
        near = next;
    }
    let (near, curves, curve) = best?;
    if near.len() < MIN_POINTS {
        return None;
    }
    let freedom = near.len() as f64 - 2.0 + TRUSTED_ERRORS;
    let variance = (curve.squares + TRUSTED_ERRORS) / freedom;
    let most = curve.squares + student(freedom as usize).powi(2) * variance;
    let mut inside = curves.iter().filter(|other| other.squares <= most).map(|other| other.edge);
    let low = inside.next()?;
    let high = inside.next_back().unwrap_or(low);
    let seconds = near.iter().map(|point| point.seconds).sum::<f64>() / near.len() as f64;
    let margin = (MARGIN_S / seconds).exp();
    Some(Fit { edge: curve.edge, low, high, margin, points: near.len(), curve })
}

impl Curve {
    /// The logarithm of the used share at a level.
    fn at(&self, level: f64) -> f64 {
        self.slope * rise(self.bend, (level / self.edge).ln())
    }
}

/// (exp(k u) - 1) / k, which is u for k = 0.
fn rise(k: f64, u: f64) -> f64 {
    if k < 1e-9 { u } else { ((k * u).min(50.0).exp() - 1.0) / k }
}

/// The points with smoothed errors, and without what chance takes from a logarithm. A point's own error is known
/// from few groups, and large by chance where the value is; so its logarithm is taken to rise with the level.
/// The logarithm of a value with an error has a mean that is too low by half its variance; errors of long
/// excursions are underestimated by a third, so it is corrected by the whole of it.
fn unbiased(points: &[Point]) -> Vec<Point> {
    let count = points.len().max(1) as f64;
    let logs: Vec<(f64, f64)> =
        points.iter().map(|point| (point.level.ln(), point.error.max(MIN_ERROR).ln())).collect();
    let (x, z) = logs.iter().fold((0.0, 0.0), |(x, z), log| (x + log.0 / count, z + log.1 / count));
    let spread: f64 = logs.iter().map(|log| (log.0 - x).powi(2)).sum();
    let slope = match spread > 0.0 {
        true => logs.iter().map(|log| (log.0 - x) * (log.1 - z)).sum::<f64>() / spread,
        false => 0.0,
    };
    let smoothed = |point: &Point| {
        let error = (z + slope.max(0.0) * (point.level.ln() - x)).exp();
        Point { y: point.y + error.powi(2), error, ..*point }
    };
    points.iter().map(smoothed).collect()
}

/// The weight of each point: the further from the limit, the less the curve need be right.
fn weights(points: &[Point], curve: Option<&Curve>) -> Vec<f64> {
    let of = |point: &Point| {
        let distance = curve.map_or(point.y, |curve| curve.at(point.level));
        1.0 / (point.error.powi(2) + (MISFIT * distance).powi(2))
    };
    points.iter().map(of).collect()
}

/// The best curve through each edge, in ascending order.
fn curves(points: &[Point], weights: &[f64], low: f64, high: f64) -> Vec<Curve> {
    let ratio = (high / low).ln();
    let edges = (0..=EDGES).map(|at| low * (ratio * at as f64 / EDGES as f64).exp());
    edges.filter_map(|edge| through(points, weights, edge)).collect()
}

/// The best rising curve through an edge.
fn through(points: &[Point], weights: &[f64], edge: f64) -> Option<Curve> {
    let mut best: Option<Curve> = None;
    for bend in BENDS {
        let mut slope = 1.0;
        // The bend is in units of the slope that follows from it: a few rounds settle both.
        for _ in 0..4 {
            let k = bend * (1.0 + slope);
            let (mut both, mut own) = (0.0, 0.0);
            for (point, weight) in points.iter().zip(weights) {
                let rise = rise(k, (point.level / edge).ln());
                both += weight * rise * point.y;
                own += weight * rise * rise;
            }
            slope = both / own;
            if slope.is_nan() || slope <= 0.0 {
                break;
            }
        }
        if slope.is_nan() || slope <= 0.0 {
            continue;
        }
        let mut curve = Curve { edge, slope, bend: bend * (1.0 + slope), squares: 0.0 };
        let of =
            |(point, weight): (&Point, &f64)| weight * (point.y - curve.at(point.level)).powi(2);
        let (mean, deviation) = EXPECTED_BEND;
        let unlikely = ((bend - mean) / deviation).powi(2);
        curve.squares = points.iter().zip(weights).map(of).sum::<f64>() + unlikely;
        if best.is_none_or(|best| curve.squares < best.squares) {
            best = Some(curve);
        }
    }
    best
}
