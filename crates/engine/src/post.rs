//! Post-processing: what a request does with its reply, in the plan's order. Extracts take values into
//! the user's variables, checks assert. It runs while the reply still lies in the worker's read buffer.
//!
//! What makes the request an error is decided in another order: its status first (the caller's), then
//! checks, then extracts. A login that was refused is "status 401", not "no token found".

use std::borrow::Cow;
use std::cell::OnceCell;

use squall_extract::{Documents, ExtractError, Extractor, Found, Limits, Spec};
use squall_metrics::ErrorKind;
use squall_plan::expr::{EvalError, Slot};
use squall_plan::template::BoundTemplate;
use squall_plan::value::Value;

use crate::found::{FoundAhead, item_value, text_value, which};
use crate::parts::links;
use crate::program::{CheckOp, ExtractOp, FromOp, PostOp, Program};
use crate::scope::{Reply, UserScope};
use crate::user::Core;

/// What the assertions of a request came to.
#[derive(Debug, Default)]
pub(crate) struct AssertionResult {
    /// The first thing that makes it an error.
    pub error: Option<ErrorKind>,
    /// Which one: the variable or check, and what was seen instead. Made only for an error.
    pub detail: String,
}

impl AssertionResult {
    /// Notes an error, unless there is one.
    pub(crate) fn fail(&mut self, kind: ErrorKind, detail: impl FnOnce() -> String) {
        if self.error.is_none() {
            self.error = Some(kind);
            self.detail = detail();
        }
    }
}

