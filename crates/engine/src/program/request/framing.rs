//! Headers that say how long a body is, how it is coded and how its parts are told apart, held against the body that is sent:
//! a wrong one would leave the target waiting for the rest, or make the rest a request of its own.

use squall_extract::Charset;
use squall_plan::model::{Body, Request};
use squall_plan::span::Span;
use squall_plan::template::{BoundTemplate, Template};

use crate::program::call::{BodyOp, HeaderOp, MultipartKind};
use crate::program::compiler::Compiler;
use crate::program::constant_scope::ConstantScope;
use crate::program::render;

const CONTENT_LENGTH: &[u8] = b"content-length: ";
const CONTENT_TYPE: &[u8] = b"content-type: ";
const TRANSFER_ENCODING: &[u8] = b"transfer-encoding: ";

/// Most characters of a boundary (RFC 2046, section 5.1.1).
const MAX_BOUNDARY: usize = 70;

impl HeaderOp {
    /// Whether it has a name, in small letters and with `: ` at its end.
    fn is(&self, name: &[u8]) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }
}

/// Whether a request with this body takes a header from the defaults. Each body has a length of its own, and a header of the
/// defaults was written for all of them.
pub(super) fn may_inherit(header: &HeaderOp, body: &Body) -> bool {
    if header.is(CONTENT_LENGTH) || header.is(TRANSFER_ENCODING) {
        return false;
    }
    if !header.is(CONTENT_TYPE) {
        return true;
    }
    match header.value.constant() {
        Some(value) => is_type_of(&value, body),
        None => !matches!(body, Body::Multipart(_)),
    }
}

/// Whether a content type may be that of a body.
fn is_type_of(value: &str, body: &Body) -> bool {
    let media = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match body {
        Body::Json(_) => media.ends_with("/json") || media.ends_with("+json"),
        Body::Form(_) => media == "application/x-www-form-urlencoded",
        Body::Multipart(_) => false,
        Body::None | Body::Text(_) | Body::File { .. } => true,
    }
}

/// Takes out a content type without the boundary that each body has of its own: it is sent with that.
pub(super) fn leave_type_to_body(body: &BodyOp, headers: &mut Vec<HeaderOp>) {
    if let BodyOp::Multipart(_, MultipartKind { boundary: None, .. }) = body {
        headers.retain(|header| !header.is(CONTENT_TYPE));
    }
}

/// A resource of a page has no body, whatever the page had: what says how long that was is left out.
pub(super) fn without_length(headers: &mut Vec<HeaderOp>) {
    headers.retain(|header| {
        !header.is(CONTENT_LENGTH) || header.value.constant().as_deref() == Some("0")
    });
}

impl<'p> Compiler<'p> {
    /// Says that no request takes a header of the defaults.
    pub(super) fn warn_of_length(&mut self, header: &HeaderOp, name: &Template) {
        if header.is(CONTENT_LENGTH) || header.is(TRANSFER_ENCODING) {
            let message = format!("the header `{}` of `defaults` is never sent", name.source());
            let warning = squall_plan::diagnostic::Diagnostic::warning(name.span(), message);
            let help = "leave it out: each request says how long its own body is";
            self.warnings.push(warning.with_help(help));
        }
    }

    /// Holds the headers that a request has of its own against its body; `None` after an error was noted.
    pub(super) fn hold_against_body(
        &mut self,
        request: &'p Request,
        headers: &[HeaderOp],
        (body, charset): (&BodyOp, Option<Charset>),
    ) -> Option<()> {
        const HELP: &str = "leave the header out: squall says itself how long the body is";
        let mut has_length = false;
        for (header, (name, value)) in headers.iter().zip(&request.headers) {
            let shown = format!("{}: {}", name.source(), value.source());
            let wrong = if header.is(TRANSFER_ENCODING) {
                Some(format!("`{shown}` cannot be sent: every body is sent with its length"))
            } else if header.is(CONTENT_LENGTH) {
                let repeated = has_length.then(|| format!("`{}` is given twice", name.source()));
                has_length = true;
                repeated.or_else(|| wrong_length(&shown, &header.value, body, charset))
            } else {
                None
            };
            if let Some(message) = wrong {
                self.error(name.span(), message, HELP);
                return None;
            }
        }
        Some(())
    }

