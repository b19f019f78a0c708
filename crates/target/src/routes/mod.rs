//! The site's routes: the tables that are both documentation and dispatch, and the way from a
//! request to its handler.

mod auth;
mod bytes;
mod call;
mod control;
mod delay;
mod fields;
mod hostile;
mod leak;
mod pages;
mod queue;
mod resources;
mod responses;
mod route;
mod shop;

use std::fmt::Write as _;

use crate::home::home_page;
use crate::http::head::Head;
use crate::http::response::Response;
use crate::worker::Worker;
use call::PARAM_LIMIT;
use route::{route, work};

pub(crate) use call::Call;
pub use hostile::HOSTILE;
pub(crate) use route::Handler;
pub use route::Route;

/// The methods of a page that is only read.
const READ: &[&str] = &["GET", "HEAD"];
/// The methods of a page with a form.
const FORM: &[&str] = &["GET", "HEAD", "POST"];
/// The methods of a call that changes something.
const POST: &[&str] = &["POST"];
const ANY: &[&str] = &["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/// Every route but the hostile ones, which are in [`HOSTILE`].
pub const ROUTES: &[Route] = &[
    route(
        "/",
        READ,
        Handler::Head(|_, response| home_page(response)),
        "The home page: about 1 KB of HTML with links.",
    ),
    route(
        "/routes",
        READ,
        Handler::Head(list_routes),
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
    route("/hostile", READ, Handler::Head(list_hostile), "The hostile routes, as text."),
];

/// The routes as text, one block a route: what `/routes` and `squall target --routes` show.
pub fn describe_routes() -> String {
    let mut text = String::new();
    for route in ROUTES.iter().chain(HOSTILE) {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{} {}\n    {}", route.methods.join(" "), route.path, route.about);
    }
    text
}

fn list_routes(_: &Call<'_>, response: &mut Response) {
    response.text(format_args!("{}", describe_routes()));
}

fn list_hostile(_: &Call<'_>, response: &mut Response) {
    response.text(format_args!(""));
    for route in HOSTILE {
        response.print(format_args!("{}\n    {}\n", route.path, route.about));
    }
}

/// Finds the handler of a request: that of its route, or one that says why there is none.
pub(crate) fn find<'c>(head: &'c Head<'c>, worker: &'c Worker) -> (Handler, Call<'c>) {
    let found = find_route(head.path);
    let methods = found.map(|(route, _)| route.methods);
    let instead = |handler| (Handler::Head(handler), Default::default());
    let (handler, params) = match found {
        Some((route, params)) if route.methods.contains(&head.method) => (route.handler, params),
        Some(_) if head.method == "OPTIONS" => instead(responses::options),
        None if head.method == "OPTIONS" && head.path == "*" => instead(responses::options),
        Some(_) => instead(responses::not_allowed),
        None => instead(responses::not_found),
    };
    (handler, Call { head, worker, methods, params })
}

fn find_route(path: &str) -> Option<(&'static Route, [&str; PARAM_LIMIT])> {
    ROUTES.iter().chain(HOSTILE).find_map(|route| Some((route, route.params(path)?)))
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
