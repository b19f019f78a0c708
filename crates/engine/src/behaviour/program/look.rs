//! A text that a user looks at as at a response: nothing is sent and nothing is waited for.

use std::sync::Arc;

use squall_extract::{Documents, Limits};
use squall_metrics::ErrorKind;
use squall_plan::template::{BoundPart, BoundTemplate};
use squall_plan::value::Value;

use super::interpreter::{Interpreter, Run};
use crate::behaviour::next::Next;
use crate::found::FoundAhead;
use crate::post::{self, AssertionResult, OnTheWay};
use crate::program::LookOp;
use crate::sample;
use crate::scope::{Reply, Said};
use crate::trace::{StatedResponse, Trace};
use crate::user::Cursor;

/// Extracts and checks look at a text. What it comes to is as what a request comes to.
impl Run for LookOp {
    fn run<'p>(&'p self, user: &mut Interpreter<'_, 'p>, now: u64) -> Option<Next<'p, Cursor>> {
        let mut rooms = [Vec::new(), Vec::new(), Vec::new()];
        let [in_text, in_reason, in_sent] = &mut rooms;
        let text = user.said(&self.text, in_text);
        let reason = self.reason.as_ref().map_or(&b"OK"[..], |own| user.said(own, in_reason));
        let reason = String::from_utf8_lossy(reason);
        let sent = self.sent.as_ref().map_or(&[][..], |own| user.said(own, in_sent));
        let status = self.status.eval(&user.scope());
        let status = user.or_log(status, self.status.source(), Value::Null);
        let status = match status {
            Value::Text(text) => of_text(text),
            Value::Int(_) => status,
            Value::Float(status) => Value::Int(status as i64),
            _ => Value::Int(0),
        };
        let said = Said { status: &status, reason: &reason, sent };
        let since = user.strand.group_since().unwrap_or(now);
        let documents = Documents::new(text, Limits::default());
        let reply = Reply {
            body_bytes: text.len() as u64,
            duration_ms: now.saturating_sub(since) as f64 / 1e6,
            said: Some(&said),
            ..Reply::of(&documents)
        };
        let mut result = AssertionResult::default();
        let (ahead, before) = (FoundAhead::new(), OnTheWay::new());
        let (program, core, worker) = (user.program, user.core, user.worker);
        post::process(program, core, &reply, &self.post, (ahead, before), &mut result, |seen| {
            sample::note(worker, &seen);
        });
        match result.error {
            None => {}
            // It was counted as a check.
            Some(ErrorKind::Check) => user.log_failure(&format!("look: {}", result.detail)),
            // Nothing else counts what a look could not give.
            Some(_) => user.fail_expression(&format!("look: {}", result.detail)),
        }
        worker.judge(core, user.strand, result.error.is_some());
        if worker.trace.as_ref().and_then(Trace::group).is_some() {
            let (status, reason) = (said.status.to_string(), said.reason.to_owned());
            let failure = if result.error.is_some() { result.detail } else { String::new() };
            let bytes = text.len() as u64;
            user.strand.has_looked(StatedResponse { status, reason, bytes, failure });
        }
        None
    }
}

impl Interpreter<'_, '_> {
    /// What a template gives, as far as it got.
    fn said<'t>(&self, template: &'t BoundTemplate, room: &'t mut Vec<u8>) -> &'t [u8] {
        if let [BoundPart::Text(text)] = template.parts() {
            return text.as_bytes();
        }
        let result = template.render(&self.scope(), room);
        self.or_log(result, "look", ());
        room
    }
}

/// A status that a text says: the number, if it is written as numbers are.
fn of_text(text: Arc<str>) -> Value {
    match text.parse::<i64>() {
        Ok(number) if *number.to_string() == *text => Value::Int(number),
        _ => Value::Text(text),
    }
}
