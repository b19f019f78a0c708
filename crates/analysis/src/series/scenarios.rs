//! The scenarios of a run, as slices number them.

use std::collections::HashMap;

use squall_metrics::{NameId, Source};

#[derive(Debug, Clone, Default)]
pub(crate) struct Scenarios {
    pub names: Vec<String>,
    /// The place among the names of a worker's number for the row of a scenario's iterations.
    pub places: HashMap<(Source, NameId), usize>,
}
