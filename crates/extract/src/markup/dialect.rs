//! Whether markup is HTML or XML.

use crate::media_type::{is_html, is_xml, media_type};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Html,
    Xml,
}

impl Dialect {
    /// How a body is to be read: as its media type says; XML too if it says so in its first bytes, unless
    /// it is sent as HTML and is a page.
    pub(crate) fn of(content_type: &[u8], body: &[u8]) -> Dialect {
        let (kind, _) = media_type(content_type);
        if is_xml(kind) {
            return Dialect::Xml;
        }
        let body = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body);
        let declared = body.trim_ascii_start().starts_with(b"<?xml");
        match declared && !(is_html(kind) && begins_page(body)) {
            true => Dialect::Xml,
            false => Dialect::Html,
        }
    }
}

/// Whether the first element of a document is that of a page.
fn begins_page(body: &[u8]) -> bool {
    let starts = memchr::memchr_iter(b'<', body).map(|at| &body[at + 1..]);
    let mut elements = starts.filter(|tag| tag.first().is_some_and(u8::is_ascii_alphabetic));
    elements.next().and_then(|tag| tag.get(..4)).is_some_and(|n| n.eq_ignore_ascii_case(b"html"))
}
