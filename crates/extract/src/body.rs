//! A response body and the text that it is. What is not UTF-8 is decoded once, when something first
//! looks at it.

use std::borrow::Cow;
use std::sync::OnceLock;

use crate::charset;
use crate::markup::Dialect;

/// A response body with the value of its `content-type` header, which says in which encoding its text is
/// and whether markup is HTML or XML.
///
/// The encoding is found as browsers find it (WHATWG HTML, 13.2.3.2): by a byte order mark, the header's
/// `charset`, or the XML declaration or `<meta>` in the first 1,024 bytes. What says nothing is UTF-8.
#[derive(Debug)]
pub struct Body<'b> {
    bytes: &'b [u8],
    content_type: &'b [u8],
    /// `None`: the bytes are the text.
    decoded: OnceLock<Option<String>>,
}

impl<'b> Body<'b> {
    /// A body with the value of its `content-type` header, empty if there is none.
    pub fn new(bytes: &'b [u8], content_type: &'b [u8]) -> Self {
        Body { bytes, content_type, decoded: OnceLock::new() }
    }

    /// The body as it came.
    pub fn bytes(&self) -> &'b [u8] {
        self.bytes
    }

    /// The body in UTF-8: the bytes themselves unless they are in another encoding. They are not checked:
    /// what claims to be UTF-8 may hold anything. What another encoding does not have becomes U+FFFD.
    pub fn text(&self) -> &[u8] {
        let decode = || match charset::of(self.bytes, self.content_type) {
            (encoding, _) if encoding == encoding_rs::UTF_8 => None,
            (encoding, mark) => {
                let (text, _) = encoding.decode_without_bom_handling(&self.bytes[mark..]);
                match text {
                    // All of it is ASCII.
                    Cow::Borrowed(_) => None,
                    Cow::Owned(text) => Some(text),
                }
            }
        };
        self.decoded.get_or_init(decode).as_ref().map_or(self.bytes, |text| text.as_bytes())
    }

    /// How its text is to be read as markup.
    pub(crate) fn dialect(&self) -> Dialect {
        Dialect::of(self.content_type, self.text())
    }
}
