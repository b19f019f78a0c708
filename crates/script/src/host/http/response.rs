//! Responses: an object with what came of a request behind it. Nothing of it is made into values before a script reads it.

use std::borrow::Cow;

use crate::engine::{Scope, Thrown, Value, text};
use crate::http::{BodyKind, Cookie, HttpRequest, HttpResponse};

/// What was sent, and what came of it.
pub(super) struct Got {
    pub sent: HttpRequest,
    pub own: HttpResponse,
}

impl Got {
    /// What becomes of its body.
    fn kind(&self) -> BodyKind {
        self.sent.params.body
    }
}

type Read = for<'r> fn(&Got, Scope<'r>) -> Result<Value<'r>, Thrown>;

/// The properties of a response. Those that cost something to make are kept by the object once they were read.
const FIELDS: [(&str, Read); 19] = [
    ("body", body),
    ("cookies", |got, scope| cookies(&got.own.cookies, scope)),
    ("error", |got, scope| scope.text(&got.own.error)),
    ("error_code", |got, scope| Ok(scope.number(f64::from(got.own.error_code)))),
    ("headers", |got, scope| headers(&got.own, scope)),
    ("ocsp", |_, scope| ocsp(scope)),
    ("proto", |got, scope| scope.text(&got.own.proto())),
    ("remote_ip", |got, scope| {
        let ip = got.own.remote.map(|own| own.ip().to_canonical().to_string());
        scope.text(&ip.unwrap_or_default())
    }),
    ("remote_port", |got, scope| {
        let port = got.own.remote.map_or(0, |own| own.port());
        Ok(scope.number(f64::from(port)))
    }),
    ("request", |got, scope| request(&got.sent, scope)),
    ("status", |got, scope| Ok(scope.number(f64::from(got.own.status)))),
    ("status_text", |got, scope| scope.text(&got.own.status_text())),
    ("timings", |got, scope| timings(&got.own.timings, scope)),
    ("tls_cipher_suite", |got, scope| scope.text(got.own.tls_cipher_suite)),
    ("tls_version", |got, scope| scope.text(got.own.tls_version)),
    ("url", |got, scope| scope.text(got.own.url.as_deref().unwrap_or_default())),
    // Methods, which the module makes of these.
    ("#json", |got, scope| json(got, scope)),
    ("#isText", |got, scope| Ok(scope.boolean(got.kind() == BodyKind::Text))),
    ("#hasBody", |got, scope| Ok(scope.boolean(has_body(got)))),
];

/// Those that cost something to make.
const KEPT: [&str; 6] = ["body", "cookies", "headers", "ocsp", "request", "timings"];

/// Adds an object with a function for each property, to be called on a response.
pub(super) fn add(host: &Value<'_>) -> Result<(), Thrown> {
    let scope = host.scope();
    let fields = scope.object()?;
    for (name, read) in FIELDS {
        let is_kept = KEPT.contains(&name);
        let own = scope.function(name, 0, move |call| {
            let this = call.this();
            let got = this.behind::<Got>();
            let got =
                got.ok_or_else(|| Thrown::new("TypeError: this is not the response of a request"))?;
            let value = read(&got, call.scope())?;
            if is_kept {
                this.define(name, value.clone())?;
            }
            Ok(value)
        });
        fields.define(name, own?)?;
    }
    host.set(c"fields", fields)
}

fn has_body(got: &Got) -> bool {
    got.kind() != BodyKind::None && got.own.body.is_some()
}

fn body<'r>(got: &Got, scope: Scope<'r>) -> Result<Value<'r>, Thrown> {
    match (&got.own.body, got.kind()) {
        (None, _) | (_, BodyKind::None) => Ok(scope.null()),
        (Some(bytes), BodyKind::Binary) => scope.array_buffer(bytes),
        (Some(bytes), BodyKind::Text) => scope.text(&text(bytes)),
    }
}

/// The value that its body stands for.
fn json<'r>(got: &Got, scope: Scope<'r>) -> Result<Value<'r>, Thrown> {
    let bytes = got.own.body.as_deref().filter(|_| got.kind() != BodyKind::None);
    let Some(bytes) = bytes else {
        return Err(Thrown::new(no_body(got)));
    };
    scope.json(bytes).map_err(|thrown| {
        match serde_json::from_slice::<serde::de::IgnoredAny>(bytes) {
            Ok(_) => thrown,
            Err(error) => Thrown::new(format!(
                "cannot parse json due to an error at line {}, character {}: {error}",
                error.line(),
                error.column()
            )),
        }
    })
}

fn no_body(got: &Got) -> String {
    match got.own.error.is_empty() {
        true => "the response has no body, so that it cannot be JSON: \
                 set `responseType: \"text\"` in the params of its request"
            .to_owned(),
        false => format!("the response has no body, so that it cannot be JSON: {}", got.own.error),
    }
}

