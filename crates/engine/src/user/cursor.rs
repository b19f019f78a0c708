//! Where a flow of steps stands in a compiled program, with the numbers that it keeps there: loops, limits, turns.
//! Plain data.

use std::ops::Range;

use super::script::ScriptCall;
use crate::program::{Branch, Pc, Register, Scenario};

/// A place in a program.
#[derive(Default)]
pub(crate) struct Cursor {
    pub pc: Pc,
    /// The operation before which the flow ends.
    pub end: Pc,
    /// All registers of the scenario, if it has any. One word, as each user has a cursor.
    registers: Option<Box<Registers>>,
    /// The call of a script that it is in.
    pub call: Option<Box<ScriptCall>>,
}

/// The registers of a scenario. A branch has a copy of all: it may go by a clock that others share.
#[derive(Debug, Clone)]
struct Registers {
    /// Those that a branch has for itself.
    own: Range<usize>,
    values: Vec<u64>,
}

impl Registers {
    /// So many, all 0; `None`: there are none.
    fn new(count: usize) -> Option<Box<Registers>> {
        (count > 0).then(|| Box::new(Registers { own: 0..count, values: vec![0; count] }))
    }
}

impl Cursor {
    /// Goes back to the beginning of a scenario. What is in the registers stays, as turns go on.
    pub(crate) fn begin(&mut self, scenario: &Scenario) {
        (self.pc, self.end) = (0, scenario.ops.len() as Pc);
        // One that the end of an iteration has cut off ends here.
        self.call = None;
        if self.registers.is_none() {
            self.registers = Registers::new(scenario.registers);
        }
    }

    /// The flow of a branch.
    pub(crate) fn branch(&self, branch: &Branch) -> Cursor {
        let mut registers = self.registers.clone();
        if let Some(registers) = &mut registers {
            registers.own = branch.registers.start.into()..branch.registers.end.into();
        }
        Cursor { pc: branch.ops.start, end: branch.ops.end, registers, call: None }
    }

    /// Takes over what a branch that has ended has in the registers of its own.
    pub(crate) fn take_over(&mut self, branch: &Cursor) {
        if let (Some(all), Some(branch)) = (&mut self.registers, &branch.registers) {
            let own = branch.own.clone();
            all.values[own.clone()].copy_from_slice(&branch.values[own]);
        }
    }

    /// What is in a register.
    pub(crate) fn register(&mut self, register: Register) -> &mut u64 {
        // Compilation counts the registers of a scenario: with an operation that uses one there are some, in branches too.
        let registers = self.registers.as_mut().expect("a scenario with registers");
        &mut registers.values[usize::from(register)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(cursor: &Cursor) -> &[u64] {
        cursor.registers.as_ref().map(|registers| &*registers.values).unwrap_or_default()
    }

    fn cursor(registers: usize) -> Cursor {
        Cursor { registers: Registers::new(registers), ..Cursor::default() }
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
        assert_eq!(values(&cursor), [0, 0, 1, 0, 7, 0]);
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
        assert_eq!(values(&cursor), [0, 5]);
    }
}
