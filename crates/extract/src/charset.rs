//! In which encoding a body is, as browsers find it out. Pure.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};
use memchr::{memchr, memmem, memrchr};

use crate::media_type::{is_html, is_xml, media_type};

/// In how much of a body markup may say its encoding, in bytes (WHATWG HTML, 13.2.3.2).
const PRESCAN: usize = 1024;

/// The encoding of a body, and how many bytes its byte order mark takes that are no part of the text. That
/// of UTF-8 is left in.
pub(crate) fn of(body: &[u8], content_type: &[u8]) -> (&'static Encoding, usize) {
    if let Some((encoding, length)) = Encoding::for_bom(body) {
        return (encoding, length);
    }
    let (kind, parameters) = media_type(content_type);
    if let Some(encoding) = label_after(parameters, b"charset") {
        return (encoding, 0);
    }
    // What is neither markup nor unknown says nothing more: JSON is UTF-8 (RFC 8259, 8.1).
    if kind.is_empty() || is_html(kind) || is_xml(kind) {
        let head = &body[..body.len().min(PRESCAN)];
        return (of_declaration(head).or_else(|| of_meta(head)).unwrap_or(UTF_8), 0);
    }
    (UTF_8, 0)
}

/// A text in the encoding of a label (WHATWG Encoding Standard, 4.2), a byte order mark left out; `None`: there is no
/// such label. What stands for no character is U+FFFD.
pub fn decoded<'t>(bytes: &'t [u8], label: &str) -> Option<Cow<'t, str>> {
    Some(Encoding::for_label(label.as_bytes())?.decode(bytes).0)
}

/// An encoding in which texts are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Charset(Form);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// One byte for each of the first characters of Unicode: ISO-8859-1 up to 0xFF, US-ASCII up to 0x7F.
    FirstOf(u8),
    Utf16 {
        big_endian: bool,
        /// Whether a byte order mark is in front.
        marked: bool,
    },
    Other(&'static Encoding),
}

/// What stands for a character that an encoding does not have.
const UNKNOWN: u8 = b'?';

impl Charset {
    /// The encoding of a label of the WHATWG Encoding Standard; but ISO-8859-1, US-ASCII and UTF-16 are what they are
    /// called, where the standard has windows-1252 and none to send. `None`: there is no such label.
    pub fn of(label: &str) -> Option<Charset> {
        let utf16 = |big_endian, marked| Form::Utf16 { big_endian, marked };
        Some(Charset(match label.trim().to_ascii_lowercase().as_str() {
            "iso-8859-1" | "iso8859-1" | "iso_8859-1" | "latin1" | "l1" => Form::FirstOf(0xff),
            "us-ascii" | "ascii" => Form::FirstOf(0x7f),
            "utf-16" | "utf16" => utf16(true, true),
            "utf-16be" => utf16(true, false),
            "utf-16le" => utf16(false, false),
            label => {
                let encoding = Encoding::for_label(label.as_bytes())?;
                // One that a standard for the web does not send is none.
                (encoding.output_encoding() == encoding).then_some(Form::Other(encoding))?
            }
        }))
    }

    /// A text in UTF-8 in this encoding, with `?` for what that does not have. Bytes that are no text stay as they are.
    pub fn encode<'t>(&self, text: &'t [u8]) -> Cow<'t, [u8]> {
        let Ok(text) = std::str::from_utf8(text) else { return Cow::Borrowed(text) };
        if text.is_ascii() && !matches!(self.0, Form::Utf16 { .. } | Form::Other(_)) {
            return Cow::Borrowed(text.as_bytes());
        }
        match self.0 {
            Form::FirstOf(last) => {
                let byte = |c: char| u8::try_from(c).ok().filter(|byte| *byte <= last);
                text.chars().map(|c| byte(c).unwrap_or(UNKNOWN)).collect()
            }
            // Nothing needs no mark.
            Form::Utf16 { .. } if text.is_empty() => Cow::Borrowed(&[]),
            Form::Utf16 { big_endian, marked } => {
                let mark = marked.then_some(0xfeff);
                let units = mark.into_iter().chain(text.encode_utf16());
                let bytes =
                    |unit: u16| if big_endian { unit.to_be_bytes() } else { unit.to_le_bytes() };
                units.flat_map(bytes).collect()
            }
            Form::Other(encoding) => encoded(encoding, text),
        }
    }
}

