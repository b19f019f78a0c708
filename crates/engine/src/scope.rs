//! What templates and expressions see while a user runs: its variables, its rows of data, facts
//! about it and about the answer in hand. Borrows everything, copies nothing.

use std::cell::RefCell;
use std::time::{SystemTime, UNIX_EPOCH};

use squall_extract::{Documents, Found, Which};
use squall_load::random::Random;
use squall_plan::expr::{EvalError, FunctionId, Scope, Slot};
use squall_plan::value::{Value, ValueRef};
use squall_wire::Response;

use crate::program::{Function, Intrinsic, Place, Program};
use crate::user::User;

/// What is known before the run: nothing but constants and chance.
pub(crate) struct Before {
    random: RefCell<Random>,
}

impl Before {
    pub(crate) fn new(seed: u64) -> Self {
        Before { random: RefCell::new(Random::new(seed)) }
    }
}

impl Scope for Before {
    fn variable(&self, _: Slot) -> ValueRef<'_> {
        ValueRef::Null
    }

    fn call(&self, _: FunctionId, _: &[Value]) -> Result<Value, EvalError> {
        Err(EvalError::new("there is no answer to look at before the run"))
    }

    fn random(&self) -> u64 {
        self.random.borrow_mut().next_u64()
    }

    fn now_unix_ms(&self) -> i64 {
        now_unix_ms()
    }
}

/// A user, and the answer that it is looking at, if any.
pub(crate) struct UserScope<'a, 'b> {
    pub program: &'a Program,
    pub user: &'a User,
    pub answer: Option<&'a Answer<'a, 'b>>,
}

/// An answer as checks and extracts see it: of a server, or of a program that was run.
pub(crate) struct Answer<'a, 'b> {
    /// Status code, or exit code.
    pub status: i64,
    /// Kept part of the body, or standard output.
    pub body: &'b [u8],
    /// Bytes of the whole body.
    pub size: u64,
    /// Milliseconds from the send to the last byte.
    pub duration_ms: f64,
    /// Hash of the body, or path of its file, where the request asked for one.
    pub saved: &'a str,
    /// The answer of a server.
    pub response: Option<&'a Response<'b>>,
    /// The body, parsed once for all who look into it.
    pub documents: &'a Documents<'b>,
}

impl<'b> Answer<'_, 'b> {
    /// The value of the first header of a name.
    pub(crate) fn header(&self, name: &str) -> Option<&'b [u8]> {
        self.response?.header(name)
    }
}

impl Scope for UserScope<'_, '_> {
    fn variable(&self, slot: Slot) -> ValueRef<'_> {
        match Place::of(slot) {
            Place::Variable(index) => self.user.variable(self.program, index).as_ref(),
            Place::Cell { feed, column } => self.user.cell(feed, column),
            Place::Intrinsic(which) => self.intrinsic(which),
        }
    }

    fn call(&self, FunctionId(id): FunctionId, args: &[Value]) -> Result<Value, EvalError> {
        let Some(answer) = self.answer else {
            return Err(EvalError::new("there is no answer to look at"));
        };
        let text = || match args.first() {
            Some(Value::Text(text)) => Ok(&**text),
            _ => Err(EvalError::new("the argument must be a text")),
        };
        Ok(match &self.program.functions[id as usize] {
            Function::Header => answer.header(text()?).map_or(Value::Null, text_value),
            Function::Cookie => match self.user.jar.get(text()?) {
                Some(value) => Value::Text(value.into()),
                None => Value::Null,
            },
            Function::Json(path) => {
                let found = path
                    .find_in(answer.documents, Which::First, 0)
                    .map_err(|error| EvalError::new(error.to_string()))?;
                match found {
                    Found::One(item) => crate::judge::item_value(&item),
                    _ => Value::Null,
                }
            }
            Function::JsonBody => {
                let json =
                    answer.documents.json().map_err(|error| EvalError::new(error.to_string()))?;
                Value::from_json(json)
            }
        })
    }

    fn random(&self) -> u64 {
        self.user.chance()
    }

    fn now_unix_ms(&self) -> i64 {
        now_unix_ms()
    }
}

impl UserScope<'_, '_> {
    fn intrinsic(&self, which: Intrinsic) -> ValueRef<'_> {
        match (which, self.answer) {
            (Intrinsic::User, _) => ValueRef::Int(self.user.number as i64),
            (Intrinsic::Iteration, _) => ValueRef::Int(self.user.iteration as i64),
            (Intrinsic::Scenario, _) => {
                ValueRef::Text(&self.program.scenarios[self.user.scenario as usize].name)
            }
            (Intrinsic::Status, Some(answer)) => ValueRef::Int(answer.status),
            (Intrinsic::Body, Some(answer)) => ValueRef::Bytes(answer.body),
            (Intrinsic::BodyBytes, Some(answer)) => ValueRef::Int(answer.size as i64),
            (Intrinsic::Duration, Some(answer)) => ValueRef::Float(answer.duration_ms),
            (Intrinsic::BodyHash | Intrinsic::BodyFile, Some(answer)) => {
                ValueRef::Text(answer.saved)
            }
            // Bound only where there is an answer.
            (_, None) => ValueRef::Null,
        }
    }
}

/// Bytes as a text, with what is not UTF-8 replaced.
pub(crate) fn text_value(bytes: &[u8]) -> Value {
    Value::Text(String::from_utf8_lossy(bytes).into())
}

fn now_unix_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as i64)
}
