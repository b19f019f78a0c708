//! A request on its way to its handler: what the handler asks of it.

use std::borrow::Cow;
use std::str::FromStr;

use crate::http::head::Head;
use crate::http::response::Response;
use crate::http::text;
use crate::session::{self, Session};
use crate::worker::Worker;

/// Most `{name}` segments of a route.
pub(super) const PARAM_LIMIT: usize = 2;

/// A request on its way to its handler.
pub(crate) struct Call<'c> {
    pub(crate) head: &'c Head<'c>,
    pub(crate) worker: &'c Worker,
    /// The methods that the path answers; `None`: it has no route.
    pub(super) methods: Option<&'static [&'static str]>,
    /// The `{name}` segments of the path.
    pub(super) params: [&'c str; PARAM_LIMIT],
}

impl<'c> Call<'c> {
    /// The methods for an `Allow` field; `None`: the path has no route.
    pub(crate) fn allow(&self) -> Option<String> {
        self.methods.map(|methods| format!("{}, OPTIONS", methods.join(", ")))
    }

    /// The n-th `{name}` of the path, decoded; `None` where the route has no such segment.
    pub(crate) fn param(&self, n: usize) -> Option<Cow<'c, str>> {
        let raw = self.params.get(n).filter(|raw| !raw.is_empty())?;
        Some(text::percent_decode(raw))
    }

    /// The n-th `{name}` of the path as a number or the like.
    pub(crate) fn param_as<T: FromStr>(&self, n: usize) -> Option<T> {
        self.param(n)?.parse().ok()
    }

    /// The value of a parameter of the query, decoded.
    pub(crate) fn query(&self, name: &str) -> Option<Cow<'c, str>> {
        text::pairs(self.head.query).find(|(n, _)| n == name).map(|(_, value)| value)
    }

    /// A parameter of the query as a number or the like; `default` when it is absent, and an
    /// error in words when it is something else.
    pub(crate) fn query_as<T: FromStr>(&self, name: &str, default: T) -> Result<T, String> {
        match self.query(name) {
            None => Ok(default),
            Some(value) => value.parse().map_err(|_| format!("?{name}={value} is not valid")),
        }
    }

    pub(crate) fn session(&self) -> Option<Session> {
        let value = text::cookie(self.head.field("cookie")?, session::COOKIE)?;
        Session::from_cookie_value(value, &self.worker.site.signer)
    }

    /// The session of the request, or a new one, which the response then sets.
    pub(crate) fn session_or_new(&self, response: &mut Response) -> Session {
        self.session().unwrap_or_else(|| {
            let session = Session { id: self.worker.site.random.bits(), user: String::new() };
            self.set_session(&session, response);
            session
        })
    }

    pub(crate) fn set_session(&self, session: &Session, response: &mut Response) {
        let value = session.cookie_value(&self.worker.site.signer);
        let name = session::COOKIE;
        let cookie = format_args!("{name}={value}; Path=/; HttpOnly; SameSite=Lax").to_string();
        response.field("Set-Cookie", cookie);
    }
}
