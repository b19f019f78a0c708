//! What evaluations may cost: that of one expression in a run, and all that is evaluated before a run together. Pure.

use std::cell::Cell;

use super::scope::EvalError;

/// Most work of one evaluation: elements that macros looked at, and pieces of 64 bytes of texts that
/// were read or made. About half a second.
const MAX_WORK: usize = 5_000_000;
/// Most work on all constants of a compilation, in the same unit. A plan is compiled in three sections.
const MAX_WORK_OF_CONSTANTS: usize = 2_500_000;
/// Most that the constants which a compilation makes may come to, in bytes: those of the plan's text do not count.
const MAX_CONSTANTS: usize = 64 << 20;

/// What is left of the work that an evaluation may do, or all those of a compilation.
#[derive(Debug)]
pub struct Budget {
    work: Cell<usize>,
    /// Bytes that are left for values which are kept.
    bytes: Cell<usize>,
    /// The first bound that was not enough.
    exceeded: Cell<Option<&'static str>>,
}

impl Budget {
    pub(super) fn new() -> Budget {
        Budget {
            work: Cell::new(MAX_WORK),
            bytes: Cell::new(usize::MAX),
            exceeded: Cell::new(None),
        }
    }

    /// For all constants of a compilation together.
    pub fn of_constants() -> Budget {
        Budget {
            work: Cell::new(MAX_WORK_OF_CONSTANTS),
            bytes: Cell::new(MAX_CONSTANTS),
            exceeded: Cell::new(None),
        }
    }

    /// The first bound that was not enough; from then on nothing more is evaluated before the run.
    pub fn exceeded(&self) -> Option<&'static str> {
        self.exceeded.get()
    }

    /// How much work is left.
    #[cfg(test)]
    pub(super) fn work_left(&self) -> usize {
        self.work.get()
    }

    /// Takes off the work on so many bytes.
    pub(super) fn bytes(&self, bytes: usize) -> Result<(), EvalError> {
        self.items(bytes / 64)
    }

    /// Takes off the work on so many elements.
    pub(super) fn items(&self, items: usize) -> Result<(), EvalError> {
        match self.work.get().checked_sub(items) {
            Some(left) => {
                self.work.set(left);
                Ok(())
            }
            None => Err(self.exceed("2,500,000 units of work")),
        }
    }

    /// Takes off a value of so many bytes, which was made and is kept.
    ///
    /// # Errors
    /// It is more than is left.
    pub fn keep(&self, bytes: usize) -> Result<(), EvalError> {
        self.bytes(bytes)?;
        match self.bytes.get().checked_sub(bytes) {
            Some(left) => {
                self.bytes.set(left);
                Ok(())
            }
            None => Err(self.exceed("64 MiB")),
        }
    }

    fn exceed(&self, bound: &'static str) -> EvalError {
        self.work.set(0);
        self.exceeded.set(Some(self.exceeded.get().unwrap_or(bound)));
        EvalError::new("the expression takes too long")
    }
}
