//! Stars in place of parts of a message, which is bytes: it may be in any encoding, and cut within a character. Pure.

use std::ops::Range;

/// What stands for a secret.
pub(crate) const MASK: &str = "***";

/// A text with stars in place of some of its parts, which may overlap.
pub(crate) fn replaced(text: &str, hits: &[Range<usize>]) -> String {
    lossy(without(text.as_bytes(), hits))
}

/// The same of bytes.
pub(super) fn without(bytes: &[u8], hits: &[Range<usize>]) -> Vec<u8> {
    let mut hits = hits.to_vec();
    hits.sort_unstable_by_key(|hit| hit.start);
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    for hit in hits.into_iter().filter(|hit| !hit.is_empty()) {
        if hit.start >= at {
            out.extend_from_slice(&bytes[at..hit.start]);
            out.extend_from_slice(MASK.as_bytes());
        }
        at = at.max(hit.end);
    }
    out.extend_from_slice(&bytes[at..]);
    out
}

/// Bytes as a text, with U+FFFD for what is none.
pub(super) fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Most bytes of a character.
const CHARACTER: usize = 4;

/// Whether a part of a message stands between what separates values from each other.
pub(super) fn is_whole_value(bytes: &[u8], hit: &Range<usize>) -> bool {
    let separates =
        |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && !"-_.%+".contains(c));
    let before = String::from_utf8_lossy(&bytes[hit.start.saturating_sub(CHARACTER)..hit.start]);
    let behind = &bytes[hit.end..bytes.len().min(hit.end + CHARACTER)];
    let behind = String::from_utf8_lossy(behind);
    separates(before.chars().next_back()) && separates(behind.chars().next())
}

/// Where the credentials of Basic authentication stand, which base64 hides: behind the scheme, in lines of
/// headers.
pub(super) fn basic_credentials(bytes: &[u8]) -> Vec<Range<usize>> {
    const NAMES: [&[u8]; 2] = [b"authorization", b"proxy-authorization"];
    let mut at = 0;
    let mut found = Vec::new();
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let begin = at;
        at += line.len();
        let Some(name) = NAMES
            .iter()
            .find(|name| line.get(..name.len()).is_some_and(|own| own.eq_ignore_ascii_case(name)))
        else {
            continue;
        };
        let Some(value) = line[name.len()..].strip_prefix(b": ") else { continue };
        if value.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"basic ")) {
            found.push(begin + name.len() + 2 + 6..begin + line.trim_ascii_end().len());
        }
    }
    found.retain(|hit| hit.start < hit.end);
    found
}
