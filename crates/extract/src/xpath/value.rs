//! The four types of XPath 1.0 and how one is made into another (sections 3.4, 3.5 and 4).

use std::borrow::Cow;

use crate::markup::{DOCUMENT, NodeId};

/// A node of the tree, or an attribute of one. Their order is that of the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Node {
    pub(super) id: NodeId,
    pub(super) attribute: Option<u32>,
}

impl Node {
    pub(super) const DOCUMENT: Node = Node { id: DOCUMENT, attribute: None };

    pub(super) fn of(id: NodeId) -> Node {
        Node { id, attribute: None }
    }
}

#[derive(Debug, Clone)]
pub(super) enum XPathValue<'t> {
    /// In document order, each once.
    Nodes(Vec<Node>),
    Number(f64),
    Text(Cow<'t, str>),
    Boolean(bool),
}

/// Reads a number: digits with an optional sign and fraction, and nothing else.
pub(super) fn text_to_number(text: &str) -> f64 {
    let text = text.trim_matches([' ', '\t', '\r', '\n']);
    // Rust would also take exponents, a plus sign, and words.
    let plain = text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-'));
    if plain { text.parse().unwrap_or(f64::NAN) } else { f64::NAN }
}

/// Writes a number without exponent, whole ones without a point.
pub(super) fn number_to_text(number: f64) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    number.to_string()
}

/// The nearest whole number; of two, the larger.
pub(super) fn round(number: f64) -> f64 {
    let floor = number.floor();
    if number - floor < 0.5 { floor } else { number.ceil() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_texts() {
        for (text, number) in
            [("1", 1.0), (" -1.50 \n", -1.5), (".5", 0.5), ("5.", 5.0), ("-0", 0.0), ("007", 7.0)]
        {
            assert_eq!(text_to_number(text), number, "{text}");
        }
        for text in ["", " ", "-", ".", "+1", "1e3", "inf", "NaN", "1 2", "0x1", "--1", "1.2.3"] {
            assert!(text_to_number(text).is_nan(), "{text}");
        }
        for (number, text) in [
            (1.0, "1"),
            (-0.0, "0"),
            (1.5, "1.5"),
            (-3.25, "-3.25"),
            (1e21, "1000000000000000000000"),
            (1e-7, "0.0000001"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "Infinity"),
            (f64::NEG_INFINITY, "-Infinity"),
        ] {
            assert_eq!(number_to_text(number), text);
        }
    }

    #[test]
    fn rounds_halves_up() {
        for (number, rounded) in
            [(1.5, 2.0), (2.5, 3.0), (-1.5, -1.0), (0.49999999999999994, 0.0), (-0.2, 0.0)]
        {
            assert_eq!(round(number), rounded, "{number}");
        }
        assert!(round(f64::NAN).is_nan());
        assert_eq!(round(f64::INFINITY), f64::INFINITY);
    }

    #[test]
    fn attributes_come_behind_their_element() {
        let node = Node::of(3);
        let attribute = Node { id: 3, attribute: Some(0) };
        assert!(node < attribute && attribute < Node::of(4));
    }
}
