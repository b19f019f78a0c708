//! One flow of a user's steps: where it stands, its loops and groups, and when its next request was
//! due. Plain data.

use std::ops::Range;

use crate::program::{Pc, Program, Register};
use crate::trace::{StatedResponse, Tally};
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
    /// How long it has waited where the plan says so, in nanoseconds.
    pub thought: u64,
    /// Whether it is one of several of its user at the same time.
    pub is_branch: bool,
    /// Whether something in it failed: what a branch tells the strand that it belongs to.
    pub failed: bool,
    /// What few flows have. Until it is wanted it is one word: there may be a million users.
    rare: Option<Box<Rare>>,
}

/// What a flow has that is in a critical section, or that somebody watches.
#[derive(Debug, Default)]
struct Rare {
    /// Critical sections that it is in, the innermost last; dropped, they are another user's.
    sections: Vec<Turn>,
    /// What was sampled in it, where somebody watches.
    tally: Tally,
    /// What the last text said of itself that was looked at since a group began, where somebody watches.
    looked: Option<StatedResponse>,
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
    /// Whether what is in it are parts of one sample.
    pub is_sample: bool,
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

    /// It is in a critical section from now on.
    pub(crate) fn enter_section(&mut self, turn: Turn) {
        self.rare().sections.push(turn);
    }

    /// The innermost critical section that it is in, which it is in no longer.
    pub(crate) fn leave_section(&mut self) -> Option<Turn> {
        self.rare.as_mut()?.sections.pop()
    }

    /// What was sampled in it, where somebody watches.
    pub(crate) fn tally(&self) -> Tally {
        self.rare.as_ref().map(|rare| rare.tally).unwrap_or_default()
    }

    /// The same, to add to it.
    pub(crate) fn tally_mut(&mut self) -> &mut Tally {
        &mut self.rare().tally
    }

    /// Keeps what a text said of itself that was looked at.
    pub(crate) fn has_looked(&mut self, answer: StatedResponse) {
        self.rare().looked = Some(answer);
    }

    /// Takes what the last such text said since a group began.
    pub(crate) fn take_looked(&mut self) -> Option<StatedResponse> {
        self.rare.as_mut()?.looked.take()
    }

    fn rare(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// Something in it failed, and with it the groups that it is in.
    pub(crate) fn fail_groups(&mut self) {
        self.failed = true;
        self.groups.iter_mut().for_each(|group| group.failed = true);
    }

    /// The number of the innermost group that is one sample, of which what is done now is a part.
    pub(crate) fn part_of(&self) -> Option<u64> {
        let around = || self.rare.as_ref().and_then(|rare| rare.sample_around);
        self.groups.iter().rev().find_map(|group| group.one_sample).or_else(around)
    }

    /// Ends the innermost group. One that leaves its waits out begins later by them.
    pub(crate) fn pop_group(&mut self) -> Option<OpenGroup> {
        let since = self.group_since()?;
        let group = self.groups.pop()?;
        Some(OpenGroup { since, ..group })
    }

    /// When the innermost group began, by which its time counts.
    pub(crate) fn group_since(&self) -> Option<u64> {
        let group = self.groups.last()?;
        let waited = group.thought_before.map_or(0, |before| self.thought.saturating_sub(before));
        Some(group.since.saturating_add(waited))
    }

    /// The strand of a branch, which begins where this one stands: in no group of its own, with its
    /// own copy of the loops' numbers.
    pub(crate) fn branch(&self) -> Strand {
        let around = self.part_of();
        let rare = |around| Box::new(Rare { sample_around: Some(around), ..Rare::default() });
        Strand {
            pc: self.pc,
            due: self.due,
            waited: self.waited,
            arrived: self.arrived,
            registers: self.registers.clone(),
            groups: Vec::new(),
            thought: 0,
            is_branch: true,
            failed: false,
            rare: around.map(rare),
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
        if let Some(rare) = &branch.rare {
            self.tally_mut().add(rare.tally);
        }
        if branch.failed {
            self.fail_groups();
        }
    }
}
