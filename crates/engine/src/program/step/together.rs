//! Flows at the same time, and users that wait for each other, laid out.

use squall_plan::model::{CriticalSection, Parallel, Rendezvous};
use squall_plan::span::Span;

use crate::profile::nanos;
use crate::program::compiler::Section;
use crate::program::flow::Lowering;
use crate::program::op::{Branch, EnterSectionOp, LeaveSectionOp, Op, ParallelOp, RendezvousOp};

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
    flow.ops[head] = Op::Parallel(Box::new(ParallelOp {
        limit: parallel.limit.max(1) as usize,
        branches: branches.into(),
        end: flow.here(),
    }));
}

pub(super) fn critical_section<'p>(flow: &mut Lowering<'_, 'p>, section: &'p CriticalSection) {
    let Some(name) = flow.compiler.template(&section.name) else {
        return flow.steps(&section.steps);
    };
    flow.push(Op::EnterSection(Box::new(EnterSectionOp(name))));
    flow.in_section(&section.steps);
    flow.push(Op::LeaveSection(LeaveSectionOp));
}

pub(super) fn rendezvous<'p>(flow: &mut Lowering<'_, 'p>, rendezvous: &'p Rendezvous, span: Span) {
    let compiler = &mut *flow.compiler;
    // A name that no plan can give: a place of its own.
    let own = format!("{} step {}", compiler.scenario, compiler.step);
    let name = rendezvous.name.clone().unwrap_or(own);
    let new = (compiler.places.len(), rendezvous);
    let (place, first) = *compiler.places.entry(name.clone()).or_insert(new);
    if first != rendezvous {
        let message = format!("`{name}` waits for other users elsewhere in the plan");
        let help = "steps with one name have the same `users` and `timeout`";
        compiler.error(span, message, help);
    }
    let alone = compiler.options.section != Section::Load;
    flow.push(Op::Rendezvous(Box::new(RendezvousOp {
        place,
        users: if alone { 1 } else { rendezvous.users },
        timeout: rendezvous.timeout.map(nanos),
    })));
}
