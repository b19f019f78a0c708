//! What becomes of a response: extracts and checks, and the patterns and paths that they look with.

use squall_extract::Spec;
use squall_metrics::{NameId, RowKind};
use squall_plan::model::{Check, Extract, Extractor as From, Within};
use squall_plan::span::Span;
use squall_plan::template::{BoundTemplate, Template};

use crate::parts::names;

use super::compiler::Compiler;
use super::ops::{CheckOp, ExtractOp, FromOp, NameOp, PostOp};
use super::places::Intrinsic;

impl<'p> Compiler<'p> {
    /// Extracts, and then the checks that may look at what they found, of what has a name in results.
    pub(super) fn post_of(
        &mut self,
        name: &NameOp,
        otherwise: &str,
        extracts: impl IntoIterator<Item = &'p Extract>,
        checks: impl IntoIterator<Item = &'p Check>,
    ) -> Option<Vec<PostOp>> {
        // The rows of its checks lie within it.
        let name = match name {
            NameOp::Static(name) => self.names.key(NameId(*name)).map(|key| key.name),
            NameOp::Rendered(_) | NameOp::FromUrl => None,
        };
        let name = name.unwrap_or_else(|| self.secrets.mask_own(otherwise));
        self.groups.push(names::limited(&name).into_owned());
        let post = self.post(extracts, checks);
        self.groups.pop();
        post
    }

    /// Extracts, and then the checks that may look at what they found.
    pub(super) fn post(
        &mut self,
        extracts: impl IntoIterator<Item = &'p Extract>,
        checks: impl IntoIterator<Item = &'p Check>,
    ) -> Option<Vec<PostOp>> {
        let mut post = Vec::new();
        for extract in extracts {
            post.push(PostOp::Extract(self.extract(extract)?));
        }
        post.extend(self.checks(checks)?.into_iter().map(PostOp::Check));
        Some(post)
    }

    fn extract(&mut self, extract: &'p Extract) -> Option<ExtractOp> {
        let from = match &extract.from {
            From::Regex { pattern, within, group } => {
                let spec = Spec::Regex { pattern: &pattern.value, group: *group };
                match (self.extractor(spec, pattern.span)?, within) {
                    (FromOp::Body(extractor), Within::Head) => FromOp::Head(extractor),
                    (from, _) => from,
                }
            }
            From::Between { left, right } => {
                self.extractor(Spec::Between { left: &left.value, right: &right.value }, left.span)?
            }
            From::Json(path) => self.extractor(Spec::Json(&path.value), path.span)?,
            From::Css { selector, attr } => self.extractor(
                Spec::Css { selector: &selector.value, attr: attr.as_deref() },
                selector.span,
            )?,
            From::XPath(path) => {
                let bound = self.template(path)?;
                match bound.constant() {
                    Some(known) => self.extractor(Spec::XPath(&known), path.span())?,
                    None => FromOp::XPath(bound),
                }
            }
            From::Header(name) => FromOp::Header(name.clone().into()),
            From::Cookie(name) => FromOp::Cookie(name.clone().into()),
            From::Status => FromOp::Fact(Intrinsic::Status),
            From::Body => FromOp::Fact(Intrinsic::Body),
            From::Head => FromOp::Fact(Intrinsic::Head),
            From::Reason => FromOp::Fact(Intrinsic::Reason),
            From::Duration => FromOp::Fact(Intrinsic::Duration),
            From::BodyHash => self.captured(Intrinsic::BodyHash, extract.variable.span)?,
            From::BodyFile => self.captured(Intrinsic::BodyFile, extract.variable.span)?,
            From::Links => self.links(extract.variable.span)?,
        };
        let default = match &extract.default {
            Some(json) => Some(self.json(json)?),
            None => None,
        };
        let of = match &extract.of {
            Some(text) => Some(self.text_in_place(text, extract.redirects || extract.resources)?),
            None => None,
        };
        if extract.resources && default.is_none() {
            let message =
                format!("`{}` has no value until all resources are there", extract.variable.value);
            self.error(extract.variable.span, message, "give it a `default`");
        }
        Some(ExtractOp {
            slot: self.slot(&extract.variable.value),
            variable: extract.variable.value.clone().into(),
            source: extract_source(&extract.from).into(),
            from,
            which: extract.which,
            default,
            of,
            redirects: extract.redirects,
            resources: extract.resources,
        })
    }

