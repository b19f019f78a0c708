//! Calls of functions of scripts, laid out.

use squall_extract::Spec;
use squall_metrics::{MetricKind, Place, RowKind};
use squall_plan::model::Script;
use squall_script::{MetricKind as OfScript, ScriptMetric};

use crate::parts::script_metrics;
use crate::program::compiler::{Compiler, Section};
use crate::program::flow::Lowering;
use crate::program::op::{ReturnOp, ScriptMetricOp, ScriptOp};
use crate::program::ops::FromOp;
use crate::program::script_files::CalledScript;

/// What a script exports if it exports one thing.
const DEFAULT: &str = "default";
/// The JSONPath of all there is.
const ALL: &str = "$";

pub(super) fn lay<'p>(flow: &mut Lowering<'_, 'p>, script: &'p Script) {
    match flow.compiler.call_of(script) {
        Some(op) => flow.push(Box::new(op)),
        None => flow.compiler.lacks_names = true,
    }
}

impl<'p> Compiler<'p> {
    /// Compiles a call; `None` after an error was noted.
    fn call_of(&mut self, step: &'p Script) -> Option<ScriptOp> {
        let read = self.script(&step.file, &step.env);
        let args = step.args.iter().map(|own| self.json(own)).collect::<Option<_>>();
        let returns = step.returns.iter().map(|(variable, path)| {
            let extractor = match &*path.value {
                ALL => None,
                json => match self.extractor(Spec::Json(json), path.span)? {
                    FromOp::Body(extractor) => Some(extractor),
                    _ => None,
                },
            };
            Some(ReturnOp {
                slot: self.slot(&variable.value),
                variable: variable.value.as_str().into(),
                path: path.value.as_str().into(),
                extractor,
            })
        });
        let returns = returns.collect::<Option<_>>();
        let CalledScript { number, kind, env, metrics } = read?;
        let function = step.call.as_ref().map_or(DEFAULT, |own| own.value.as_str());
        let span = step.call.as_ref().map_or(step.file.span, |own| own.span);
        self.exports(number, function, span)?;
        let tags = self.inherit_tags().map(|()| self.tags.clone())?;
        // A script may ask how many users there are.
        self.counts_active = true;
        let (scenario, mut group) = (self.scenario.clone(), self.groups.clone());
        let is_of_scenario = matches!(self.options.section, Section::Load | Section::Trial);
        if !is_of_scenario {
            // As in k6, setup and teardown are groups around all that they do.
            group.insert(0, scenario.clone());
        }
        Some(ScriptOp {
            script: number,
            kind,
            env,
            function: function.into(),
            args: args?,
            returns: returns?,
            place: Place { kind: RowKind::Request, scenario, group, tags },
            is_of_scenario,
            step: self.step.as_str().into(),
            metrics: self.metrics_of(metrics),
            number: self.scripts.count_call(),
        })
    }

    /// The metrics that a call may record: those of all scripts, and then those that the script makes.
    fn metrics_of(&self, made: Vec<ScriptMetric>) -> Vec<ScriptMetricOp> {
        let kind = |own| match own {
            OfScript::Counter => MetricKind::Counter,
            OfScript::Gauge => MetricKind::Gauge,
            OfScript::Rate => MetricKind::Rate,
            OfScript::Trend => MetricKind::Trend,
        };
        let of_all = script_metrics::ALL.iter().map(|(name, kind)| ((*name).to_owned(), *kind));
        let all = of_all.chain(made.into_iter().map(|own| (own.name, kind(own.kind))));
        let op = |(name, kind): (String, MetricKind)| ScriptMetricOp {
            kind,
            tags: self.options.metric_tags.get(&name).into_iter().flatten().cloned().collect(),
            name: name.into(),
        };
        all.map(op).collect()
    }
}
