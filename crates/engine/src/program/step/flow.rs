//! Steps that decide where a user goes on, laid out: loops, alternatives, flows at the same time, ends.

use squall_plan::model::{
    Choice, CountedBy, ForEach, If, Parallel, Passes, Repeat, Step, StopScope, While,
};
use squall_plan::span::Span;

use crate::program::flow::Lowering;
use crate::program::op::{Branch, FlowOp, PassCount, PassPart, Pc};

pub(super) fn repeat<'p>(flow: &mut Lowering<'_, 'p>, repeat: &'p Repeat) {
    let times = flow.compiler.times(&repeat.times);
    let variable = repeat.counter.as_deref().map(|name| flow.compiler.slot(name));
    let Some(times) = times else { return flow.looped_without_head(&repeat.steps) };
    let (counter, limit) = (flow.register(), flow.register());
    flow.push(FlowOp::Repeat { times, counter, limit });
    flow.looped(&repeat.steps, |end| FlowOp::Pass { counter, limit, variable, end });
}

pub(super) fn while_it_holds<'p>(flow: &mut Lowering<'_, 'p>, own: &'p While) {
    let Some(condition) = flow.compiler.condition(&own.condition) else {
        return flow.looped_without_head(&own.steps);
    };
    flow.looped(&own.steps, |to| FlowOp::Unless { condition, to });
}

pub(super) fn for_each<'p>(flow: &mut Lowering<'_, 'p>, own: &'p ForEach) {
    let (item, list) = &own.item_of;
    let of = flow.compiler.list(list);
    let item = flow.compiler.slot(item);
    let Some(of) = of else { return flow.looped_without_head(&own.steps) };
    let index = flow.register();
    let list = flow.compiler.hidden_slot();
    flow.push(FlowOp::Each { of, list, index });
    flow.looped(&own.steps, |end| FlowOp::Element { list, index, item, end });
}

pub(super) fn on_condition<'p>(flow: &mut Lowering<'_, 'p>, own: &'p If) {
    let condition = flow.compiler.condition(&own.condition);
    let branch = flow.hole();
    flow.within("then", |flow| flow.steps(&own.then));
    let Some(condition) = condition else {
        return flow.within("else", |flow| flow.steps(&own.otherwise));
    };
    let over = (!own.otherwise.is_empty()).then(|| flow.hole());
    flow.ops[branch] = FlowOp::Unless { condition, to: flow.here() }.into();
    if let Some(over) = over {
        flow.within("else", |flow| flow.steps(&own.otherwise));
        flow.ops[over] = FlowOp::Jump(flow.here()).into();
    }
}

pub(super) fn choose<'p>(flow: &mut Lowering<'_, 'p>, choices: &'p [Choice]) {
    let total: f64 = choices.iter().map(|choice| choice.weight).sum();
    let mut sum = 0.0;
    let shares = choices.iter().map(|choice| {
        sum += choice.weight / total;
        sum
    });
    let cumulative = shares.collect();
    let head = flow.hole();
    let targets = flow.branches(choices.iter().map(|choice| choice.steps.as_slice()));
    flow.ops[head] = FlowOp::Choose { cumulative, targets }.into();
}

pub(super) fn round_robin<'p>(flow: &mut Lowering<'_, 'p>, branches: &'p [Vec<Step>]) {
    let turn = flow.register();
    let head = flow.hole();
    let targets = flow.branches(branches.iter().map(Vec::as_slice));
    flow.ops[head] = FlowOp::RoundRobin { turn, targets }.into();
}

pub(super) fn once_per_user<'p>(flow: &mut Lowering<'_, 'p>, steps: &'p [Step]) {
    let head = flow.hole();
    flow.steps(steps);
    flow.ops[head] = FlowOp::OncePerUser { otherwise: flow.here() }.into();
}

pub(super) fn passes<'p>(flow: &mut Lowering<'_, 'p>, passes: &'p Passes) {
    let part = match (&passes.first, &passes.percent) {
        (Some(first), _) => flow.compiler.formula(first).map(PassPart::First),
        (None, Some(percent)) => flow.compiler.formula(percent).map(PassPart::Percent),
        // The reader has seen to it that there is one of them.
        (None, None) => None,
    };
    let Some(part) = part else { return flow.steps(&passes.steps) };
    let count = match passes.of {
        CountedBy::User => PassCount::User(flow.register()),
        CountedBy::Scenario => {
            flow.compiler.counts += 1;
            PassCount::Together(flow.compiler.counts - 1)
        }
    };
    let head = flow.hole();
    flow.steps(&passes.steps);
    let otherwise = flow.here();
    flow.ops[head] = FlowOp::Passes { count, part, otherwise }.into();
}

pub(super) fn shuffle<'p>(flow: &mut Lowering<'_, 'p>, branches: &'p [Vec<Step>]) {
    let (order, turn) = (flow.register(), flow.register());
    flow.push(FlowOp::Shuffle { order, turn });
    let head = flow.hole();
    let mut targets = Vec::new();
    for (index, steps) in branches.iter().enumerate() {
        targets.push(flow.here());
        flow.within(index + 1, |flow| flow.steps(steps));
        flow.push(FlowOp::Jump(head as Pc));
    }
    let (targets, end) = (targets.into(), flow.here());
    flow.ops[head] = FlowOp::Shuffled { order, turn, targets, end }.into();
}

pub(super) fn parallel<'p>(flow: &mut Lowering<'_, 'p>, parallel: &'p Parallel) {
    let head = flow.hole();
    let mut branches = Vec::new();
    flow.apart(|flow| {
        for (index, step) in parallel.steps.iter().enumerate() {
            let (from, registers) = (flow.here(), flow.registers());
            flow.within(index + 1, |flow| flow.step(step));
            let ops = from..flow.here();
            branches.push(Branch { ops, registers: registers..flow.registers() });
        }
    });
    let (limit, branches) = (parallel.limit.max(1) as usize, branches.into());
    flow.ops[head] = FlowOp::Parallel { limit, branches, end: flow.here() }.into();
}

pub(super) fn stop(flow: &mut Lowering<'_, '_>, scope: StopScope, span: Span) {
    let is_pass = scope == StopScope::Pass;
    if !is_pass && scope != StopScope::Loop {
        flow.push(FlowOp::Stop(scope));
    } else if !flow.leave_loop(is_pass) {
        let help = "`stop: iteration` and `stop: user` end what is around all loops";
        flow.compiler.error(span, "there is no loop around this step".to_owned(), help);
    }
}
