//! Where a flow of steps stands in a compiled program, with the numbers that it keeps there: loops, limits, turns.
//! Plain data.

use std::ops::Range;

use crate::program::{Branch, Pc, Program, Register};

/// A place in a program.
#[derive(Debug, Default)]
pub(crate) struct Cursor {
    /// The next operation.
    pub pc: Pc,
    /// The operation before which the flow ends.
    pub end: Pc,
    /// The first of its registers, and how many it has.
    first: Register,
    count: Register,
    /// What is in them; empty until one is used: most flows use none.
    registers: Box<[u64]>,
}

impl Cursor {
    /// Goes back to the beginning of a scenario. What is in the registers stays, as turns go on.
    pub(crate) fn begin(&mut self, program: &Program, scenario: usize) {
        let scenario = &program.scenarios[scenario];
        (self.pc, self.end) = (0, scenario.ops.len() as Pc);
        self.count = scenario.registers as Register;
    }

    /// The flow of a branch, with its own part of the registers.
    pub(crate) fn branch(&self, branch: &Branch) -> Cursor {
        let registers = self.registers.get(self.places(&branch.registers));
        Cursor {
            pc: branch.ops.start,
            end: branch.ops.end,
            first: branch.registers.start,
            count: branch.registers.end - branch.registers.start,
            registers: registers.map(Box::from).unwrap_or_default(),
        }
    }

    /// Takes over the registers of a branch that has ended.
    pub(crate) fn join(&mut self, branch: &Cursor) {
        if !branch.registers.is_empty() {
            let places = self.places(&(branch.first..branch.first + branch.count));
            self.all()[places].copy_from_slice(&branch.registers);
        }
    }

    /// What is in a register.
    pub(crate) fn register(&mut self, register: Register) -> &mut u64 {
        let place = usize::from(register - self.first);
        &mut self.all()[place]
    }

    fn all(&mut self) -> &mut [u64] {
        if self.registers.is_empty() {
            self.registers = vec![0; usize::from(self.count)].into();
        }
        &mut self.registers
    }

    fn places(&self, registers: &Range<Register>) -> Range<usize> {
        usize::from(registers.start - self.first)..usize::from(registers.end - self.first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_has_its_own_registers_and_gives_them_back() {
        let mut cursor = Cursor { count: 6, ..Cursor::default() };
        let outer = Branch { ops: 3..9, registers: 2..5 };
        let inner = Branch { ops: 4..6, registers: 3..5 };
        let mut branch = cursor.branch(&outer);
        let mut within = branch.branch(&inner);
        *within.register(4) = 7;
        branch.join(&within);
        *branch.register(2) += 1;
        cursor.join(&branch);
        let registers: Vec<u64> = (0..6).map(|register| *cursor.register(register)).collect();
        assert_eq!(registers, [0, 0, 1, 0, 7, 0]);
        let mut again = cursor.branch(&outer);
        assert_eq!((*again.register(2), *again.register(4)), (1, 7), "turns go on");
        assert_eq!((again.pc, again.end), (3, 9));
    }

    #[test]
    fn what_uses_no_register_changes_none() {
        let mut cursor = Cursor { count: 2, ..Cursor::default() };
        *cursor.register(1) = 5;
        let branch = cursor.branch(&Branch { ops: 0..1, registers: 2..2 });
        cursor.join(&branch);
        assert_eq!((*cursor.register(0), *cursor.register(1)), (0, 5));
    }
}
