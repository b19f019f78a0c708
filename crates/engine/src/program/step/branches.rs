//! Steps that are done in some cases or in some order, laid out.

use squall_plan::model::{Choice, CountedBy, If, Passes, Step};

use crate::program::flow::Lowering;
use crate::program::op::{
    ChooseOp, JumpOp, OncePerUserOp, Op, PassCount, PassPart, PassesOp, Pc, RoundRobinOp,
    ShuffleOp, ShuffledOp, UnlessOp,
};

pub(super) fn on_condition<'p>(flow: &mut Lowering<'_, 'p>, own: &'p If) {
    let condition = flow.compiler.condition(&own.condition);
    let branch = flow.hole();
    flow.within("then", |flow| flow.steps(&own.then));
    let Some(condition) = condition else {
        return flow.within("else", |flow| flow.steps(&own.otherwise));
    };
    let over = (!own.otherwise.is_empty()).then(|| flow.hole());
    flow.ops[branch] = Op::Unless(UnlessOp { condition, to: flow.here() });
    if let Some(over) = over {
        flow.within("else", |flow| flow.steps(&own.otherwise));
        flow.ops[over] = Op::Jump(JumpOp(flow.here()));
    }
}

pub(super) fn choose<'p>(flow: &mut Lowering<'_, 'p>, choices: &'p [Choice]) {
    let total: f64 = choices.iter().map(|choice| choice.weight).sum();
    let mut sum = 0.0;
    let cumulative = choices
        .iter()
        .map(|choice| {
            sum += choice.weight / total;
            sum
        })
        .collect();
    let head = flow.hole();
    let targets = flow.branches(choices.iter().map(|choice| choice.steps.as_slice()));
    flow.ops[head] = Op::Choose(ChooseOp { cumulative, targets });
}

pub(super) fn round_robin<'p>(flow: &mut Lowering<'_, 'p>, branches: &'p [Vec<Step>]) {
    let turn = flow.register();
    let head = flow.hole();
    let targets = flow.branches(branches.iter().map(Vec::as_slice));
    flow.ops[head] = Op::RoundRobin(RoundRobinOp { turn, targets });
}

pub(super) fn once_per_user<'p>(flow: &mut Lowering<'_, 'p>, steps: &'p [Step]) {
    let head = flow.hole();
    flow.steps(steps);
    flow.ops[head] = Op::OncePerUser(OncePerUserOp { otherwise: flow.here() });
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
    flow.ops[head] = Op::Passes(Box::new(PassesOp { count, part, otherwise }));
}

pub(super) fn shuffle<'p>(flow: &mut Lowering<'_, 'p>, branches: &'p [Vec<Step>]) {
    let (order, turn) = (flow.register(), flow.register());
    flow.push(Op::Shuffle(ShuffleOp { order, turn }));
    let head = flow.hole();
    let mut targets = Vec::new();
    for (index, steps) in branches.iter().enumerate() {
        targets.push(flow.here());
        flow.within(index + 1, |flow| flow.steps(steps));
        flow.push(Op::Jump(JumpOp(head as Pc)));
    }
    let (targets, end) = (targets.into(), flow.here());
    flow.ops[head] = Op::Shuffled(ShuffledOp { order, turn, targets, end });
}
