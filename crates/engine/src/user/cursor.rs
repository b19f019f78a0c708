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
    /// Its registers, if it has any: most flows have none.
    registers: Option<Box<Registers>>,
}

/// The registers of a flow: a part of its scenario's.
#[derive(Debug)]
struct Registers {
    first: Register,
    values: Vec<u64>,
}

impl Registers {
    /// Those of a range, all 0; `None`: it is empty.
    fn new(range: &Range<Register>) -> Option<Box<Registers>> {
        let values = vec![0; range.len()];
        (!range.is_empty()).then(|| Box::new(Registers { first: range.start, values }))
    }

    /// Where others have their values here.
    fn part(&mut self, other: &Registers) -> &mut [u64] {
        let from = usize::from(other.first - self.first);
        &mut self.values[from..from + other.values.len()]
    }
}

impl Cursor {
    /// Goes back to the beginning of a scenario. What is in the registers stays, as turns go on.
    pub(crate) fn begin(&mut self, scenario: &Scenario) {
        (self.pc, self.end) = (0, scenario.ops.len() as Pc);
        if self.registers.is_none() {
            self.registers = Registers::new(&(0..scenario.registers as Register));
        }
    }

    /// The flow of a branch, with its own part of the registers.
    pub(crate) fn branch(&mut self, branch: &Branch) -> Cursor {
        let mut registers = Registers::new(&branch.registers);
        if let (Some(own), Some(all)) = (&mut registers, &mut self.registers) {
            let part = all.part(own);
            own.values.copy_from_slice(part);
        }
        Cursor { pc: branch.ops.start, end: branch.ops.end, registers }
    }

    /// Takes over the registers of a branch that has ended.
    pub(crate) fn take_over(&mut self, branch: &Cursor) {
        if let (Some(own), Some(all)) = (&branch.registers, &mut self.registers) {
            all.part(own).copy_from_slice(&own.values);
        }
    }

    /// What is in a register of the flow's.
    pub(crate) fn register(&mut self, register: Register) -> &mut u64 {
        // Compilation counts the registers that the operations of a flow use: one that asks for one has some.
        let registers = self.registers.as_mut().expect("a flow with registers");
        &mut registers.values[usize::from(register - registers.first)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cursor(registers: Register) -> Cursor {
        Cursor { registers: Registers::new(&(0..registers)), ..Cursor::default() }
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
        let registers: Vec<u64> = (0..6).map(|register| *cursor.register(register)).collect();
        assert_eq!(registers, [0, 0, 1, 0, 7, 0]);
        let mut again = cursor.branch(&outer);
        assert_eq!((*again.register(2), *again.register(4)), (1, 7), "turns go on");
        assert_eq!((again.pc, again.end), (3, 9));
    }

    #[test]
    fn what_uses_no_register_changes_none() {
        let mut cursor = cursor(2);
        *cursor.register(1) = 5;
        let branch = cursor.branch(&Branch { ops: 0..1, registers: 2..2 });
        assert!(branch.registers.is_none());
        cursor.take_over(&branch);
        assert_eq!((*cursor.register(0), *cursor.register(1)), (0, 5));
    }
}
