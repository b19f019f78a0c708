//! Data files in use by a program.

use std::sync::{Arc, OnceLock};

use squall_plan::model::{Advance, AmongNodes, AtEnd, DataSource, Pick, Share};

use crate::parts::data::Source;

/// The data files of one plan, opened by the first program that is compiled of it: to look through a
/// large file takes time, and its setup, load and teardown all have the same.
#[derive(Debug, Clone, Default)]
pub struct Feeds(pub(super) Arc<OnceLock<Vec<Feed>>>);

/// A data file, opened and looked through once, and how rows are taken from it.
#[derive(Debug, Clone)]
pub(crate) struct Feed {
    pub name: String,
    pub source: Arc<Source>,
    pub pick: Pick,
    pub share: Share,
    pub at_end: AtEnd,
    pub advance: Advance,
    pub nodes: AmongNodes,
}

impl Feed {
    pub(super) fn open(data: &DataSource) -> Result<Feed, String> {
        let source = Source::open(&data.file.value, &data.format)?;
        Ok(Feed {
            name: data.name.value.clone(),
            source: Arc::new(source),
            pick: data.pick,
            share: data.share,
            at_end: data.at_end,
            advance: data.advance,
            nodes: data.nodes,
        })
    }
}
