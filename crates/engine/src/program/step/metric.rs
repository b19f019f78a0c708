//! Steps that record a metric, laid out: names, kinds and tags, as far as they are known before the run.

use std::collections::HashSet;

use squall_metrics::{MetricKey, MetricKind};
use squall_plan::model;
use squall_plan::template::BoundTemplate;

use crate::program::compiler::{Compiler, Section};
use crate::program::flow::Lowering;
use crate::program::op::{DataOp, MetricOp};

pub(super) fn lay<'p>(flow: &mut Lowering<'_, 'p>, metric: &'p model::Metric) {
    match compiled(flow.compiler, metric) {
        Some(op) => flow.push(DataOp::Metric(Box::new(op))),
        None => flow.compiler.lacks_names = true,
    }
}

/// `None` after an error was noted.
fn compiled<'p>(compiler: &mut Compiler<'p>, metric: &'p model::Metric) -> Option<MetricOp> {
    let (name, span) = (&metric.name.value, metric.name.span);
    if matches!(compiler.options.section, Section::Setup | Section::Teardown) {
        let message = format!("the metric `{name}` would be lost: it is not part of the load");
        compiler.error(span, message, "metrics are recorded by the steps of scenarios");
    }
    let plan = compiler.plan;
    // Of several steps with one name the first says what it is.
    let kinds = compiler.metric_kinds.get_or_insert_with(|| {
        let all = plan.metrics().into_iter().rev();
        all.map(|metric| (metric.name.value.as_str(), metric.kind)).collect()
    });
    if kinds.get(name.as_str()).is_some_and(|first| *first != metric.kind) {
        let message = format!("the metric `{name}` has another kind in an earlier step");
        compiler.error(span, message, "give one of them another name");
    }
    let kind = match metric.kind {
        model::MetricKind::Counter => MetricKind::Counter,
        model::MetricKind::Gauge => MetricKind::Gauge,
        model::MetricKind::Rate => MetricKind::Rate,
        model::MetricKind::Trend => MetricKind::Trend,
    };
    let value = compiler.formula(&metric.value);
    compiler.inherit_tags()?;
    let own: HashSet<&str> = metric.tags.iter().map(|(tag, _)| tag.value.as_str()).collect();
    let around = compiler.tags.iter().filter(|(tag, _)| !own.contains(tag.as_str()));
    let around = around.map(|(tag, value)| (tag.as_str().into(), BoundTemplate::literal(value)));
    let mut tags: Vec<(Box<str>, BoundTemplate)> = around.collect();
    for (key, text) in &metric.tags {
        tags.push((key.value.as_str().into(), compiler.template(text)?));
    }
    let constant = |(key, text): &(Box<str>, _)| {
        let text: &BoundTemplate = text;
        Some((key.to_string(), text.constant()?))
    };
    let known: Option<Vec<(String, String)>> = tags.iter().map(constant).collect();
    let tags = if known.is_some() { Vec::new() } else { tags };
    let key = MetricKey::new(kind, &compiler.scenario, name, known.unwrap_or_default());
    Some(MetricOp { key, value: value?, tags })
}
