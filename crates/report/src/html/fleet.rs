//! What the page says of a fleet beyond the numbers, which all reports say in the same words.

use std::collections::BTreeMap;

use serde::Serialize;
use squall_analysis::odd_nodes;

use crate::document::RunDocument;

/// Most gaps of the coverage that are named.
const MAX_GAPS: usize = 12;

/// A fleet in words.
#[derive(Debug, Serialize)]
pub(super) struct FleetWords {
    /// `186 of 200 cells; not driven: ...`.
    coverage: String,
    /// By the place of a node that is other than the rest: by what.
    odd: BTreeMap<usize, Vec<String>>,
}

impl FleetWords {
    /// Of a run; `None`: one process ran it.
    pub(super) fn of(run: &RunDocument) -> Option<FleetWords> {
        let fleet = run.fleet.as_ref()?;
        let mut odd: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        for own in odd_nodes(&fleet.facts(&run.nodes, &run.meta.nodes).nodes) {
            odd.entry(own.node).or_default().push(own.text());
        }
        Some(FleetWords { coverage: fleet.cells.text(MAX_GAPS), odd })
    }
}
