//! The site's routes: the tables that are both documentation and dispatch, and the way from a
//! request to its handler.

mod auth;
mod bytes;
mod control;
mod delay;
mod fields;
mod hostile;
pub(crate) mod leak;
pub(crate) mod pages;
pub(crate) mod queue;
mod resources;
mod responses;
pub(crate) mod shop;

use std::fmt::Write as _;
use std::future::Future;
use std::pin::Pin;
use std::str::FromStr;

use crate::http::exchange::{Exchange, Fault};
use crate::http::head::Head;
use crate::http::response::Response;
use crate::http::text;
use crate::session::{self, Session};
use crate::worker::Worker;

pub use hostile::HOSTILE;

/// A route of the target: where, how, and what it does.
#[derive(Clone, Copy)]
pub struct Route {
    /// The path; `{name}` stands for one segment.
    pub path: &'static str,
    /// The methods that it answers, `OPTIONS` aside, which every route does.
    pub methods: &'static [&'static str],
    /// What it does, in a sentence or two.
    pub about: &'static str,
    pub(crate) handler: Handler,
    /// Length of the path's literal start.
    literal: usize,
}

impl std::fmt::Debug for Route {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Route").field("path", &self.path).field("methods", &self.methods).finish()
    }
}

/// The methods of a page that is only read.
const READ: &[&str] = &["GET", "HEAD"];
/// The methods of a page with a form.
const FORM: &[&str] = &["GET", "HEAD", "POST"];
/// The methods of a call that changes something.
const POST: &[&str] = &["POST"];
/// All methods.
const ANY: &[&str] = &["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/// What a handler that waits or streams returns.
type Work<'c> = Pin<Box<dyn Future<Output = Result<(), Fault>> + 'c>>;

/// A handler that waits or streams.
type Streamer = for<'c> fn(&'c Call<'c>, &'c mut Exchange<'_>) -> Work<'c>;

/// How a route answers.
#[derive(Clone, Copy)]
pub(crate) enum Handler {
    /// At once, from the head; a body is read and discarded.
    Head(fn(&Call<'_>, &mut Response)),
    /// At once, from head and body.
    Body(fn(&Call<'_>, &[u8], &mut Response)),
    /// In its own time, after a body has been read and discarded.
    Stream(Streamer),
    /// In its own time; the body is its own concern.
    Raw(Streamer),
}

/// Names an async function as a [`Streamer`].
macro_rules! work {
    ($function:path) => {
        |call, exchange| Box::pin($function(call, exchange))
    };
}
use work;

const fn route(
    path: &'static str,
    methods: &'static [&'static str],
    handler: Handler,
    about: &'static str,
) -> Route {
    let mut literal = 0;
    while literal < path.len() && path.as_bytes()[literal] != b'{' {
        literal += 1;
    }
    Route { path, methods, about, handler, literal }
}

/// Every route but the hostile ones, which are in [`HOSTILE`].
pub const ROUTES: &[Route] = &[
    route("/", READ, Handler::Head(pages::home), "The home page: about 1 KB of HTML with links."),
    route(
        "/routes",
        READ,
        Handler::Head(pages::routes),
        "Every route with its methods and what it does, as text.",
    ),
    route(
        "/login",
        FORM,
        Handler::Body(pages::login),
        "GET: a form with the hidden field 'csrf', and the session cookie 'sid' that it belongs to. \
         POST of user, csrf and password: a new session cookie and 302 to /home. Any user of 1 to \
         128 bytes is accepted; the password is 'secret-' and the user, or may be omitted. A wrong \
         password or csrf is 403.",
    ),
    route("/logout", FORM, Handler::Head(pages::logout), "Deletes the session cookie; 302 to /."),
    route(
        "/home",
        READ,
        Handler::Head(pages::user_home),
        "The page of a logged-in user; otherwise 302 to /login.",
    ),
    route(
        "/items",
        READ,
        Handler::Head(shop::items_page),
        "The shop's 1000 items as HTML, 20 on each ?page= from 1 to 50.",
    ),
    route("/item/{id}", READ, Handler::Head(shop::item_page), "One item, 1 to 1000, as HTML."),
    route(
        "/api/items",
        READ,
        Handler::Head(shop::items_json),
        "The items as JSON, 20 on each ?page=.",
    ),
    route("/api/items/{id}", READ, Handler::Head(shop::item_json), "One item as JSON."),
    route(
        "/cart",
        &["GET", "HEAD", "POST", "DELETE"],
        Handler::Body(shop::cart),
        "The session's cart. POST of id and quantity (default 1) as form or JSON adds, DELETE \
         empties. JSON for clients that send or accept JSON, otherwise HTML, and 303 after a POST. At \
         most 50 different items.",
    ),
    route(
        "/checkout",
        POST,
        Handler::Body(shop::checkout),
        "Turns the cart into an order and empties it: 201 and JSON with the order's id. A body, \
         if any, is a form or JSON.",
    ),
    route(
        "/pay",
        POST,
        Handler::Body(shop::pay),
        "Pays: a form or JSON with 'order' or 'id' returns 201 and JSON with order and payment.",
    ),
    route("/cancel", FORM, Handler::Head(shop::cancel), "Empties the cart and confirms it."),
    route(
        "/bytes/{n}",
        READ,
        Handler::Stream(work!(bytes::bytes)),
        "A body of n bytes; n may end with k, m or g. ?chunked sends it in chunks of 64 KiB.",
    ),
    route(
        "/chunked",
        READ,
        Handler::Stream(work!(bytes::chunked)),
        "A body in ?n= chunks (5) of ?size= bytes (100), ?delay= ms apart (0), with the trailers \
         X-Chunks and X-Bytes.",
    ),
    route(
        "/upload",
        &["POST", "PUT"],
        Handler::Raw(work!(bytes::upload)),
        "Accepts a body of any size and returns its bytes and sha256 as JSON.",
    ),
    route(
        "/gzip",
        READ,
        Handler::Head(bytes::gzip),
        "About 12 KB of JSON, compressed when Accept-Encoding allows gzip.",
    ),
    route(
        "/delay/{ms}",
        ANY,
        Handler::Stream(work!(delay::delay)),
        "Responds after ms milliseconds (fractions allowed, at most an hour). ?dist=uniform: ms to \
         ms + ?spread= (ms); normal: mean ms, standard deviation ?sd= (a quarter of ms), never \
         below 0; exponential: mean ms. The body names the delay chosen.",
    ),
    route(
        "/queue",
        ANY,
        Handler::Stream(work!(queue::queue)),
        "A first-come-first-served queue with ?servers= servers (1) and exponential service times \
         of ?mean= ms (10), or ?dist=fixed ones; shared by all requests with the same three. The body \
         names the wait and the service time in microseconds.",
    ),
    route(
        "/leak",
        ANY,
        Handler::Stream(work!(leak::leak)),
        "Responds after ?ms= (10). From the first time that more than ?most= requests (20) are here at once, \
         each request makes all later ones ?each= ms (1) slower, for good.",
    ),
    route(
        "/slow",
        ANY,
        Handler::Stream(work!(delay::slow)),
        "Responds after 3.5 s; to a POST after 4 s.",
    ),
    route(
        "/cacheable",
        READ,
        Handler::Head(responses::cacheable),
        "1 KB with an ETag and a max-age, at once; 304 when If-None-Match names the ETag.",
    ),
    route(
        "/page/{n}",
        READ,
        Handler::Head(resources::page),
        "A page of HTML with n resources (at most 10,000), a quarter of each kind of /resource.",
    ),
    route(
        "/resource/{kind}/{n}",
        READ,
        Handler::Head(resources::resource),
        "1 KB that never changes. image: fresh for an hour, with an ETag; style: no-cache, with an \
         ETag; script: stale at once, with Last-Modified; uncached: no-store. 304 as asked for.",
    ),
    route(
        "/uncacheable",
        READ,
        Handler::Stream(work!(delay::uncacheable)),
        "Responds after 2 s, with Cache-Control: no-store.",
    ),
    route(
        "/status/{code}",
        ANY,
        Handler::Head(responses::status),
        "Responds with this status, 200 to 599.",
    ),
    route(
        "/echo",
        ANY,
        Handler::Body(responses::echo),
        "The request as JSON: method, target, path, query, headers (names in lower case), body \
         (at most 1 MiB, and 64 MiB over all connections) and body_bytes.",
    ),
    route(
        "/connection",
        READ,
        Handler::Stream(work!(responses::connection)),
        "The connection as JSON: its number, how many requests it has had, the client's address, \
         and the TLS version, name and whether the session was resumed.",
    ),
    route(
        "/headers/{n}",
        READ,
        Handler::Head(responses::headers),
        "A response with n fields X-Header-1 to X-Header-n, at most 10000.",
    ),
    route(
        "/cookies",
        READ,
        Handler::Head(responses::cookies),
        "The cookies that the client sent, as a JSON object.",
    ),
    route(
        "/cookies/set",
        READ,
        Handler::Head(responses::set_cookies),
        "Sets each parameter of the query as a cookie, and returns them as JSON.",
    ),
    route(
        "/redirect/{n}",
        ANY,
        Handler::Head(responses::redirect),
        "Redirects n times (at most 1000), each to /redirect/{n-1}, and then responds with 200; \
         ?status= is 301, 302 (default), 303, 307 or 308.",
    ),
    route(
        "/redirect-to",
        ANY,
        Handler::Head(responses::redirect_to),
        "Redirects to ?url=, with ?status= as above.",
    ),
    route(
        "/auth/basic",
        ANY,
        Handler::Head(auth::basic),
        "Requires Basic credentials: any user, with the password 'secret-' and the user.",
    ),
    route(
        "/auth/basic/{user}/{password}",
        ANY,
        Handler::Head(auth::basic),
        "Requires these Basic credentials.",
    ),
    route(
        "/auth/digest",
        ANY,
        Handler::Head(auth::digest),
        "Requires Digest credentials (RFC 7616, qop=auth): any user, with the password 'secret-' and \
         the user. Offers SHA-256 and MD5, or ?algorithm= alone. A nonce is valid for ?lifetime= ms \
         (60000) and ?uses= requests (unlimited), each with a higher nc; then comes stale=true.",
    ),
    route(
        "/auth/digest/{user}/{password}",
        ANY,
        Handler::Head(auth::digest),
        "Requires these Digest credentials, otherwise as /auth/digest.",
    ),
    route(
        "/auth/bearer",
        ANY,
        Handler::Head(auth::bearer),
        "Requires a Bearer token that starts with 'token-'.",
    ),
    route("/auth/bearer/{token}", ANY, Handler::Head(auth::bearer), "Requires this Bearer token."),
    route(
        "/control/stall",
        ANY,
        Handler::Head(control::stall),
        "Stalls the whole target for ?ms= milliseconds (1000, at most 60000) from now on; this \
         request itself gets its response at once.",
    ),
    route(
        "/control/stats",
        READ,
        Handler::Head(control::stats),
        "The target's own counters as JSON: requests, accepted, open, bytes_in, bytes_out.",
    ),
    route("/hostile", READ, Handler::Head(pages::hostile), "The hostile routes, as text."),
];

const NOT_FOUND: Route = route("", ANY, Handler::Head(responses::not_found), "");
const NOT_ALLOWED: Route = route("", ANY, Handler::Head(responses::not_allowed), "");
const OPTIONS: Route = route("", ANY, Handler::Head(responses::options), "");

/// The routes as text, one block a route: what `/routes` and `squall target --routes` show.
pub fn describe_routes() -> String {
    let mut text = String::new();
    for route in ROUTES.iter().chain(HOSTILE) {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{} {}\n    {}", route.methods.join(" "), route.path, route.about);
    }
    text
}

/// Most `{name}` segments of a route.
const PARAM_LIMIT: usize = 2;

/// A request on its way to its handler.
pub(crate) struct Call<'c> {
    pub(crate) head: &'c Head<'c>,
    pub(crate) route: &'static Route,
    pub(crate) worker: &'c Worker,
    params: [&'c str; PARAM_LIMIT],
}

impl<'c> Call<'c> {
    /// Finds the route of a request; one of the tables, or one that says why there is none.
    pub(crate) fn find(head: &'c Head<'c>, worker: &'c Worker) -> Self {
        let found = find_route(head.path);
        let (route, params) = match found {
            None if head.method == "OPTIONS" && head.path == "*" => (&OPTIONS, Default::default()),
            None => (&NOT_FOUND, Default::default()),
            Some(_) if head.method == "OPTIONS" => (&OPTIONS, Default::default()),
            Some((route, params)) if route.methods.contains(&head.method) => (route, params),
            Some(_) => (&NOT_ALLOWED, Default::default()),
        };
        Call { head, route, worker, params }
    }

    /// The n-th `{name}` of the path, decoded; `None` where the route has no such segment.
    pub(crate) fn param(&self, n: usize) -> Option<std::borrow::Cow<'c, str>> {
        let raw = self.params.get(n).filter(|raw| !raw.is_empty())?;
        Some(text::percent_decode(raw))
    }

    /// The n-th `{name}` of the path as a number or the like.
    pub(crate) fn param_as<T: FromStr>(&self, n: usize) -> Option<T> {
        self.param(n)?.parse().ok()
    }

    /// The value of a parameter of the query, decoded.
    pub(crate) fn query(&self, name: &str) -> Option<std::borrow::Cow<'c, str>> {
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

    /// The session of the request's cookie.
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

    /// Sets the session's cookie.
    pub(crate) fn set_session(&self, session: &Session, response: &mut Response) {
        let value = session.cookie_value(&self.worker.site.signer);
        let name = session::COOKIE;
        let cookie = format_args!("{name}={value}; Path=/; HttpOnly; SameSite=Lax").to_string();
        response.field("Set-Cookie", cookie);
    }
}

fn find_route(path: &str) -> Option<(&'static Route, [&str; PARAM_LIMIT])> {
    ROUTES.iter().chain(HOSTILE).find_map(|route| Some((route, route.params(path)?)))
}

impl Route {
    /// The `{name}` segments of `path`, if it is one of this route's.
    fn params<'p>(&self, path: &'p str) -> Option<[&'p str; PARAM_LIMIT]> {
        let (literal, pattern) = self.path.split_at(self.literal);
        let rest = path.strip_prefix(literal)?;
        let mut params = [""; PARAM_LIMIT];
        if pattern.is_empty() {
            return rest.is_empty().then_some(params);
        }
        // What follows the literal start is segments in braces only; a test holds the tables to it.
        let mut segments = rest.split('/');
        for place in params.iter_mut().take(pattern.split('/').count()) {
            *place = segments.next().filter(|segment| !segment.is_empty())?;
        }
        segments.next().is_none().then_some(params)
    }

    /// The methods for an `Allow` field.
    fn allow(&self) -> String {
        format!("{}, OPTIONS", self.methods.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_find_their_routes() {
        for (path, route, params) in [
            ("/", "/", ["", ""]),
            ("/item/12", "/item/{id}", ["12", ""]),
            ("/auth/basic", "/auth/basic", ["", ""]),
            ("/auth/basic/u/p", "/auth/basic/{user}/{password}", ["u", "p"]),
            ("/hostile", "/hostile", ["", ""]),
        ] {
            let found = find_route(path).map(|(route, params)| (route.path, params));
            assert_eq!(found, Some((route, params)), "{path}");
        }
        for path in ["/nowhere", "/item/", "/item/1/2", "/auth/basic/u", "/itemx/1", "*", ""] {
            assert!(find_route(path).is_none(), "{path}");
        }
    }

    #[test]
    fn the_tables_are_well_formed() {
        let mut seen = std::collections::HashSet::new();
        for route in ROUTES.iter().chain(HOSTILE) {
            assert!(seen.insert(route.path), "{} is there twice", route.path);
            assert!(route.about.ends_with('.'), "{} needs a sentence", route.path);
            let (_, pattern) = route.path.split_at(route.literal);
            let segments: Vec<_> = pattern.split('/').filter(|s| !s.is_empty()).collect();
            assert!(segments.len() <= PARAM_LIMIT);
            assert!(segments.iter().all(|s| s.starts_with('{') && s.ends_with('}')));
            assert!(describe_routes().contains(route.path));
        }
    }
}