/// What happened in post-processing, for those who watch.
pub(crate) enum Observation<'a> {
    Extracted(&'a str, &'a Value),
    /// A variable has its default, and why nothing was found.
    Defaulted(&'a str, &'a Value, &'a str),
    NotExtracted(&'a str, &'a str),
    Checked(&'a CheckOp, Result<bool, String>),
}

/// What extracts have found in responses beside the reply, with the place of each in the list.
pub(crate) type OnTheWay = Vec<(usize, Value)>;

/// An operation, its place in the list, and what was found ahead for it.
pub(crate) type Placed<'p> = (usize, &'p PostOp, Option<Result<Found<'static>, ExtractError>>);

/// Processes a reply, and adds to what its assertions came to. `ahead` is what was found in its body
/// before, if anything was searched for; `on_the_way` what responses had that led to it. `observe` is told of each
/// extracted value and each check. Gives what was not found, of that which is also sought in resources.
pub(crate) fn process(
    program: &Program,
    user: &Core,
    reply: &Reply<'_, '_>,
    post: &[PostOp],
    (ahead, on_the_way): (FoundAhead, OnTheWay),
    result: &mut AssertionResult,
    mut observe: impl FnMut(Observation<'_>),
) -> Vec<Slot> {
    let mut ahead = ahead.into_iter();
    let mut on_the_way = on_the_way.into_iter().peekable();
    let mut sought = Vec::new();
    let mut not_extracted = NotExtracted(None);
    for (place, op) in post.iter().enumerate() {
        let ahead = ahead.next().flatten();
        let before = on_the_way.next_if(|(own, _)| *own == place).map(|(_, value)| value);
        match op {
            PostOp::Extract(extract) => {
                match take(program, user, reply, extract, (ahead, before)) {
                    Ok((value, missing)) => {
                        if missing.is_some() && extract.resources {
                            sought.push(extract.slot);
                        }
                        observe(match &missing {
                            None => Observation::Extracted(&extract.variable, &value),
                            Some(why) => Observation::Defaulted(&extract.variable, &value, why),
                        });
                        user.set(program, extract.slot, Some(value));
                    }
                    Err(reason) => {
                        observe(Observation::NotExtracted(&extract.variable, &reason));
                        not_extracted.0.get_or_insert((extract, reason));
                    }
                }
            }
            PostOp::Check(check) => {
                let place = (program, user, reply);
                judge(check, place, &mut not_extracted, result, &mut observe);
            }
        }
    }
    not_extracted.decide(result);
    sought
}

/// Looks at a response that is not the reply itself, but leads to it or belongs to it: with the checks that it must
/// pass too, and for what extracts seek in such responses. What was found before stays; all of it is in the order of
/// the list.
pub(crate) fn on_the_way<'p>(
    program: &Program,
    user: &Core,
    reply: &Reply<'_, '_>,
    post: impl Iterator<Item = Placed<'p>>,
    found: &mut OnTheWay,
    result: &mut AssertionResult,
    mut observe: impl FnMut(Observation<'_>),
) {
    for (place, op, ahead) in post {
        match op {
            PostOp::Extract(extract) => {
                let Err(free) = found.binary_search_by_key(&place, |(own, _)| *own) else {
                    continue;
                };
                if let Ok(Some(value)) = seek((program, user), reply, extract, ahead) {
                    found.insert(free, (place, value));
                }
            }
            PostOp::Check(check) => {
                let place = (program, user, reply);
                judge(check, place, &mut NotExtracted(None), result, &mut observe);
            }
        }
    }
}

/// The operations that look at responses that lead on.
pub(crate) fn of_redirects(post: &[PostOp]) -> impl Iterator<Item = Placed<'_>> {
    let all = post.iter().enumerate().map(|(place, op)| (place, op, None));
    all.filter(|(_, op, _)| looks_at_redirects(op))
}

/// Whether a list has something that looks at responses that lead on.
pub(crate) fn looks_on_the_way(post: &[PostOp]) -> bool {
    post.iter().any(looks_at_redirects)
}

fn looks_at_redirects(op: &PostOp) -> bool {
    match op {
        PostOp::Extract(extract) => extract.redirects,
        PostOp::Check(check) => check.redirects,
    }
}

fn test(
    program: &Program,
    user: &Core,
    reply: &Reply<'_, '_>,
    check: &CheckOp,
) -> Result<bool, EvalError> {
    let Some(of) = &check.of else {
        return check.formula.test(&UserScope::of_reply(program, user, reply));
    };
    in_place(program, user, reply, of, |reply| {
        check.formula.test(&UserScope::of_reply(program, user, reply))
    })?
}

/// Shows a reply with a text in the place of its body.
fn in_place<T>(
    program: &Program,
    user: &Core,
    reply: &Reply<'_, '_>,
    of: &BoundTemplate,
    look: impl FnOnce(&Reply<'_, '_>) -> T,
) -> Result<T, EvalError> {
    let (scope, mut room) = (UserScope::of_reply(program, user, reply), Vec::new());
    let text = of.text_in(&scope, &mut room)?;
    let documents = Documents::new(text, Limits::default());
    let (body_bytes, head) = (text.len() as u64, OnceCell::new());
    Ok(look(&Reply { body_bytes, documents: &documents, head, ..*reply }))
}

/// Evaluates a check, and adds it to what the assertions came to.
fn judge(
    check: &CheckOp,
    (program, user, reply): (&Program, &Core, &Reply<'_, '_>),
    not_extracted: &mut NotExtracted<'_>,
    result: &mut AssertionResult,
    observe: &mut impl FnMut(Observation<'_>),
) {
    let passed = test(program, user, reply, check);
    let seen = passed.as_ref().map(|passed| *passed).map_err(ToString::to_string);
    observe(Observation::Checked(check, seen));
    match passed {
        Ok(true) => {}
        _ if check.warn => {}
        failed => {
            if not_extracted.is_read_by(check) {
                not_extracted.decide(result);
            }
            let error = failed.err();
            let told = |reply: &Reply<'_, '_>| {
                check.failure(&UserScope::of_reply(program, user, reply), error.as_ref())
            };
            // What is said of a text is of what was looked at.
            result.fail(ErrorKind::Check, || match &check.of {
                Some(of) => {
                    in_place(program, user, reply, of, told).unwrap_or_else(|_| told(reply))
                }
                None => told(reply),
            });
        }
    }
}

/// The first extract that found nothing, and why: it makes the request an error unless a check of
/// something else does.
struct NotExtracted<'p>(Option<(&'p ExtractOp, String)>);

impl NotExtracted<'_> {
    fn is_read_by(&self, check: &CheckOp) -> bool {
        self.0.as_ref().is_some_and(|(extract, _)| check.formula.reads(extract.slot))
    }

    fn decide(&mut self, result: &mut AssertionResult) {
        if let Some((extract, reason)) = self.0.take() {
            result.fail(ErrorKind::Extract, || {
                format!("{} = {}: {reason}", extract.variable, extract.source)
            });
        }
    }
}

