//! One flow of a user's steps: where it stands, its loops and groups, and when its next request was
//! due. Plain data.

use std::ops::Range;

use crate::program::{Pc, Program, Register};
use crate::trace::Tally;
use crate::turns::Turn;

/// A flow of steps.
#[derive(Debug, Default)]
pub(crate) struct Strand {
    /// The next operation.
    pub pc: Pc,
    /// When the current iteration, or the request after a wait, was due, on the run's clock.
    pub due: u64,
    /// Whether it comes from a wait or is an arrival: the next request then has a moment at which it
    /// was due.
    pub waited: bool,
    /// Whether it is an arrival whose first request has not been begun: it is, even if the load has
    /// ended meanwhile.
    pub arrived: bool,
    /// Loop counters, limits and turns; empty until the first loop.
    registers: Vec<u64>,
    /// Groups that it is in, the innermost last.
    pub groups: Vec<OpenGroup>,
    /// Critical sections that it is in, the innermost last; dropped, they are another user's.
    pub sections: Vec<Turn>,
    /// How long it has waited where the plan says so, in nanoseconds.
    pub thought: u64,
    /// Whether it is one of several of its user at the same time.
    pub is_branch: bool,
    /// Whether something in it failed: what a branch tells the strand that it belongs to.
    pub failed: bool,
    /// What was sampled in it, where somebody watches.
    pub tally: Tally,
    /// The number of the group around a branch that is one sample.
    sample_around: Option<u64>,
}

/// A group that has begun and is not over.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OpenGroup {
    pub name: u32,
    /// When it began, on the run's clock.
    pub since: u64,
    /// Whether a request in it failed.
    pub failed: bool,
    /// How long its strand had waited before, if waits within it are left out of its time.
    pub thought_before: Option<u64>,
    /// What had been sampled before.
    pub tally_before: Tally,
    /// Its number, if somebody watches and what is in it are parts of one sample.
    pub one_sample: Option<u64>,
}

impl Strand {
    /// A number that the flow keeps, of a scenario.
    pub(crate) fn register(
        &mut self,
        program: &Program,
        scenario: usize,
        index: Register,
    ) -> &mut u64 {
        if self.registers.is_empty() {
            self.registers = vec![0; program.scenarios[scenario].registers];
        }
        &mut self.registers[usize::from(index)]
    }

    /// Something in it failed, and with it the groups that it is in.
    pub(crate) fn fail_groups(&mut self) {
        self.failed = true;
        self.groups.iter_mut().for_each(|group| group.failed = true);
    }

    /// The number of the innermost group that is one sample, of which what is done now is a part.
    pub(crate) fn part_of(&self) -> Option<u64> {
        self.groups.iter().rev().find_map(|group| group.one_sample).or(self.sample_around)
    }

    /// Ends the innermost group. One that leaves its waits out begins later by them.
    pub(crate) fn pop_group(&mut self) -> Option<OpenGroup> {
        let group = self.groups.pop()?;
        let waited = group.thought_before.map_or(0, |before| self.thought.saturating_sub(before));
        Some(OpenGroup { since: group.since.saturating_add(waited), ..group })
    }

    /// The strand of a branch, which begins where this one stands: in no group of its own, with its
    /// own copy of the loops' numbers.
    pub(crate) fn branch(&self) -> Strand {
        Strand {
            pc: self.pc,
            due: self.due,
            waited: self.waited,
            arrived: self.arrived,
            registers: self.registers.clone(),
            groups: Vec::new(),
            sections: Vec::new(),
            thought: 0,
            is_branch: true,
            failed: false,
            tally: Tally::default(),
            sample_around: self.part_of(),
        }
    }

    /// Takes over what a branch has done: the turns of its own steps, and whether anything failed.
    pub(crate) fn join(&mut self, branch: &Strand, registers: Range<Register>) {
        let own = usize::from(registers.start)..usize::from(registers.end);
        if let Some(numbers) = branch.registers.get(own.clone())
            && !numbers.is_empty()
        {
            self.registers.resize(branch.registers.len(), 0);
            self.registers[own].copy_from_slice(numbers);
        }
        self.tally.add(branch.tally);
        if branch.failed {
            self.fail_groups();
        }
    }
}
