//! Assertions about the whole of a response: that it is XML, that it has a digest, what a path of JMESPath leads to.

use super::pattern::{self, Subject};
use super::reader::Reader;
use super::texts::{TextPiece, expression, literal, merged, quoted};
use super::told::{Told, known};
use super::{Translator, jmespath};
use crate::tree::ElementId;

/// A document type, before the root element.
const DOCTYPE: &str = r"(?s)\A\s*(?:<\?.*?\?>\s*|<!--.*?-->\s*)*<!DOCTYPE";

/// What a JSON value is compared with.
pub(super) struct Expected {
    pub pieces: Vec<TextPiece>,
    pub is_pattern: bool,
}

impl Translator<'_> {
    /// That the response is XML. JMeter takes a document type for a fault, and looks at nothing that it declares.
    pub(super) fn xml(&self, id: ElementId) -> Vec<Told> {
        self.read(id).finish();
        let test = format!("body != \"\" && is_xml() && !body.matches({})", quoted(DOCTYPE));
        // What JMeter says is what its parser says.
        vec![(test, self.words_of("body", &known("The document is not well-formed XML")))]
    }

    /// That the response has a digest.
    pub(super) fn md5_hex(&self, id: ElementId) -> Vec<Told> {
        let reader = self.read(id);
        let digest = self.pieces(id, reader.source("MD5HexAssertion.size"));
        reader.finish();
        let wanted = match literal(&digest) {
            // There is nothing to compare with.
            Some("") => {
                let words = known("MD5Hex to test against is empty");
                return vec![("false".to_owned(), self.words_of("body", &words))];
            }
            Some(known) => quoted(&known.to_lowercase()),
            None => format!("lower({})", expression(&digest)),
        };
        let mut words = known("Error asserting MD5 sum : got ");
        words.extend([TextPiece::Expr("md5(raw_body)".to_owned())]);
        words.extend(known(" but should have been ").into_iter().chain(digest));
        let test = format!("body != \"\" && md5(raw_body) == {wanted}");
        vec![(test, self.words_of("body", &merged(words)))]
    }

    /// What a JSON value is compared with.
    pub(super) fn expected(&self, id: ElementId, reader: &Reader<'_>) -> Expected {
        let pieces = self.pieces(id, reader.source("EXPECTED_VALUE"));
        Expected { pieces, is_pattern: reader.flag("ISREGEX", true) }
    }

    /// That a text is the one that is expected, or matches it.
    pub(super) fn is_as_expected(
        &self,
        id: ElementId,
        text: &str,
        expected: &Expected,
    ) -> Option<String> {
        let Expected { pieces, is_pattern } = expected;
        if !is_pattern {
            return Some(format!("{text} == {}", expression(pieces)));
        }
        let pattern = match literal(pieces) {
            Some(known) => pattern::regex(known, Subject::Whole)
                .map(|pattern| quoted(&format!(r"\A(?:{pattern})\z"))),
            None => pattern::regex_of_pieces(pieces, Subject::Whole)
                .map(|pattern| super::assertion::whole(&pattern)),
        };
        let pattern = pattern.map_err(|what| self.obstacle(id, what)).ok()?;
        Some(format!("{text}.matches({pattern})"))
    }

    /// What a path of JMESPath leads to.
    pub(super) fn jmes_path(&self, id: ElementId) -> Vec<Told> {
        let reader = self.read(id);
        let source = reader.constant("JMES_PATH").unwrap_or_default();
        let compares = reader.flag("JSONVALIDATION", false);
        let expects_null = reader.flag("EXPECT_NULL", false);
        let is_negated = reader.flag("INVERT", false);
        let expected = self.expected(id, &reader);
        reader.finish();
        let path = match jmespath::json_path(&source) {
            Ok(path) if !path.contains("[*]") => path,
            Ok(_) => {
                self.obstacle(id, "a path that leads to several values");
                return Vec::new();
            }
            Err(what) => {
                self.obstacle(id, what);
                return Vec::new();
            }
        };
        let value = format!("json({})", quoted(&path));
        let text = format!("({value} == null ? \"null\" : string({value}))");
        if is_negated && !expected.is_pattern && literal(&expected.pieces).is_none() {
            self.obstacle(id, "a value known only while the plan runs that must not be there");
        }
        let test = match (compares, expects_null) {
            (false, _) => Some(format!("{value} != null")),
            (true, true) => Some(format!("{value} == null")),
            (true, false) => self.is_as_expected(id, &text, &expected).map(|test| {
                let same = match (expected.is_pattern, literal(&expected.pieces)) {
                    (true, _) => return test,
                    (false, Some(known)) => same_json(&value, known),
                    (false, None) => {
                        Some(format!("{value} == json_decode({})", expression(&expected.pieces)))
                    }
                };
                same.map_or(test.clone(), |same| format!("({test} || {same})"))
            }),
        };
        let test = test.map(|test| if is_negated { unless(&test) } else { test });
        let not = if is_negated { " not" } else { "" };
        let words = match (compares, expects_null, expected.is_pattern) {
            (false, ..) => known(format!("JMESPATH {source} expected{not} to exist")),
            (true, true, _) => known(format!("Value expected{not} to be null")),
            (true, false, is_pattern) => {
                let how = if is_pattern { "match" } else { "be equal to" };
                let begin = known(format!("Value expected{not} to {how} "));
                merged([begin, expected.pieces].concat())
            }
        };
        test.into_iter().map(|test| (test, self.words_of("body", &words))).collect()
    }
}

/// The opposite of a test of JSON: what is no JSON fails the test, and so passes this. Of an empty response nothing is
/// asserted, which is a failure.
pub(super) fn unless(test: &str) -> String {
    format!("body != \"\" && (!is_json() || !({test}))")
}

/// That a value is the one that a text is in JSON; `None`: it is no JSON.
fn same_json(value: &str, text: &str) -> Option<String> {
    serde_json::from_str::<serde_json::Value>(text).ok()?;
    Some(format!("{value} == json_decode({})", quoted(text)))
}
