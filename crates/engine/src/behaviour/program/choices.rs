//! Which of several lists of steps a user goes on with.

use squall_base::random::Random;

use super::interpreter::{Interpreter, Run};
use crate::behaviour::next::{Next, Task};
use crate::program::{
    ChooseOp, OncePerUserOp, ParallelOp, PassCount, PassPart, PassesOp, Pc, RoundRobinOp,
    ShuffleOp, ShuffledOp,
};
use crate::together;
use crate::user::Cursor;

impl Run for ChooseOp {
    fn run<'p>(&'p self, user: &mut Interpreter<'_, 'p>, _: u64) -> Option<Next<'p, Cursor>> {
        let at = user.core.chance() as f64 / u64::MAX as f64;
        let chosen = self.cumulative.iter().position(|share| at < *share);
        user.cursor.pc = self.targets[chosen.unwrap_or(self.targets.len() - 1)];
        None
    }
}

impl Run for RoundRobinOp {
    fn run<'p>(&'p self, user: &mut Interpreter<'_, 'p>, _: u64) -> Option<Next<'p, Cursor>> {
        let turn = user.register(self.turn);
        let chosen = *turn as usize % self.targets.len();
        *turn += 1;
        user.cursor.pc = self.targets[chosen];
        None
    }
}

impl Run for OncePerUserOp {
    fn run<'p>(&'p self, user: &mut Interpreter<'_, 'p>, _: u64) -> Option<Next<'p, Cursor>> {
        if user.core.iteration.get() > 0 {
            user.cursor.pc = self.otherwise;
        }
        None
    }
}

/// Counts the pass that begins.
impl Run for PassesOp {
    fn run<'p>(&'p self, user: &mut Interpreter<'_, 'p>, _: u64) -> Option<Next<'p, Cursor>> {
        let pass = match self.count {
            PassCount::Together(count) => user.worker.together.pass(count),
            PassCount::User(register) => {
                let passes = user.register(register);
                *passes += 1;
                *passes - 1
            }
        };
        let is_in = match &self.part {
            PassPart::First(part) => (pass as f64) < user.amount(part),
            PassPart::Percent(part) => together::is_in_percent(pass, user.amount(part)),
        };
        if !is_in {
            user.cursor.pc = self.otherwise;
        }
        None
    }
}

impl Run for ShuffleOp {
    fn run<'p>(&'p self, user: &mut Interpreter<'_, 'p>, _: u64) -> Option<Next<'p, Cursor>> {
        *user.register(self.order) = user.core.chance();
        *user.register(self.turn) = 0;
        None
    }
}

impl Run for ShuffledOp {
    fn run<'p>(&'p self, user: &mut Interpreter<'_, 'p>, _: u64) -> Option<Next<'p, Cursor>> {
        let order = *user.register(self.order);
        let turn = user.register(self.turn);
        let place = *turn as usize;
        *turn += 1;
        user.cursor.pc = shuffled(&self.targets, order, place).unwrap_or(self.end);
        None
    }
}

/// Several flows at the same time; the user goes on at their end.
impl Run for ParallelOp {
    fn run<'p>(&'p self, user: &mut Interpreter<'_, 'p>, _: u64) -> Option<Next<'p, Cursor>> {
        let branches = self.branches.iter().map(|branch| user.cursor.branch(branch)).collect();
        user.cursor.pc = self.end;
        Some(Next::Go(Task::Join { branches, limit: self.limit }))
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