/// A text in an encoding of the WHATWG Encoding Standard.
fn encoded<'t>(encoding: &'static Encoding, text: &'t str) -> Cow<'t, [u8]> {
    let (bytes, _, has_unknown) = encoding.encode(text);
    if !has_unknown {
        return bytes;
    }
    // The standard would write those as `&#8364;`.
    let mut out = Vec::with_capacity(text.len());
    let mut buffer = [0; 4];
    for c in text.chars() {
        match encoding.encode(c.encode_utf8(&mut buffer)) {
            (_, _, true) => out.push(UNKNOWN),
            (bytes, _, false) => out.extend_from_slice(&bytes),
        }
    }
    Cow::Owned(out)
}

/// The encoding that an XML declaration names (XML 1.0, appendix F).
fn of_declaration(head: &[u8]) -> Option<&'static Encoding> {
    match head {
        [b'<', 0, b'?', 0, ..] => return Some(UTF_16LE),
        [0, b'<', 0, b'?', ..] => return Some(UTF_16BE),
        _ => {}
    }
    let declaration = head.trim_ascii_start().strip_prefix(b"<?xml")?;
    let end = memchr(b'>', declaration)?;
    readable(label_after(&declaration[..end], b"encoding")?)
}

/// The encoding that a `<meta>` names, outside comments.
fn of_meta(head: &[u8]) -> Option<&'static Encoding> {
    // Whatever its capitals, one of the two is in the word.
    let lower = memmem::find_iter(head, b"harset").map(|at| at.saturating_sub(1));
    let at = lower.chain(memmem::find_iter(head, b"HARSET").map(|at| at.saturating_sub(1)));
    at.filter_map(|at| {
        let start = memrchr(b'<', &head[..at])?;
        let tag = &head[start..];
        let before = &head[start..at];
        let is_meta =
            tag.get(..5)?.eq_ignore_ascii_case(b"<meta") && memchr(b'>', before).is_none();
        (is_meta && !in_comment(&head[..start]) && (!quoted(before) || is_http_equiv(tag)))
            .then(|| &tag[before.len()..memchr(b'>', tag).unwrap_or(tag.len())])
    })
    .find_map(|rest| label_after(rest, b"charset"))
    .and_then(readable)
}

/// Whether what follows stands in a comment.
fn in_comment(before: &[u8]) -> bool {
    let opened = memmem::rfind(before, b"<!--");
    opened.is_some_and(|at| memmem::find(&before[at + 4..], b"-->").is_none())
}

/// Whether what follows stands in quotes.
fn quoted(tag: &[u8]) -> bool {
    [b'"', b'\''].iter().any(|quote| memchr::memchr_iter(*quote, tag).count() % 2 == 1)
}

/// Whether a tag stands for a header of the response.
fn is_http_equiv(tag: &[u8]) -> bool {
    let end = memchr(b'>', tag).unwrap_or(tag.len());
    tag[..end].windows(10).any(|word| word.eq_ignore_ascii_case(b"http-equiv"))
}

