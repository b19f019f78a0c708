//! Where a request goes, as far as the plan says it, and the name that it is counted under.

use squall_metrics::RowKind;
use squall_plan::expr::Expr;
use squall_plan::model::Request;
use squall_plan::span::Span;
use squall_plan::template::{BoundTemplate, Template, TemplatePart};
use squall_plan::value::Value;
use squall_wire::Origin;

use crate::parts::{names, url};
use crate::program::call::UrlOp;
use crate::program::compiler::Compiler;
use crate::program::ops::NameOp;

impl<'p> Compiler<'p> {
    pub(super) fn url(&mut self, request: &'p Request) -> Option<UrlOp> {
        let template = self.template(&request.url)?;
        let constant = template.constant();
        // What setup has found means what it would mean if the load had found it.
        let (said, is_all) = self.said_by_plan(&request.url);
        let on_target = said.starts_with('/') && !said.starts_with("//");
        let unknown = said.is_empty() && !is_all;
        if !on_target && !said.contains("://") && !unknown {
            let message = format!("invalid URL `{}`", request.url.source());
            self.error(
                request.url.span(),
                message,
                "a path on the target begins with `/`, a URL with http:// or https://",
            );
            return None;
        }
        if on_target && self.target.is_none() {
            if self.has_target() {
                return None;
            }
            let message = "this path needs a target, and the plan has none".to_owned();
            self.error(request.url.span(), message, "add `target: http://...`, or give --target");
            return None;
        }
        if let Some((_, prefix)) = self.target.as_ref().filter(|_| on_target) {
            self.inherit(prefix.len(), request.url.span())?;
        }
        match (constant, &self.target) {
            (Some(text), Some((origin, prefix))) if on_target => {
                let mut path = prefix.clone().into_bytes();
                let text = text.split('#').next().filter(|_| is_all).unwrap_or(&text);
                url::encode_path(text.as_bytes(), &mut path);
                Some(UrlOp::Static { origin: *origin, path: path.into() })
            }
            (None, Some((origin, prefix))) if on_target => Some(UrlOp::Path {
                origin: *origin,
                prefix: prefix.as_bytes().into(),
                path: template,
            }),
            (Some(text), _) => self.absolute(&text, is_all, template, request),
            (None, _) => {
                if let Some(origin) = self.named_origin(&request.url) {
                    self.hosts.allow_origin(&origin.host, origin.port);
                }
                Some(UrlOp::Any(template))
            }
        }
    }

    /// A URL that is known before the load, and whether the plan says all of it. A host that the plan names may be loaded. One
    /// that only setup has found has to be allowed, and may be no URL at all: that is looked at when the request is made.
    fn absolute(
        &mut self,
        text: &str,
        is_all: bool,
        template: BoundTemplate,
        request: &Request,
    ) -> Option<UrlOp> {
        let named = self.named_origin(&request.url);
        match url::parse(text) {
            Ok(url::Location { origin, path, .. })
                if named.is_some() || self.hosts.allows(&origin.host, origin.port) =>
            {
                let path = path.into_bytes().into();
                return Some(UrlOp::Static { origin: self.origin(origin), path });
            }
            Err(error) if is_all => {
                // Of the target's own URL, as the one-line command loads it, that has been said.
                if self.target.is_some() || !self.is_target(text) {
                    self.error(request.url.span(), format!("invalid URL `{text}`: {error}"), "");
                }
                return None;
            }
            Ok(_) | Err(_) => {}
        }
        if let Some(origin) = named {
            self.hosts.allow_origin(&origin.host, origin.port);
        }
        Some(UrlOp::Any(template))
    }

    /// The origin of a URL, where the plan itself names it: before anything that is found only by setup or
    /// while the load runs.
    fn named_origin(&mut self, url: &Template) -> Option<Origin> {
        let (text, is_all) = self.said_by_plan(url);
        origin_of(&text, is_all)
    }

    /// The beginning of a text that the plan itself says, before anything that is found only by setup or
    /// while the load runs, and whether that is all of it.
    pub(in crate::program) fn said_by_plan(&mut self, template: &Template) -> (String, bool) {
        let mut text = String::new();
        for part in template.parts() {
            match part {
                TemplatePart::Text(part) => text.push_str(part),
                TemplatePart::Expr(expr) => match self.said(expr) {
                    Some(value) => text.push_str(&value.to_string()),
                    None => return (text, false),
                },
            }
        }
        (text, true)
    }

    /// What an expression comes to that the plan itself says; `None`: only setup or the load finds it.
    pub(super) fn said(&mut self, expr: &Expr) -> Option<Value> {
        let of_setup = |(path, _): &(Vec<String>, Span)| self.is_of_setup(&path[0]);
        if expr.names().iter().any(of_setup) {
            return None;
        }
        self.formula(expr)?.constant().cloned()
    }

    pub(super) fn request_name(&mut self, request: &'p Request, url: &UrlOp) -> Option<NameOp> {
        if let Some(name) = &request.name {
            return self.given_name(RowKind::Request, name);
        }
        let parts = request.url.parts();
        // A whole URL in a variable is named after what it turns out to be.
        let is_path = matches!(parts.first(), Some(TemplatePart::Text(_)));
        let path = match url {
            UrlOp::Static { path, .. } if parts.len() == 1 || !is_path => {
                names::without_query(&String::from_utf8_lossy(path)).to_owned()
            }
            UrlOp::Any(_) if !is_path => return Some(NameOp::FromUrl),
            UrlOp::Static { .. } | UrlOp::Path { .. } | UrlOp::Any(_) => {
                let prefix = self.target.as_ref().map_or("", |(_, prefix)| prefix.as_str());
                names::of_template(prefix, parts)
            }
        };
        let host = self.other_host(parts).unwrap_or_default();
        // A short secret is masked where it was put, and a name has what was put into the path.
        let name = self.secrets.mask_own(&format!("{} {host}{path}", request.method));
        Some(NameOp::Static(self.name(RowKind::Request, &name)))
    }

    /// The host of a URL as the plan has it, if that is not the target's: the same path of two hosts is two requests.
    fn other_host(&self, parts: &[TemplatePart]) -> Option<String> {
        let Some(TemplatePart::Text(begin)) = parts.first() else { return None };
        let host = origin_of(begin, parts.len() == 1)?.authority();
        let is_target =
            |(origin, _): &(u32, String)| self.origins[*origin as usize].authority() == host;
        (!self.target.as_ref().is_some_and(is_target)).then_some(host)
    }
}

/// The origin of a URL, or of its beginning. A text that goes on has to have reached its path.
fn origin_of(text: &str, whole: bool) -> Option<Origin> {
    let (_, rest) = text.split_once("://")?;
    let is_named = whole || rest.contains(['/', '\\', '?', '#']);
    is_named.then(|| url::parse(text).ok()).flatten().map(|location| location.origin)
}
