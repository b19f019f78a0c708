//! Operations that note something of a user: in the run's log, or as a value of a metric.

use squall_metrics::{MetricKey, MetricKind};
use squall_plan::value::Value;

use super::interpreter::{Interpreter, Run};
use crate::behaviour::next::Next;
use crate::program::{LogOp, MetricOp};
use crate::user::Cursor;

impl Run for LogOp {
    fn run<'p>(&'p self, user: &mut Interpreter<'_, 'p>, _: u64) -> Option<Next<'p, Cursor>> {
        let mut line = Vec::new();
        let shown = self.0.show(&user.scope(), &mut line);
        let is_whole = user.or_log(shown, "log", true);
        let line = String::from_utf8_lossy(&line);
        if is_whole {
            user.worker.recorder.log(&line);
        } else {
            // It says which part of it could not be evaluated.
            user.count_failed_expression();
            user.worker.recorder.log_failure(&line);
        }
        None
    }
}

/// Records a value of a metric of the plan's own. One that cannot be evaluated, or that the metric cannot take, is left
/// out, counted as a warning and logged.
impl Run for MetricOp {
    fn run<'p>(&'p self, user: &mut Interpreter<'_, 'p>, now: u64) -> Option<Next<'p, Cursor>> {
        let value = self.value.eval(&user.scope());
        let mut rendered = Ok(());
        let tags = self.tags.iter().map(|(key, text)| {
            let mut value = Vec::new();
            if let Err(error) = text.render(&user.scope(), &mut value) {
                rendered = Err(error);
            }
            (key.to_string(), String::from_utf8_lossy(&value).into_owned())
        });
        let tags: Vec<(String, String)> = tags.collect();
        let MetricKey { kind, scenario, name, .. } = &self.key;
        let own = (!self.tags.is_empty()).then(|| MetricKey::new(*kind, scenario, name, tags));
        let value = rendered.and(value).map(Some);
        let Some(value) = user.or_log(value, &self.key.name, None) else { return None };
        let number = match (&value, self.key.kind) {
            (Value::Int(number), _) => Some(*number as f64),
            (Value::Float(number), _) => Some(*number),
            (Value::Bool(is), MetricKind::Rate) => Some(f64::from(u8::from(*is))),
            // What was extracted from a text is a text.
            (Value::Text(text), _) => text.trim().parse().ok(),
            _ => None,
        };
        let key = own.as_ref().unwrap_or(&self.key);
        let recorded =
            number.is_some_and(|number| user.worker.recorder.metric(key, number, now).is_ok());
        if !recorded {
            let recorder = &user.worker.recorder;
            recorder.count(|counters| counters.warnings += 1);
            let (kind, name) = (key.kind.label(), &key.name);
            recorder.log(&format!("metric {name}: a {kind} cannot take the value `{value}`"));
        }
        None
    }
}
