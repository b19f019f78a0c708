//! Routes that answer at once with what was asked for: status codes, redirects, fields, cookies,
//! an echo.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::call::Call;
use crate::exchange::{Exchange, Fault};
use crate::http::response::Response;
use crate::http::text;

/// Most redirects in a row, and most fields of a response.
const REDIRECT_LIMIT: u32 = 1000;
const FIELD_LIMIT: u32 = 10_000;

/// The tag of what `/cacheable` shows, which never changes.
const ETAG: &str = "\"squall-1\"";

pub(super) fn not_found(call: &Call<'_>, response: &mut Response) {
    let path = call.head.path;
    response.error(404, format_args!("no route {path}; /routes lists all routes"));
}

pub(super) fn not_allowed(call: &Call<'_>, response: &mut Response) {
    if let Some(methods) = call.allow() {
        response.field("Allow", methods);
    }
    response.error(405, format_args!("{} does not allow {}", call.head.path, call.head.method));
}

pub(super) fn options(call: &Call<'_>, response: &mut Response) {
    let every = || "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS".to_owned();
    response.status = 204;
    response.field("Allow", call.allow().unwrap_or_else(every));
}

pub(super) fn status(call: &Call<'_>, response: &mut Response) {
    match call.param_as(0) {
        Some(code @ 200..600) => {
            response.status = code;
            response.text(format_args!("{code}\n"));
        }
        _ => response.error(400, format_args!("the status must be a number from 200 to 599")),
    }
}

pub(super) fn cacheable(call: &Call<'_>, response: &mut Response) {
    response.field("ETag", ETAG);
    response.field("Cache-Control", "public, max-age=60");
    let known = call.head.field("if-none-match").is_some_and(|tags| {
        tags.split(',')
            .map(|tag| tag.trim().trim_start_matches("W/"))
            .any(|t| t == ETAG || t == "*")
    });
    if known {
        response.status = 304;
        return;
    }
    response.text(format_args!("{:-<1023}\n", "This never changes. "));
}

pub(super) fn echo(call: &Call<'_>, body: &[u8], response: &mut Response) {
    let head = call.head;
    let mut headers: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in head.fields() {
        let value = String::from_utf8_lossy(value);
        headers
            .entry(name.to_ascii_lowercase())
            .and_modify(|before| {
                before.push_str(", ");
                before.push_str(&value);
            })
            .or_insert_with(|| value.clone().into_owned());
    }
    let query: BTreeMap<_, _> = text::pairs(head.query).collect();
    let echo = json!({
        "method": head.method,
        "target": head.target,
        "path": text::percent_decode(head.path),
        "query": query,
        "headers": headers,
        "body": String::from_utf8_lossy(body),
        "body_bytes": body.len(),
    });
    response.json(format_args!("{echo}"));
}

pub(super) async fn connection(_: &Call<'_>, exchange: &mut Exchange<'_>) -> Result<(), Fault> {
    let conn = &exchange.conn;
    let tls = conn.socket().tls().map(|tls| {
        json!({
            "version": tls.version,
            "resumed": tls.resumed,
            "server_name": tls.server_name,
            "client_certificates": tls.client_certificates,
        })
    });
    let about = json!({
        "connection": conn.id,
        "requests": conn.requests,
        "peer": conn.socket().peer().map(|peer| peer.to_string()),
        "tls": tls,
    });
    let mut response = Response::new(200);
    response.json(format_args!("{about}"));
    exchange.respond(&response).await
}

pub(super) fn headers(call: &Call<'_>, response: &mut Response) {
    match call.param_as(0) {
        Some(count @ 0..=FIELD_LIMIT) => {
            for n in 1..=count {
                response.field(&format!("X-Header-{n}"), format_args!("value-{n}"));
            }
            response.text(format_args!("{count} fields\n"));
        }
        _ => response.error(400, format_args!("n must be a number from 0 to {FIELD_LIMIT}")),
    }
}

pub(super) fn cookies(call: &Call<'_>, response: &mut Response) {
    let sent = call.head.field("cookie").unwrap_or_default();
    let object: serde_json::Map<String, Value> =
        text::cookies(sent).map(|(name, value)| (name.to_owned(), Value::from(value))).collect();
    response.json(format_args!("{}", Value::Object(object)));
}

pub(super) fn set_cookies(call: &Call<'_>, response: &mut Response) {
    let mut object = serde_json::Map::new();
    for (name, value) in text::pairs(call.head.query) {
        if !is_cookie_text(&name) || !is_cookie_text(&value) || name.contains('=') {
            let rule = "printable ASCII without spaces, quotes, commas, semicolons and backslashes";
            return response.error(400, format_args!("a cookie's name and value must be {rule}"));
        }
        response.field("Set-Cookie", format_args!("{name}={value}; Path=/"));
        object.insert(name.into_owned(), Value::from(value));
    }
    response.json(format_args!("{}", Value::Object(object)));
}

/// Whether this may stand in a `Set-Cookie` field (RFC 6265, 4.1.1).
fn is_cookie_text(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_graphic() && !b"\",;\\".contains(&b))
}

/// The status of a redirect that the query asks for.
fn redirect_status(call: &Call<'_>) -> Result<u16, String> {
    let status = call.query_as("status", 302)?;
    if !matches!(status, 301 | 302 | 303 | 307 | 308) {
        return Err("status must be 301, 302, 303, 307 or 308".to_owned());
    }
    Ok(status)
}

pub(super) fn redirect(call: &Call<'_>, response: &mut Response) {
    let status = match redirect_status(call) {
        Ok(status) => status,
        Err(reason) => return response.error(400, format_args!("{reason}")),
    };
    let asked = if call.head.query.is_empty() { "" } else { "?" };
    match call.param_as(0) {
        Some(0) => response.text(format_args!("the end of the redirects\n")),
        Some(n @ 1..=REDIRECT_LIMIT) => {
            response
                .redirect(status, format_args!("/redirect/{}{asked}{}", n - 1, call.head.query));
        }
        _ => response.error(400, format_args!("n must be a number from 0 to {REDIRECT_LIMIT}")),
    }
}

pub(super) fn redirect_to(call: &Call<'_>, response: &mut Response) {
    match (call.query("url"), redirect_status(call)) {
        (Some(url), Ok(status)) if url.is_ascii() => response.redirect(status, url),
        (_, Err(reason)) => response.error(400, format_args!("{reason}")),
        _ => response.error(400, format_args!("?url= is missing, or is not ASCII")),
    }
}
