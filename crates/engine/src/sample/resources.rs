//! What a user's cache knows of pages and of what they name, and what it keeps of them.

use std::borrow::Cow;
use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

use squall_extract::{ExtractError, PageResources, ResourceKind};
use squall_plan::model::CacheUse;
use squall_wire::Response;

use super::call::Call;
use super::page::{Cached, Found, Item, Wanted, Within};
use crate::parts::cache::{Fields, Lookup, Moments};
use crate::program::Policy;
use crate::scope::UserScope;
use crate::user::Core;
use crate::worker::Worker;

impl Item {
    /// What the request of a resource looks for in the reply. `is_read`: whether its body may name other resources; `cached`: whether
    /// the user's cache keeps what there is to know of it.
    pub(crate) fn wanted(&self, is_read: bool, cached: bool) -> Wanted<'_> {
        let within = match (is_read, self.kind) {
            (true, ResourceKind::Style) => Within::Style,
            (true, ResourceKind::Frame) => Within::Page,
            _ => Within::Nothing,
        };
        let url = Cow::Borrowed(&*self.url);
        let cached = cached.then(|| Cached { url, requested: now(), with_names: true });
        Wanted { within, cached, is_of_page: true, got: None }
    }
}

impl Found {
    /// What the response to a call names.
    pub(crate) fn at(call: &Call<'_, '_>, page: Rc<PageResources>) -> Box<Found> {
        let path = String::from_utf8_lossy(call.target()).into_owned();
        Box::new(Found { origin: call.origin.clone(), path, page, sought: Vec::new() })
    }
}

impl Wanted<'_> {
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

pub(super) fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| now.as_secs() as i64)
}
