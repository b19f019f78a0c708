//! A group, laid out.

use squall_plan::model::{Group, GroupSamples, ThinkTime};

use crate::program::flow::Lowering;
use crate::program::op::{GroupName, GroupOp};

pub(super) fn lay<'p>(flow: &mut Lowering<'_, 'p>, group: &'p Group) {
    let around = flow.compiler.put_on(&group.tags);
    // What is in it is looked at even if the name is none.
    let name = flow.compiler.group_name(&group.name).unwrap_or_else(|| {
        flow.compiler.lacks_names = true;
        GroupName::Known(0)
    });
    let without_thinks = group.think_time == ThinkTime::Excluded;
    let is_one_sample = group.samples == GroupSamples::Parts;
    flow.push(GroupOp::Enter { name, without_thinks, is_one_sample });
    flow.compiler.groups.push(group.name.source().to_owned());
    flow.in_group(&group.steps);
    flow.compiler.groups.pop();
    flow.compiler.take_off(around);
    flow.push(GroupOp::Leave { early: false });
}
