//! Takes values out of an answer into a user's variables, and judges the answer by the checks of
//! its request. Runs while the answer still lies in the worker's read buffer.

use squall_extract::{ExtractError, Found, Item};
use squall_measure::ErrorKind;
use squall_plan::value::Value;

use crate::program::{CheckOp, ExtractOp, FromOp, Place, Program};
use crate::scope::{Answer, UserScope, text_value};
use crate::user::User;

/// What the judgement of an answer came to.
#[derive(Debug, Default)]
pub(crate) struct Judgement {
    /// The first thing that makes it an error.
    pub error: Option<ErrorKind>,
    /// Which one: the variable or check, and what was seen instead. Made only for an error.
    pub detail: String,
    pub checks_ok: u32,
    pub checks_failed: u32,
    /// Failed checks that are only counted.
    pub warnings: u32,
}

impl Judgement {
    fn fail(&mut self, kind: ErrorKind, detail: impl FnOnce() -> String) {
        if self.error.is_none() {
            self.error = Some(kind);
            self.detail = detail();
        }
    }
}

/// Runs extracts and checks in order. `note` is told of each extracted value and each check.
pub(crate) fn judge(
    program: &Program,
    user: &mut User,
    answer: &Answer<'_, '_>,
    extracts: &[ExtractOp],
    checks: &[CheckOp],
    mut note: impl FnMut(Note<'_>),
) -> Judgement {
    let mut judgement = Judgement::default();
    for extract in extracts {
        match take(program, user, answer, extract) {
            Ok(value) => {
                note(Note::Extracted(&extract.variable, &value));
                if let Place::Variable(index) = Place::of(extract.slot) {
                    user.set_variable(program, index, value);
                }
            }
            Err(reason) => {
                note(Note::NotExtracted(&extract.variable, &reason));
                judgement.fail(ErrorKind::Extract, || format!("{}: {reason}", extract.variable));
            }
        }
    }
    let scope = UserScope { program, user, answer: Some(answer) };
    for check in checks {
        let held = check.formula.test(&scope);
        note(Note::Checked(check, held.as_ref().map(|held| *held).map_err(ToString::to_string)));
        match held {
            Ok(true) => judgement.checks_ok += 1,
            _ if check.warn => judgement.warnings += 1,
            Ok(false) => {
                judgement.checks_failed += 1;
                judgement.fail(ErrorKind::Check, || {
                    format!("{} (status {}, {} bytes)", check.text, answer.status, answer.size)
                });
            }
            Err(error) => {
                judgement.checks_failed += 1;
                judgement.fail(ErrorKind::Check, || format!("{}: {error}", check.text));
            }
        }
    }
    judgement
}

/// What happened in a judgement, for those who watch (`squall try`).
pub(crate) enum Note<'a> {
    Extracted(&'a str, &'a Value),
    NotExtracted(&'a str, &'a str),
    Checked(&'a CheckOp, Result<bool, String>),
}

fn take(
    program: &Program,
    user: &User,
    answer: &Answer<'_, '_>,
    extract: &ExtractOp,
) -> Result<Value, String> {
    let found = match &extract.from {
        FromOp::Status => Some(Value::Int(answer.status)),
        FromOp::Captured => Some(Value::Text(answer.saved.into())),
        FromOp::Header(name) => answer.header(name).map(text_value),
        FromOp::Cookie(name) => user.jar.get(name).map(|value| Value::Text(value.into())),
        FromOp::Body(extractor) => {
            let which = which(extract.which);
            match extractor.find_in(answer.documents, which, user.chance()) {
                Ok(Found::None) => None,
                Ok(Found::One(item)) => Some(item_value(&item)),
                Ok(Found::Many(items)) => {
                    Some(Value::List(items.iter().map(item_value).collect::<Vec<_>>().into()))
                }
                Err(error) => return default(program, user, extract, || reason(&error)),
            }
        }
    };
    match found {
        Some(value) => Ok(value),
        None => default(program, user, extract, || "nothing matched".to_owned()),
    }
}

fn default(
    program: &Program,
    user: &User,
    extract: &ExtractOp,
    reason: impl FnOnce() -> String,
) -> Result<Value, String> {
    match &extract.default {
        Some(json) => json
            .value(&UserScope { program, user, answer: None })
            .map_err(|error| error.to_string()),
        None => Err(reason()),
    }
}

fn reason(error: &ExtractError) -> String {
    error.to_string()
}

fn which(which: squall_plan::model::Match) -> squall_extract::Which {
    use squall_plan::model::Match;
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