/// What was read as ASCII is not in an encoding of two bytes, whatever it says.
fn readable(encoding: &'static Encoding) -> Option<&'static Encoding> {
    Some(match encoding {
        encoding if encoding == UTF_16LE || encoding == UTF_16BE => UTF_8,
        encoding if encoding == X_USER_DEFINED => WINDOWS_1252,
        encoding => encoding,
    })
}

/// The encoding whose label follows `name` and an equals sign, with or without quotes; `None` as well if
/// nobody knows it.
fn label_after(text: &[u8], name: &[u8]) -> Option<&'static Encoding> {
    let mut places = text.windows(name.len()).enumerate();
    places.find_map(|(at, word)| {
        let rest = word.eq_ignore_ascii_case(name).then(|| &text[at + name.len()..])?;
        let rest = rest.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
        let rest = rest.strip_prefix(b"\"").or(rest.strip_prefix(b"'")).unwrap_or(rest);
        let end = rest.iter().position(|byte| b"\"'; \t\r\n\x0C>".contains(byte));
        Encoding::for_label(&rest[..end.unwrap_or(rest.len())])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(body: &[u8], content_type: &str) -> &'static str {
        of(body, content_type.as_bytes()).0.name()
    }

    #[test]
    fn the_header_says_the_encoding() {
        for (content_type, encoding) in [
            ("", "UTF-8"),
            ("text/html", "UTF-8"),
            ("text/html; charset=utf-8", "UTF-8"),
            ("text/html;charset=UTF-8", "UTF-8"),
            ("text/html; charset=ISO-8859-1", "windows-1252"),
            ("text/html; charset=\"Shift_JIS\"", "Shift_JIS"),
            ("text/plain; format=flowed; Charset = 'koi8-r'", "KOI8-R"),
            ("application/json; charset=latin1", "windows-1252"),
            ("text/html; charset=klingon", "UTF-8"),
            ("text/html; charset=", "UTF-8"),
            ("charset=latin1", "UTF-8"),
        ] {
            assert_eq!(name(b"<p>", content_type), encoding, "{content_type}");
        }
    }

    #[test]
    fn a_mark_is_before_the_header_and_that_before_the_page() {
        let meta = b"<meta charset=koi8-r>";
        assert_eq!(name(meta, "text/html"), "KOI8-R");
        assert_eq!(name(meta, "text/html; charset=latin1"), "windows-1252");
        let marked = [b"\xEF\xBB\xBF", meta.as_slice()].concat();
        assert_eq!(of(&marked, b"text/html; charset=latin1"), (UTF_8, 3));
        assert_eq!(of(b"\xFF\xFE<\0", b"text/html; charset=latin1"), (UTF_16LE, 2));
        assert_eq!(of(b"\xFE\xFF\0<", b""), (UTF_16BE, 2));
    }

    #[test]
    fn texts_are_encoded() {
        for (label, text, expected) in [
            ("ISO-8859-1", "aé\u{80}€", &b"a\xe9\x80?"[..]),
            ("us-ascii", "aé", b"a?"),
            ("windows-1252", "é€Ж", b"\xe9\x80?"),
            ("cp1251", "Ж", b"\xc6"),
            ("gbk", "a中", b"a\xd6\xd0"),
            ("Shift_JIS", "é", b"?"),
            ("iso-2022-jp", "a", b"a"),
            ("UTF-16", "aé", b"\xfe\xff\0a\0\xe9"),
            ("utf-16", "", b""),
            ("utf-16le", "a𝄞", b"a\0\x34\xd8\x1e\xdd"),
            ("utf-8", "é", "é".as_bytes()),
        ] {
            let charset = Charset::of(label).expect(label);
            assert_eq!(&*charset.encode(text.as_bytes()), expected, "{label} {text}");
        }
        // What is no text stays.
        let charset = Charset::of("utf-16le").expect("a charset");
        assert_eq!(&*charset.encode(b"\xff\xfe"), b"\xff\xfe");
        for label in ["klingon", "", "replacement", "hz-gb-2312"] {
            assert_eq!(Charset::of(label), None, "{label}");
        }
    }

    #[test]
    fn markup_says_its_encoding() {
        for (body, encoding) in [
            ("<meta charset=\"Shift_JIS\">", "Shift_JIS"),
            ("<html><head><META CHARSET = euc-kr />", "EUC-KR"),
            ("<meta\ncharset='big5'>", "Big5"),
            (
                "<meta http-equiv=Content-Type content=\"text/html; charset=windows-1251\">",
                "windows-1251",
            ),
            ("<meta content='text/html;charset=gbk' http-equiv='content-type'>", "GBK"),
            ("<meta name=description content='what is charset=gbk'>", "UTF-8"),
            ("<!-- <meta charset=gbk> --><meta charset=big5>", "Big5"),
            ("<!-- <meta charset=gbk> -->", "UTF-8"),
            ("<form accept-charset=gbk>", "UTF-8"),
            ("<meta name=a><p title='charset=gbk'>", "UTF-8"),
            ("<meta charset=utf-16>", "UTF-8"),
            ("<meta charset=x-user-defined>", "windows-1252"),
            ("<meta charset=nonsense><meta charset=gbk>", "GBK"),
            ("<?xml version='1.0' encoding='ISO-8859-2'?><a/>", "ISO-8859-2"),
            ("\n<?xml version=\"1.0\" encoding=\"utf-16\"?><a/>", "UTF-8"),
            ("<?xml version='1.0'?><a encoding='gbk'/>", "UTF-8"),
            ("charset=gbk", "UTF-8"),
            ("<meta charset", "UTF-8"),
            ("charset", "UTF-8"),
            ("<met charset=gbk", "UTF-8"),
        ] {
            for kind in ["", "text/html", "application/xhtml+xml"] {
                assert_eq!(name(body.as_bytes(), kind), encoding, "{body} as {kind}");
            }
        }
        assert_eq!(name(b"<\0?\0x\0m\0l\0", "text/xml"), "UTF-16LE");
        assert_eq!(name(b"\0<\0?\0x\0m\0l", "text/xml"), "UTF-16BE");
        // Far from the beginning, and in what is no markup, nobody looks.
        let far = format!("{}<meta charset=gbk>", " ".repeat(PRESCAN));
        assert_eq!(name(far.as_bytes(), "text/html"), "UTF-8");
        assert_eq!(name(b"{\"a\": \"<meta charset=gbk>\"}", "application/json"), "UTF-8");
    }
}
