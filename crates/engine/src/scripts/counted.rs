//! The metrics that are recorded of a call: k6's own, and those that the script makes. A value has the tags by which
//! thresholds tell values of its metric apart, and no others; most have none, and then nothing is looked up.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use squall_metrics::{MetricId, MetricKey, MetricKind, WrongValue};

use crate::parts::script_metrics::{ALL, Builtin};
use crate::program::{ScriptMetricOp, ScriptOp};
use crate::record::Recorder;

/// Most combinations of tags whose numbers are kept of one metric.
const MOST_KEPT: usize = 10_000;

/// The metrics of a call, k6's own first.
#[derive(Debug)]
pub(crate) struct Counted(Vec<Metric>);

#[derive(Debug)]
struct Metric {
    kind: MetricKind,
    scenario: Box<str>,
    name: Box<str>,
    tags: Vec<String>,
    /// The number without any tag, once it has one.
    plain: Cell<Option<MetricId>>,
    /// The numbers by the values of the tags.
    tagged: RefCell<HashMap<Vec<Option<String>>, MetricId>>,
}

impl Counted {
    pub(super) fn new(op: &ScriptOp) -> Counted {
        let metric = |own: &ScriptMetricOp| Metric {
            kind: own.kind,
            scenario: op.place.scenario.as_str().into(),
            name: own.name.clone(),
            tags: own.tags.clone(),
            plain: Cell::new(None),
            tagged: RefCell::default(),
        };
        Counted(op.metrics.iter().map(metric).collect())
    }

    /// Records a value of a metric of every script. `tag`: the value of a tag, if there is one.
    pub(crate) fn builtin<'t>(
        &self,
        recorder: &Recorder,
        metric: Builtin,
        value: f64,
        tag: impl Fn(&str) -> Option<Cow<'t, str>>,
        now: u64,
    ) {
        // What squall itself measures is a number, and not below 0.
        let _recorded = self.0[metric as usize].record(recorder, value, tag, now);
    }

    /// Records a value of a metric that the script makes, by its number among those.
    ///
    /// # Errors
    /// The metric cannot take the value.
    pub(crate) fn own<'t>(
        &self,
        recorder: &Recorder,
        metric: usize,
        value: f64,
        tag: impl Fn(&str) -> Option<Cow<'t, str>>,
        now: u64,
    ) -> Result<(), WrongValue> {
        let metric = self.0.get(ALL.len() + metric);
        metric.map_or(Ok(()), |own| own.record(recorder, value, tag, now))
    }

    /// Kind and name of a metric that the script makes.
    pub(crate) fn own_metric(&self, metric: usize) -> (MetricKind, &str) {
        let own = self.0.get(ALL.len() + metric);
        own.map_or((MetricKind::Counter, ""), |own| (own.kind, &own.name))
    }
}

impl Metric {
    fn record<'t>(
        &self,
        recorder: &Recorder,
        value: f64,
        tag: impl Fn(&str) -> Option<Cow<'t, str>>,
        now: u64,
    ) -> Result<(), WrongValue> {
        let number = match self.tags.is_empty() {
            true => self.plain(recorder),
            false => self.tagged(recorder, tag),
        };
        recorder.numbered_metric(number, self.kind, value, now)
    }

    fn plain(&self, recorder: &Recorder) -> MetricId {
        self.plain.get().unwrap_or_else(|| {
            let key = MetricKey::new(self.kind, &self.scenario, &self.name, Vec::new());
            let number = recorder.metric_number(&key);
            self.plain.set(Some(number));
            number
        })
    }

    fn tagged<'t>(
        &self,
        recorder: &Recorder,
        tag: impl Fn(&str) -> Option<Cow<'t, str>>,
    ) -> MetricId {
        let values: Vec<Option<String>> =
            self.tags.iter().map(|own| tag(own).map(Cow::into_owned)).collect();
        let mut numbers = self.tagged.borrow_mut();
        if let Some(number) = numbers.get(&values) {
            return *number;
        }
        let tags = self.tags.iter().zip(&values);
        let tags = tags.filter_map(|(tag, value)| Some((tag.clone(), value.clone()?))).collect();
        let key = MetricKey::new(self.kind, &self.scenario, &self.name, tags);
        let number = recorder.metric_number(&key);
        if numbers.len() >= MOST_KEPT {
            numbers.clear();
        }
        numbers.insert(values, number);
        number
    }
}
