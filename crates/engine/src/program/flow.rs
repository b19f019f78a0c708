//! Steps to operations: the shape of a scenario, its loops and branches, laid flat with jumps.

use std::collections::HashMap;

use squall_metrics::RowKind;
use squall_plan::model::{
    Choice, CountedBy, CriticalSection, ForEach, Group, GroupSamples, If, Pace, PacedBy, Passes,
    Rendezvous, Repeat, Step, StepKind, StopScope, ThinkTime, While,
};
use squall_plan::span::Span;

use super::compiler::{Compiler, Section};
use super::steps::{
    Branch, ExactOp, GroupName, Op, PaceClock, PaceOp, ParallelOp, PassCount, PassPart, PassesOp,
    Pc, Register, RendezvousOp,
};
use crate::profile::nanos;

/// Lays one list of steps flat.
pub(super) struct Lowering<'c, 'p> {
    pub compiler: &'c mut Compiler<'p>,
    pub ops: Vec<Op>,
    registers: Register,
    /// Groups around the step at hand.
    groups: usize,
    /// Critical sections around it.
    sections: usize,
    /// Loops around it in the same flow, the innermost last.
    loops: Vec<Loop>,
    /// The clocks of this scenario's users.
    clocks: HashMap<String, Register>,
}

/// A loop while what is in it is laid out.
struct Loop {
    /// Its first operation, which decides on each pass.
    head: Pc,
    /// Groups around it.
    groups: usize,
    /// Critical sections around it.
    sections: usize,
    /// Jumps to behind it.
    exits: Vec<usize>,
}

impl<'c, 'p> Lowering<'c, 'p> {
    pub fn new(compiler: &'c mut Compiler<'p>) -> Self {
        let (ops, loops) = (Vec::new(), Vec::new());
        Lowering {
            compiler,
            ops,
            registers: 0,
            groups: 0,
            sections: 0,
            loops,
            clocks: HashMap::new(),
        }
    }

    /// How many registers the operations use.
    pub fn registers(&self) -> usize {
        self.registers as usize
    }

    pub fn steps(&mut self, steps: &'p [Step]) {
        for (index, step) in steps.iter().enumerate() {
            self.within(index + 1, |flow| flow.step(step));
        }
    }

    /// Lays out what stands at a place within the step at hand.
    fn within(&mut self, place: impl std::fmt::Display, lay: impl FnOnce(&mut Self)) {
        let outer = self.compiler.step.len();
        if outer > 0 {
            self.compiler.step.push('.');
        }
        self.compiler.step.push_str(&place.to_string());
        lay(self);
        self.compiler.step.truncate(outer);
    }

    fn step(&mut self, step: &'p Step) {
        let before = self.compiler.reported();
        self.lay(step);
        self.compiler.place(before, step.span);
    }

