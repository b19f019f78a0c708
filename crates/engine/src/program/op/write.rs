//! A text that is written to a file.

use std::fmt::{Formatter, Result};
use std::path::PathBuf;

use squall_plan::template::BoundTemplate;

use super::operation::{Legend, Operation};

/// A text that is written to a file.
#[derive(Debug)]
pub(crate) struct WriteOp {
    pub file: PathBuf,
    pub text: BoundTemplate,
    /// Whether it is added to what is there.
    pub append: bool,
}

impl Operation for WriteOp {
    fn print(&self, f: &mut Formatter<'_>, _: &dyn Legend) -> Result {
        write!(f, "write to {}", self.file.display())
    }
}
