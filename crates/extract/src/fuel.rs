//! A budget for one search, so that a hostile body cannot make a pattern run for ever or fill the
//! memory. Deterministic: it counts work, not time.

use std::cell::Cell;

use crate::error::ExtractError;
use crate::limits::Limits;

/// Steps that every search may take. A step is about the visit of one node or the look at 32 bytes
/// of text, some nanoseconds, so that this is some ten milliseconds at most.
const BASE_STEPS: u64 = 1_000_000;

/// Steps that a search may take for each byte of the body. With this, a search takes at most about
/// 50 ms for each MiB; real pages need a fraction of a step for each byte.
const STEPS_PER_BYTE: u64 = 4;

/// How deep a search may be nested in itself, which bounds the stack it needs. A path of 128 steps
/// through a document of 128 levels stays below.
const DEPTH: usize = 400;

/// What is left of the budget of one search.
pub(crate) struct Fuel {
    budget: u64,
    steps: Cell<u64>,
    depth: Cell<usize>,
    limits: Limits,
    results: Cell<usize>,
    result_bytes: Cell<usize>,
}

impl Fuel {
    /// The budget of a search in a body of `body_bytes` bytes.
    pub(crate) fn new(body_bytes: usize, limits: Limits) -> Self {
        let budget = BASE_STEPS.saturating_add(STEPS_PER_BYTE.saturating_mul(body_bytes as u64));
        Fuel {
            budget,
            steps: Cell::new(budget),
            depth: Cell::new(0),
            limits,
            results: Cell::new(limits.results),
            result_bytes: Cell::new(limits.result_bytes),
        }
    }

    /// Takes `steps` from the budget.
    #[inline]
    pub(crate) fn burn(&self, steps: usize) -> Result<(), ExtractError> {
        match self.steps.get().checked_sub(steps as u64) {
            Some(left) => {
                self.steps.set(left);
                Ok(())
            }
            None => Err(self.spent()),
        }
    }

    /// Takes the price of going over `bytes` bytes of text.
    #[inline]
    pub(crate) fn burn_text(&self, bytes: usize) -> Result<(), ExtractError> {
        self.burn(1 + bytes / 32)
    }

    /// Takes the price of copying `bytes` bytes into a value that the search makes for itself.
    #[inline]
    pub(crate) fn burn_copy(&self, bytes: usize) -> Result<(), ExtractError> {
        self.burn(8 + bytes / 4)
    }

    /// Counts one result that keeps `bytes` bytes. Results may overlap, so that all together they
    /// may be many times the size of the body.
    #[inline]
    pub(crate) fn count_result(&self, bytes: usize) -> Result<(), ExtractError> {
        let Limits { results: most, result_bytes: most_bytes, .. } = self.limits;
        let results = self.results.get().checked_sub(1);
        self.results.set(results.ok_or(ExtractError::TooManyResults { limit: most })?);
        let left = self.result_bytes.get().checked_sub(bytes);
        self.result_bytes.set(left.ok_or(ExtractError::ResultsTooLarge { limit: most_bytes })?);
        self.burn_text(bytes)
    }

    /// How many more results there may be.
    pub(crate) fn results_left(&self) -> usize {
        self.results.get()
    }

    /// Runs a part of the search that may come back here.
    #[inline]
    pub(crate) fn nested<T, E: From<ExtractError>>(
        &self,
        run: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        if self.depth.get() == DEPTH {
            return Err(self.spent().into());
        }
        self.depth.set(self.depth.get() + 1);
        let result = run();
        self.depth.set(self.depth.get() - 1);
        result
    }

    /// The error of a search that goes beyond its budget. The extractor adds its pattern.
    #[cold]
    fn spent(&self) -> ExtractError {
        ExtractError::TooCostly { pattern: String::new(), budget: self.budget }
    }
}
