//! Where a program goes on: loops, conditions, branches and the passes in which steps are done.

use squall_base::random::Random;
use squall_plan::expr::{BoundExpr, Slot};
use squall_plan::value::Value;

use super::interpreter::Interpreter;
use crate::program::{PassCount, PassPart, PassesOp, Pc, Place, Register};
use crate::together;

impl Interpreter<'_, '_> {
    /// Begins a loop: how often it runs is evaluated once.
    pub(super) fn repeat(&mut self, times: &BoundExpr, counter: Register, limit: Register) {
        // Beyond the range of an integer the cast ends at its edge; what is no number is 0.
        *self.register(limit) = self.amount(times) as u64;
        *self.register(counter) = 0;
    }

    /// The next pass of a loop, or its end.
    pub(super) fn pass(
        &mut self,
        counter: Register,
        limit: Register,
        number: Option<Slot>,
        end: Pc,
    ) {
        let limit = *self.register(limit);
        let counter = self.register(counter);
        let pass = *counter;
        if pass >= limit {
            self.cursor.pc = end;
            return;
        }
        *counter += 1;
        if let Some(slot) = number {
            self.set(slot, Some(Value::Int(pass as i64)));
        }
    }

    /// Begins a loop over a list, which is kept as it is now.
    pub(super) fn each(&mut self, of: &BoundExpr, list: Slot, index: Register) {
        let value = of.eval(&self.scope());
        let value = self.or_log(value.map(Some), of.source(), None);
        self.set(list, value);
        *self.register(index) = 0;
    }

    /// The next element of a list into a variable, or to the end of the loop.
    pub(super) fn element(&mut self, list: Slot, index: Register, item: Slot, end: Pc) {
        let program = self.program;
        let at = *self.register(index) as usize;
        let element = match Place::of(list) {
            Place::Variable(list) => match self.core.variable(program, list) {
                Some(Value::List(items)) => items.get(at).cloned(),
                _ => None,
            },
            _ => None,
        };
        match element {
            Some(element) => {
                *self.register(index) += 1;
                self.set(item, Some(element));
            }
            None => self.cursor.pc = end,
        }
    }

    /// Goes on elsewhere unless a condition holds.
    pub(super) fn unless(&mut self, condition: &BoundExpr, to: Pc) {
        let holds = condition.test(&self.scope());
        if !self.or_log(holds, condition.source(), false) {
            self.cursor.pc = to;
        }
    }

    /// Goes on at one of several places by chance: `cumulative` has the shares up to each.
    pub(super) fn choose(&mut self, cumulative: &[f64], targets: &[Pc]) {
        let at = self.core.chance() as f64 / u64::MAX as f64;
        let chosen = cumulative.iter().position(|share| at < *share);
        self.cursor.pc = targets[chosen.unwrap_or(targets.len() - 1)];
    }

    /// Goes on at one of several places after the other.
    pub(super) fn round_robin(&mut self, turn: Register, targets: &[Pc]) {
        let turn = self.register(turn);
        let chosen = *turn as usize % targets.len();
        *turn += 1;
        self.cursor.pc = targets[chosen];
    }

    /// Goes on at the next of several places in an order drawn before, or at `end` when all had their turn.
    pub(super) fn next_shuffled(
        &mut self,
        order: Register,
        turn: Register,
        targets: &[Pc],
        end: Pc,
    ) {
        let order = *self.register(order);
        let turn = self.register(turn);
        let place = *turn as usize;
        *turn += 1;
        self.cursor.pc = shuffled(targets, order, place).unwrap_or(end);
    }

    /// Whether steps are done in the pass that begins; it is counted.
    pub(super) fn is_in_pass(&mut self, passes: &PassesOp) -> bool {
        let pass = match passes.count {
            PassCount::Together(count) => self.worker.together.pass(count),
            PassCount::User(register) => {
                let passes = self.register(register);
                *passes += 1;
                *passes - 1
            }
        };
        let (PassPart::First(part) | PassPart::Percent(part)) = &passes.part;
        let part = self.amount(part);
        match passes.part {
            PassPart::First(_) => (pass as f64) < part,
            PassPart::Percent(_) => together::is_in_percent(pass, part),
        }
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
