//! Loops, laid out.

use squall_plan::model::{ForEach, Repeat, While};

use crate::program::flow::Lowering;
use crate::program::op::{EachOp, ElementOp, Op, PassOp, RepeatOp, UnlessOp};

pub(super) fn repeat<'p>(flow: &mut Lowering<'_, 'p>, repeat: &'p Repeat) {
    let times = flow.compiler.times(&repeat.times);
    let variable = repeat.counter.as_deref().map(|name| flow.compiler.slot(name));
    let Some(times) = times else { return flow.looped_without_head(&repeat.steps) };
    let (counter, limit) = (flow.register(), flow.register());
    flow.push(Op::Repeat(RepeatOp { times, counter, limit }));
    flow.looped(&repeat.steps, |end| Op::Pass(PassOp { counter, limit, variable, end }));
}

pub(super) fn while_it_holds<'p>(flow: &mut Lowering<'_, 'p>, own: &'p While) {
    let Some(condition) = flow.compiler.condition(&own.condition) else {
        return flow.looped_without_head(&own.steps);
    };
    flow.looped(&own.steps, |to| Op::Unless(UnlessOp { condition, to }));
}

pub(super) fn for_each<'p>(flow: &mut Lowering<'_, 'p>, own: &'p ForEach) {
    let (item, list) = &own.item_of;
    let of = flow.compiler.list(list);
    let item = flow.compiler.slot(item);
    let Some(of) = of else { return flow.looped_without_head(&own.steps) };
    let index = flow.register();
    let list = flow.compiler.hidden_slot();
    flow.push(Op::Each(EachOp { of, list, index }));
    flow.looped(&own.steps, |end| Op::Element(ElementOp { list, index, item, end }));
}
