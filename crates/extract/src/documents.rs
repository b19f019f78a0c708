//! A body and what it says when it is read as JSON or as markup. Each is read once, when it is
//! first asked for, and kept for the extractors and checks that follow.

use std::cell::{Cell, OnceCell};

use serde_json::Value;

use crate::ExtractError;
use crate::markup::{self, Dialect, Tree};

/// A response body, parsed at most once per kind however many extractors look at it.
///
/// The parsed forms need memory in proportion to the body (JSON: up to about 80 times its size for
/// a hostile body, two to ten times usually), so that the caller bounds them by bounding the body.
#[derive(Debug)]
pub struct Documents<'b> {
    body: &'b [u8],
    dialect: Dialect,
    json: OnceCell<Result<Value, ExtractError>>,
    json_scans: Cell<u32>,
    markup: OnceCell<Result<Tree, ExtractError>>,
}

impl<'b> Documents<'b> {
    /// A body of unknown type: as markup it is XML if it starts with `<?xml`, else HTML.
    pub fn new(body: &'b [u8]) -> Self {
        Documents::in_dialect(body, Dialect::of_body(body))
    }

    /// A body with the value of its `content-type` header, which says whether markup is HTML or
    /// XML. It never hinders an extractor: JSON that was sent as `text/plain` is still JSON.
    pub fn with_content_type(body: &'b [u8], content_type: &[u8]) -> Self {
        let dialect =
            Dialect::of_content_type(content_type).unwrap_or_else(|| Dialect::of_body(body));
        Documents::in_dialect(body, dialect)
    }

    fn in_dialect(body: &'b [u8], dialect: Dialect) -> Self {
        Documents {
            body,
            dialect,
            json: OnceCell::new(),
            json_scans: Cell::new(0),
            markup: OnceCell::new(),
        }
    }

    /// The body as it came.
    pub fn body(&self) -> &'b [u8] {
        self.body
    }

    /// The body as JSON. Objects keep the order of their members.
    pub fn json(&self) -> Result<&Value, ExtractError> {
        let parse = || {
            let json = self.json_text();
            serde_json::from_slice(json).map_err(|error| json_error(json, &error))
        };
        self.json.get_or_init(parse).as_ref().map_err(Clone::clone)
    }

    /// The JSON text, if to scan it once more for one value is cheaper than to parse it.
    pub(crate) fn json_to_scan(&self) -> Option<&'b [u8]> {
        let scans = self.json_scans.get();
        if self.json.get().is_some() || scans == SCANS_LIMIT {
            return None;
        }
        self.json_scans.set(scans + 1);
        Some(self.json_text())
    }

    fn json_text(&self) -> &'b [u8] {
        self.body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(self.body)
    }

    /// The body as a tree of elements.
    pub(crate) fn markup(&self) -> Result<&Tree, ExtractError> {
        self.markup
            .get_or_init(|| markup::parse(self.body, self.dialect))
            .as_ref()
            .map_err(Clone::clone)
    }
}

/// The deepest nesting that `serde_json` reads.
const JSON_DEPTH: usize = 127;

/// How often a body is scanned for single values before it is parsed for all that follow. To parse
/// takes about as long as nine scans.
const SCANS_LIMIT: u32 = 6;

/// What an error of `serde_json` says about a body.
pub(crate) fn json_error(json: &[u8], error: &serde_json::Error) -> ExtractError {
    if json.trim_ascii().is_empty() {
        return ExtractError::NotJson { reason: "it is empty".into() };
    }
    let reason = error.to_string();
    // serde_json has no other way to tell this error from a mistake in the text.
    if reason.starts_with("recursion limit exceeded") {
        return ExtractError::TooDeep { limit: JSON_DEPTH };
    }
    ExtractError::NotJson { reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_read_once() {
        let documents = Documents::new(b"\xEF\xBB\xBF {\"b\":1,\"a\":2}");
        let first: *const Value = documents.json().unwrap();
        assert!(std::ptr::eq(first, documents.json().unwrap()));
        let keys: Vec<&String> = documents.json().unwrap().as_object().unwrap().keys().collect();
        assert_eq!(keys, ["b", "a"]);
    }

    #[test]
    fn bodies_that_are_not_json() {
        for (body, reason) in [
            (&b""[..], "it is empty"),
            (b" \n", "it is empty"),
            (b"<html>", "expected value at line 1 column 1"),
            (b"{\"a\":1}x", "trailing characters at line 1 column 8"),
            (b"\"\xFF\"", "invalid unicode code point at line 1 column 2"),
        ] {
            let error = Documents::new(body).json().unwrap_err();
            assert_eq!(error, ExtractError::NotJson { reason: reason.into() });
        }
    }

    #[test]
    fn json_depth_is_bounded() {
        let nested = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(Documents::new(nested(JSON_DEPTH).as_bytes()).json().is_ok());
        for depth in [JSON_DEPTH + 1, 100_000] {
            assert_eq!(
                Documents::new(nested(depth).as_bytes()).json().unwrap_err(),
                ExtractError::TooDeep { limit: JSON_DEPTH }
            );
        }
    }
}
