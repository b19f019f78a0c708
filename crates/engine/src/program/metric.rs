//! Steps that record a metric: names, kinds and tags, as far as they are known before the run.

use std::collections::HashSet;

use squall_metrics::{MetricKey, MetricKind};
use squall_plan::model;
use squall_plan::template::BoundTemplate;

use super::compiler::{Compiler, Section};
use super::ops::MetricOp;

impl<'p> Compiler<'p> {
    pub(super) fn metric(&mut self, metric: &'p model::Metric) -> Option<MetricOp> {
        let (name, span) = (&metric.name.value, metric.name.span);
        if matches!(self.options.section, Section::Setup | Section::Teardown) {
            let message = format!("the metric `{name}` would be lost: it is not part of the load");
            self.error(span, message, "metrics are recorded by the steps of scenarios");
        }
        let plan = self.plan;
        // Of several steps with one name the first says what it is.
        let kinds = self.metric_kinds.get_or_insert_with(|| {
            let all = plan.metrics().into_iter().rev();
            all.map(|metric| (metric.name.value.as_str(), metric.kind)).collect()
        });
        if kinds.get(name.as_str()).is_some_and(|first| *first != metric.kind) {
            let message = format!("the metric `{name}` has another kind in an earlier step");
            self.error(span, message, "give one of them another name");
        }
        let kind = match metric.kind {
            model::MetricKind::Counter => MetricKind::Counter,
            model::MetricKind::Gauge => MetricKind::Gauge,
            model::MetricKind::Rate => MetricKind::Rate,
            model::MetricKind::Trend => MetricKind::Trend,
        };
        let value = self.formula(&metric.value);
        self.inherit_tags()?;
        let own: HashSet<&str> = metric.tags.iter().map(|(tag, _)| tag.value.as_str()).collect();
        let around = self.tags.iter().filter(|(tag, _)| !own.contains(tag.as_str()));
        let around =
            around.map(|(tag, value)| (tag.as_str().into(), BoundTemplate::literal(value)));
        let mut tags: Vec<(Box<str>, BoundTemplate)> = around.collect();
        for (key, text) in &metric.tags {
            tags.push((key.value.as_str().into(), self.template(text)?));
        }
        let constant = |(key, text): &(Box<str>, _)| {
            let text: &BoundTemplate = text;
            Some((key.to_string(), text.constant()?))
        };
        let known: Option<Vec<(String, String)>> = tags.iter().map(constant).collect();
        let tags = if known.is_some() { Vec::new() } else { tags };
        let key = MetricKey::new(kind, &self.scenario, name, known.unwrap_or_default());
        Some(MetricOp { key, value: value?, tags })
    }
}
