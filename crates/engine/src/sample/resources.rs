//! The resources of a page: looked for in a response while it lies in the worker's buffer; and what a user's cache knows
//! of them, and of pages.

use std::borrow::Cow;
use std::rc::Rc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use squall_extract::{
    Body, ExtractError, Limits, PageResources, Resource, ResourceKind, page_cost_estimate,
    page_resources, style_cost_estimate, style_resources,
};
use squall_plan::expr::Slot;
use squall_plan::model::CacheUse;
use squall_wire::Response;

use super::call::Call;
use crate::parts::cache::{Fields, Lookup, Moments};
use crate::parts::url;
use crate::program::Policy;
use crate::scope::UserScope;
use crate::user::Core;
use crate::worker::{KnownOrigin, Worker};

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

impl Item {
    /// What its request looks for in the reply. `is_read`: whether its body may name other resources; `cached`: whether
    /// the user's cache keeps what there is to know of it.
    pub(crate) fn wanted(&self, is_read: bool, cached: bool) -> Wanted<'_> {
        let within = match (is_read, self.kind) {
            (true, ResourceKind::Style) => Within::Style,
            (true, ResourceKind::Frame) => Within::Page,
            _ => Within::Nothing,
        };
        let url = Cow::Borrowed(&*self.url);
        let cached = cached.then(|| Cached { url, requested: now(), with_names: true });
        Wanted { within, cached, is_of_page: true }
    }
}

impl Found {
    /// What the response to a call names.
    pub(crate) fn at(call: &Call<'_, '_>, page: Rc<PageResources>) -> Box<Found> {
        let path = String::from_utf8_lossy(call.target()).into_owned();
        Box::new(Found { origin: call.origin.clone(), path, page, sought: Vec::new() })
    }

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

    /// The resources that were read in a response, or those of the last one if it has not changed. The user's cache keeps
    /// what it is to keep.
    pub(super) fn found(
        &self,
        worker: &Worker,
        user: &Core,
        (policy, call): (&Policy, &Call<'_, '_>),
        response: &Response<'_>,
        read: Option<Result<PageResources, ExtractError>>,
    ) -> Option<Box<Found>> {
        let page = read.and_then(|read| taken(worker, read));
        let known = match &self.cached {
            Some(Cached { url, requested, with_names }) => {
                let moments = Moments { requested: *requested, received: now() };
                let fields = Fields::of(response.headers());
                let header = |name: &str| header(worker, user, policy, call, name);
                let mut cache = user.cache(policy.cache_number);
                if response.status == 304 {
                    cache.revalidate(url, header, fields, moments).flatten()
                } else {
                    // What a redirect led to is not what the URL stands for.
                    if !call.is_redirected {
                        let names = page.clone().filter(|_| *with_names);
                        cache.store(url, header, response.status, fields, moments, names);
                    }
                    page
                }
            }
            None => page,
        };
        known.map(|page| Found::at(call, page))
    }
}

/// What was read, unless that failed, which is told.
fn taken(worker: &Worker, read: Result<PageResources, ExtractError>) -> Option<Rc<PageResources>> {
    match read {
        Ok(page) => Some(Rc::new(page)),
        Err(error) => {
            worker.recorder.count(|counters| counters.warnings += 1);
            worker.recorder.log(&format!("the resources of a page: {error}"));
            None
        }
    }
}

/// What the user's cache knows of a call to a URL, as far as it is used.
pub(crate) fn look_up(
    worker: &Worker,
    user: &Core,
    policy: &Policy,
    call: &Call<'_, '_>,
    url: &str,
) -> Lookup<Option<Rc<PageResources>>> {
    let header = |name: &str| header(worker, user, policy, call, name);
    let mut cache = user.cache(policy.cache_number);
    match policy.cache {
        CacheUse::Off => Lookup::Absent,
        CacheUse::Full => cache.look_up(url, header, now()),
        CacheUse::Revalidate => cache.look_up_stale(url, header),
    }
}

/// The value of a header as a request has it; those that all requests of its kind have alike are empty.
fn header(
    worker: &Worker,
    user: &Core,
    policy: &Policy,
    call: &Call<'_, '_>,
    name: &str,
) -> Box<[u8]> {
    let mut value = Vec::new();
    let is = |own: &[u8]| {
        own.strip_suffix(b": ").is_some_and(|own| own.eq_ignore_ascii_case(name.as_bytes()))
    };
    if let Some(header) = call.content.headers.iter().find(|header| is(&header.name)) {
        // What cannot be rendered is no request either.
        let _ = header.value.render(&UserScope::new(&worker.program, user), &mut value);
    } else if name == "cookie" {
        user.jar(policy.jar).header(call.site(), &mut value);
    }
    value.into()
}

fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| now.as_secs() as i64)
}