    /// What is looked at in the place of the body: one text, whatever responses there are.
    pub(super) fn text_in_place(
        &mut self,
        text: &'p Template,
        of_others: bool,
    ) -> Option<BoundTemplate> {
        if of_others {
            let message = "`of` is one text, whatever other responses there are";
            self.error(text.span(), message.to_owned(), "leave out `redirects` and `resources`");
        }
        self.text_of_response(text)
    }

    /// A text that may have what a response says in it. What it reads of that is no judgement of it.
    fn text_of_response(&mut self, text: &'p Template) -> Option<BoundTemplate> {
        let (sees, judges) = (self.sees_response, self.noticed.status);
        self.sees_response = true;
        let bound = self.template(text);
        (self.sees_response, self.noticed.status) = (sees, judges);
        bound
    }

    /// The hash or the path of the body, which the request must have asked for.
    fn captured(&mut self, which: Intrinsic, span: Span) -> Option<FromOp> {
        match self.check_captured(which) {
            Ok(()) => Some(FromOp::Captured),
            Err(error) => {
                self.error_at(error, span);
                None
            }
        }
    }

    /// What a page leads to, which follows from where the page is.
    fn links(&mut self, span: Span) -> Option<FromOp> {
        self.noticed.sent = true;
        match self.extractor(Spec::Links, span)? {
            FromOp::Body(extractor) => Some(FromOp::Links(extractor)),
            other => Some(other),
        }
    }

    pub(super) fn extractor(&mut self, spec: Spec<'_>, span: Span) -> Option<FromOp> {
        match self.patterns.extractor(&spec) {
            Ok(extractor) => Some(FromOp::Body(extractor)),
            Err(error) => {
                self.error(span, error.message, error.help.as_deref().unwrap_or_default());
                None
            }
        }
    }

    fn checks(&mut self, checks: impl IntoIterator<Item = &'p Check>) -> Option<Vec<CheckOp>> {
        self.sees_response = true;
        let ops = checks
            .into_iter()
            .map(|check| {
                let text = check.name.as_deref().unwrap_or(check.expr.source());
                let of = match &check.of {
                    Some(text) => {
                        Some(self.text_in_place(text, check.redirects || check.resources)?)
                    }
                    None => None,
                };
                let message = match &check.message {
                    Some(message) => Some(self.text_of_response(message)?),
                    None => None,
                };
                let formula = self.formula(&check.expr)?;
                let row = self.name(RowKind::Check, text);
                Some(CheckOp {
                    row,
                    formula,
                    text: text.into(),
                    message,
                    warn: check.warn,
                    of,
                    redirects: check.redirects,
                })
            })
            .collect();
        self.sees_response = false;
        ops
    }
}

/// Where an extract looks, as messages say it.
fn extract_source(from: &From) -> String {
    match from {
        From::Regex { pattern, .. } => format!("regex {}", pattern.value),
        From::Between { left, right } => format!("between {:?} and {:?}", left.value, right.value),
        From::Json(path) => format!("json {}", path.value),
        From::Css { selector, attr: None } => format!("css {}", selector.value),
        From::Css { selector, attr: Some(attr) } => format!("css {}, attr {attr}", selector.value),
        From::XPath(path) => format!("xpath {}", path.source()),
        From::Header(name) => format!("header {name}"),
        From::Cookie(name) => format!("cookie {name}"),
        From::Status => "status".to_owned(),
        From::Body => "body".to_owned(),
        From::Head => "head".to_owned(),
        From::Reason => "reason".to_owned(),
        From::Duration => "duration".to_owned(),
        From::BodyHash => "body_hash".to_owned(),
        From::BodyFile => "body_file".to_owned(),
        From::Links => "links".to_owned(),
    }
}
