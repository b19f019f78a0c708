//! How many extracts and checks an operation has, in words.

use std::fmt::{Display, Formatter, Result};

use squall_base::units::counted;

use crate::program::ops::PostOp;

/// How many extracts and checks there are.
pub(super) struct Counted<'a>(pub &'a [PostOp]);

impl Display for Counted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let checks = self.0.iter().filter(|op| matches!(op, PostOp::Check(_))).count();
        let counts = [(self.0.len() - checks, "extract"), (checks, "check")];
        let said = counts.iter().filter(|(count, _)| *count > 0);
        let said: Vec<String> = said.map(|(number, what)| counted(*number as u64, what)).collect();
        f.write_str(&said.join(", "))
    }
}