    /// How a multipart body is announced: as a header of the request's own says, if there is one.
    pub(super) fn multipart_kind(
        &mut self,
        request: &'p Request,
        headers: &[HeaderOp],
    ) -> Option<MultipartKind> {
        let Some(at) = headers.iter().position(|header| header.is(CONTENT_TYPE)) else {
            return Some(MultipartKind::default());
        };
        let span = request.headers.get(at).map_or(Span::default(), |(name, _)| name.span());
        let Some(value) = headers[at].value.constant() else {
            let message = "the `Content-Type` of a multipart body must be known before the run";
            self.error(
                span,
                message.to_owned(),
                "leave it out: squall sends one with its boundary",
            );
            return None;
        };
        if !value.trim_start().to_ascii_lowercase().starts_with("multipart/") {
            let message = format!("`Content-Type: {value}` does not fit a multipart body");
            let help = "leave it out: squall sends multipart/form-data with its boundary";
            self.error(span, message, help);
            return None;
        }
        match boundary(&value) {
            Some(own) if is_boundary(own) => {
                Some(MultipartKind { boundary: Some(own.into()), ..MultipartKind::default() })
            }
            Some(own) => {
                let message = format!("invalid boundary `{own}`");
                let help = "leave it out, or use 1 to 70 letters, digits and `-`";
                self.error(span, message, help);
                None
            }
            None => Some(MultipartKind { media: value.trim().into(), boundary: None }),
        }
    }
}

/// What is wrong with a length that the plan gives.
fn wrong_length(
    shown: &str,
    given: &BoundTemplate,
    body: &BodyOp,
    charset: Option<Charset>,
) -> Option<String> {
    let mut bytes = Vec::new();
    let known = render::is_constant(body)
        && render::render_body(body, charset, &ConstantScope::new(0), &mut bytes).is_ok();
    match given.constant().filter(|_| known) {
        None => Some(format!("nobody can tell before the run whether `{shown}` is right")),
        Some(text) if text.trim().parse() == Ok(bytes.len()) => None,
        Some(_) => Some(format!("`{shown}` is wrong: the body has {} bytes", bytes.len())),
    }
}

/// The boundary that a content type names.
fn boundary(content_type: &str) -> Option<&str> {
    let parameters = content_type.split(';').skip(1);
    let mut named = parameters.filter_map(|parameter| parameter.split_once('='));
    let (_, value) = named.find(|(name, _)| name.trim().eq_ignore_ascii_case("boundary"))?;
    let value = value.trim();
    let quoted = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
    Some(quoted.unwrap_or(value))
}

/// Whether a text may be a boundary (RFC 2046, section 5.1.1).
fn is_boundary(text: &str) -> bool {
    let may_be = |byte: u8| byte.is_ascii_alphanumeric() || b"'()+_,-./:=? ".contains(&byte);
    (1..=MAX_BOUNDARY).contains(&text.len()) && text.bytes().all(may_be) && !text.ends_with(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boundaries_are_found_as_content_types_name_them() {
        for (content_type, expected) in [
            ("multipart/form-data; boundary=abc", Some("abc")),
            ("multipart/mixed; charset=x; Boundary = \"a b\"", Some("a b")),
            ("multipart/form-data", None),
            ("multipart/form-data; boundary=", Some("")),
        ] {
            assert_eq!(boundary(content_type), expected, "{content_type}");
        }
        let long = "x".repeat(MAX_BOUNDARY + 1);
        for (text, is) in [
            ("a b", true),
            ("a ", false),
            ("", false),
            ("a\"b", false),
            (&long[1..], true),
            (&long, false),
        ] {
            assert_eq!(is_boundary(text), is, "{text}");
        }
    }

    #[test]
    fn a_content_type_of_the_defaults_is_that_of_bodies_that_it_may_be_of() {
        let json = Body::Json(squall_plan::model::Json::Null);
        for (value, body, is) in [
            ("application/json; charset=utf-8", &json, true),
            ("application/vnd.api+json", &json, true),
            ("text/xml", &json, false),
            ("application/json", &Body::Form(Vec::new()), false),
            ("application/x-www-form-urlencoded;charset=x", &Body::Form(Vec::new()), true),
            ("multipart/form-data; boundary=x", &Body::Multipart(Vec::new()), false),
            ("anything", &Body::None, true),
        ] {
            assert_eq!(is_type_of(value, body), is, "{value}");
        }
    }
}
