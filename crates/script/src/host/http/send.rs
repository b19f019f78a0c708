//! Sending requests: the user waits for what comes of them.

use std::rc::Rc;

use super::prepared::{Prepared, Slot};
use super::request::prepare;
use super::response::Got;
use crate::engine::{Call, Thrown, Value};
use crate::event::{Event, Level};
use crate::host::shared::Shared;
use crate::http::{HttpRequest, HttpResponse};
use crate::wait::Requests;
use crate::{Answer, Wait};

/// The number that k6 has for URLs that are none.
const INVALID_URL: u32 = 1020;

pub(super) fn add(host: &Value<'_>, shared: &Rc<Shared>) -> Result<(), Thrown> {
    let scope = host.scope();
    // (prototype, method, url, body, params): one request, and its response.
    let own = shared.clone();
    let request = scope.function("request", 5, move |call| {
        let [method, url, body, params] = [1, 2, 3, 4].map(|at| call.argument(at));
        let made = prepare(&own, &method, &url, &body, &params)?;
        perform_one(call, &own, made)
    });
    host.set(c"request", request?)?;
    // (prototype, requests, whether they are a batch): the responses. Of a batch, within its limits, the first error that is
    // to be thrown is thrown; of others each is a text in place of its response.
    let own = shared.clone();
    let send = scope.function("send", 3, move |call| {
        let list = call.argument(1).elements()?;
        let list = list.iter().filter_map(|own| own.behind::<Slot>()?.take()).collect();
        let is_batch = call.argument(2).is_true();
        let got = perform(call, &own, list, is_batch)?.into_iter();
        let got = got.map(|own| match own {
            Err(thrown) if !is_batch => call.scope().text(&thrown.message),
            own => own,
        });
        call.scope().array(got.collect::<Result<_, _>>()?)
    });
    host.set(c"send", send?)?;
    let flow = scope.function("flow", 0, |call| call.flow());
    host.set(c"flow", flow?)
}

fn unanswered() -> Thrown {
    Thrown::new("a request was not answered: this is a bug of squall")
}

/// What has come of requests, in their order: responses, and errors of those that are to throw.
fn perform<'c>(
    call: &Call<'c>,
    shared: &Shared,
    list: Vec<Prepared>,
    is_batch: bool,
) -> Result<Vec<Result<Value<'c>, Thrown>>, Thrown> {
    let (mut sent, mut all) = (Vec::with_capacity(list.len()), Vec::with_capacity(list.len()));
    for Prepared { request, throws, refused } in list {
        let known = match refused.is_empty() {
            true => {
                sent.push(request);
                None
            }
            false => Some(refuse(shared, request, throws, refused)),
        };
        all.push((throws, known));
    }
    let mut answers = wait(call, shared, sent, is_batch)?.into_iter();
    let prototype = call.argument(0);
    let got = all.into_iter().map(|(throws, known)| {
        let got = known.or_else(|| answers.next()).ok_or_else(unanswered)?;
        response(call, &prototype, got, throws)
    });
    Ok(got.collect())
}

/// The response of one request, or the error that it throws.
fn perform_one<'c>(
    call: &Call<'c>,
    shared: &Shared,
    prepared: Prepared,
) -> Result<Value<'c>, Thrown> {
    let Prepared { request, throws, refused } = prepared;
    let got = match refused.is_empty() {
        true => wait(call, shared, vec![request], false)?.pop().ok_or_else(unanswered)?,
        false => refuse(shared, request, throws, refused),
    };
    response(call, &call.argument(0), got, throws)
}

fn response<'c>(
    call: &Call<'c>,
    prototype: &Value<'_>,
    (sent, own): (HttpRequest, HttpResponse),
    throws: bool,
) -> Result<Value<'c>, Thrown> {
    match throws && !own.error.is_empty() {
        true => Err(Thrown::new(own.error)),
        false => call.scope().native_of(Rc::new(Got { sent, own }), prototype),
    }
}

/// Waits for the responses of requests; of none, there are none at once.
fn wait(
    call: &Call<'_>,
    shared: &Shared,
    list: Vec<HttpRequest>,
    is_batch: bool,
) -> Result<Vec<(HttpRequest, HttpResponse)>, Thrown> {
    if list.is_empty() {
        return Ok(Vec::new());
    }
    let (limit, limit_of_host) = match is_batch {
        true => (shared.http.limit.max(1), shared.http.limit_of_host.max(1)),
        false => (usize::MAX, usize::MAX),
    };
    match call.wait(Wait::Requests(Requests { list, limit, limit_of_host }))? {
        Answer::Responses(got) => Ok(got),
        _ => Err(unanswered()),
    }
}

/// What comes of a request that cannot be sent, which is told here, as nobody else will.
fn refuse(
    shared: &Shared,
    request: HttpRequest,
    throws: bool,
    error: String,
) -> (HttpRequest, HttpResponse) {
    if !throws {
        shared.tell(Event::Log { level: Level::Warn, text: format!("request failed: {error}") });
    }
    let url = Some(request.url.as_str().into());
    (request, HttpResponse { error, error_code: INVALID_URL, url, ..HttpResponse::default() })
}
