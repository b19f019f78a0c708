//! The resources of a page: looked for in a response while it lies in the worker's buffer, and each
//! requested as a sample of its own, with what its user's cache knows of it.

use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

use squall_extract::{ExtractError, PageResources};
use squall_plan::model::CacheUse;
use squall_wire::Response;

use super::frame::Frame;
use super::page::{Cached, Found, Item, Within, content_type};
use super::route::{self, Route};
use crate::parts::cache::{Condition, Fields, Lookup, Moments};
use crate::program::RequestOp;
use crate::scope::UserScope;
use crate::user::Core;
use crate::worker::Worker;

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

pub(super) fn route_of<'p, 'w>(
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

pub(super) fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| now.as_secs() as i64)
}
