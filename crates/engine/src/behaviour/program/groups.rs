//! Where groups begin and end.

use super::interpreter::{Interpreter, Run};
use crate::behaviour::next::Next;
use crate::parts::names;
use crate::program::{EnterOp, GroupName, LeaveOp};
use crate::user::{Cursor, OpenGroup};

impl Run for EnterOp {
    fn run<'p>(&'p self, user: &mut Interpreter<'_, 'p>, now: u64) -> Option<Next<'p, Cursor>> {
        let is_sample = self.is_one_sample;
        let one_sample = is_sample.then(|| user.worker.trace.as_ref()?.next_group()).flatten();
        let name = match &self.name {
            GroupName::Known(name) => *name,
            GroupName::Made(template, place) => {
                let mut text = Vec::new();
                let made = template.render(&user.scope(), &mut text);
                user.or_log(made, "the name of a group", ());
                let text = String::from_utf8_lossy(&text);
                user.worker.recorder.name(*place, &names::limited(&text))
            }
        };
        let thought_before = self.without_thinks.then_some(user.strand.thought);
        let tally_before = user.strand.tally();
        let since = now;
        let failed = false;
        user.strand.groups.push(OpenGroup {
            name,
            since,
            failed,
            thought_before,
            tally_before,
            is_sample,
            one_sample,
        });
        user.strand.take_looked();
        None
    }
}

impl Run for LeaveOp {
    fn run<'p>(&'p self, user: &mut Interpreter<'_, 'p>, now: u64) -> Option<Next<'p, Cursor>> {
        if let Some(group) = user.strand.pop_group() {
            user.worker.end_group(user.core, user.strand, (&group, self.early), now);
            // It is what was sampled last, and failed if a part of it did.
            if group.is_sample {
                user.core.last_ok.set(!group.failed);
            }
        }
        None
    }
}
