//! The resources of a page: looked for in a response while it lies in the worker's buffer, and each
//! requested as a sample of its own, with what its user's cache knows of it.

use std::borrow::Cow;
use std::rc::Rc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use squall_extract::{
    Body, ExtractError, Limits, PageResources, Resource, ResourceKind, page_cost_estimate,
    page_resources, style_cost_estimate, style_resources,
};
use squall_metrics::PlaceId;
use squall_plan::expr::Slot;
use squall_plan::model::CacheUse;
use squall_wire::Response;

use super::route::{self, Route};
use super::{Frame, SampleFailure, Sampler, http};
use crate::net::origins::KnownOrigin;
use crate::parts::cache::{Condition, Fields, Lookup, Moments};
use crate::parts::url;
use crate::program::RequestOp;
use crate::scope::UserScope;
use crate::user::Core;
use crate::worker::Worker;

/// What is looked for in a reply.
#[derive(Clone, Default)]
pub(crate) struct Wanted<'w> {
    within: Within,
    /// Of which URL it is the reply, if the cache keeps what there is to know of it.
    cached: Option<Cached<'w>>,
    /// Whether it is the reply to a page's resource: what extracts find in it is for the page to take.
    pub is_of_page: bool,
}

/// A reply that the user's cache keeps.
#[derive(Clone)]
struct Cached<'w> {
    url: Cow<'w, str>,
    /// When it was asked for, in seconds since 1970.
    requested: i64,
    /// Whether the cache knows what it names too; of a page it does not.
    with_names: bool,
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
    /// The resources of a page.
    pub(super) fn page() -> Self {
        Wanted { within: Within::Page, ..Wanted::default() }
    }

    /// That the cache keeps what there is to know of the reply to a request of the plan's.
    pub(super) fn keep(&mut self, url: String) {
        let url = Cow::Owned(url);
        self.cached = Some(Cached { url, requested: now(), with_names: false });
    }
}

/// What a reply names, and where it stands.
#[derive(Debug)]
pub(crate) struct Found {
    origin: Rc<KnownOrigin>,
    /// Path with query.
    path: String,
    page: Rc<PageResources>,
    /// What extracts did not find in it, and seek in its resources.
    pub sought: Vec<Slot>,
}

/// A resource that is to be loaded.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub kind: ResourceKind,
    pub origin: Rc<KnownOrigin>,
    /// Path with query.
    pub path: String,
    /// The whole URL.
    pub url: String,
}

impl Found {
    /// Where it was found.
    pub(crate) fn origin(&self) -> &Rc<KnownOrigin> {
        &self.origin
    }

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

impl Frame<'_> {
    /// In what resources are looked for, given a response.
    pub(super) fn within(&self, response: &Response<'_>) -> Within {
        let is_page = || {
            let kind =
                content_type(response).split(|byte| *byte == b';').next().unwrap_or_default();
            let kind = kind.trim_ascii().to_ascii_lowercase();
            matches!(&*kind, b"text/html" | b"application/xhtml+xml")
        };
        match self.wanted.within {
            _ if !(200..300).contains(&response.status) => Within::Nothing,
            Within::Page if !is_page() => Within::Nothing,
            Within::Style if is_page() => Within::Nothing,
            within => within,
        }
    }

    /// Takes the resources that were read in a response, or remembers those of the last one if it has
    /// not changed.
    pub(super) fn look_for_resources(
        &mut self,
        op: &RequestOp,
        route: &Route<'_, '_>,
        response: &Response<'_>,
        read: Option<Result<PageResources, ExtractError>>,
    ) {
        let cached = self.wanted.cached.take();
        if read.is_none() && cached.is_none() {
            return;
        }
        let page = self.page(read);
        let known = match cached {
            Some(Cached { url, requested, with_names }) => {
                let moments = Moments { requested, received: now() };
                let fields = Fields::of(response.headers());
                let header = |name: &str| header(self.worker, self.user, op, route, name);
                let mut cache = self.user.cache(op.cache_number);
                if response.status == 304 {
                    cache.revalidate(&url, header, fields, moments).flatten()
                } else {
                    // What a redirect led to is not what the URL stands for.
                    if !route.is_redirected {
                        let names = page.clone().filter(|_| with_names);
                        cache.store(&url, header, response.status, fields, moments, names);
                    }
                    page
                }
            }
            None => page,
        };
        self.found = known.map(|page| {
            let path = String::from_utf8_lossy(route.target(op)).into_owned();
            Box::new(Found { origin: route.origin.clone(), path, page, sought: Vec::new() })
        });
    }

