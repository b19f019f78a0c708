//! What monitors sampled of the target of a run, in the mean, as far as a comparison shows it.

use squall_metrics::MONITOR_TAG;

use crate::document::RunDocument;
use crate::schema::document;
use crate::target::{SampledMetric, sampled};

/// Most that is compared.
pub(super) const MAX: usize = 40;

document! {
    /// What a monitor sampled of the target in a run.
    SampledMean {
        /// The metric with its monitor: `cpu(server)`.
        measure: String,
        /// The name of the metric.
        metric: String,
        /// Its unit, as in `metrics` of a result.
        unit: String,
        /// The mean.
        mean: f64,
    }
}

/// The means of a run: the main metrics of each of its monitors.
pub(super) fn means(run: &RunDocument) -> Vec<SampledMean> {
    let mut means = Vec::new();
    for target in sampled(run) {
        means.extend(target.main().into_iter().filter_map(|own| {
            Some(SampledMean {
                measure: measure(own, target.monitor),
                metric: own.row.name.clone(),
                unit: own.unit.label().to_owned(),
                mean: own.row.mean?,
            })
        }));
    }
    means.truncate(MAX);
    means
}

/// The metric as a threshold names it: `cpu(server)`, `disk_busy(machine, disk: sda)`.
fn measure(own: &SampledMetric<'_>, monitor: &str) -> String {
    let tags = own.row.tags.iter().filter(|(tag, _)| *tag != MONITOR_TAG);
    let tags = tags.map(|(tag, value)| format!(", {tag}: {value}"));
    format!("{}({monitor}{})", own.row.name, tags.collect::<String>())
}