    fn lay(&mut self, step: &'p Step) {
        match &step.kind {
            StepKind::Request(request) => {
                let around = self.compiler.put_on(&request.tags);
                match self.compiler.request(request) {
                    Some(op) => self.ops.push(Op::Request(Box::new(op))),
                    None => self.compiler.keep_request_name(request),
                }
                self.compiler.take_off(around);
            }
            StepKind::Exec(exec) => match self.compiler.exec(exec, step.span) {
                Some(op) => self.ops.push(Op::Exec(Box::new(op))),
                // One without a name of its own has that of its program by now.
                None if exec.name.is_none() => {}
                None => self.compiler.keep_name(RowKind::Program, exec.name.as_ref()),
            },
            StepKind::Tcp(tcp) => {
                let around = self.compiler.put_on(&tcp.tags);
                match self.compiler.tcp(tcp) {
                    Some(op) => self.ops.push(Op::Tcp(Box::new(op))),
                    None => self.compiler.keep_name(RowKind::Request, tcp.name.as_ref()),
                }
                self.compiler.take_off(around);
            }
            StepKind::Look(look) => {
                let op = self.compiler.look(look);
                self.ops.extend(op.map(|op| Op::Look(Box::new(op))));
            }
            StepKind::Write(write) => {
                let op = self.compiler.write(write);
                self.ops.extend(op.map(|op| Op::Write(Box::new(op))));
            }
            StepKind::Think(think) => self.ops.extend(self.compiler.think(think)),
            StepKind::Group(group) => {
                let Group { name, tags, think_time, samples, steps } = &**group;
                let around = self.compiler.put_on(tags);
                // What is in it is looked at even if the name is none.
                let row = self.compiler.group_name(name).unwrap_or_else(|| {
                    self.compiler.lacks_names = true;
                    GroupName::Known(0)
                });
                let without_thinks = *think_time == ThinkTime::Excluded;
                let is_one_sample = *samples == GroupSamples::Parts;
                self.ops.push(Op::Enter { name: row, without_thinks, is_one_sample });
                self.compiler.groups.push(name.source().to_owned());
                self.groups += 1;
                self.steps(steps);
                self.groups -= 1;
                self.compiler.groups.pop();
                self.compiler.take_off(around);
                self.ops.push(Op::Leave { early: false });
            }
            StepKind::Repeat(repeat) => {
                let Repeat { times, counter, steps } = &**repeat;
                let times = self.compiler.times(times);
                let variable = counter.as_deref().map(|name| self.compiler.slot(name));
                let Some(times) = times else { return self.looped(steps, Op::Jump) };
                let (counter, limit) = (self.register(), self.register());
                self.ops.push(Op::Repeat { times, counter, limit });
                self.looped(steps, |end| Op::Pass { counter, limit, variable, end });
            }
            StepKind::While(own) => {
                let While { condition, steps } = &**own;
                let Some(condition) = self.compiler.condition(condition) else {
                    return self.looped(steps, Op::Jump);
                };
                self.looped(steps, |to| Op::Unless { condition: condition.clone(), to });
            }
            StepKind::If(own) => {
                let If { condition, then, otherwise } = &**own;
                let condition = self.compiler.condition(condition);
                let branch = self.hole();
                self.within("then", |flow| flow.steps(then));
                let Some(condition) = condition else {
                    return self.within("else", |flow| flow.steps(otherwise));
                };
                if otherwise.is_empty() {
                    self.ops[branch] = Op::Unless { condition, to: self.here() };
                    return;
                }
                let over = self.hole();
                self.ops[branch] = Op::Unless { condition, to: self.here() };
                self.within("else", |flow| flow.steps(otherwise));
                self.ops[over] = Op::Jump(self.here());
            }
            StepKind::ForEach(own) => {
                let ForEach { item_of: (item, list), steps } = &**own;
                let of = self.compiler.list(list);
                let item = self.compiler.slot(item);
                let Some(of) = of else { return self.looped(steps, Op::Jump) };
                let index = self.register();
                let list = self.compiler.hidden_slot();
                self.ops.push(Op::Each { of, list, index });
                self.looped(steps, |end| Op::Element { list, index, item, end });
            }
            StepKind::Choose(choices) => self.choose(choices),
            StepKind::RoundRobin(branches) => {
                let turn = self.register();
                let head = self.hole();
                let targets = self.branches(branches.iter().map(|steps| steps.as_slice()));
                self.ops[head] = Op::RoundRobin { turn, targets };
            }
            StepKind::OncePerUser(steps) => {
                let head = self.hole();
                self.steps(steps);
                self.ops[head] = Op::OncePerUser { otherwise: self.here() };
            }
            StepKind::Passes(passes) => self.passes(passes),
            StepKind::Shuffle(branches) => self.shuffle(branches),
            StepKind::CriticalSection(section) => {
                let CriticalSection { name, steps } = &**section;
                let Some(name) = self.compiler.template(name) else { return self.steps(steps) };
                self.ops.push(Op::EnterSection(Box::new(name)));
                self.sections += 1;
                self.steps(steps);
                self.sections -= 1;
                self.ops.push(Op::LeaveSection);
            }
            StepKind::Pace(pace) => self.pace(pace, step.span),
            StepKind::Rendezvous(rendezvous) => self.rendezvous(rendezvous, step.span),
            StepKind::Parallel(own) => self.parallel(own.limit, &own.steps),
            StepKind::Set(values) => {
                for (name, value) in values {
                    if let Some(value) = self.compiler.json(value) {
                        let slot = self.compiler.slot(&name.value);
                        self.ops.push(Op::Set { slot, value });
                    }
                }
            }
            StepKind::NextRow(source) => {
                self.ops.extend(self.compiler.feed_of_step(source).map(Op::NextRow));
            }
            StepKind::ClearCookies(jar) => {
                let jar = jar.as_deref().map(|jar| self.compiler.stores.jar(Some(jar)));
                self.ops.push(Op::ClearCookies(jar));
            }
            StepKind::ClearCache(cache) => {
                let cache = cache.as_deref().map(|cache| self.compiler.stores.cache(Some(cache)));
                self.ops.push(Op::ClearCache(cache));
            }
            StepKind::SetCookie(cookie) => {
                if let Some(op) = self.compiler.cookie(cookie) {
                    self.ops.push(Op::SetCookie(Box::new(op)));
                }
            }
            StepKind::Log(text) => {
                if let Some(text) = self.compiler.template(text) {
                    self.ops.push(Op::Log(text));
                }
            }
            StepKind::Stop(scope @ (StopScope::Pass | StopScope::Loop)) => {
                self.leave_loop(*scope, step.span);
            }
            StepKind::Stop(scope) => self.ops.push(Op::Stop(*scope)),
            StepKind::Metric(metric) => match self.compiler.metric(metric) {
                Some(op) => self.ops.push(Op::Metric(Box::new(op))),
                None => self.compiler.lacks_names = true,
            },
        }
    }

