//! Keys of maps: texts mostly, and as CEL has it also ints and bools. A text finds its value without being
//! copied.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use super::{Value, ValueRef};

/// A key of a map. In a map, bools come before ints, and ints before texts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A text.
    Text(Arc<str>),
}

/// A key that lies somewhere else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeyRef<'a> {
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A text.
    Text(&'a str),
}

impl<'a> KeyRef<'a> {
    /// What a value is as a key: ints and floats of the same number are the same key. `None`: it cannot be
    /// one.
    pub fn of(value: ValueRef<'a>) -> Option<KeyRef<'a>> {
        match value {
            ValueRef::Bool(key) => Some(KeyRef::Bool(key)),
            ValueRef::Int(key) => Some(KeyRef::Int(key)),
            // Beyond 2^53 not every whole number is a float.
            ValueRef::Float(key) if key.trunc() == key && key.abs() <= 9_007_199_254_740_992.0 => {
                Some(KeyRef::Int(key as i64))
            }
            ValueRef::Text(key) => Some(KeyRef::Text(key)),
            ValueRef::Bytes(key) => std::str::from_utf8(key).ok().map(KeyRef::Text),
            _ => None,
        }
    }

    /// A key that stands by itself.
    pub fn to_key(self) -> Key {
        match self {
            KeyRef::Bool(key) => Key::Bool(key),
            KeyRef::Int(key) => Key::Int(key),
            KeyRef::Text(key) => Key::Text(key.into()),
        }
    }
}

impl Key {
    /// As a value of its own.
    pub fn to_value(&self) -> Value {
        match self {
            Key::Bool(key) => Value::Bool(*key),
            Key::Int(key) => Value::Int(*key),
            Key::Text(key) => Value::Text(key.clone()),
        }
    }

    /// Bytes of its text.
    pub(crate) fn len(&self) -> usize {
        match self {
            Key::Bool(_) | Key::Int(_) => 0,
            Key::Text(key) => key.len(),
        }
    }
}

impl From<&str> for Key {
    fn from(key: &str) -> Key {
        Key::Text(key.into())
    }
}

impl From<String> for Key {
    fn from(key: String) -> Key {
        Key::Text(key.into())
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Key::Bool(key) => write!(f, "{key}"),
            Key::Int(key) => write!(f, "{key}"),
            Key::Text(key) => f.write_str(key),
        }
    }
}

/// What can be looked for in a map: a [`Key`], or a [`KeyRef`] without a copy.
pub trait AsKey {
    /// The key.
    fn as_key(&self) -> KeyRef<'_>;
}

impl AsKey for Key {
    fn as_key(&self) -> KeyRef<'_> {
        match self {
            Key::Bool(key) => KeyRef::Bool(*key),
            Key::Int(key) => KeyRef::Int(*key),
            Key::Text(key) => KeyRef::Text(key),
        }
    }
}

impl AsKey for KeyRef<'_> {
    fn as_key(&self) -> KeyRef<'_> {
        *self
    }
}

impl<'a> Borrow<dyn AsKey + 'a> for Key {
    fn borrow(&self) -> &(dyn AsKey + 'a) {
        self
    }
}

impl PartialEq for dyn AsKey + '_ {
    fn eq(&self, other: &Self) -> bool {
        self.as_key() == other.as_key()
    }
}

impl Eq for dyn AsKey + '_ {}

impl PartialOrd for dyn AsKey + '_ {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for dyn AsKey + '_ {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_key().cmp(&other.as_key())
    }
}
