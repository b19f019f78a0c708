//! A secret in all the forms that requests, and what responds to them, give it. Each character has several,
//! and a text may mix them: a path escapes other characters than a query. Pure.

use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

/// A secret to look for: for each of its characters the forms that it may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    characters: Vec<Vec<Box<str>>>,
    /// Whether it is the inner part of base64, whose edges hold a part of the secret too.
    is_base64: bool,
}

/// How far a pattern is found at some place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Match {
    /// Up to here.
    Whole(usize),
    /// Its beginning goes up to the end of the text.
    Begun,
    Not,
}

impl Pattern {
    /// A text as it stands in requests.
    pub(super) fn of_text(text: &str) -> Pattern {
        Pattern { characters: text.chars().map(forms).collect(), is_base64: false }
    }

    /// What base64 makes of a text wherever it begins in what is encoded: of the characters that hold three
    /// quarters of a byte each, those that nothing else is in.
    pub(super) fn in_base64(text: &str) -> Vec<Pattern> {
        let inner = |before: usize| {
            let encoded = STANDARD_NO_PAD.encode([&[0; 2][..before], text.as_bytes()].concat());
            let end = (before + text.len()) * 8 / 6;
            let inner = encoded[(before * 8).div_ceil(6)..end].chars();
            let form = |c: char| match c {
                '+' => boxed(&["+", "-", "%2B", "%2b"]),
                '/' => boxed(&["/", "_", "%2F", "%2f", "\\/"]),
                c => vec![c.to_string().into()],
            };
            Pattern { characters: inner.map(form).collect(), is_base64: true }
        };
        (0..3).map(inner).collect()
    }

    /// Where it stands in a text. `is_cut`: the text went on.
    pub(super) fn hits<'t>(
        &'t self,
        text: &'t str,
        is_cut: bool,
    ) -> impl Iterator<Item = Range<usize>> + 't {
        let mut at = 0;
        let begins = |byte: u8| {
            let first = self.characters.first().into_iter().flatten();
            first.filter_map(|form| form.bytes().next()).any(|own| own == byte)
        };
        std::iter::from_fn(move || {
            while at < text.len() {
                let begin = at;
                at += 1;
                if !begins(text.as_bytes()[begin]) || !text.is_char_boundary(begin) {
                    continue;
                }
                let end = match self.at(text, begin) {
                    Match::Whole(end) => end,
                    Match::Begun if is_cut => text.len(),
                    _ => continue,
                };
                at = end.max(at);
                return Some(if self.is_base64 { widened(text, begin..end) } else { begin..end });
            }
            None
        })
    }

    /// Whether it stands at a place; the longest way in which it does.
    fn at(&self, text: &str, begin: usize) -> Match {
        // All places that the characters up to now may end at, none twice.
        let mut ends = vec![begin];
        let mut is_begun = false;
        for forms in &self.characters {
            let mut next = Vec::new();
            for end in ends {
                let rest = &text.as_bytes()[end..];
                for form in forms.iter().map(|form| form.as_bytes()) {
                    if rest.starts_with(form) {
                        if !next.contains(&(end + form.len())) {
                            next.push(end + form.len());
                        }
                    } else if end > begin || !rest.is_empty() {
                        is_begun |= form.starts_with(rest);
                    }
                }
            }
            ends = next;
        }
        match ends.into_iter().max() {
            Some(end) if end > begin => Match::Whole(end),
            _ if is_begun => Match::Begun,
            _ => Match::Not,
        }
    }
}

/// A part of base64 with all of it that stands around.
fn widened(text: &str, hit: Range<usize>) -> Range<usize> {
    let is_of_it = |c: char| c.is_ascii_alphanumeric() || "+/-_=".contains(c);
    let begin = text[..hit.start].trim_end_matches(is_of_it).len();
    let rest = &text[hit.end..];
    begin..hit.end + rest.len() - rest.trim_start_matches(is_of_it).len()
}

fn boxed(forms: &[&str]) -> Vec<Box<str>> {
    forms.iter().map(|form| (*form).into()).collect()
}

/// The forms of a character.
fn forms(c: char) -> Vec<Box<str>> {
    let mut buffer = [0; 4];
    let bytes = c.encode_utf8(&mut buffer).bytes();
    let mut all = vec![
        c.to_string(),
        bytes.clone().map(|byte| format!("%{byte:02X}")).collect(),
        bytes.map(|byte| format!("%{byte:02x}")).collect(),
    ];
    let mut units = [0; 2];
    let units = c.encode_utf16(&mut units);
    all.push(units.iter().map(|unit| format!("\\u{unit:04x}")).collect());
    all.push(units.iter().map(|unit| format!("\\u{unit:04X}")).collect());
    // In Latin-1, encoded for a URL, and as a byte that is no UTF-8.
    if let (Ok(byte), false) = (u8::try_from(c), c.is_ascii()) {
        all.extend([format!("%{byte:02X}"), format!("%{byte:02x}"), "\u{fffd}".to_owned()]);
    }
    let others: &[&str] = match c {
        ' ' => &["+"],
        '"' => &["\\\"", "&quot;", "&#34;"],
        '\'' => &["&#39;", "&#x27;", "&apos;"],
        '\\' => &["\\\\"],
        '/' => &["\\/"],
        '&' => &["&amp;"],
        '<' => &["&lt;"],
        '>' => &["&gt;"],
        // In the line of a header a space takes their place, or nothing; in a URL nothing.
        '\n' => &["\\n", " ", ""],
        '\r' => &["\\r", " ", ""],
        '\t' => &["\\t", ""],
        '\0' => &[" "],
        '\u{8}' => &["\\b"],
        '\u{c}' => &["\\f"],
        _ => &[],
    };
    all.extend(others.iter().map(|form| (*form).to_owned()));
    // JSON within a text of JSON, as what answers with the body that it got.
    let escaped = all.iter().filter(|form| form.starts_with('\\'));
    let twice: Vec<String> =
        escaped.map(|form| form.replace('\\', r"\\").replace('"', "\\\"")).collect();
    all.extend(twice);
    all.dedup();
    all.into_iter().map(Into::into).collect()
}
