//! Steps to operations: a scenario laid flat, with jumps. How each kind of step is laid out stands with it ([`Lay`]).

use std::collections::HashMap;

use squall_plan::model::Step;

use super::compiler::Compiler;
use super::op::{FlowOp, GroupOp, Op, Pc, Register, WaitOp};

/// What is laid out as operations.
pub(super) trait Lay {
    fn lay<'p>(&'p self, flow: &mut Lowering<'_, 'p>);
}

/// Lays one list of steps flat.
pub(super) struct Lowering<'c, 'p> {
    pub compiler: &'c mut Compiler<'p>,
    pub ops: Vec<Op>,
    registers: Register,
    /// What is around the step at hand in the same flow.
    around: Around,
    /// The clocks of this scenario's users.
    pub clocks: HashMap<String, Register>,
}

/// What is around a step in its flow.
#[derive(Default)]
pub(super) struct Around {
    pub groups: usize,
    pub sections: usize,
    loops: Vec<Loop>,
}

/// A loop while what is in it is laid out.
struct Loop {
    /// Its first operation, which decides on each pass.
    head: Pc,
    groups: usize,
    /// Critical sections around it.
    sections: usize,
    /// Jumps to behind it.
    exits: Vec<usize>,
}

impl<'c, 'p> Lowering<'c, 'p> {
    pub fn new(compiler: &'c mut Compiler<'p>) -> Self {
        let (ops, around, clocks) = (Vec::new(), Around::default(), HashMap::new());
        Lowering { compiler, ops, registers: 0, around, clocks }
    }

    /// How many registers the operations use so far.
    pub fn registers(&self) -> Register {
        self.registers
    }

    pub fn steps(&mut self, steps: &'p [Step]) {
        for (index, step) in steps.iter().enumerate() {
            self.within(index + 1, |flow| flow.step(step));
        }
    }

    /// Lays out what stands at a place within the step at hand.
    pub fn within(&mut self, place: impl std::fmt::Display, lay: impl FnOnce(&mut Self)) {
        let outer = self.compiler.step.len();
        if outer > 0 {
            self.compiler.step.push('.');
        }
        self.compiler.step.push_str(&place.to_string());
        lay(self);
        self.compiler.step.truncate(outer);
    }

    pub fn step(&mut self, step: &'p Step) {
        let before = self.compiler.reported();
        step.lay(self);
        self.compiler.place(before, step.span);
    }

    pub fn push(&mut self, op: impl Into<Op>) {
        self.ops.push(op.into());
    }

    /// Adds what a step is compiled to; nothing after an error was noted.
    pub fn op<O: Into<Op>>(&mut self, compile: impl FnOnce(&mut Compiler<'p>) -> Option<O>) {
        if let Some(op) = compile(self.compiler) {
            self.push(op);
        }
    }

    /// Lays out what is in a group.
    pub fn in_group(&mut self, steps: &'p [Step]) {
        self.around.groups += 1;
        self.steps(steps);
        self.around.groups -= 1;
    }

    /// Lays out what is in a critical section.
    pub fn in_section(&mut self, steps: &'p [Step]) {
        self.around.sections += 1;
        self.steps(steps);
        self.around.sections -= 1;
    }

    /// Lays out a flow of its own: it cannot end what is around it.
    pub fn apart(&mut self, lay: impl FnOnce(&mut Self)) {
        let around = std::mem::take(&mut self.around);
        lay(self);
        self.around = around;
    }

    /// The end of a pass of the innermost loop, or of all its passes. Gives whether there is one.
    pub fn leave_loop(&mut self, is_pass: bool) -> bool {
        let Some(Loop { head, groups, sections, .. }) = self.around.loops.last() else {
            return false;
        };
        let head = *head;
        let (left, free) = (self.around.groups - groups, self.around.sections - sections);
        self.ops.extend((0..left).map(|_| Op::from(GroupOp::Leave { early: true })));
        self.ops.extend((0..free).map(|_| Op::from(WaitOp::LeaveSection)));
        if is_pass {
            self.push(FlowOp::Jump(head));
            return true;
        }
        let exit = self.hole();
        self.around.loops.last_mut().into_iter().for_each(|innermost| innermost.exits.push(exit));
        true
    }

    /// Lays out alternatives one after the other, each with a jump behind the last.
    pub fn branches(&mut self, branches: impl Iterator<Item = &'p [Step]>) -> Box<[Pc]> {
        let mut targets = Vec::new();
        let mut jumps = Vec::new();
        for (index, steps) in branches.enumerate() {
            targets.push(self.here());
            self.within(index + 1, |flow| flow.steps(steps));
            jumps.push(self.hole());
        }
        let end = self.here();
        for jump in jumps {
            self.ops[jump] = FlowOp::Jump(end).into();
        }
        targets.into_boxed_slice()
    }

    /// A loop: `head` is given the place behind it, and decides on each pass.
    pub fn looped(&mut self, steps: &'p [Step], head: impl FnOnce(Pc) -> FlowOp) {
        let start = self.hole();
        let Around { groups, sections, .. } = self.around;
        self.around.loops.push(Loop { head: start as Pc, groups, sections, exits: Vec::new() });
        self.steps(steps);
        self.push(FlowOp::Jump(start as Pc));
        self.ops[start] = head(self.here()).into();
        let exits = self.around.loops.pop().map(|done| done.exits);
        let end = self.here();
        exits.into_iter().flatten().for_each(|exit| self.ops[exit] = FlowOp::Jump(end).into());
    }

    /// A loop of which the head has an error: what is in it is looked at all the same.
    pub fn looped_without_head(&mut self, steps: &'p [Step]) {
        self.looped(steps, FlowOp::Jump);
    }

    /// Keeps a place for an operation that is known later.
    pub fn hole(&mut self) -> usize {
        self.push(FlowOp::Jump(0));
        self.ops.len() - 1
    }

    pub fn here(&self) -> Pc {
        self.ops.len() as Pc
    }

    pub fn register(&mut self) -> Register {
        self.registers += 1;
        self.registers - 1
    }
}