    /// What was read, unless that failed, which is told.
    fn page(&self, read: Option<Result<PageResources, ExtractError>>) -> Option<Rc<PageResources>> {
        match read? {
            Ok(page) => Some(Rc::new(page)),
            Err(error) => {
                self.worker.recorder.count(|counters| counters.warnings += 1);
                self.worker.recorder.log(&format!("the resources of a page: {error}"));
                None
            }
        }
    }
}

/// What the user's cache knows of a resource.
pub(crate) fn look_up(
    worker: &Worker,
    user: &Core,
    op: &RequestOp,
    item: &Item,
) -> Lookup<Option<Box<Found>>> {
    let route = route_of(worker, op, item, &[], true);
    let header = |name: &str| header(worker, user, op, &route, name);
    match known(user, op, &item.url, header) {
        Lookup::Absent => Lookup::Absent,
        Lookup::Stale(conditions) => Lookup::Stale(conditions),
        Lookup::Fresh(page) => Lookup::Fresh(page.map(|page| {
            let (origin, path) = (item.origin.clone(), item.path.clone());
            Box::new(Found { origin, path, page, sought: Vec::new() })
        })),
    }
}

/// What the user's cache knows of a URL, as far as it is used.
fn known(
    user: &Core,
    op: &RequestOp,
    url: &str,
    header: impl Fn(&str) -> Box<[u8]>,
) -> Lookup<Option<Rc<PageResources>>> {
    let mut cache = user.cache(op.cache_number);
    match op.cache {
        CacheUse::Off => Lookup::Absent,
        CacheUse::Full => cache.look_up(url, header, now()),
        CacheUse::Revalidate => cache.look_up_stale(url, header),
    }
}

/// What a user's cache knows of a request of the plan's, on its route.
pub(super) fn look_up_request(
    worker: &Worker,
    user: &Core,
    op: &RequestOp,
    route: &Route<'_, '_>,
) -> Known {
    if op.cache == CacheUse::Off {
        return Known::Absent;
    }
    let header = |name: &str| header(worker, user, op, route, name);
    match known(user, op, &worker.url(op, route), header) {
        Lookup::Absent => Known::Absent,
        Lookup::Stale(conditions) => Known::Stale(conditions),
        Lookup::Fresh(_) => Known::Fresh,
    }
}

/// What a cache knows of a request.
pub(super) enum Known {
    Absent,
    Fresh,
    Stale(Vec<Condition>),
}

fn route_of<'p, 'w>(
    worker: &'w Worker,
    op: &RequestOp,
    item: &Item,
    conditions: &'p [Condition],
    trusted: bool,
) -> Route<'p, 'w> {
    Route {
        origin: item.origin.clone(),
        path: Some(worker.buffer(item.path.as_bytes())),
        method: "GET",
        with_body: false,
        trusted,
        conditions,
        is_redirected: false,
        trace: op.trace_context.then(|| worker.new_trace()),
    }
}

/// The value of a header as a request has it; those that all requests of its kind have alike are empty.
fn header(
    worker: &Worker,
    user: &Core,
    op: &RequestOp,
    route: &Route<'_, '_>,
    name: &str,
) -> Box<[u8]> {
    let mut value = Vec::new();
    let is = |own: &[u8]| {
        own.strip_suffix(b": ").is_some_and(|own| own.eq_ignore_ascii_case(name.as_bytes()))
    };
    if let Some(header) = op.headers.iter().find(|header| is(&header.name)) {
        // What cannot be rendered is no request either.
        let _ = header.value.render(&UserScope::new(&worker.program, user), &mut value);
    } else if name == "cookie" {
        let origin = &route.origin.origin;
        user.jar(op.jar).header(route::site(origin, route.path(op)), &mut value);
    }
    value.into()
}

fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| now.as_secs() as i64)
}

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
