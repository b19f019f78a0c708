//! The headers of a request and its credentials, and which of them are for no other host.

use std::collections::HashSet;

use squall_plan::model::{Auth, Body, Request};
use squall_plan::template::{BoundTemplate, Template, TemplatePart};

use super::framing;
use crate::parts::confined;
use crate::program::call::{Across, AuthOp, HeaderOp};
use crate::program::compiler::Compiler;

impl<'p> Compiler<'p> {
    /// The headers that a request has of its own.
    pub(super) fn headers(
        &mut self,
        request: &'p Request,
        follows: &dyn Fn(&str) -> bool,
    ) -> Option<Vec<HeaderOp>> {
        let mut headers = Vec::new();
        for (name, value) in &request.headers {
            headers.push(self.header(name, value, follows)?);
        }
        Some(headers)
    }

    /// Adds the defaults' headers to those that a request has of its own.
    pub(super) fn inherited_headers(
        &mut self,
        mut headers: Vec<HeaderOp>,
        body: &Body,
        follows: &dyn Fn(&str) -> bool,
    ) -> Option<Vec<HeaderOp>> {
        let defaults = self.defaults;
        let lower = |header: &HeaderOp| header.name.to_ascii_lowercase();
        let own: HashSet<Vec<u8>> = headers.iter().map(lower).collect();
        for header in &defaults.headers {
            self.inherit_header(header)?;
            let (name, value) = header;
            let header = self.header(name, value, follows)?;
            self.warn_of_length(&header, name);
            if !own.contains(&lower(&header)) && framing::may_inherit(&header, body) {
                headers.push(header);
            }
        }
        Some(headers)
    }

    fn header(
        &mut self,
        name: &'p Template,
        value: &'p Template,
        follows: &dyn Fn(&str) -> bool,
    ) -> Option<HeaderOp> {
        let bound = self.template(name)?;
        let text = bound.constant().unwrap_or_default();
        let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        if text.is_empty() || !text.bytes().all(token) {
            self.error(
                name.span(),
                format!("invalid header name `{}`", name.source()),
                "use letters, digits and `-`; the name must be known before the run",
            );
            return None;
        }
        let is_secret = confined::by_name(&text) || self.holds_secret(value);
        let value = self.template(value)?;
        let across = match value.constant() {
            _ if follows(&text) => Across::Always,
            _ if is_secret => Across::Never,
            Some(value) if confined::holds_secret(value.as_bytes(), &self.secrets) => Across::Never,
            Some(_) => Across::Always,
            None => Across::UnlessSecret,
        };
        let name = format!("{text}: ").into_bytes().into();
        Some(HeaderOp { name, value, across })
    }

    /// Whether a text of the plan is made of a variable that is secret.
    fn holds_secret(&self, text: &Template) -> bool {
        text.parts().iter().any(|part| match part {
            TemplatePart::Text(_) => false,
            TemplatePart::Expr(expr) => {
                expr.names().iter().any(|(path, _)| self.is_secret(&path[0]))
            }
        })
    }

    /// The credentials of a request, which may be those of the defaults.
    pub(super) fn auth(&mut self, own: Option<&'p Auth>) -> Option<AuthOp> {
        let inherited = self.defaults.auth.as_ref().filter(|_| own.is_none());
        match inherited {
            Some(Auth::Basic { user, password } | Auth::Digest { user, password }) => {
                self.inherit_texts(&[user, password])?;
            }
            Some(Auth::Bearer(token)) => self.inherit_texts(&[token])?,
            None => {}
        }
        Some(match own.or(inherited) {
            None => AuthOp::None,
            Some(Auth::Basic { user, password }) => {
                AuthOp::Basic { user: self.template(user)?, password: self.template(password)? }
            }
            Some(Auth::Bearer(token)) => AuthOp::Bearer(self.template(token)?),
            Some(Auth::Digest { user, password }) => {
                AuthOp::Digest { user: self.template(user)?, password: self.template(password)? }
            }
        })
    }
}

/// Adds the content type that goes with a body made of texts, unless the plan gives one.
pub(super) fn add_content_type(body: &Body, headers: &mut Vec<HeaderOp>) {
    let content_type = match body {
        Body::Json(_) => "application/json",
        Body::Form(_) => "application/x-www-form-urlencoded",
        // A multipart body says its own when it is made.
        Body::None | Body::Text(_) | Body::File { .. } | Body::Multipart(_) => return,
    };
    let name = b"Content-Type: ";
    if !has_header(headers, name) {
        let value = BoundTemplate::literal(content_type);
        headers.push(HeaderOp { name: name.as_slice().into(), value, across: Across::Always });
    }
}

/// Whether the plan's own headers have one of a name, which ends with `: `.
pub(super) fn has_header(headers: &[HeaderOp], name: &[u8]) -> bool {
    headers.iter().any(|header| header.name.eq_ignore_ascii_case(name))
}
