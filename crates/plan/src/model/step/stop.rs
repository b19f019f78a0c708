//! A step that ends something.

use super::kind::Kind;
use crate::keys::words;

words! {
    /// What `stop` ends.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum StopScope {
        /// This pass of the innermost loop around.
        Pass = "pass",
        /// The innermost loop around.
        Loop = "loop",
        /// This iteration.
        #[default]
        Iteration = "iteration",
        /// This user.
        User = "user",
        /// The run.
        Run = "run",
        /// The run, at once: what is in flight is cut off.
        RunNow = "run_now",
    }
}

impl<S> Kind<S> for StopScope {}
