//! A body and what it says when it is read as JSON or as markup. Each is read once, when it is
//! first asked for, and kept for the extractors and checks that follow.

use std::cell::OnceCell;

use serde_json::Value;

use crate::body::Body;
use crate::error::ExtractError;
use crate::fuel::Fuel;
use crate::json::{self, Document};
use crate::limits::Limits;
use crate::markup::{self, Dialect, Tree};
use crate::well_formed;

/// A response body, parsed at most once per kind however many extractors look at it.
///
/// It is `Send` but not `Sync`: one thread at a time looks at it. Read as JSON, a body takes at
/// most four times its length in memory (nearly JSON: ten times); as markup, see [`ExtractError::TooLarge`] and
/// [`Limits::body_bytes`].
#[derive(Debug)]
pub struct Documents<'b> {
    source: Source<'b>,
    limits: Limits,
    json: OnceCell<Result<Document<'b>, ExtractError>>,
    /// What can be read of the body as JSON, if it is not, but nearly so.
    repaired: OnceCell<Option<Box<str>>>,
    value: OnceCell<Result<Value, ExtractError>>,
    markup: OnceCell<Result<Tree, ExtractError>>,
}

#[derive(Debug, Clone, Copy)]
enum Source<'b> {
    Text(&'b [u8]),
    Body(&'b Body<'b>),
}

impl<'b> Documents<'b> {
    /// A text in UTF-8 of unknown type: as markup it is XML if it starts with `<?xml`, else HTML.
    pub fn new(text: &'b [u8], limits: Limits) -> Self {
        Documents::from_source(Source::Text(text), limits)
    }

    /// A body that says what it is. Its media type never keeps an extractor from working: JSON sent as
    /// `text/plain` is still JSON.
    pub fn of(body: &'b Body<'b>, limits: Limits) -> Self {
        Documents::from_source(Source::Body(body), limits)
    }

    fn from_source(source: Source<'b>, limits: Limits) -> Self {
        let (json, value, markup) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        let repaired = OnceCell::new();
        Documents { source, limits, json, repaired, value, markup }
    }

    /// The body as text, see [`Body::text`].
    pub fn text(&self) -> &'b [u8] {
        match self.source {
            Source::Text(text) => text,
            Source::Body(body) => body.text(),
        }
    }

    /// The body as it came, in whatever encoding it is.
    pub fn bytes(&self) -> &'b [u8] {
        match self.source {
            Source::Text(text) => text,
            Source::Body(body) => body.bytes(),
        }
    }

    /// Whether the body is JSON, and not too long or too deep to look at.
    pub fn is_json(&self) -> bool {
        self.json_document().is_ok()
    }

    /// Whether the body is a well-formed XML document, whatever its media type says. What a document type declares is
    /// not looked at.
    ///
    /// # Errors
    /// It is too long to look at.
    pub fn is_well_formed(&self) -> Result<bool, ExtractError> {
        self.bounded_text().map(|text| well_formed::flaw(text).is_none())
    }

    /// The bounds of what extractors look at and keep.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// The whole body as a JSON value, within [`Limits::result_bytes`]. Objects keep the order of
    /// their members.
    pub fn json(&self) -> Result<&Value, ExtractError> {
        let build = || {
            let document = self.json_document()?;
            json::whole_value(document, &Fuel::new(self.text().len(), self.limits))
        };
        self.value.get_or_init(build).as_ref().map_err(Clone::clone)
    }

    /// The text, if neither it nor the body is too long to look at.
    pub(crate) fn bounded_text(&self) -> Result<&'b [u8], ExtractError> {
        let limit = self.limits.body_bytes;
        let within = |text: &'b [u8]| match text.len() {
            bytes if bytes > limit => Err(ExtractError::BodyTooLong { bytes, limit }),
            _ => Ok(text),
        };
        match self.source {
            Source::Text(text) => within(text),
            Source::Body(body) => within(body.bytes()).and_then(|_| within(body.text())),
        }
    }

    /// The body as JSON text in which values can be found.
    pub(crate) fn json_document(&self) -> Result<&Document<'b>, ExtractError> {
        let check = || Document::new(self.bounded_text()?);
        self.json.get_or_init(check).as_ref().map_err(Clone::clone)
    }

    /// What can be read of the body as JSON text, given why it is none.
    pub(crate) fn repaired_json(&self, flaw: &ExtractError) -> Option<&str> {
        let repair = || match flaw {
            ExtractError::NotJson { .. } => {
                self.bounded_text().ok().and_then(json::repaired).map(String::into_boxed_str)
            }
            _ => None,
        };
        self.repaired.get_or_init(repair).as_deref()
    }

    /// The body as a tree of elements.
    pub(crate) fn markup(&self) -> Result<&Tree, ExtractError> {
        let parse = || {
            let text = self.bounded_text()?;
            let dialect = match self.source {
                Source::Text(text) => Dialect::of(b"", text),
                Source::Body(body) => body.dialect(),
            };
            markup::parse(text, dialect)
        };
        self.markup.get_or_init(parse).as_ref().map_err(Clone::clone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn documents(body: &[u8]) -> Documents<'_> {
        Documents::new(body, Limits::default())
    }

    #[test]
    fn json_is_read_once() {
        let documents = documents(b"\xEF\xBB\xBF {\"b\":1,\"a\":2}");
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
            (b"<html>", "expected a value at line 1 column 1"),
            (b"{\"a\":1}x", "expected the end, found more at line 1 column 8"),
            (b"\"\xFF\"", "invalid UTF-8 at line 1 column 2"),
            (b"[1,\n 2", "expected `,` or `]`, found the end at line 2 column 3"),
            (b"{\"a\" 1}", "expected `:` at line 1 column 6"),
            (b"[01]", "invalid number: a zero in front at line 1 column 3"),
            (br#"["\ud800"]"#, "half of a surrogate pair at line 1 column 9"),
            (b"[1e999]", "number out of range at line 1 column 1"),
        ] {
            let error = documents(body).json().unwrap_err();
            assert_eq!(error, ExtractError::NotJson { reason: reason.into() });
        }
    }

    #[test]
    fn json_depth_is_bounded() {
        let limit = json::DEPTH_LIMIT;
        let nested = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(documents(nested(limit).as_bytes()).json().is_ok());
        for depth in [limit + 1, 100_000] {
            assert_eq!(
                documents(nested(depth).as_bytes()).json().unwrap_err(),
                ExtractError::TooDeep { limit }
            );
        }
    }

    #[test]
    fn a_value_of_the_whole_body_is_bounded() {
        let body = format!("[{}1]", "1,".repeat(1 << 20));
        assert!(matches!(
            documents(body.as_bytes()).json(),
            Err(ExtractError::ResultsTooLarge { limit }) if limit == 64 << 20
        ));
    }
}