impl CheckOp {
    /// What is said of it when it failed: its message, or else its name, if it has one, and the expression.
    fn failure(&self, scope: &UserScope<'_, '_>, error: Option<&EvalError>) -> String {
        if let (Some(message), None) = (&self.message, error) {
            let mut room = Vec::new();
            if let Ok(text) = message.text_in(scope, &mut room) {
                return String::from_utf8_lossy(text).into_owned();
            }
        }
        let mut text = self.text.to_string();
        if *self.text != *self.formula.source() {
            text = format!("{text}: {}", self.formula.source());
        }
        match error {
            Some(error) => format!("{text}: {error}"),
            None => text,
        }
    }
}

/// The value of an extract: of the reply, of a response before it, or its default; and why it is that.
fn take(
    program: &Program,
    user: &Core,
    reply: &Reply<'_, '_>,
    extract: &ExtractOp,
    (ahead, before): (Option<Result<Found<'static>, ExtractError>>, Option<Value>),
) -> Result<(Value, Option<Cow<'static, str>>), String> {
    let found = match &extract.of {
        None => seek((program, user), reply, extract, ahead),
        Some(of) => {
            let look = |reply: &Reply<'_, '_>| seek((program, user), reply, extract, None);
            in_place(program, user, reply, of, look)
                .map_err(|error| error.to_string())
                .and_then(|found| found)
        }
    };
    let reason = match found {
        // A null is nothing to go on with, where the plan says what is to take its place.
        Ok(Some(Value::Null)) if extract.default.is_some() => Cow::Borrowed("null was found"),
        Ok(Some(value)) => return Ok((value, None)),
        Ok(None) => Cow::Borrowed("nothing matched"),
        Err(error) => Cow::Owned(error),
    };
    if let Some(before) = before {
        return Ok((before, None));
    }
    match default(program, user, extract) {
        Some(value) => Ok((value?, Some(reason))),
        None => Err(reason.into_owned()),
    }
}

/// What an extract finds in a response, if anything.
fn seek(
    (program, user): (&Program, &Core),
    reply: &Reply<'_, '_>,
    extract: &ExtractOp,
    ahead: Option<Result<Found<'static>, ExtractError>>,
) -> Result<Option<Value>, String> {
    let found = match &extract.from {
        FromOp::Fact(which) => return Ok(Some(reply.fact(*which).to_value())),
        FromOp::Captured => return Ok(Some(Value::Text(reply.captured.into()))),
        FromOp::Header(name) => return Ok(reply.header(name).map(text_value)),
        FromOp::Cookie(name) => return Ok(reply.cookie(user, name)),
        FromOp::Head(extractor) => {
            let head = Documents::new(reply.head().as_bytes(), Limits::default());
            return value_of(extractor.find_in(&head, which(extract.which), user.chance()));
        }
        FromOp::XPath(path) => {
            let mut text = Vec::new();
            let scope = UserScope::of_reply(program, user, reply);
            path.render(&scope, &mut text).map_err(|error| error.to_string())?;
            let path = String::from_utf8_lossy(&text);
            let extractor =
                Extractor::compile(&Spec::XPath(&path)).map_err(|error| error.message)?;
            extractor.find_in(reply.documents, which(extract.which), user.chance())
        }
        FromOp::Links(extractor) => {
            let found = ahead.unwrap_or_else(|| {
                extractor.find_in(reply.documents, squall_extract::MatchChoice::All, 0)
            });
            let page = reply.sent.map_or("", |sent| &sent.url);
            return Ok(Some(links::value(found.unwrap_or(Found::None), page)));
        }
        FromOp::Body(extractor) => {
            let which = which(extract.which);
            ahead.unwrap_or_else(|| extractor.find_in(reply.documents, which, user.chance()))
        }
    };
    value_of(found)
}

/// What was found as a value, if anything was.
fn value_of(found: Result<Found<'_>, ExtractError>) -> Result<Option<Value>, String> {
    Ok(match found.map_err(|error| error.to_string())? {
        Found::None => None,
        Found::One(item) => Some(item_value(&item)),
        Found::Many(items) => Some(Value::List(items.iter().map(item_value).collect())),
    })
}

fn default(program: &Program, user: &Core, extract: &ExtractOp) -> Option<Result<Value, String>> {
    let json = extract.default.as_ref()?;
    Some(json.value(&UserScope::new(program, user)).map_err(|error| error.to_string()))
}
