//! What an evaluation asks of who evaluates: values of variables, functions, chance and time; and why it fails.

use std::fmt;

use crate::value::{Value, ValueRef};

/// Number of a variable, given by a [`Binder`](super::Binder).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot(pub u32);

/// Number of a function that only the binder knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FunctionId(pub u32);

/// Gives values while an expression is evaluated.
pub trait Scope {
    /// The value of a variable; null where it has none.
    fn variable(&self, slot: Slot) -> ValueRef<'_>;
    /// Whether a variable was ever given a value, which may be null.
    fn is_set(&self, slot: Slot) -> bool;
    /// Calls a function of the binder.
    fn call(&self, function: FunctionId, args: &[Value]) -> Result<Value, EvalError>;
    /// 64 random bits.
    fn random(&self) -> u64;
    /// Milliseconds since 1970.
    fn now_unix_ms(&self) -> i64;
}

/// An expression that could not be evaluated, in a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvalError {
    message: String,
    pub(super) lacks_value: bool,
}

impl EvalError {
    /// An error with this text.
    pub fn new(message: impl Into<String>) -> EvalError {
        EvalError { message: message.into(), lacks_value: false }
    }

    /// A variable that is needed was never given a value.
    pub(super) fn unset(name: &str) -> EvalError {
        let message = format!("variable `{name}` has no value: {DEFAULTS}");
        EvalError { message, lacks_value: true }
    }

    /// What has to be a text is null.
    pub(super) fn null(source: &str) -> EvalError {
        let message = format!("`{source}` is null, and null has no text: {DEFAULTS}");
        EvalError { message, lacks_value: true }
    }

    /// Whether it could not be evaluated because something that is needed has no value.
    pub fn lacks_value(&self) -> bool {
        self.lacks_value
    }
}

/// What helps where there is no value.
const DEFAULTS: &str =
    "give a default, such as `vars: {x: \"\"}`, or `default: \"\"` in an `extract`";

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for EvalError {}
