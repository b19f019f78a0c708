//! What a text without quotes is: the core schema of YAML 1.2 (section 10.3.2).

use super::node::{Kind, Node};
use crate::json::Json;

impl Node {
    /// A bool of the core schema.
    pub fn core_bool(&self) -> Option<bool> {
        match &self.kind {
            Kind::Scalar(text, true) => bool_of(text),
            _ => None,
        }
    }

    /// Whether it is a whole number without quotes that has more digits than are kept.
    pub fn is_huge_int(&self) -> bool {
        matches!(&self.kind, Kind::Scalar(text, true) if digits_of(text).is_some() && int_of(text).is_none())
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

/// `[-+]? [0-9]+`, `0o [0-7]+`, `0x [0-9a-fA-F]+`: its digits with their sign, and their base.
fn digits_of(text: &str) -> Option<(&str, u32)> {
    let all = |text: &str, is: fn(&u8) -> bool| !text.is_empty() && text.as_bytes().iter().all(is);
    let based = |prefix: &str, is: fn(&u8) -> bool| {
        text.strip_prefix(prefix).filter(|digits| all(digits, is))
    };
    if let Some(digits) = based("0o", |c| (b'0'..=b'7').contains(c)) {
        return Some((digits, 8));
    }
    if let Some(digits) = based("0x", u8::is_ascii_hexdigit) {
        return Some((digits, 16));
    }
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    all(digits, u8::is_ascii_digit).then_some((text, 10))
}

fn int_of(text: &str) -> Option<i64> {
    let (digits, base) = digits_of(text)?;
    i64::from_str_radix(digits, base).ok()
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
        for (text, is_huge) in [
            ("9223372036854775807", false),
            ("-9223372036854775808", false),
            ("9223372036854775808", true),
            ("-9223372036854775809", true),
            ("0xFFFFFFFFFFFFFFFF", true),
            ("0o7777777777777777777777", true),
            ("1e30", false),
            ("12345678901234567890a", false),
        ] {
            let node = Node { kind: Kind::Scalar(text.to_owned(), true), span: Default::default() };
            assert_eq!(node.is_huge_int(), is_huge, "{text}");
        }
        let quoted =
            Node { kind: Kind::Scalar("True".to_owned(), false), span: Default::default() };
        assert_eq!(quoted.core_scalar(), None);
    }
}
