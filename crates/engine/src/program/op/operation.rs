//! What every operation of a program says of itself, and the numbers that operations have of places and registers.

use std::fmt::{Formatter, Result};

use squall_plan::expr::Slot;
use squall_wire::Origin;

/// Index of an operation within its scenario.
pub(crate) type Pc = u32;
/// Index of a number that a user keeps: a loop's counter or limit, a turn.
pub(crate) type Register = u16;

/// An operation of a program.
pub(crate) trait Operation {
    /// Prints it as one line of `squall check --program`.
    ///
    /// # Errors
    /// The text cannot be written.
    fn print(&self, f: &mut Formatter<'_>, names: &dyn Legend) -> Result;

    /// Whether the name under which it counts is known before the run, if it has one.
    fn is_name_known(&self) -> bool {
        true
    }
}

/// What stands for the numbers that operations have.
pub(crate) trait Legend {
    fn row(&self, row: u32) -> &str;
    fn variable(&self, slot: Slot) -> &str;
    fn feed(&self, feed: u16) -> &str;
    fn origin(&self, origin: u32) -> &Origin;
}
