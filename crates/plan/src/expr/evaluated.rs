//! The value of an expression while it is evaluated, and its bounds.

use std::borrow::Cow;

use super::scope::EvalError;
use crate::value::{Value, ValueRef};

pub(super) type Result<T> = std::result::Result<T, EvalError>;

/// A value, here or elsewhere.
pub(super) enum Evaluated<'a> {
    Ref(ValueRef<'a>),
    Own(Value),
    /// That of a variable of this name which was never given one: null to all operations.
    Unset(&'a str),
}

impl Evaluated<'_> {
    #[inline]
    pub(super) fn as_ref(&self) -> ValueRef<'_> {
        match self {
            Evaluated::Ref(value) => *value,
            Evaluated::Own(value) => value.as_ref(),
            Evaluated::Unset(_) => ValueRef::Null,
        }
    }

    pub(super) fn into_value(self) -> Value {
        match self {
            Evaluated::Ref(value) => value.to_value(),
            Evaluated::Own(value) => value,
            Evaluated::Unset(_) => Value::Null,
        }
    }

    /// The value, to keep or to hand out: it has to be one that was given.
    pub(super) fn given(self) -> Result<Value> {
        match self {
            Evaluated::Unset(name) => Err(EvalError::unset(name)),
            value => Ok(value.into_value()),
        }
    }
}

/// A value that an expression made, if it is not too large.
pub(super) fn checked(value: Value) -> Result<Value> {
    if value.fits() { Ok(value) } else { Err(too_large()) }
}

pub(super) fn too_large() -> EvalError {
    EvalError::new("the value would be larger than 16 MiB, or nested too deeply")
}

pub(super) fn bytes<'a>(value: &'a Evaluated<'_>) -> Result<&'a [u8]> {
    match value {
        Evaluated::Ref(ValueRef::Text(text)) => Ok(text.as_bytes()),
        Evaluated::Ref(ValueRef::Bytes(bytes)) => Ok(bytes),
        Evaluated::Own(Value::Text(text)) => Ok(text.as_bytes()),
        Evaluated::Own(Value::Bytes(bytes)) => Ok(bytes),
        other => Err(EvalError::new(format!("expected a string, found {}", other.as_ref().kind()))),
    }
}

pub(super) fn text<'a>(value: &'a Evaluated<'_>) -> Result<Cow<'a, str>> {
    bytes(value).map(String::from_utf8_lossy)
}
