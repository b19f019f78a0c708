//! A budget of steps for one search, so that a hostile body cannot make a pattern run for ever or
//! fill the memory. Deterministic: it counts work, not time.

use std::cell::Cell;

use crate::ExtractError;

/// Steps that one search may take. A step is about the visit of one node, so that this is some
/// tenths of a second at most; real pages need thousands.
const STEPS: u64 = 20_000_000;

/// How deep a search may be nested in itself, which bounds the stack it needs. A path of 128 steps
/// through a document of 128 levels stays below.
const DEPTH: usize = 400;

/// What is left of the budget of one search.
pub(crate) struct Fuel {
    steps: Cell<u64>,
    depth: Cell<usize>,
}

impl Fuel {
    pub(crate) fn new() -> Self {
        Fuel { steps: Cell::new(STEPS), depth: Cell::new(0) }
    }

    /// Takes `steps` from the budget.
    #[inline]
    pub(crate) fn burn(&self, steps: usize) -> Result<(), ExtractError> {
        let left = self.steps.get().checked_sub(steps as u64).ok_or(ExtractError::TooCostly)?;
        self.steps.set(left);
        Ok(())
    }

    /// Takes the price of going over `bytes` bytes of text.
    #[inline]
    pub(crate) fn burn_text(&self, bytes: usize) -> Result<(), ExtractError> {
        self.burn(1 + bytes / 32)
    }

    /// Takes the price of keeping one result of `bytes` bytes, so that results need some 100 MB at
    /// most: they may overlap, and be many times the size of the body.
    #[inline]
    pub(crate) fn burn_result(&self, bytes: usize) -> Result<(), ExtractError> {
        self.burn(8 + bytes / 4)
    }

    /// Runs a part of the search that may come back here.
    #[inline]
    pub(crate) fn nested<T, E: From<ExtractError>>(
        &self,
        run: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        if self.depth.get() == DEPTH {
            return Err(ExtractError::TooCostly.into());
        }
        self.depth.set(self.depth.get() + 1);
        let result = run();
        self.depth.set(self.depth.get() - 1);
        result
    }
}