    fn choose(&mut self, choices: &'p [Choice]) {
        let total: f64 = choices.iter().map(|choice| choice.weight).sum();
        let mut sum = 0.0;
        let cumulative = choices
            .iter()
            .map(|choice| {
                sum += choice.weight / total;
                sum
            })
            .collect();
        let head = self.hole();
        let targets = self.branches(choices.iter().map(|choice| choice.steps.as_slice()));
        self.ops[head] = Op::Choose { cumulative, targets };
    }

    /// The end of a pass, or of all passes, of the innermost loop.
    fn leave_loop(&mut self, scope: StopScope, span: Span) {
        let Some(Loop { head, groups, sections, .. }) = self.loops.last() else {
            let help = "`stop: iteration` and `stop: user` end what is around all loops";
            self.compiler.error(span, "there is no loop around this step".to_owned(), help);
            return;
        };
        let (head, left, free) = (*head, self.groups - groups, self.sections - sections);
        self.ops.extend((0..left).map(|_| Op::Leave { early: true }));
        self.ops.extend((0..free).map(|_| Op::LeaveSection));
        if scope == StopScope::Pass {
            self.ops.push(Op::Jump(head));
            return;
        }
        let exit = self.hole();
        self.loops.last_mut().into_iter().for_each(|innermost| innermost.exits.push(exit));
    }

    fn passes(&mut self, passes: &'p Passes) {
        let part = match (&passes.first, &passes.percent) {
            (Some(first), _) => self.compiler.formula(first).map(PassPart::First),
            (None, Some(percent)) => self.compiler.formula(percent).map(PassPart::Percent),
            // The reader has seen to it that there is one of them.
            (None, None) => None,
        };
        let Some(part) = part else { return self.steps(&passes.steps) };
        let count = match passes.of {
            CountedBy::User => PassCount::User(self.register()),
            CountedBy::Scenario => {
                self.compiler.counts += 1;
                PassCount::Together(self.compiler.counts - 1)
            }
        };
        let head = self.hole();
        self.steps(&passes.steps);
        let otherwise = self.here();
        self.ops[head] = Op::Passes(Box::new(PassesOp { count, part, otherwise }));
    }

    fn shuffle(&mut self, branches: &'p [Vec<Step>]) {
        let (order, turn) = (self.register(), self.register());
        self.ops.push(Op::Shuffle { order, turn });
        let head = self.hole();
        let mut targets = Vec::new();
        for (index, steps) in branches.iter().enumerate() {
            targets.push(self.here());
            self.within(index + 1, |flow| flow.steps(steps));
            self.ops.push(Op::Jump(head as Pc));
        }
        self.ops[head] = Op::Shuffled { order, turn, targets: targets.into(), end: self.here() };
    }

    fn rendezvous(&mut self, rendezvous: &'p Rendezvous, span: Span) {
        // A name that no plan can give: a place of its own.
        let own = format!("{} step {}", self.compiler.scenario, self.compiler.step);
        let name = rendezvous.name.clone().unwrap_or(own);
        let places = &mut self.compiler.places;
        let new = (places.len(), rendezvous);
        let (place, first) = *places.entry(name.clone()).or_insert(new);
        if first != rendezvous {
            let message = format!("`{name}` waits for other users elsewhere in the plan");
            let help = "steps with one name have the same `users` and `timeout`";
            self.compiler.error(span, message, help);
        }
        let alone = self.compiler.options.section != Section::Load;
        self.ops.push(Op::Rendezvous(Box::new(RendezvousOp {
            place,
            users: if alone { 1 } else { rendezvous.users },
            timeout: rendezvous.timeout.map(nanos),
        })));
    }

