//! What a server has to show.

use squall_live::Shared;
use squall_runner::Handle;

use crate::runs::Runs;

#[derive(Debug, Clone, Default)]
pub struct Content {
    /// A run: what is known of it, and how it is controlled.
    pub run: Option<(Shared, Handle)>,
    /// The folder in which run folders are made.
    pub runs: Option<Runs>,
}
