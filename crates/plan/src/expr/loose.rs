//! Values compared as loosely typed languages do, where a number's text is that number. The rules are those of
//! ECMAScript (`ToNumber`, "loosely equal") as far as its values are ours.

use crate::value::{Value, ValueRef};

/// The number that a value stands for: whole where it can be, NaN where it is none.
pub(super) fn number(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Int(n) => Value::Int(n),
        ValueRef::Float(n) => Value::Float(n),
        ValueRef::Bool(value) => Value::Int(i64::from(value)),
        ValueRef::Null => Value::Int(0),
        other => match other.bytes().map(String::from_utf8_lossy) {
            Some(text) => of_text(text.trim()),
            None => Value::Float(f64::NAN),
        },
    }
}

fn of_text(text: &str) -> Value {
    if text.is_empty() {
        return Value::Int(0);
    }
    // Rust also reads "nan" and "inf", which are numbers nowhere else.
    let is_number = text.bytes().any(|b| b.is_ascii_digit());
    match text.parse() {
        Ok(whole) => Value::Int(whole),
        Err(_) => Value::Float(text.parse().ok().filter(|_| is_number).unwrap_or(f64::NAN)),
    }
}

/// A number with a fraction as a whole one, where it is one.
pub(super) fn whole(value: Value) -> Value {
    match value {
        Value::Float(n) if n.fract() == 0.0 && n.abs() < 9e15 => Value::Int(n as i64),
        other => other,
    }
}

/// Whether two values are equal: texts as texts, null with nothing else, all else as numbers.
pub(super) fn equal(a: ValueRef<'_>, b: ValueRef<'_>) -> bool {
    let is_text = |value: ValueRef<'_>| value.bytes().is_some();
    let is_null = |value: ValueRef<'_>| matches!(value, ValueRef::Null);
    if is_null(a) || is_null(b) || (is_text(a) && is_text(b)) {
        return super::operators::equal(a, b);
    }
    let (a, b) = (number(a), number(b));
    super::operators::equal(a.as_ref(), b.as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_numbers_text_is_that_number() {
        let text = |text: &str| Value::text(text);
        for (a, b, expected) in [
            (text("1.0"), Value::Int(1), true),
            (text(" 1 "), Value::Int(1), true),
            (text(""), Value::Int(0), true),
            (text("x"), Value::Int(0), false),
            (text("nan"), text("nan"), true),
            (text("inf"), Value::Float(f64::INFINITY), false),
            (text("1.0"), text("1"), false),
            (text("true"), Value::Bool(true), false),
            (text("1"), Value::Bool(true), true),
            (Value::Null, Value::Int(0), false),
            (Value::Null, Value::Null, true),
        ] {
            assert_eq!(equal(a.as_ref(), b.as_ref()), expected, "{a:?} {b:?}");
            assert_eq!(equal(b.as_ref(), a.as_ref()), expected, "{b:?} {a:?}");
        }
        assert_eq!(number(ValueRef::Text("9223372036854775807")), Value::Int(i64::MAX));
        assert_eq!(whole(Value::Float(3.0)), Value::Int(3));
        assert_eq!(whole(Value::Float(3.5)), Value::Float(3.5));
    }
}
