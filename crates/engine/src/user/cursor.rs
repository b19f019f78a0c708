//! Where a flow of steps stands in a compiled program, with the numbers that it keeps there: loops, limits, turns.
//! Plain data.

use std::ops::Range;

use crate::program::{Branch, Pc, Register, Scenario};

/// A place in a program.
#[derive(Debug, Default)]
pub(crate) struct Cursor {
    /// The next operation.
    pub pc: Pc,
    /// The operation before which the flow ends.
    pub end: Pc,
    /// Which registers a branch has for itself.
    own: Range<Register>,
    /// All registers of the scenario. A branch has a copy: it may use clocks that others share.
    registers: Box<[u64]>,
}

impl Cursor {
    /// Goes back to the beginning of a scenario. What is in the registers stays, as turns go on.
    pub(crate) fn begin(&mut self, scenario: &Scenario) {
        (self.pc, self.end) = (0, scenario.ops.len() as Pc);
        if self.registers.len() != scenario.registers {
            self.registers = vec![0; scenario.registers].into();
        }
    }

    /// The flow of a branch.
    pub(crate) fn branch(&self, branch: &Branch) -> Cursor {
        let Branch { ops, registers: own } = branch;
        let registers = self.registers.clone();
        Cursor { pc: ops.start, end: ops.end, own: own.clone(), registers }
    }

    /// Takes over what a branch that has ended has in the registers of its own.
    pub(crate) fn take_over(&mut self, branch: &Cursor) {
        let own = usize::from(branch.own.start)..usize::from(branch.own.end);
        self.registers[own.clone()].copy_from_slice(&branch.registers[own]);
    }

    /// What is in a register.
    pub(crate) fn register(&mut self, register: Register) -> &mut u64 {
        &mut self.registers[usize::from(register)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cursor(registers: usize) -> Cursor {
        Cursor { registers: vec![0; registers].into(), ..Cursor::default() }
    }

    #[test]
    fn a_branch_has_its_own_registers_and_gives_them_back() {
        let mut cursor = cursor(6);
        let outer = Branch { ops: 3..9, registers: 2..5 };
        let inner = Branch { ops: 4..6, registers: 3..5 };
        let mut branch = cursor.branch(&outer);
        let mut within = branch.branch(&inner);
        *within.register(4) = 7;
        branch.take_over(&within);
        *branch.register(2) += 1;
        cursor.take_over(&branch);
        assert_eq!(*cursor.registers, [0, 0, 1, 0, 7, 0]);
        let mut again = cursor.branch(&outer);
        assert_eq!((*again.register(2), *again.register(4)), (1, 7), "turns go on");
        assert_eq!((again.pc, again.end), (3, 9));
    }

    #[test]
    fn a_branch_sees_the_registers_of_others_and_changes_none() {
        let mut cursor = cursor(2);
        *cursor.register(1) = 5;
        let mut branch = cursor.branch(&Branch { ops: 0..1, registers: 2..2 });
        *branch.register(1) += 1;
        assert_eq!(*branch.register(1), 6);
        cursor.take_over(&branch);
        assert_eq!(*cursor.registers, [0, 5]);
    }
}
