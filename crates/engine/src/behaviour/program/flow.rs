//! Where a program goes on: loops, alternatives, jumps, flows at the same time, and ends.

use std::time::Duration;

use squall_base::random::Random;
use squall_plan::model::StopScope;
use squall_plan::value::Value;

use super::interpreter::{Interpreter, Run};
use crate::behaviour::next::{Next, Task};
use crate::program::{FlowOp, PassCount, PassPart, Pc, Place, Register};
use crate::together;
use crate::user::Cursor;

impl Run for FlowOp {
    fn run<'p>(&'p self, user: &mut Interpreter<'_, 'p>, _: u64) -> Option<Next<'p, Cursor>> {
        match self {
            FlowOp::Stop(scope) => return user.stop(*scope),
            FlowOp::Parallel { limit, branches, end } => {
                let branches = branches.iter().map(|branch| user.cursor.branch(branch)).collect();
                user.cursor.pc = *end;
                return Some(Next::Go(Task::Join { branches, limit: *limit }));
            }
            // How often a loop runs is evaluated once, and its list is kept as it is now.
            FlowOp::Repeat { times, counter, limit } => {
                // Beyond the range of an integer the cast ends at its edge; what is no number is 0.
                *user.register(*limit) = user.amount(times) as u64;
                *user.register(*counter) = 0;
            }
            FlowOp::Each { of, list, index } => {
                let value = of.eval(&user.scope());
                let value = user.or_log(value.map(Some), of.source(), None);
                user.set(*list, value);
                *user.register(*index) = 0;
            }
            FlowOp::Shuffle { order, turn } => {
                *user.register(*order) = user.core.chance();
                *user.register(*turn) = 0;
            }
            jump => user.cursor.pc = user.target(jump).unwrap_or(user.cursor.pc),
        }
        None
    }
}

impl<'p> Interpreter<'_, 'p> {
    /// Where a jump leads to. `None`: to the next operation.
    fn target(&mut self, jump: &FlowOp) -> Option<Pc> {
        match jump {
            FlowOp::Jump(to) => Some(*to),
            FlowOp::Unless { condition, to } => {
                let holds = condition.test(&self.scope());
                (!self.or_log(holds, condition.source(), false)).then_some(*to)
            }
            FlowOp::Pass { counter, limit, variable, end } => {
                let pass = *self.register(*counter);
                if pass >= *self.register(*limit) {
                    return Some(*end);
                }
                *self.register(*counter) += 1;
                if let Some(slot) = variable {
                    self.set(*slot, Some(Value::Int(pass as i64)));
                }
                None
            }
            FlowOp::Element { list, index, item, end } => {
                let at = *self.register(*index) as usize;
                let Place::Variable(list) = Place::of(*list) else { return Some(*end) };
                let element = match self.core.variable(self.program, list) {
                    Some(Value::List(items)) => items.get(at).cloned(),
                    _ => None,
                };
                let Some(element) = element else { return Some(*end) };
                *self.register(*index) += 1;
                self.set(*item, Some(element));
                None
            }
            FlowOp::Choose { cumulative, targets } => {
                let at = self.core.chance() as f64 / u64::MAX as f64;
                let chosen = cumulative.iter().position(|share| at < *share);
                Some(targets[chosen.unwrap_or(targets.len() - 1)])
            }
            FlowOp::RoundRobin { turn, targets } => {
                let turn = self.count(*turn);
                Some(targets[turn as usize % targets.len()])
            }
            FlowOp::OncePerUser { otherwise } => {
                (self.core.iteration.get() > 0).then_some(*otherwise)
            }
            FlowOp::Passes { count, part, otherwise } => {
                let pass = match count {
                    PassCount::Together(count) => self.worker.together.pass(*count),
                    PassCount::User(register) => self.count(*register),
                };
                let is_in = match part {
                    PassPart::First(part) => (pass as f64) < self.amount(part),
                    PassPart::Percent(part) => together::is_in_percent(pass, self.amount(part)),
                };
                (!is_in).then_some(*otherwise)
            }
            FlowOp::Shuffled { order, turn, targets, end } => {
                let (order, place) = (*self.register(*order), self.count(*turn));
                shuffled(targets, order, place as usize).or(Some(*end))
            }
            // They are no jumps.
            FlowOp::Repeat { .. }
            | FlowOp::Each { .. }
            | FlowOp::Shuffle { .. }
            | FlowOp::Parallel { .. }
            | FlowOp::Stop(_) => None,
        }
    }

    /// What is in a register, to which 1 is added.
    fn count(&mut self, register: Register) -> u64 {
        let number = self.register(register);
        *number += 1;
        *number - 1
    }

    fn stop(&mut self, scope: StopScope) -> Option<Next<'p, Cursor>> {
        match scope {
            StopScope::Iteration => {
                self.strand.end_iteration(self.core);
                return None;
            }
            // Compilation made jumps of them.
            StopScope::Pass | StopScope::Loop => return None,
            StopScope::User => {}
            StopScope::Run => self.worker.stop_run(self.program.graceful_stop),
            StopScope::RunNow => self.worker.stop_run(Duration::ZERO),
        }
        Some(Next::Gone)
    }
}

/// The target at a place of an order of all, which follows from its number (Fisher and Yates). `None`: there is no
/// such place.
fn shuffled(targets: &[Pc], order: u64, place: usize) -> Option<Pc> {
    let mut random = Random::new(order);
    let mut places: Vec<Pc> = targets.to_vec();
    for index in 0..=place {
        let left = places.len().checked_sub(index).filter(|left| *left > 0)?;
        places.swap(index, index + random.below(left));
    }
    places.get(place).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_order_has_all_once() {
        let mut firsts = std::collections::BTreeSet::new();
        for order in 0..100 {
            let mut all: Vec<Pc> =
                (0..4).filter_map(|place| shuffled(&[7, 8, 9, 10], order, place)).collect();
            firsts.insert(all[0]);
            all.sort_unstable();
            assert_eq!(all, [7, 8, 9, 10]);
            assert_eq!(shuffled(&[7, 8, 9, 10], order, 4), None);
        }
        assert_eq!(firsts.len(), 4, "any may be the first");
        assert_eq!(shuffled(&[], 1, 0), None);
    }
}
