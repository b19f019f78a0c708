//! What a user changes and notes: variables, rows of data, cookies, caches, logs, metrics, files.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

use squall_metrics::{MetricKey, MetricKind};
use squall_plan::expr::EvalError;
use squall_plan::template::BoundTemplate;
use squall_plan::value::Value;

use super::interpreter::{Interpreter, Run};
use crate::behaviour::next::Next;
use crate::program::{DataOp, MetricOp};
use crate::session;
use crate::user::Cursor;

impl Run for DataOp {
    fn run<'p>(&'p self, user: &mut Interpreter<'_, 'p>, now: u64) -> Option<Next<'p, Cursor>> {
        match self {
            DataOp::Set { slot, value } => {
                let value = value.value(&user.scope());
                // Without a value rather than with an old one, which nobody would notice.
                let value = user.or_log(value.map(Some), user.program.variable_name(*slot), None);
                user.set(*slot, value);
            }
            // A user without one leaves.
            DataOp::NextRow(feed) => {
                let taken = user.worker.rows.take_one(user.program, user.core, *feed);
                let no_row = taken.err()?;
                user.worker.note_no_row(no_row);
                return Some(Next::Gone);
            }
            DataOp::ClearCookies(jar) => user.core.clear_cookies(*jar),
            DataOp::ClearCache(cache) => user.core.clear_cache(*cache),
            DataOp::SetCookie(own) => {
                let set = session::set_cookie(user.program, user.core, own);
                user.or_log(set, "set_cookie", ());
            }
            DataOp::Log(text) => user.log(text),
            DataOp::Metric(own) => user.record(own, now),
            DataOp::Write { file, text, append } => {
                let mut bytes = Vec::new();
                let done = text.render(&user.scope(), &mut bytes).and_then(|()| {
                    let failed =
                        |error: io::Error| EvalError::new(format!("`{}`: {error}", file.display()));
                    write(file, *append, &bytes).map_err(failed)
                });
                user.or_log(done, "write", ());
            }
        }
        None
    }
}

impl Interpreter<'_, '_> {
    fn log(&self, text: &BoundTemplate) {
        let mut line = Vec::new();
        let shown = text.show(&self.scope(), &mut line);
        let is_whole = self.or_log(shown, "log", true);
        let line = String::from_utf8_lossy(&line);
        if is_whole {
            self.worker.recorder.log(&line);
        } else {
            // It says which part of it could not be evaluated.
            self.count_failed_expression();
            self.worker.recorder.log_failure(&line);
        }
    }

    /// Records a value of a metric of the plan's own. One that cannot be evaluated, or that the metric cannot take, is
    /// left out, counted as a warning and logged.
    fn record(&self, op: &MetricOp, now: u64) {
        let value = op.value.eval(&self.scope());
        let mut rendered = Ok(());
        let tags = op.tags.iter().map(|(key, text)| {
            let mut value = Vec::new();
            if let Err(error) = text.render(&self.scope(), &mut value) {
                rendered = Err(error);
            }
            (key.to_string(), String::from_utf8_lossy(&value).into_owned())
        });
        let tags: Vec<(String, String)> = tags.collect();
        let MetricKey { kind, scenario, name, .. } = &op.key;
        let own = (!op.tags.is_empty()).then(|| MetricKey::new(*kind, scenario, name, tags));
        let value = rendered.and(value).map(Some);
        let Some(value) = self.or_log(value, &op.key.name, None) else { return };
        let number = match (&value, op.key.kind) {
            (Value::Int(number), _) => Some(*number as f64),
            (Value::Float(number), _) => Some(*number),
            (Value::Bool(is), MetricKind::Rate) => Some(f64::from(u8::from(*is))),
            // What was extracted from a text is a text.
            (Value::Text(text), _) => text.trim().parse().ok(),
            _ => None,
        };
        let key = own.as_ref().unwrap_or(&op.key);
        let recorded =
            number.is_some_and(|number| self.worker.recorder.metric(key, number, now).is_ok());
        if !recorded {
            let recorder = &self.worker.recorder;
            recorder.count(|counters| counters.warnings += 1);
            let (kind, name) = (key.kind.label(), &key.name);
            recorder.log(&format!("metric {name}: a {kind} cannot take the value `{value}`"));
        }
    }
}

/// Writes a text in one go, so that what several users add to a file does not mix. The worker waits: what plans write
/// is short.
fn write(file: &Path, append: bool, text: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    match append {
        true => options.append(true),
        false => options.write(true).truncate(true),
    };
    options.create(true).open(file)?.write_all(text)
}
