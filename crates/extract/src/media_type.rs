//! The media type of a body, as its `content-type` header has it.

use memchr::memchr;

/// A media type without and with its parameters.
pub(crate) fn media_type(content_type: &[u8]) -> (&[u8], &[u8]) {
    let end = memchr(b';', content_type).unwrap_or(content_type.len());
    let (kind, parameters) = content_type.split_at(end);
    (kind.trim_ascii(), parameters)
}

/// Whether a media type is that of HTML.
pub(crate) fn is_html(kind: &[u8]) -> bool {
    kind.eq_ignore_ascii_case(b"text/html")
}

/// Whether a media type is one of XML (RFC 7303).
pub(crate) fn is_xml(kind: &[u8]) -> bool {
    let suffix = kind.len().checked_sub(4).and_then(|at| kind.get(at..));
    kind.eq_ignore_ascii_case(b"text/xml")
        || kind.eq_ignore_ascii_case(b"application/xml")
        || suffix.is_some_and(|suffix| suffix.eq_ignore_ascii_case(b"+xml"))
}
