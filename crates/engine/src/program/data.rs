//! Data files in use by a program.

use std::sync::{Arc, OnceLock};

use squall_plan::model::{AtEnd, DataSource, Pick, Share};

use super::compile::Compiler;
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
        })
    }
}

impl Compiler<'_> {
    pub(super) fn open_feeds(&mut self) {
        if let Some(feeds) = self.options.feeds.0.get() {
            self.feeds = feeds.clone();
            return;
        }
        let mut opened = Vec::new();
        for data in &self.plan.data {
            match Feed::open(data) {
                Ok(feed) => opened.push(feed),
                Err(message) => self.error(
                    data.file.span,
                    message,
                    "paths are relative to the folder of the plan",
                ),
            }
        }
        // Files that cannot be opened are errors, and end here.
        if !self.has_errors() {
            self.feeds = self.options.feeds.0.get_or_init(|| opened).clone();
        } else {
            self.feeds = opened;
        }
    }

    pub(super) fn feed(&self, name: &str) -> Option<usize> {
        self.feeds.iter().position(|feed| feed.name == name)
    }

    pub(super) fn use_feed(&mut self, feed: usize) {
        let feed = feed as u16;
        if !self.used_feeds.contains(&feed) {
            self.used_feeds.push(feed);
        }
    }
}
