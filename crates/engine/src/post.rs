//! Post-processing: what a request does with its reply, in the plan's order. Extracts take values into
//! the user's variables, checks assert. It runs while the reply still lies in the worker's read buffer.
//!
//! What makes the request an error is decided in another order: its status first (the caller's), then
//! checks, then extracts. A login that was refused is "status 401", not "no token found".

use squall_extract::{Documents, ExtractError, Found, Item, Limits};
use squall_metrics::ErrorKind;
use squall_plan::expr::EvalError;
use squall_plan::model::Match;
use squall_plan::value::Value;

use crate::long_body::FoundAhead;
use crate::program::{CheckOp, ExtractOp, FromOp, Place, PostOp, Program};
use crate::scope::{Reply, UserScope, text_value};
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
    NotExtracted(&'a str, &'a str),
    Checked(&'a CheckOp, Result<bool, String>),
}

/// Processes a reply, and adds to what its assertions came to. `ahead` is what was found in its body
/// before, if anything was searched for. `observe` is told of each extracted value
/// and each check.
pub(crate) fn process(
    program: &Program,
    user: &Core,
    reply: &Reply<'_, '_>,
    post: &[PostOp],
    ahead: FoundAhead,
    result: &mut AssertionResult,
    mut observe: impl FnMut(Observation<'_>),
) {
    let mut ahead = ahead.into_iter();
    let mut not_extracted = NotExtracted(None);
    for op in post {
        let ahead = ahead.next().flatten();
        match op {
            PostOp::Extract(extract) => match take(program, user, reply, extract, ahead) {
                Ok(value) => {
                    observe(Observation::Extracted(&extract.variable, &value));
                    if let Place::Variable(index) = Place::of(extract.slot) {
                        user.set_variable(program, index, Some(value));
                    }
                }
                Err(reason) => {
                    observe(Observation::NotExtracted(&extract.variable, &reason));
                    not_extracted.0.get_or_insert((extract, reason));
                }
            },
            PostOp::Check(check) => {
                let passed = check.formula.test(&UserScope::of_reply(program, user, reply));
                let seen = passed.as_ref().map(|passed| *passed).map_err(ToString::to_string);
                observe(Observation::Checked(check, seen));
                match passed {
                    Ok(true) => {}
                    _ if check.warn => {}
                    failed => {
                        if not_extracted.is_read_by(check) {
                            not_extracted.decide(result);
                        }
                        result.fail(ErrorKind::Check, || check.failure(failed.err()));
                    }
                }
            }
        }
    }
    not_extracted.decide(result);
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
    /// What is said of it when it failed: its name, if it has one, and the expression.
    fn failure(&self, error: Option<EvalError>) -> String {
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

fn take(
    program: &Program,
    user: &Core,
    reply: &Reply<'_, '_>,
    extract: &ExtractOp,
    ahead: Option<Result<Found<'static>, ExtractError>>,
) -> Result<Value, String> {
    let found = match &extract.from {
        FromOp::Status => Some(Value::Int(reply.code)),
        FromOp::Captured => Some(Value::Text(reply.captured.into())),
        FromOp::Header(name) => reply.header(name).map(text_value),
        FromOp::Cookie(name) => user.jar.borrow().get(name).map(|value| Value::Text(value.into())),
        FromOp::Head(extractor) => {
            let head = Documents::new(reply.head().as_bytes(), Limits::default());
            match extractor.find_in(&head, which(extract.which), user.chance()) {
                Ok(found) => found_value(&found),
                Err(error) => return default(program, user, extract, || error.to_string()),
            }
        }
        FromOp::Body(extractor) => {
            let which = which(extract.which);
            let find = || extractor.find_in(reply.documents, which, user.chance());
            match ahead.unwrap_or_else(find) {
                Ok(found) => found_value(&found),
                Err(error) => return default(program, user, extract, || error.to_string()),
            }
        }
    };
    match found {
        Some(value) => Ok(value),
        None => default(program, user, extract, || "nothing matched".to_owned()),
    }
}

/// What was found as a value, if anything was.
fn found_value(found: &Found<'_>) -> Option<Value> {
    match found {
        Found::None => None,
        Found::One(item) => Some(item_value(item)),
        Found::Many(items) => {
            Some(Value::List(items.iter().map(item_value).collect::<Vec<_>>().into()))
        }
    }
}

fn default(
    program: &Program,
    user: &Core,
    extract: &ExtractOp,
    reason: impl FnOnce() -> String,
) -> Result<Value, String> {
    match &extract.default {
        Some(json) => json.value(&UserScope::new(program, user)).map_err(|error| error.to_string()),
        None => Err(reason()),
    }
}

pub(crate) fn which(which: Match) -> squall_extract::Which {
    match which {
        Match::First => squall_extract::Which::First,
        Match::Nth(n) => squall_extract::Which::Nth(n),
        Match::Last => squall_extract::Which::Last,
        Match::All => squall_extract::Which::All,
        Match::Random => squall_extract::Which::Random,
    }
}

/// An extracted item as a value of the plan's expressions.
pub(crate) fn item_value(item: &Item<'_>) -> Value {
    match item {
        Item::Bytes(bytes) => text_value(bytes),
        Item::Json(json) => Value::from_json(json),
    }
}
