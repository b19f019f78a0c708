//! Where a program goes on: loops, conditions and jumps.

use squall_plan::value::Value;

use super::interpreter::{Interpreter, Run};
use crate::behaviour::next::Next;
use crate::program::{EachOp, ElementOp, JumpOp, PassOp, Place, RepeatOp, UnlessOp};
use crate::user::Cursor;

/// Begins a loop: how often it runs is evaluated once.
impl Run for RepeatOp {
    fn run<'p>(&'p self, user: &mut Interpreter<'_, 'p>, _: u64) -> Option<Next<'p, Cursor>> {
        // Beyond the range of an integer the cast ends at its edge; what is no number is 0.
        *user.register(self.limit) = user.amount(&self.times) as u64;
        *user.register(self.counter) = 0;
        None
    }
}

impl Run for PassOp {
    fn run<'p>(&'p self, user: &mut Interpreter<'_, 'p>, _: u64) -> Option<Next<'p, Cursor>> {
        let limit = *user.register(self.limit);
        let counter = user.register(self.counter);
        let pass = *counter;
        if pass >= limit {
            user.cursor.pc = self.end;
            return None;
        }
        *counter += 1;
        if let Some(slot) = self.variable {
            user.set(slot, Some(Value::Int(pass as i64)));
        }
        None
    }
}

/// Begins a loop over a list, which is kept as it is now.
impl Run for EachOp {
    fn run<'p>(&'p self, user: &mut Interpreter<'_, 'p>, _: u64) -> Option<Next<'p, Cursor>> {
        let value = self.of.eval(&user.scope());
        let value = user.or_log(value.map(Some), self.of.source(), None);
        user.set(self.list, value);
        *user.register(self.index) = 0;
        None
    }
}

/// The next element of a list into a variable, or to the end of the loop.
impl Run for ElementOp {
    fn run<'p>(&'p self, user: &mut Interpreter<'_, 'p>, _: u64) -> Option<Next<'p, Cursor>> {
        let at = *user.register(self.index) as usize;
        let element = match Place::of(self.list) {
            Place::Variable(list) => match user.core.variable(user.program, list) {
                Some(Value::List(items)) => items.get(at).cloned(),
                _ => None,
            },
            _ => None,
        };
        match element {
            Some(element) => {
                *user.register(self.index) += 1;
                user.set(self.item, Some(element));
            }
            None => user.cursor.pc = self.end,
        }
        None
    }
}

impl Run for UnlessOp {
    fn run<'p>(&'p self, user: &mut Interpreter<'_, 'p>, _: u64) -> Option<Next<'p, Cursor>> {
        let holds = self.condition.test(&user.scope());
        if !user.or_log(holds, self.condition.source(), false) {
            user.cursor.pc = self.to;
        }
        None
    }
}

impl Run for JumpOp {
    fn run<'p>(&'p self, user: &mut Interpreter<'_, 'p>, _: u64) -> Option<Next<'p, Cursor>> {
        user.cursor.pc = self.0;
        None
    }
}
