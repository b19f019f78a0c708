//! The request of a resource that a page names.

use std::borrow::Cow;

use squall_extract::ResourceKind;
use squall_metrics::PlaceId;

use super::failure::SampleFailure;
use super::frame::Frame;
use super::http;
use super::page::{Cached, Item, Wanted, Within};
use super::resources::{now, route_of};
use super::sampler::Sampler;
use crate::parts::cache::Condition;
use crate::program::RequestOp;

/// The request of a resource.
pub(crate) struct ResourceSampler<'a> {
    pub op: &'a RequestOp,
    pub item: &'a Item,
    /// The name under which it is counted.
    pub name: u32,
    /// Whether its body may name other resources.
    pub is_read: bool,
    /// Whether credentials go along.
    pub trusted: bool,
    /// Whether the user's cache keeps what there is to know of it.
    pub cached: bool,
    /// What it is asked for with.
    pub conditions: Vec<Condition>,
}

impl Sampler for ResourceSampler<'_> {
    fn name(&self) -> Option<u32> {
        Some(self.name)
    }

    fn step(&self) -> &str {
        &self.op.step
    }

    fn kind(&self) -> &str {
        "GET"
    }

    fn place(&self) -> PlaceId {
        self.op.place
    }

    fn is_counted(&self) -> bool {
        true
    }

    fn is_scheduled(&self) -> bool {
        false
    }

    async fn perform<'f>(&'f self, frame: &mut Frame<'f>) -> Result<(), SampleFailure> {
        let within = match (self.is_read, self.item.kind) {
            (true, ResourceKind::Style) => Within::Style,
            (true, ResourceKind::Frame) => Within::Page,
            _ => Within::Nothing,
        };
        let url = Cow::Borrowed(&*self.item.url);
        let cached = self.cached.then(|| Cached { url, requested: now(), with_names: true });
        frame.wanted = Wanted { within, cached, is_of_page: true };
        let route = route_of(frame.worker, self.op, self.item, &self.conditions, self.trusted);
        http::follow(frame, self.op, route).await
    }
}
