//! Default names of requests: the path, with its variable parts collapsed, so that names stay few.

use squall_plan::template::{BoundPart, BoundTemplate};

/// A path without query, in which segments that look like identifiers are `{id}`.
pub(crate) fn collapse(path: &str) -> String {
    let path = path.split(['?', '#']).next().unwrap_or_default();
    path.split('/')
        .map(|segment| if is_identifier(segment) { "{id}" } else { segment })
        .collect::<Vec<_>>()
        .join("/")
}

/// The same for a template: what is not known before the run stands as `{label}`.
pub(crate) fn collapse_template(prefix: &str, template: &BoundTemplate) -> String {
    let mut path = prefix.to_owned();
    for part in template.parts() {
        match part {
            BoundPart::Text(text) => match text.split_once(['?', '#']) {
                Some((before, _)) => {
                    path.push_str(before);
                    break;
                }
                None => path.push_str(text),
            },
            BoundPart::Expr(_, label) => {
                path.push('{');
                path.push_str(label);
                path.push('}');
            }
        }
    }
    collapse(&path)
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
