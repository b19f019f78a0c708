//! What monitors sampled of the targets of runs that are compared, side by side. Each run has one value of it, so nothing
//! says how far a difference is chance.

use squall_metrics::{Monitored, MonitoredUnit};

use super::means::{MAX, SampledMean};
use super::side::Side;
use crate::schema::document;

/// What is said of the numbers.
pub(super) const ABOUT: &str = "Means over each whole run of what monitors sampled of the target. A run has one value of each, so \
     nothing says how far a difference is chance.";

document! {
    /// What monitors sampled of the target in two sides.
    ComparedTarget {
        /// The metric with its monitor: `cpu(server)`.
        measure: String,
        /// The name of the metric.
        metric: String,
        /// Its unit, as in `metrics` of a result.
        unit: String,
        /// The mean in the first; of several runs, the mean of their means; null: it has none.
        before: Option<f64>,
        /// The mean in the second.
        after: Option<f64>,
        /// By how much it differs, as a share of what it was; null: it was 0, or is not in both.
        change: Option<f64>,
    }
}

/// What two sides have, each measure once.
pub(super) fn compared(before: &Side, after: &Side) -> Vec<ComparedTarget> {
    let of = |side: &Side| -> Vec<SampledMean> {
        side.runs.iter().flat_map(|(_, about)| about.target.iter().cloned()).collect()
    };
    let (before, after) = (of(before), of(after));
    let mut all: Vec<ComparedTarget> = Vec::new();
    for own in before.iter().chain(&after) {
        if all.len() >= MAX || all.iter().any(|known| known.measure == own.measure) {
            continue;
        }
        let mean = |of: &[SampledMean]| {
            let values: Vec<f64> =
                of.iter().filter(|one| one.measure == own.measure).map(|one| one.mean).collect();
            (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
        };
        let (first, second) = (mean(&before), mean(&after));
        let change = first.zip(second).filter(|(first, _)| *first > 0.0);
        all.push(ComparedTarget {
            measure: own.measure.clone(),
            metric: own.metric.clone(),
            unit: own.unit.clone(),
            before: first,
            after: second,
            change: change.map(|(first, second)| second / first - 1.0),
        });
    }
    all
}

impl ComparedTarget {
    /// As reports show it: the means with their unit, and the change.
    pub(super) fn cells(&self) -> [String; 3] {
        let unit = Monitored::unit_of(&self.metric).unwrap_or(MonitoredUnit::Number);
        let show = |value: Option<f64>| value.map_or("-".to_owned(), |value| unit.show(value));
        let change =
            self.change.map_or("-".to_owned(), |change| format!("{:+.1}%", change * 100.0));
        [show(self.before), show(self.after), change]
    }
}

#[cfg(test)]
mod tests {
    use squall_analysis::Measured;

    use super::*;
    use crate::compare::about::RunAbout;

    fn side(name: &str, runs: &[&[(&str, f64)]]) -> Side {
        let about = |means: &&[(&str, f64)]| {
            let mean = |(metric, mean): &(&str, f64)| SampledMean {
                measure: format!("{metric}(server)"),
                metric: (*metric).to_owned(),
                unit: "share".to_owned(),
                mean: *mean,
            };
            RunAbout { target: means.iter().map(mean).collect(), ..RunAbout::default() }
        };
        Side::new(name, runs.iter().map(about).collect(), Measured::Values(Vec::new()))
    }

    #[test]
    fn runs_of_a_side_have_the_mean_of_their_means() {
        let before = side("a", &[&[("cpu", 0.4), ("rss", 1024.0)], &[("cpu", 0.6)]]);
        let after = side("b", &[&[("cpu", 0.75), ("threads", 12.5)]]);
        let found = compared(&before, &after);
        let cells: Vec<(&str, [String; 3])> =
            found.iter().map(|own| (own.measure.as_str(), own.cells())).collect();
        let row = |cells: [&str; 3]| cells.map(str::to_owned);
        assert_eq!(
            cells,
            [
                ("cpu(server)", row(["50%", "75%", "+50.0%"])),
                ("rss(server)", row(["1.0 KiB", "-", "-"])),
                ("threads(server)", row(["-", "12.5", "-"])),
            ]
        );
    }
}
