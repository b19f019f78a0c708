//! What a text without quotes is: the core schema of YAML 1.2 (section 10.3.2).

use super::node::{Kind, Node};
use crate::model::Json;

impl Node {
    /// A bool of the core schema.
    pub fn core_bool(&self) -> Option<bool> {
        match &self.kind {
            Kind::Scalar(text, true) => bool_of(text),
            _ => None,
        }
    }

    /// What a text without quotes is, if it is no text.
    pub fn core_scalar(&self) -> Option<Json> {
        let Kind::Scalar(text, true) = &self.kind else { return None };
        if self.is_null() {
            return Some(Json::Null);
        }
        if let Some(value) = bool_of(text) {
            return Some(Json::Bool(value));
        }
        match int_of(text) {
            Some(number) => Some(Json::Int(number)),
            None => float_of(text).map(Json::Float),
        }
    }
}

fn bool_of(text: &str) -> Option<bool> {
    match text {
        "true" | "True" | "TRUE" => Some(true),
        "false" | "False" | "FALSE" => Some(false),
        _ => None,
    }
}

/// `[-+]? [0-9]+`, `0o [0-7]+`, `0x [0-9a-fA-F]+`.
fn int_of(text: &str) -> Option<i64> {
    let all = |text: &str, is: fn(&u8) -> bool| !text.is_empty() && text.as_bytes().iter().all(is);
    if let Some(digits) =
        text.strip_prefix("0o").filter(|digits| all(digits, |c| (b'0'..=b'7').contains(c)))
    {
        return i64::from_str_radix(digits, 8).ok();
    }
    if let Some(digits) =
        text.strip_prefix("0x").filter(|digits| all(digits, u8::is_ascii_hexdigit))
    {
        return i64::from_str_radix(digits, 16).ok();
    }
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if all(digits, u8::is_ascii_digit) { text.parse().ok() } else { None }
}

/// `[-+]? ( \\. [0-9]+ | [0-9]+ ( \\. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`. Infinities and NaN, which JSON
/// lacks, stay texts.
fn float_of(text: &str) -> Option<f64> {
    let plain = text.strip_prefix(['-', '+']).unwrap_or(text);
    let digits = plain.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    let known =
        plain.bytes().all(|c| c.is_ascii_digit() || matches!(c, b'.' | b'e' | b'E' | b'-' | b'+'));
    text.parse().ok().filter(|number: &f64| digits && known && number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_without_quotes_are_what_the_core_schema_says() {
        for (text, value) in [
            ("True", Some(Json::Bool(true))),
            ("FALSE", Some(Json::Bool(false))),
            ("tRUE", None),
            ("yes", None),
            ("0o10", Some(Json::Int(8))),
            ("0x1F", Some(Json::Int(31))),
            ("0o8", None),
            ("0x", None),
            ("010", Some(Json::Int(10))),
            ("+5", Some(Json::Int(5))),
            ("-5", Some(Json::Int(-5))),
            ("1_000", None),
            ("1.", Some(Json::Float(1.0))),
            (".5", Some(Json::Float(0.5))),
            ("1e3", Some(Json::Float(1000.0))),
            ("1e", None),
            (".", None),
            ("-", None),
            ("inf", None),
            (".inf", None),
            ("NULL", Some(Json::Null)),
            ("~", Some(Json::Null)),
        ] {
            let node = Node { kind: Kind::Scalar(text.to_owned(), true), span: Default::default() };
            assert_eq!(node.core_scalar(), value, "{text}");
        }
        let quoted =
            Node { kind: Kind::Scalar("True".to_owned(), false), span: Default::default() };
        assert_eq!(quoted.core_scalar(), None);
    }
}
