//! Small encodings: percent-encoding, forms, cookies, HTML escapes, sizes.

use std::borrow::Cow;
use std::fmt;

/// Decodes percent-encoding; what is not valid UTF-8 afterwards becomes U+FFFD. An escape that is
/// none stays as it is.
pub(crate) fn percent_decode(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        match (byte, after) {
            (b'%', [high, low, after @ ..]) if let Some(byte) = hex_pair(*high, *low) => {
                decoded.push(byte);
                rest = after;
            }
            _ => {
                decoded.push(byte);
                rest = after;
            }
        }
    }
    Cow::Owned(String::from_utf8_lossy(&decoded).into_owned())
}

fn hex_pair(high: u8, low: u8) -> Option<u8> {
    let digit = |b: u8| char::from(b).to_digit(16);
    Some((digit(high)? << 4 | digit(low)?) as u8)
}

/// The pairs of a query or of an `application/x-www-form-urlencoded` body, decoded.
pub(crate) fn pairs(text: &str) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
    text.split('&').filter(|part| !part.is_empty()).map(|part| {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        (form_decode(name), form_decode(value))
    })
}

fn form_decode(text: &str) -> Cow<'_, str> {
    if text.contains('+') {
        return Cow::Owned(percent_decode(&text.replace('+', " ")).into_owned());
    }
    percent_decode(text)
}

/// The value of this cookie in a `Cookie` field.
pub(crate) fn cookie<'c>(field: &'c str, name: &str) -> Option<&'c str> {
    cookies(field).find(|(n, _)| *n == name).map(|(_, value)| value)
}

pub(crate) fn cookies(field: &str) -> impl Iterator<Item = (&str, &str)> {
    field.split(';').filter_map(|pair| pair.trim().split_once('='))
}

/// Displays text with the characters escaped that mean something in HTML.
pub(crate) struct Html<'t>(pub(crate) &'t str);

impl fmt::Display for Html<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        while let Some(at) = rest.find(['&', '<', '>', '"', '\'']) {
            let (plain, special) = rest.split_at(at);
            f.write_str(plain)?;
            f.write_str(match special.as_bytes()[0] {
                b'&' => "&amp;",
                b'<' => "&lt;",
                b'>' => "&gt;",
                b'"' => "&quot;",
                _ => "&#39;",
            })?;
            rest = &special[1..];
        }
        f.write_str(rest)
    }
}

/// Reads a number of bytes: digits with an optional `k`, `m` or `g` for powers of 1024.
pub(crate) fn size(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" => 1,
        "k" => 1 << 10,
        "m" => 1 << 20,
        "g" => 1 << 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn percent_encoding() {
        assert_eq!(percent_decode("a%20b%2Fc"), "a b/c");
        assert_eq!(percent_decode("100%"), "100%");
        assert_eq!(percent_decode("%zz%4"), "%zz%4");
        assert_eq!(percent_decode("%ff"), "\u{fffd}");
    }

    #[test]
    fn forms_and_cookies() {
        let got: Vec<_> = pairs("a=1+2&b=%26&&c").map(|(n, v)| format!("{n}|{v}")).collect();
        assert_eq!(got, ["a|1 2", "b|&", "c|"]);
        assert_eq!(cookie("a=1; sid=x=y; b", "sid"), Some("x=y"));
        assert_eq!(cookie("a=1", "sid"), None);
    }

    #[test]
    fn sizes() {
        for (text, bytes) in [
            ("0", Some(0)),
            ("12", Some(12)),
            ("1k", Some(1024)),
            ("2M", Some(2 << 20)),
            ("3g", Some(3 << 30)),
            ("", None),
            ("k", None),
            ("1kb", None),
            ("-1", None),
            ("99999999999999999999", None),
            ("99999999999999g", None),
        ] {
            assert_eq!(size(text), bytes, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in ".{0,40}") {
            let _ = percent_decode(&text);
            let _ = pairs(&text).count();
            let _ = cookies(&text).count();
            let _ = size(&text);
            let html = Html(&text).to_string();
            prop_assert!(!html.contains(['<', '>', '"', '\'']));
        }
    }
}
