//! Forms of numbers, quantities and words.

use std::marker::PhantomData;
use std::time::Duration;

use serde_json::{Value, json};

use super::form::{Form, Plain};
use super::shape::{Quantity, Shape};
use crate::nodes::{Node, Reader};
use squall_base::units::{self, UnitError};

/// A whole number, 0 or more, as YAML's core schema has it; `1_000` is 1000.
fn parse_int(text: &str) -> Option<u64> {
    let text = text.trim();
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'));
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return u64::from_str_radix(digits, 8).ok().filter(|_| !digits.starts_with('+'));
    }
    let is_digit = |c: char| c.is_ascii_digit();
    text.replace('_', "").parse().ok().filter(|_| text.starts_with(is_digit))
}

/// true or false.
pub(crate) struct Bool;

impl Form for Bool {
    type Value = bool;
    fn shape() -> Shape {
        Shape::Bool
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<bool> {
        let value = node.core_bool();
        if value.is_none() {
            reader.wrong(node, "true or false");
        }
        value
    }
    fn print(value: &bool) -> Value {
        json!(value)
    }
}

impl Plain for bool {
    type Form = Bool;
}

/// A whole number from `LEAST` to `MOST`.
pub(crate) struct IntFrom<const LEAST: u64, const MOST: u64>;
/// A whole number.
pub(crate) type Int = IntFrom<0, { u64::MAX }>;
/// A whole number above 0.
pub(crate) type Positive = IntFrom<1, { u64::MAX }>;

impl<const LEAST: u64, const MOST: u64> Form for IntFrom<LEAST, MOST> {
    type Value = u64;
    fn shape() -> Shape {
        Shape::Int(LEAST, MOST)
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<u64> {
        let text = reader.constant(node)?;
        let number = parse_int(&text.value);
        if let Some(number) = number.filter(|number| (LEAST..=MOST).contains(number)) {
            return Some(number);
        }
        let expected = match (LEAST, MOST) {
            (0, u64::MAX) => "a whole number, 0 or more".to_owned(),
            (1, u64::MAX) => "a whole number above 0".to_owned(),
            (0, most) => format!("a whole number up to {most}"),
            (least, most) => format!("a whole number from {least} to {most}"),
        };
        reader.error(text.span, format!("expected {expected}, found `{}`", text.value), "");
        None
    }
    fn print(value: &u64) -> Value {
        json!(value)
    }
}

impl Plain for u64 {
    type Form = Int;
}

/// A whole number of 32 bits from `LEAST` to `MOST`.
pub(crate) struct Small<const LEAST: u32, const MOST: u32>;

impl<const LEAST: u32, const MOST: u32> Form for Small<LEAST, MOST> {
    type Value = u32;
    fn shape() -> Shape {
        Shape::Int(LEAST.into(), MOST.into())
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<u32> {
        let text = reader.constant(node)?;
        let number = parse_int(&text.value).and_then(|number| u32::try_from(number).ok());
        if let Some(number) = number.filter(|number| (LEAST..=MOST).contains(number)) {
            return Some(number);
        }
        let expected = match LEAST {
            0 => format!("a whole number up to {MOST}"),
            _ => format!("a whole number from {LEAST} to {MOST}"),
        };
        reader.error(text.span, format!("expected {expected}, found `{}`", text.value), "");
        None
    }
    fn print(value: &u32) -> Value {
        json!(value)
    }
}

impl Plain for u32 {
    type Form = Small<0, { u32::MAX }>;
}

/// A number from 0.
pub(crate) struct Number;
/// A number above 0.
pub(crate) struct Share;

fn number(reader: &mut Reader, node: &Node, above_0: bool) -> Option<f64> {
    let text = reader.constant(node)?;
    let number = text.value.trim().parse().ok().filter(|number: &f64| number.is_finite());
    let number = number.filter(|number| *number > 0.0 || (*number == 0.0 && !above_0));
    if number.is_none() {
        let expected = if above_0 { "a number above 0" } else { "a number, 0 or more" };
        reader.error(text.span, format!("expected {expected}, found `{}`", text.value), "");
    }
    number
}

impl Form for Number {
    type Value = f64;
    fn shape() -> Shape {
        Shape::Number { above_0: false }
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<f64> {
        number(reader, node, false)
    }
    fn print(value: &f64) -> Value {
        json!(value)
    }
}

impl Form for Share {
    type Value = f64;
    fn shape() -> Shape {
        Shape::Number { above_0: true }
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<f64> {
        number(reader, node, true)
    }
    fn print(value: &f64) -> Value {
        json!(value)
    }
}

impl Plain for f64 {
    type Form = Number;
}

/// A time, such as `300ms`.
pub(crate) struct Time;
/// Bytes, such as `64KiB`.
pub(crate) struct Size;
/// A number a second, such as `500/s`.
pub(crate) struct Rate;
/// Bytes a second, such as `2Mbit/s`.
pub(crate) struct Bandwidth;
/// A share of one, above 0, such as `2%`.
pub(crate) struct Percent;

fn quantity<T>(
    reader: &mut Reader,
    node: &Node,
    parse: fn(&str) -> Result<T, UnitError>,
) -> Option<T> {
    let text = reader.constant(node)?;
    match parse(&text.value) {
        Ok(value) => Some(value),
        Err(error) => {
            reader.error(text.span, error.0, "");
            None
        }
    }
}

impl Form for Time {
    type Value = Duration;
    fn shape() -> Shape {
        Shape::Quantity(Quantity::Time)
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<Duration> {
        quantity(reader, node, units::parse_duration)
    }
    fn print(value: &Duration) -> Value {
        json!(units::print_duration(*value))
    }
}

impl Plain for Duration {
    type Form = Time;
}

impl Form for Size {
    type Value = u64;
    fn shape() -> Shape {
        Shape::Quantity(Quantity::Size)
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<u64> {
        quantity(reader, node, units::parse_size)
    }
    fn print(value: &u64) -> Value {
        json!(value)
    }
}

impl Form for Rate {
    type Value = f64;
    fn shape() -> Shape {
        Shape::Quantity(Quantity::Rate)
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<f64> {
        quantity(reader, node, units::parse_rate)
    }
    fn print(value: &f64) -> Value {
        json!(format!("{value}/s"))
    }
}

impl Form for Bandwidth {
    type Value = u64;
    fn shape() -> Shape {
        Shape::Quantity(Quantity::Bandwidth)
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<u64> {
        quantity(reader, node, units::parse_bandwidth)
    }
    fn print(value: &u64) -> Value {
        json!(format!("{value}B/s"))
    }
}

impl Form for Percent {
    type Value = f64;
    fn shape() -> Shape {
        Shape::Quantity(Quantity::Percent)
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<f64> {
        let share = quantity(reader, node, units::parse_share)?;
        if share > 0.0 {
            return Some(share);
        }
        reader.error(node.span, "expected a percentage above 0", "");
        None
    }
    fn print(value: &f64) -> Value {
        json!(value)
    }
}

/// An enum whose values are words.
pub(crate) trait Words: Copy + PartialEq + 'static {
    /// Each word, what it stands for, and what that means.
    const WORDS: &'static [(&'static str, Self, &'static str)];
}

/// One of several words.
pub(crate) struct Word<T>(PhantomData<T>);

impl<T: Words> Form for Word<T> {
    type Value = T;
    fn shape() -> Shape {
        Shape::Words(T::WORDS.iter().map(|(word, _, about)| (*word, *about)).collect())
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<T> {
        let text = reader.text(node)?;
        let found = T::WORDS.iter().find(|(word, ..)| *word == text.value);
        if found.is_none() {
            let known: Vec<&str> = T::WORDS.iter().map(|(word, ..)| *word).collect();
            reader.unknown_word(&text, &known);
        }
        found.map(|(_, value, _)| *value)
    }
    fn print(value: &T) -> Value {
        let found = T::WORDS.iter().find(|(_, known, _)| known == value);
        json!(found.map_or("", |(word, ..)| *word))
    }
}
