//! Where groups begin and end.

use super::interpreter::{Interpreter, Run};
use crate::behaviour::next::Next;
use crate::parts::names;
use crate::program::{GroupName, GroupOp};
use crate::user::{Cursor, OpenGroup};

impl Run for GroupOp {
    fn run<'p>(&'p self, user: &mut Interpreter<'_, 'p>, now: u64) -> Option<Next<'p, Cursor>> {
        match self {
            GroupOp::Enter { name, without_thinks, is_one_sample: is_sample } => {
                let is_sample = *is_sample;
                let next = || user.worker.trace.as_ref()?.next_group();
                let group = OpenGroup {
                    name: user.group_name(name),
                    since: now,
                    failed: false,
                    thought_before: without_thinks.then_some(user.strand.thought),
                    tally_before: user.strand.tally(),
                    is_sample,
                    one_sample: is_sample.then(next).flatten(),
                };
                user.strand.groups.push(group);
                user.strand.take_looked();
            }
            GroupOp::Leave { early } => {
                let group = user.strand.pop_group()?;
                user.worker.end_group(user.core, user.strand, (&group, *early), now);
                // It is what was sampled last, and failed if a part of it did.
                if group.is_sample {
                    user.core.last_ok.set(!group.failed);
                }
            }
        }
        None
    }
}

impl Interpreter<'_, '_> {
    fn group_name(&self, name: &GroupName) -> u32 {
        match name {
            GroupName::Known(name) => *name,
            GroupName::Made(template, place) => {
                let mut text = Vec::new();
                let made = template.render(&self.scope(), &mut text);
                self.or_log(made, "the name of a group", ());
                self.worker.recorder.name(*place, &names::limited(&String::from_utf8_lossy(&text)))
            }
        }
    }
}
