//! Values of metrics that a plan or its scripts record themselves.

use squall_metrics::{MetricId, MetricKey, MetricKind, WrongValue};

use super::Recorder;

impl Recorder {
    /// Records a value of a metric of the plan's own, at `now` on the clock.
    ///
    /// # Errors
    /// The metric cannot take the value.
    pub(crate) fn metric(&self, key: &MetricKey, value: f64, now: u64) -> Result<(), WrongValue> {
        self.numbered_metric(self.metric_number(key), key.kind, value, now)
    }

    /// The number of a metric, for those who record many values of it.
    pub(crate) fn metric_number(&self, key: &MetricKey) -> MetricId {
        let mut metrics = self.metrics.borrow_mut();
        let known = metrics.len();
        let id = metrics.intern(key);
        if metrics.len() > known
            && let Some(key) = metrics.get(id)
        {
            let secrets = self.secrets();
            let mask = |(name, text): &(String, String)| (name.clone(), secrets.mask(text));
            let tags = key.tags.iter().map(mask).collect();
            let shown = MetricKey::new(key.kind, &key.scenario, &key.name, tags);
            self.slice.borrow_mut().announce_metric(id, &shown);
        }
        id
    }

    /// Records a value of a metric by its number, at `now` on the clock.
    ///
    /// # Errors
    /// The metric cannot take the value.
    pub(crate) fn numbered_metric(
        &self,
        id: MetricId,
        kind: MetricKind,
        value: f64,
        now: u64,
    ) -> Result<(), WrongValue> {
        let mut slice = self.slice.borrow_mut();
        slice.record_metric(id, kind, value, now.saturating_sub(self.start))
    }
}
