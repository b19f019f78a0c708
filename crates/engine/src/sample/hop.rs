//! Where a request of a script goes, and where a redirect leads it.

use std::rc::Rc;

use squall_metrics::ErrorKind;

use super::call::{allowed, becomes_get, site};
use super::failure::SampleFailure;
use crate::net::origins::{Asked, KnownOrigin};
use crate::parts::cookies::Site;
use crate::parts::{names, url};
use crate::scripts::Hop;
use crate::worker::Worker;

impl Hop {
    /// Of a URL that a script says.
    ///
    /// # Errors
    /// It is no URL, or leads where requests may not go.
    pub(crate) fn of(worker: &Worker, method: &str, text: &str) -> Result<Hop, SampleFailure> {
        let Location(location) =
            Location::of(text).map_err(|error| bad(worker, ErrorKind::Render, text, &error))?;
        allowed(worker, &location.origin, text)?;
        let origin = worker.known_origin(location.origin, Asked::default());
        Ok(Hop {
            method: method.to_owned(),
            url: url_of(&origin, &location.path),
            origin,
            path: location.path,
            with_body: true,
            trusted: true,
            is_redirected: false,
        })
    }

    /// Where a redirect of a status leads.
    ///
    /// # Errors
    /// The location is no URL, or leads where requests may not go.
    pub(crate) fn redirected(
        &self,
        worker: &Worker,
        status: u16,
        location: &str,
    ) -> Result<Hop, SampleFailure> {
        let on = Some((&self.origin.origin, &*self.path));
        let found = url::resolve(on, location)
            .map_err(|error| bad(worker, ErrorKind::BadRedirect, location, &error))?;
        let origin = if found.origin == self.origin.origin {
            self.origin.clone()
        } else {
            allowed(worker, &found.origin, location)?;
            worker.known_origin(found.origin, self.origin.asked.clone())
        };
        let becomes_get = becomes_get(&self.method, status);
        Ok(Hop {
            method: if becomes_get { "GET".to_owned() } else { self.method.clone() },
            url: url_of(&origin, &found.path),
            path: found.path,
            with_body: self.with_body && !becomes_get,
            trusted: self.trusted && origin == self.origin,
            origin,
            is_redirected: true,
        })
    }

    /// Where it goes, as far as cookies care.
    pub(crate) fn site(&self) -> Site<'_> {
        site(&self.origin.origin, names::without_query(&self.path))
    }
}

fn url_of(origin: &KnownOrigin, path: &str) -> Rc<str> {
    format!("{}{path}", origin.origin).into()
}

/// The place of a URL that a script says, whether or not requests may go there.
pub(crate) struct Location(url::Location);

impl Location {
    /// # Errors
    /// The text is no URL with scheme and host.
    pub(crate) fn of(text: &str) -> Result<Location, url::UrlError> {
        // What has credentials is not written out.
        url::parse(text).or_else(|_| url::resolve(None, text)).map(Location)
    }

    /// The same, as far as cookies care.
    pub(crate) fn site(&self) -> Site<'_> {
        site(&self.0.origin, names::without_query(&self.0.path))
    }
}

fn bad(worker: &Worker, kind: ErrorKind, text: &str, error: &url::UrlError) -> SampleFailure {
    let shown = names::limited(&worker.recorder.secrets().mask(text)).into_owned();
    SampleFailure::new(kind, format!("URL `{shown}`: {error}"))
}
