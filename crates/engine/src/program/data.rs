//! Opens the data files of a plan, and finds the rows that steps look at.

use squall_plan::model::{Advance, DataFormat};
use squall_plan::span::Spanned;

use super::compiler::Compiler;
use super::feeds::Feed;

impl Compiler<'_> {
    pub(super) fn open_feeds(&mut self) {
        if let Some(feeds) = self.options.feeds.0.get() {
            self.feeds = feeds.clone();
            return;
        }
        let mut opened = Vec::new();
        let node = self.options.node.number;
        for data in &self.plan.data {
            let own = data.of_node(node);
            match Feed::open(&own) {
                Ok(feed) => opened.push(feed),
                Err(message) if matches!(data.format, DataFormat::Numbers(_)) => {
                    self.error(data.name.span, message, "");
                }
                Err(message) => {
                    // What is wrong within a file has nothing to do with where it is.
                    let mut help = match own.file.value.exists() {
                        true => String::new(),
                        false => "paths are relative to the folder of the plan".to_owned(),
                    };
                    if own.file.value != data.file.value && !help.is_empty() {
                        help +=
                            &format!("; this is the file of node {node}, by the `${{node}}` in it");
                    }
                    self.error(data.file.span, message, &help);
                }
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

    /// Notes that the scenario at hand looks at a feed: each of its iterations then takes a row.
    pub(super) fn use_feed(&mut self, feed: usize) {
        let by_step = self.feeds[feed].advance == Advance::Step;
        let feed = feed as u16;
        if !by_step && !self.used_feeds.contains(&feed) {
            self.used_feeds.push(feed);
        }
    }

    /// The feed that a step `next_row` goes on with.
    pub(super) fn feed_of_step(&mut self, name: &Spanned<String>) -> Option<u16> {
        let found = self.feed(&name.value);
        let by_step = |feed: &usize| self.feeds[*feed].advance == Advance::Step;
        let (message, help) = match found {
            Some(feed) if by_step(&feed) => return u16::try_from(feed).ok(),
            Some(_) => {
                let message = format!("`{}` goes on with each iteration", name.value);
                (message, "give it `advance: step`".to_owned())
            }
            None => {
                let known: Vec<&str> = self.feeds.iter().map(|feed| feed.name.as_str()).collect();
                let help = match known.as_slice() {
                    [] => "the plan has no `data`: add a source with `advance: step`".to_owned(),
                    known => format!("the data sources are {}", known.join(", ")),
                };
                (format!("there is no data source `{}`", name.value), help)
            }
        };
        self.error(name.span, message, &help);
        None
    }
}