/// A header's name as HTTP/1.1 usually has it: `Content-Type`.
fn canonical(name: &str) -> Cow<'_, str> {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if !name.bytes().all(is_token) {
        return Cow::Borrowed(name);
    }
    let mut begins = true;
    let letter = |own: char| {
        let letter = if begins { own.to_ascii_uppercase() } else { own.to_ascii_lowercase() };
        begins = own == '-';
        letter
    };
    Cow::Owned(name.chars().map(letter).collect())
}

/// Names with all that they stand for, in the order in which they first occur.
fn grouped<'l, T>(list: impl Iterator<Item = (Cow<'l, str>, T)>) -> Vec<(Cow<'l, str>, Vec<T>)> {
    let mut groups: Vec<(Cow<'l, str>, Vec<T>)> = Vec::new();
    for (name, value) in list {
        match groups.iter_mut().find(|(own, _)| *own == name) {
            Some((_, values)) => values.push(value),
            None => groups.push((name, vec![value])),
        }
    }
    groups
}

fn headers<'r>(own: &HttpResponse, scope: Scope<'r>) -> Result<Value<'r>, Thrown> {
    let object = scope.object()?;
    let all = own.headers().map(|(name, value)| (Cow::Owned(canonical(&name).into_owned()), value));
    for (name, values) in grouped(all) {
        object.define(&name, scope.text(&values.join(", "))?)?;
    }
    Ok(object)
}

fn cookies<'r>(list: &[Cookie], scope: Scope<'r>) -> Result<Value<'r>, Thrown> {
    let object = scope.object()?;
    for (name, all) in grouped(list.iter().map(|own| (Cow::Borrowed(own.name.as_str()), own))) {
        let all = all.into_iter().map(|own| cookie(own, scope)).collect::<Result<_, _>>()?;
        object.define(&name, scope.array(all)?)?;
    }
    Ok(object)
}

fn cookie<'r>(own: &Cookie, scope: Scope<'r>) -> Result<Value<'r>, Thrown> {
    let object = scope.object()?;
    object.define("name", scope.text(&own.name)?)?;
    object.define("value", scope.text(&own.value)?)?;
    object.define("domain", scope.text(&own.domain)?)?;
    object.define("path", scope.text(&own.path)?)?;
    object.define("http_only", scope.boolean(own.http_only))?;
    object.define("secure", scope.boolean(own.secure))?;
    object.define("max_age", scope.number(own.max_age as f64))?;
    object.define("expires", scope.number(own.expires as f64))?;
    Ok(object)
}

/// squall asks nobody whether a certificate was revoked: no status, and no time.
fn ocsp(scope: Scope<'_>) -> Result<Value<'_>, Thrown> {
    let object = scope.object()?;
    for name in ["produced_at", "this_update", "next_update", "revoked_at"] {
        object.define(name, scope.number(0.0))?;
    }
    object.define("revocation_reason", scope.text("")?)?;
    object.define("status", scope.text("unknown")?)?;
    Ok(object)
}

fn timings<'r>(own: &[f64; 7], scope: Scope<'r>) -> Result<Value<'r>, Thrown> {
    const NAMES: [&str; 7] = [
        "blocked",
        "looking_up",
        "connecting",
        "tls_handshaking",
        "sending",
        "waiting",
        "receiving",
    ];
    let object = scope.object()?;
    // A duration is that of the request alone, as k6 counts it: from the first byte sent to the last one received.
    object.define("duration", scope.number(own[4..].iter().sum()))?;
    for (name, ms) in NAMES.iter().zip(own) {
        object.define(name, scope.number(*ms))?;
    }
    Ok(object)
}

fn request<'r>(sent: &HttpRequest, scope: Scope<'r>) -> Result<Value<'r>, Thrown> {
    let object = scope.object()?;
    object.define("method", scope.text(&sent.method)?)?;
    object.define("url", scope.text(&sent.url)?)?;
    let headers = scope.object()?;
    let all = sent.headers.iter().map(|(name, value)| (canonical(name), value));
    for (name, values) in grouped(all) {
        let values = values.into_iter().map(|own| scope.text(own)).collect::<Result<_, _>>()?;
        headers.define(&name, scope.array(values)?)?;
    }
    object.define("headers", headers)?;
    object.define("body", scope.text(&text(&sent.body))?)?;
    let cookies = scope.object()?;
    for (name, value, replace) in &sent.params.cookies {
        let cookie = scope.object()?;
        cookie.define("name", scope.text(name)?)?;
        cookie.define("value", scope.text(value)?)?;
        cookie.define("replace", scope.boolean(*replace))?;
        cookies.define(name, scope.array(vec![cookie])?)?;
    }
    object.define("cookies", cookies)?;
    Ok(object)
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_of_headers_are_written_in_one_way() {
        for (name, written) in [
            ("content-type", "Content-Type"),
            ("ETAG", "Etag"),
            ("x-B3-traceID", "X-B3-Traceid"),
            ("-a--b", "-A--B"),
            ("a b", "a b"),
            ("ä", "ä"),
        ] {
            assert_eq!(super::canonical(name), written);
        }
    }
}
