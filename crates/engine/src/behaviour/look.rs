//! A text that a user looks at as at a response: nothing is sent and nothing is waited for.

use std::cell::OnceCell;

use squall_extract::{Documents, Limits};
use squall_plan::template::BoundPart;
use squall_plan::value::Value;

use super::stretch::Stretch;
use crate::long_body::FoundAhead;
use crate::post::{self, AssertionResult, OnTheWay};
use crate::program::LookOp;
use crate::sample;
use crate::scope::Reply;

impl Stretch<'_, '_> {
    /// Extracts and checks look at a text. What it comes to is as what a request comes to.
    pub(super) fn look(&mut self, op: &LookOp, now: u64) {
        let mut rendered = Vec::new();
        let text = match op.text.parts() {
            [BoundPart::Text(text)] => text.as_bytes(),
            _ => {
                let result = op.text.render(&self.scope(), &mut rendered);
                self.or_log(result, "look", ());
                &rendered
            }
        };
        let status = op.status.eval(&self.scope());
        let status = match self.or_log(status, op.status.source(), Value::Null) {
            Value::Int(status) => status,
            Value::Float(status) => status as i64,
            _ => 0,
        };
        let since = self.strand.groups.last().map_or(now, |group| group.since);
        let documents = Documents::new(text, Limits::default());
        let reply = Reply {
            code: status,
            body_bytes: text.len() as u64,
            duration_ms: now.saturating_sub(since) as f64 / 1e6,
            captured: "",
            response: None,
            documents: &documents,
            sent: None,
            jar: 0,
            head: OnceCell::new(),
        };
        let mut result = AssertionResult::default();
        let (ahead, before) = (FoundAhead::new(), OnTheWay::new());
        let (program, core, worker) = (self.program, self.core, self.worker);
        post::process(program, core, &reply, &op.post, (ahead, before), &mut result, |seen| {
            sample::note(worker, &seen);
        });
        if result.error.is_some() {
            let name = &program.scenarios[core.scenario()].name;
            worker.recorder.log(format!("scenario {name}: look: {}", result.detail));
        }
        worker.judge(core, self.strand, result.error.is_some());
    }
}
