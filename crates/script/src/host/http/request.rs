//! Requests, made of what a script says of them.

use std::rc::Rc;

use super::params::Expected;
use super::prepared::{Draft, Prepared, Slot};
use super::{body, params, url};
use crate::engine::{Thrown, Value};
use crate::host::shared::Shared;
use crate::http::{BodyKind, HttpHead, HttpOptions, HttpRequest};

/// Methods whose names are known; others are read.
const METHODS: [&str; 7] = ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"];

/// What a script asks for.
pub(super) fn prepare(
    shared: &Shared,
    method: &Value<'_>,
    at: &Value<'_>,
    sent: &Value<'_>,
    params: &Value<'_>,
) -> Result<Prepared, Thrown> {
    let throws = shared.http.throws;
    let expected = shared.expected.borrow().get(&shared.current.get().user).cloned();
    let is_plain = [method, at].into_iter().all(Value::is_text)
        && (sent.is_nothing() || sent.is_text())
        && params.is_nothing()
        && expected.is_none();
    if is_plain
        && let Some(head) =
            method.with_text(|method| at.with_text(|url| shared.heads.plain(method, url)))??
    {
        let (body, _) = body::read(sent, &shared.forms)?;
        let request = HttpRequest { head, body };
        return Ok(Prepared { request, throws, refused: String::new() });
    }
    let (url, name) = url::read(at)?;
    let (body, kind) = body::read(sent, &shared.forms)?;
    let head = HttpHead { method: read_method(method)?, url, name, ..HttpHead::default() };
    let mut draft = Draft { head, throws };
    draft.head.params.expected = expected;
    complete(&mut draft, &shared.http, params, kind)?;
    let Draft { head, throws } = draft;
    let refused = url::wrong(&head.url).unwrap_or_default();
    let head = match is_plain && refused.is_empty() {
        true => shared.heads.keep_plain(head),
        false => shared.heads.shared(head),
    };
    Ok(Prepared { request: HttpRequest { head, body }, throws, refused })
}

/// Adds what params and options say. `kind`: the type that its body has by itself.
fn complete(
    draft: &mut Draft,
    options: &HttpOptions,
    params: &Value<'_>,
    kind: Option<String>,
) -> Result<(), Thrown> {
    if options.discards_bodies {
        draft.head.params.body = BodyKind::None;
    }
    params::read(params, draft)?;
    if let Some(kind) = kind {
        draft.default_header("Content-Type", || kind);
    }
    let names: Vec<_> = draft.head.params.compression.iter().map(|own| own.name()).collect();
    if !names.is_empty() {
        draft.default_header("Content-Encoding", || names.join(", "));
    }
    if !options.user_agent.is_empty() {
        draft.default_header("User-Agent", || options.user_agent.clone());
    }
    Ok(())
}

fn read_method(method: &Value<'_>) -> Result<String, Thrown> {
    let text = method.to_text()?;
    if METHODS.contains(&text.as_str()) {
        return Ok(text);
    }
    let text = text.to_ascii_uppercase();
    match method.is_text()
        && !text.is_empty()
        && text.bytes().all(|own| own.is_ascii_uppercase() || own == b'-')
    {
        true => Ok(text),
        false => Err(Thrown::new(format!(
            "TypeError: the method of a request is {:?}: expected letters, such as \"GET\"",
            method.to_text()?
        ))),
    }
}

pub(super) fn add(host: &Value<'_>, shared: &Rc<Shared>) -> Result<(), Thrown> {
    let scope = host.scope();
    let own = shared.clone();
    let prepared = scope.function("prepare", 4, move |call| {
        let [method, url, body, params] = [0, 1, 2, 3].map(|at| call.argument(at));
        let made = prepare(&own, &method, &url, &body, &params)?;
        call.scope().native(Rc::new(Slot::new(Some(made))))
    });
    host.set(c"prepare", prepared?)?;
    let file = scope
        .function("file", 1, |call| call.scope().native_of(Rc::new(body::File), &call.argument(0)));
    host.set(c"file", file?)?;
    let expected = scope.function("expected", 2, |call| {
        let ranges = call.argument(1).elements()?.iter().map(range).collect::<Result<_, _>>()?;
        call.scope().native_of(Rc::new(Expected(ranges)), &call.argument(0))
    });
    host.set(c"expected", expected?)?;
    let own = shared.clone();
    let callback = scope.function("setResponseCallback", 1, move |call| {
        let expected = params::expected(&call.argument(0))?;
        own.expected.borrow_mut().insert(own.current.get().user, expected);
        Ok(call.scope().undefined())
    });
    host.set(c"setResponseCallback", callback?)
}

/// A status, or an object with `min` and `max`.
fn range(own: &Value<'_>) -> Result<(u16, u16), Thrown> {
    let status = |own: &Value<'_>| -> Result<Option<u16>, Thrown> {
        let number = if own.is_number() { own.to_number()? } else { f64::NAN };
        Ok((number.fract() == 0.0 && (0.0..=999.0).contains(&number)).then_some(number as u16))
    };
    let (from, to) = match own.is_object() {
        true => (status(&own.get(c"min")?)?, status(&own.get(c"max")?)?),
        false => (status(own)?, status(own)?),
    };
    match (from, to) {
        (Some(from), Some(to)) => Ok((from, to)),
        _ => Err(Thrown::new(format!(
            "TypeError: http.expectedStatuses() was given {}: expected whole numbers, or objects with `min` and `max`",
            own.kind()
        ))),
    }
}
