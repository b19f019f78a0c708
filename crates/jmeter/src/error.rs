//! What is wrong with a plan that cannot be read: where in the file, and in which element.

use std::fmt;

use squall_plan::span::Span;

/// Why a plan cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadError {
    pub message: String,
    /// Where in the file; nowhere if the file as a whole is wrong.
    pub span: Span,
    /// The elements around the place, the outermost first: `jmeterTestPlan > hashTree > ThreadGroup "users"`.
    /// Empty outside of all.
    pub path: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.span.line > 0 {
            write!(f, "{}:{}: ", self.span.line, self.span.column)?;
        }
        f.write_str(&self.message)?;
        if !self.path.is_empty() {
            write!(f, " (in {})", self.path)?;
        }
        Ok(())
    }
}

impl std::error::Error for ReadError {}
