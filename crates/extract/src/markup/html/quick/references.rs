//! Character references (WHATWG HTML, 13.2.5.72): `&amp;`, `&#38;`, `&#x26;`.

use html5ever::data::{C1_REPLACEMENTS, NAMED_ENTITIES};

/// References that most pages are content with.
const USUAL: [(&str, &str); 5] =
    [("amp;", "&"), ("lt;", "<"), ("gt;", ">"), ("quot;", "\""), ("nbsp;", "\u{A0}")];

/// Appends a text with what its references stand for. In attributes, `&copy=1` is not one.
pub(super) fn decode(text: &str, in_attribute: bool, out: &mut String) {
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('&') {
        out.push_str(before);
        let usual = USUAL.iter().find(|(name, _)| behind.starts_with(name));
        let length = match (usual, behind.strip_prefix('#')) {
            (Some((name, character)), _) => {
                out.push_str(character);
                name.len()
            }
            (None, Some(number)) => numeric(number, out),
            (None, None) => named(behind, in_attribute, out),
        };
        if length == 0 {
            out.push('&');
        }
        // What was read is ASCII.
        rest = &behind[length..];
    }
    out.push_str(rest);
}

/// Reads a number behind `&#`, and gives the length of what is behind the `&`; 0 if it is none.
fn numeric(text: &str, out: &mut String) -> usize {
    let (digits, radix) = match text.strip_prefix(['x', 'X']) {
        Some(digits) => (digits, 16),
        None => (text, 10),
    };
    let count = digits.bytes().take_while(|byte| char::from(*byte).is_digit(radix)).count();
    if count == 0 {
        return 0;
    }
    let value = digits.chars().take(count).filter_map(|digit| digit.to_digit(radix));
    let value = value.fold(0u32, |all, digit| all.saturating_mul(radix).saturating_add(digit));
    let character = match value {
        0 => None,
        0x80..=0x9F => C1_REPLACEMENTS[(value - 0x80) as usize].or(char::from_u32(value)),
        _ => char::from_u32(value),
    };
    out.push(character.unwrap_or('\u{FFFD}'));
    let marks = 1 + text.len() - digits.len();
    let semicolon = usize::from(digits.as_bytes().get(count) == Some(&b';'));
    marks + count + semicolon
}

/// Reads the longest name behind `&` that there is, and gives its length; 0 if there is none.
fn named(text: &str, in_attribute: bool, out: &mut String) -> usize {
    let mut found = None;
    for end in 1..=text.len() {
        // The table has the beginnings of names as well, which stand for nothing.
        match text.get(..end).and_then(|name| NAMED_ENTITIES.get(name)) {
            Some((0, _)) => {}
            Some(characters) => found = Some((end, *characters)),
            None => break,
        }
    }
    let Some((length, (first, second))) = found else { return 0 };
    let next = text.as_bytes().get(length);
    let goes_on = next.is_some_and(|next| *next == b'=' || next.is_ascii_alphanumeric());
    if in_attribute && goes_on && !text[..length].ends_with(';') {
        return 0;
    }
    out.extend([first, second].into_iter().filter(|c| *c != 0).filter_map(char::from_u32));
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(text: &str, in_attribute: bool) -> String {
        let mut out = String::new();
        decode(text, in_attribute, &mut out);
        out
    }

    #[test]
    fn references_become_characters() {
        for (text, expected) in [
            ("", ""),
            ("a &amp; b&lt;&gt;&quot;&nbsp;", "a & b<>\"\u{A0}"),
            ("&eacute;&notin;&notit;&not", "\u{E9}\u{2209}\u{AC}it;\u{AC}"),
            ("&NotEqualTilde;", "\u{2242}\u{338}"),
            ("&#65;&#x41;&#X41&#65z", "AAAAz"),
            (
                "&#128;&#x81;&#0;&#xD800;&#x110000;&#99999999999;",
                "\u{20AC}\u{81}\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}",
            ),
            ("&", "&"),
            ("&;&#;&#x;&x;&é;&#é", "&;&#;&#x;&x;&é;&#é"),
        ] {
            assert_eq!(decoded(text, false), expected, "{text}");
        }
    }

    #[test]
    fn queries_in_attributes_are_not_taken_for_references() {
        let query = "?a=1&copy=2&not1&reg;&lt";
        assert_eq!(decoded(query, true), "?a=1&copy=2&not1\u{AE}<");
        assert_eq!(decoded(query, false), "?a=1\u{A9}=2\u{AC}1\u{AE}<");
    }
}
