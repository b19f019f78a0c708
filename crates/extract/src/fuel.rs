//! A budget of steps for one search, so that a hostile body cannot make a pattern run for ever or
//! fill the memory. Deterministic: it counts work, not time.

use std::cell::Cell;

use crate::ExtractError;

/// Steps that one search may take. A step is about the visit of one node, so that this is some
/// tenths of a second at most; real pages need thousands.
const STEPS: u64 = 20_000_000;

/// What is left of the budget of one search.
pub(crate) struct Fuel(Cell<u64>);

impl Fuel {
    pub(crate) fn new() -> Self {
        Fuel(Cell::new(STEPS))
    }

    /// Takes `steps` from the budget.
    #[inline]
    pub(crate) fn burn(&self, steps: usize) -> Result<(), ExtractError> {
        let left = self.0.get().checked_sub(steps as u64).ok_or(ExtractError::TooCostly)?;
        self.0.set(left);
        Ok(())
    }

    /// Takes the price of going over `bytes` bytes of text.
    #[inline]
    pub(crate) fn burn_text(&self, bytes: usize) -> Result<(), ExtractError> {
        self.burn(1 + bytes / 32)
    }
}
