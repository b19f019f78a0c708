//! What is looked for in a response besides the reply: the resources that a page names.

use std::borrow::Cow;
use std::rc::Rc;
use std::time::Duration;

use squall_extract::{
    Body, ExtractError, Limits, PageResources, Resource, ResourceKind, page_cost_estimate,
    page_resources, style_cost_estimate, style_resources,
};
use squall_plan::expr::Slot;
use squall_wire::Response;

use super::got::Got;
use crate::net::origins::KnownOrigin;
use crate::parts::url;
use crate::worker::Worker;

/// What is looked for in a reply.
#[derive(Clone, Default)]
pub(crate) struct Wanted<'w> {
    pub(super) within: Within,
    /// Of which URL it is the reply, if the cache keeps what there is to know of it.
    pub(super) cached: Option<Cached<'w>>,
    /// Whether it is the reply to a page's resource: what extracts find in it is for the page to take.
    pub is_of_page: bool,
    /// Who is given the response, if it is a script's.
    pub(super) got: Option<&'w Got>,
}

/// A reply that the user's cache keeps.
#[derive(Clone)]
pub(super) struct Cached<'w> {
    pub url: Cow<'w, str>,
    /// When it was asked for, in seconds since 1970.
    pub requested: i64,
    /// Whether the cache knows what it names too; of a page it does not.
    pub with_names: bool,
}

/// In what references are looked for.
#[derive(Clone, Copy, Default, PartialEq)]
pub(super) enum Within {
    #[default]
    Nothing,
    Page,
    Style,
}

impl Within {
    /// What it takes to look, as a rule.
    pub(super) fn cost_estimate(self, body_bytes: usize) -> Duration {
        match self {
            Within::Nothing => Duration::ZERO,
            Within::Page => page_cost_estimate(body_bytes),
            Within::Style => style_cost_estimate(body_bytes),
        }
    }

    /// The references in a response.
    pub(super) fn read_response(
        self,
        response: &Response<'_>,
    ) -> Option<Result<PageResources, ExtractError>> {
        match self {
            Within::Nothing => None,
            _ => self.read(&Body::new(response.body, content_type(response))),
        }
    }

    /// The references in a body.
    pub(super) fn read(self, body: &Body<'_>) -> Option<Result<PageResources, ExtractError>> {
        match self {
            Within::Nothing => None,
            Within::Page => Some(page_resources(body, Limits::default())),
            Within::Style => {
                Some(Ok(PageResources { base: None, resources: style_resources(body.text()) }))
            }
        }
    }
}

/// What a response says that its body is.
pub(super) fn content_type<'r>(response: &Response<'r>) -> &'r [u8] {
    response.header("content-type").unwrap_or_default()
}

impl Wanted<'_> {
    /// In what resources are looked for, given a response.
    pub(super) fn within(&self, response: &Response<'_>) -> Within {
        let is_page = || {
            let kind =
                content_type(response).split(|byte| *byte == b';').next().unwrap_or_default();
            let kind = kind.trim_ascii().to_ascii_lowercase();
            matches!(&*kind, b"text/html" | b"application/xhtml+xml")
        };
        match self.within {
            _ if !(200..300).contains(&response.status) => Within::Nothing,
            Within::Page if !is_page() => Within::Nothing,
            Within::Style if is_page() => Within::Nothing,
            within => within,
        }
    }

    /// The resources of a page.
    pub(super) fn page() -> Self {
        Wanted { within: Within::Page, ..Wanted::default() }
    }

    /// That the cache keeps what there is to know of the reply to a request of the plan's.
    pub(super) fn keep(&mut self, url: String, now: i64) {
        let url = Cow::Owned(url);
        self.cached = Some(Cached { url, requested: now, with_names: false });
    }
}

/// What a reply names, and where it stands.
#[derive(Debug)]
pub(crate) struct Found {
    pub origin: Rc<KnownOrigin>,
    pub path: String,
    pub page: Rc<PageResources>,
    /// What extracts did not find in it, and seek in its resources.
    pub sought: Vec<Slot>,
}

/// A resource that is to be loaded.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub kind: ResourceKind,
    pub origin: Rc<KnownOrigin>,
    pub path: String,
    pub url: String,
}

impl Found {
    /// The resources with their places; those are left out that go by neither http nor https, or to
    /// where requests may not go.
    pub(crate) fn items(&self, worker: &Worker) -> Vec<Item> {
        let page = &self.origin;
        let on = Some((&page.origin, &*self.path));
        let base = self.page.base.as_deref().and_then(|base| url::resolve(on, base).ok());
        let on = base.as_ref().map_or(on, |base| Some((&base.origin, &*base.path)));
        let item = |resource: &Resource| {
            let location = url::resolve(on, &resource.reference).ok()?;
            let origin = if location.origin == page.origin {
                page.clone()
            } else if worker.program.hosts.allows(&location.origin.host, location.origin.port) {
                worker.known_origin(location.origin, page.asked.clone())
            } else {
                return None;
            };
            let url = format!("{}{}", origin.origin, location.path);
            Some(Item { kind: resource.kind, origin, path: location.path, url })
        };
        self.page.resources.iter().filter_map(item).collect()
    }
}