    fn pace(&mut self, pace: &'p Pace, span: Span) {
        let Some(rate) = self.compiler.formula(&pace.rate) else { return };
        let line_of = match pace.by {
            PacedBy::User => None,
            PacedBy::Scenario | PacedBy::Run => {
                self.compiler.counts_active = true;
                None
            }
            PacedBy::ScenarioInLine => Some(Some(self.compiler.scenario.clone())),
            PacedBy::RunInLine => Some(None),
        };
        let is_random = pace.exact_over.is_some_and(|over| !over.is_zero());
        if (is_random && line_of.is_none()) || (pace.batch > 1 && !is_random) {
            let message = "an exact number of passes is one of users in line".to_owned();
            let help = "`exact_over` needs a time above 0 and `by: scenario_in_line` or `by: run_in_line`; `batch` needs it";
            self.compiler.error(span, message, help);
        }
        let exact = pace.exact_over.filter(|_| is_random);
        let exact = exact.map(|over| ExactOp { over: nanos(over), batch: pace.batch.max(1) });
        // A name that no plan can give: a clock of its own.
        let own = format!("step {}", self.compiler.step);
        let name = pace.clock.clone().unwrap_or(own);
        let clock = match line_of {
            Some(scenario) => {
                let line = (scenario, name);
                PaceClock::Line(self.compiler.lines.number(line))
            }
            None => match self.clocks.get(&name) {
                Some(register) => PaceClock::User(*register),
                None => {
                    let register = self.register();
                    self.clocks.insert(name, register);
                    PaceClock::User(register)
                }
            },
        };
        self.ops.push(Op::Pace(Box::new(PaceOp { rate, by: pace.by, clock, exact })));
    }

    fn parallel(&mut self, limit: u32, steps: &'p [Step]) {
        // A branch is a flow of its own: it cannot end a loop around all of them.
        let loops = std::mem::take(&mut self.loops);
        let groups = std::mem::take(&mut self.groups);
        let sections = std::mem::take(&mut self.sections);
        let head = self.hole();
        let mut branches = Vec::new();
        for (index, step) in steps.iter().enumerate() {
            let (from, registers) = (self.here(), self.registers);
            self.within(index + 1, |flow| flow.step(step));
            let ops = from..self.here();
            branches.push(Branch { ops, registers: registers..self.registers });
        }
        (self.loops, self.groups, self.sections) = (loops, groups, sections);
        self.ops[head] = Op::Parallel(Box::new(ParallelOp {
            limit: limit.max(1) as usize,
            branches: branches.into(),
            end: self.here(),
        }));
    }

    /// Lays out alternatives one after the other, each with a jump behind the last.
    fn branches(&mut self, branches: impl Iterator<Item = &'p [Step]>) -> Box<[Pc]> {
        let mut targets = Vec::new();
        let mut jumps = Vec::new();
        for (index, steps) in branches.enumerate() {
            targets.push(self.here());
            self.within(index + 1, |flow| flow.steps(steps));
            jumps.push(self.hole());
        }
        let end = self.here();
        for jump in jumps {
            self.ops[jump] = Op::Jump(end);
        }
        targets.into_boxed_slice()
    }

    /// A loop: `head` is given the place behind it, and decides on each pass.
    fn looped(&mut self, steps: &'p [Step], head: impl FnOnce(Pc) -> Op) {
        let start = self.hole();
        let (groups, sections) = (self.groups, self.sections);
        self.loops.push(Loop { head: start as Pc, groups, sections, exits: Vec::new() });
        self.steps(steps);
        self.ops.push(Op::Jump(start as Pc));
        self.ops[start] = head(self.here());
        let exits = self.loops.pop().map(|done| done.exits);
        exits.into_iter().flatten().for_each(|exit| self.ops[exit] = Op::Jump(self.here()));
    }

    /// Keeps a place for an operation that is known later.
    fn hole(&mut self) -> usize {
        self.ops.push(Op::Jump(0));
        self.ops.len() - 1
    }

    fn here(&self) -> Pc {
        self.ops.len() as Pc
    }

    fn register(&mut self) -> Register {
        self.registers += 1;
        self.registers - 1
    }
}
