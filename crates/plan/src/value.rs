//! Values of variables and expressions, and keys of maps: texts mostly, and as CEL has it also ints and bools. A text finds its
//! value without being copied.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Largest value that an expression may make: bytes of its texts, and [`NODE_WEIGHT`] for each value
/// in it, one that is shared counted as often as it stands there.
pub(crate) const MAX_WEIGHT: usize = 16 << 20;
/// Most that the variables of a plan may come to, in bytes as [`Value::left_of`] counts them.
pub const MAX_VARIABLES: usize = 16 << 20;
/// Bytes that a value counts for beside its text.
pub const NODE_WEIGHT: usize = 16;
/// Deepest nesting of a value that an expression may make; JSON is read to a depth of 128.
pub(crate) const MAX_DEPTH: usize = 256;

pub type Map = BTreeMap<Key, Value>;

/// A value. Cheap to clone; may go from thread to thread.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Value {
    #[default]
    Null,
    Bool(bool),
    Int(i64),
    /// A number with a fraction.
    Float(f64),
    Text(Arc<str>),
    /// Bytes that are taken for a text, and are not UTF-8: a raw digest, a body in another encoding.
    Bytes(Arc<[u8]>),
    List(Arc<[Value]>),
    Map(Arc<Map>),
}

/// A value that lies somewhere else, looked at without a copy.
#[derive(Debug, Clone, Copy)]
pub enum ValueRef<'a> {
    Null,
    Bool(bool),
    Int(i64),
    /// A number with a fraction.
    Float(f64),
    Text(&'a str),
    /// Bytes that are taken for a text, UTF-8 or not.
    Bytes(&'a [u8]),
    List(&'a [Value]),
    Map(&'a Map),
}

impl Value {
    pub fn text(text: impl Into<Arc<str>>) -> Value {
        Value::Text(text.into())
    }

    /// A text of bytes, UTF-8 or not.
    pub fn bytes(bytes: &[u8]) -> Value {
        match std::str::from_utf8(bytes) {
            Ok(text) => Value::text(text),
            Err(_) => Value::Bytes(bytes.into()),
        }
    }

    #[inline]
    pub fn as_ref(&self) -> ValueRef<'_> {
        match self {
            Value::Null => ValueRef::Null,
            Value::Bool(value) => ValueRef::Bool(*value),
            Value::Int(value) => ValueRef::Int(*value),
            Value::Float(value) => ValueRef::Float(*value),
            Value::Text(text) => ValueRef::Text(text),
            Value::Bytes(bytes) => ValueRef::Bytes(bytes),
            Value::List(items) => ValueRef::List(items),
            Value::Map(map) => ValueRef::Map(map),
        }
    }

    /// Whether it is neither too large ([`MAX_WEIGHT`]) nor nested too deeply.
    pub(crate) fn fits(&self) -> bool {
        self.weigh(MAX_WEIGHT, MAX_DEPTH).is_some()
    }

    /// What is left of some bytes when its texts, and [`NODE_WEIGHT`] for each value in it, are taken off;
    /// `None`: it is heavier, or too deep. What it shares with itself counts as often as it stands there.
    pub fn left_of(&self, bytes: usize) -> Option<usize> {
        self.weigh(bytes, MAX_DEPTH)
    }

    /// The bytes of its texts, and [`NODE_WEIGHT`] for each value in it; at most [`MAX_WEIGHT`].
    pub(crate) fn weight(&self) -> usize {
        MAX_WEIGHT - self.left_of(MAX_WEIGHT).unwrap_or(0)
    }

    /// What is left of a weight when it is taken off; `None`: it is heavier, or deeper than `depth`.
    pub(crate) fn weigh(&self, left: usize, depth: usize) -> Option<usize> {
        let left = left.checked_sub(NODE_WEIGHT)?;
        match self {
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => Some(left),
            Value::Text(text) => left.checked_sub(text.len()),
            Value::Bytes(bytes) => left.checked_sub(bytes.len()),
            Value::List(items) => {
                let depth = depth.checked_sub(1)?;
                items.iter().try_fold(left, |left, item| item.weigh(left, depth))
            }
            Value::Map(map) => {
                let depth = depth.checked_sub(1)?;
                map.iter().try_fold(left, |left, (key, value)| {
                    value.weigh(left.checked_sub(key.len())?, depth)
                })
            }
        }
    }

    /// From JSON. A whole number from 2^63 to 2^64 - 1 becomes a text, which keeps all its digits; one that is larger still
    /// has become a float before.
    pub fn from_json(json: &serde_json::Value) -> Value {
        use serde_json::Value as Json;
        match json {
            Json::Null => Value::Null,
            Json::Bool(value) => Value::Bool(*value),
            Json::Number(number) => match (number.as_i64(), number.as_u64()) {
                (Some(number), _) => Value::Int(number),
                // As a float it would lose digits, and an id with other digits is another one.
                (None, Some(number)) => Value::text(number.to_string()),
                (None, None) => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
            },
            Json::String(text) => Value::text(text.as_str()),
            Json::Array(items) => Value::List(items.iter().map(Value::from_json).collect()),
            Json::Object(map) => Value::Map(Arc::new(
                map.iter()
                    .map(|(key, value)| (key.as_str().into(), Value::from_json(value)))
                    .collect(),
            )),
        }
    }

    /// To JSON; a float that JSON does not have becomes null, and what is not UTF-8 is replaced.
    pub fn to_json(&self) -> serde_json::Value {
        use serde_json::Value as Json;
        match self {
            Value::Null => Json::Null,
            Value::Bool(value) => Json::Bool(*value),
            Value::Int(value) => Json::from(*value),
            Value::Float(value) => Json::from(*value),
            Value::Text(text) => Json::from(&**text),
            Value::Bytes(bytes) => Json::from(String::from_utf8_lossy(bytes)),
            Value::List(items) => Json::Array(items.iter().map(Value::to_json).collect()),
            Value::Map(map) => Json::Object(
                map.iter().map(|(key, value)| (key.to_string(), value.to_json())).collect(),
            ),
        }
    }

    /// Appends it as JSON text.
    pub fn write_json(&self, out: &mut Vec<u8>) {
        // Writing to a Vec cannot fail, and every value is one of JSON.
        let _ = serde_json::to_writer(out, &self.to_json());
    }
}

impl ValueRef<'_> {
    /// A copy that stands by itself.
    pub fn to_value(self) -> Value {
        match self {
            ValueRef::Null => Value::Null,
            ValueRef::Bool(value) => Value::Bool(value),
            ValueRef::Int(value) => Value::Int(value),
            ValueRef::Float(value) => Value::Float(value),
            ValueRef::Text(text) => Value::text(text),
            ValueRef::Bytes(bytes) => Value::bytes(bytes),
            ValueRef::List(items) => Value::List(items.into()),
            ValueRef::Map(map) => Value::Map(Arc::new(map.clone())),
        }
    }

    /// What kind of value it is, as messages call it: with an article, and by the name of the function
    /// that makes one.
    pub fn kind(self) -> &'static str {
        match self {
            ValueRef::Null => "null",
            ValueRef::Bool(_) => "a bool",
            ValueRef::Int(_) => "an int",
            ValueRef::Float(_) => "a double",
            ValueRef::Text(_) | ValueRef::Bytes(_) => "a string",
            ValueRef::List(_) => "a list",
            ValueRef::Map(_) => "a map",
        }
    }

    /// Its bytes, if it is a text.
    pub fn bytes(&self) -> Option<&[u8]> {
        match self {
            ValueRef::Text(text) => Some(text.as_bytes()),
            ValueRef::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// Appends it as it stands in a text: null is nothing, lists and maps are JSON.
    pub fn render(self, out: &mut Vec<u8>) {
        use std::io::Write as _;
        // Writing to a Vec cannot fail.
        let _ = match self {
            ValueRef::Null => Ok(()),
            ValueRef::Bool(value) => write!(out, "{value}"),
            ValueRef::Int(value) => write!(out, "{value}"),
            ValueRef::Float(value) => write!(out, "{value}"),
            ValueRef::Text(text) => out.write_all(text.as_bytes()),
            ValueRef::Bytes(bytes) => out.write_all(bytes),
            ValueRef::List(_) | ValueRef::Map(_) => {
                self.to_value().write_json(out);
                Ok(())
            }
        };
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = Vec::new();
        self.as_ref().render(&mut bytes);
        f.write_str(&String::from_utf8_lossy(&bytes))
    }
}

/// A key of a map. In a map, bools come before ints, and ints before texts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    Bool(bool),
    Int(i64),
    Text(Arc<str>),
}

/// A key that lies somewhere else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeyRef<'a> {
    Bool(bool),
    Int(i64),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_from_json_keep_their_digits() {
        for (number, text) in [
            ("9223372036854775807", "9223372036854775807"),
            ("-9223372036854775808", "-9223372036854775808"),
            ("9223372036854775808", "9223372036854775808"),
            ("18446744073709551615", "18446744073709551615"),
            ("18446744073709551616", "18446744073709552000"),
            ("1.0", "1"),
            ("0.10", "0.1"),
        ] {
            let json = serde_json::from_str(number).expect("JSON");
            assert_eq!(Value::from_json(&json).to_string(), text, "{number}");
        }
    }
}
