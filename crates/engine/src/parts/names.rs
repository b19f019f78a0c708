//! Names of requests: by default the path, with its variable parts collapsed, so that names stay few.
//! No name is longer than a line of a report, or holds anything that would break one.

use std::borrow::Cow;

use squall_plan::template::TemplatePart;

/// Most characters of a name.
const MAX_NAME: usize = 256;

/// A name with at most 256 characters, the last of them an ellipsis if it was longer, and without
/// control characters: white space among them becomes spaces, others U+FFFD.
pub(crate) fn limited(name: &str) -> Cow<'_, str> {
    let is_long = name.len() > MAX_NAME && name.chars().nth(MAX_NAME).is_some();
    if !is_long && !name.chars().any(char::is_control) {
        return Cow::Borrowed(name);
    }
    let shown = |c: char| match c {
        '\t' | '\n' | '\r' => ' ',
        c if c.is_control() => char::REPLACEMENT_CHARACTER,
        c => c,
    };
    let kept = if is_long { MAX_NAME - 1 } else { MAX_NAME };
    Cow::Owned(name.chars().take(kept).map(shown).chain(is_long.then_some('\u{2026}')).collect())
}

/// A path without its query.
pub(crate) fn without_query(path: &str) -> &str {
    path.split(['?', '#']).next().unwrap_or_default()
}

/// A path without query, in which segments that look like identifiers are `{id}`: the name of a URL that is
/// known only when it is requested.
pub(crate) fn collapse(path: &str) -> String {
    without_query(path)
        .split('/')
        .map(|segment| if is_identifier(segment) { "{id}" } else { segment })
        .collect::<Vec<_>>()
        .join("/")
}

/// The path of a URL as the plan has it: what is written stays, and an expression stands as `{expression}`.
pub(crate) fn of_template(prefix: &str, parts: &[TemplatePart]) -> String {
    let mut url = String::new();
    for part in parts {
        match part {
            TemplatePart::Text(text) => match text.split_once(['?', '#']) {
                Some((before, _)) => {
                    url.push_str(before);
                    break;
                }
                None => url.push_str(text),
            },
            TemplatePart::Expr(expr) => {
                url.push('{');
                url.push_str(expr.source().trim());
                url.push('}');
            }
        }
    }
    match url.split_once("://") {
        // Of a whole URL the path.
        Some((_, rest)) => rest.find('/').map_or("/", |at| &rest[at..]).to_owned(),
        None => format!("{prefix}{url}"),
    }
}

/// A number, a UUID, a long hexadecimal number, or a long mix of letters and digits.
fn is_identifier(segment: &str) -> bool {
    let bytes = segment.as_bytes();
    let digits = bytes.iter().filter(|byte| byte.is_ascii_digit()).count();
    let all = |good: fn(&u8) -> bool| bytes.iter().all(good);
    if bytes.is_empty() || digits == 0 {
        return false;
    }
    digits == bytes.len()
        || (bytes.len() >= 8 && all(|byte| byte.is_ascii_hexdigit() || *byte == b'-'))
        || (bytes.len() >= 20 && all(|byte| byte.is_ascii_alphanumeric() || b"-_=".contains(byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_an_end_and_no_control_characters() {
        let exact = "\u{e9}".repeat(256);
        assert!(matches!(limited(&exact), Cow::Borrowed(name) if name == exact));
        let long = limited(&format!("{exact}x")).into_owned();
        assert_eq!(long, format!("{}\u{2026}", "\u{e9}".repeat(255)));
        assert_eq!(
            limited("GET /a\r\n\tb\0c\u{1b}[31m\u{85}"),
            "GET /a   b\u{fffd}c\u{fffd}[31m\u{fffd}"
        );
        assert_eq!(limited(&"x\n".repeat(1 << 20)).chars().count(), 256);
    }

    #[test]
    fn variable_parts_are_collapsed() {
        for (path, expected) in [
            ("/item/42?x=1", "/item/{id}"),
            ("/user/550e8400-e29b-41d4-a716-446655440000/posts", "/user/{id}/posts"),
            ("/commit/deadbeef01", "/commit/{id}"),
            ("/v1/items", "/v1/items"),
            ("/page/decade", "/page/decade"),
            ("/token/eyJhbGciOiJIUzI1NiIsInR5cCI6", "/token/{id}"),
            ("/", "/"),
        ] {
            assert_eq!(collapse(path), expected);
        }
    }
}
