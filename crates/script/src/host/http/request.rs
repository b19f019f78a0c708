//! Requests, made of what a script says of them.

use std::rc::Rc;

use super::params::Expected;
use super::prepared::{Prepared, Slot};
use super::{body, params, url};
use crate::engine::{Thrown, Value};
use crate::host::shared::Shared;
use crate::http::{BodyKind, HttpRequest};

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
    let (url, name) = url::read(at)?;
    let (content, kind) = body::read(sent, &shared.forms)?;
    let options = &shared.http;
    let mut own = Prepared {
        refused: url::wrong(&url).unwrap_or_default(),
        request: HttpRequest {
            method: read_method(method)?,
            url,
            body: content,
            name,
            ..HttpRequest::default()
        },
        throws: options.throws,
    };
    own.request.params.expected = shared.expected.borrow().get(&shared.current.get().user).cloned();
    if options.discards_bodies {
        own.request.params.body = BodyKind::None;
    }
    params::read(params, &mut own)?;
    if let Some(kind) = kind {
        own.default_header("Content-Type", || kind);
    }
    let names: Vec<_> = own.request.params.compression.iter().map(|own| own.name()).collect();
    if !names.is_empty() {
        own.default_header("Content-Encoding", || names.join(", "));
    }
    if !options.user_agent.is_empty() {
        own.default_header("User-Agent", || options.user_agent.clone());
    }
    Ok(own)
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
