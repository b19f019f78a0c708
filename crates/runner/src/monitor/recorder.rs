//! Makes slices of what is sampled: numbers metrics for a source, and announces each with its first value. Pure.

use squall_metrics::{MetricKey, MetricStats, Metrics, Slice, Source};

use super::interface::Sampled;

const NS_PER_S: u64 = 1_000_000_000;

/// Records what one source samples.
#[derive(Debug)]
pub(crate) struct Recorder {
    source: Source,
    /// Those that were announced.
    metrics: Metrics,
}

impl Recorder {
    pub(crate) fn new(source: Source) -> Recorder {
        Recorder { source, metrics: Metrics::default() }
    }

    /// The slice of a second with what was sampled in it.
    ///
    /// # Errors
    /// A metric takes no such value, in a sentence; nothing is recorded.
    pub(crate) fn slice(&mut self, second: u32, sampled: Sampled) -> Result<Slice, String> {
        let takes = |(key, value): &&(MetricKey, f64)| {
            MetricStats::default().record(key.kind, *value, 0).is_ok()
        };
        if let Some((key, value)) = sampled.iter().find(|own| !takes(own)) {
            return Err(format!("`{}` takes no value of {value}", key.label()));
        }
        let at = u64::from(second) * NS_PER_S;
        let mut slice = Slice::new(self.source, second);
        for (key, value) in sampled {
            let known = self.metrics.len();
            let id = self.metrics.intern(&key);
            if self.metrics.len() > known
                && let Some(key) = self.metrics.get(id)
            {
                slice.announce_metric(id, key);
            }
            // Which was tried.
            let _ = slice.record_metric(id, key.kind, value, at);
        }
        Ok(slice)
    }
}

#[cfg(test)]
mod tests {
    use squall_metrics::MetricKind;

    use super::*;

    #[test]
    fn a_metric_is_announced_once() {
        let mut recorder = Recorder::new(Source::Monitor(3));
        let key = |name: &str| MetricKey::new(MetricKind::Gauge, "", name, Vec::new());
        let mut announced = |second, names: &[&str]| {
            let sampled = names.iter().map(|name| (key(name), 1.0)).collect();
            let slice = recorder.slice(second, sampled).expect("values");
            assert_eq!((slice.source, slice.second), (Source::Monitor(3), second));
            assert_eq!(slice.metrics().count(), names.len());
            slice.metric_keys.into_iter().map(|(_, key)| key.name).collect::<Vec<_>>()
        };
        assert_eq!(announced(0, &["a", "b"]), ["a", "b"]);
        assert_eq!(announced(1, &["b", "c"]), ["c"]);
    }
}
