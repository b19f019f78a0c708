//! What a plan writes as a text, an expression or a value, bound to slots.

use squall_metrics::RowKind;
use squall_plan::diagnostic::Diagnostic;
use squall_plan::expr::{BoundExpr, Expr};
use squall_plan::model::{Json, Request};
use squall_plan::template::{BoundTemplate, Template, TemplatePart};
use squall_plan::value::Value;

use super::compiler::Compiler;
use super::ops::{JsonOp, NameOp};
use crate::parts::names;

impl<'p> Compiler<'p> {
    /// Compiles a template that a plan may leave out; `None` after an error was noted.
    pub(super) fn template_if_any(
        &mut self,
        template: &Option<Template>,
    ) -> Option<Option<BoundTemplate>> {
        match template {
            Some(template) => self.template(template).map(Some),
            None => Some(None),
        }
    }

    /// A name that a plan gives: of the run, where it is known before that, else of each sample.
    pub(super) fn given_name(&mut self, kind: RowKind, name: &Template) -> Option<NameOp> {
        let name = self.template(name)?;
        Some(match name.constant() {
            Some(text) => NameOp::Static(self.name(kind, &text)),
            None => NameOp::Rendered(name),
        })
    }

    /// Keeps the name of something that has an error, for thresholds about it.
    pub(super) fn keep_name(&mut self, kind: RowKind, name: Option<&Template>) {
        match name.and_then(Template::literal) {
            Some(name) => drop(self.name(kind, name)),
            None => self.lacks_names = true,
        }
    }

    /// The same of a request, which may have the name of its path.
    pub(super) fn keep_request_name(&mut self, request: &Request) {
        let parts = request.url.parts();
        if request.name.is_some() || !matches!(parts.first(), Some(TemplatePart::Text(_))) {
            return self.keep_name(RowKind::Request, request.name.as_ref());
        }
        let prefix = self.target.as_ref().map_or("", |(_, prefix)| prefix.as_str());
        let name = format!("{} {}", request.method, names::of_template(prefix, parts));
        self.name(RowKind::Request, &name);
    }

    pub(super) fn template(&mut self, template: &Template) -> Option<BoundTemplate> {
        self.warn_of_dollar(template);
        match template.bind(self) {
            Ok(bound) => Some(bound),
            Err(error) => {
                self.note(error);
                None
            }
        }
    }

    /// Warns of the name of a variable behind a `$` without braces, as shells have it. Other names are left: OData, MongoDB and
    /// others have such words.
    fn warn_of_dollar(&mut self, template: &Template) {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let named = template.parts().iter().flat_map(|part| match part {
            TemplatePart::Text(text) => text.split('$').skip(1).collect(),
            TemplatePart::Expr(_) => Vec::new(),
        });
        let mut names = named.map(|rest| rest.split(|c| !is_part(c)).next().unwrap_or_default());
        let known = names.find(|name| !name.is_empty() && self.variables().any(|own| own == *name));
        let Some(name) = known else { return };
        let message = format!("`${name}` is not a variable: it stays as it is");
        let help = format!("a variable is written \"${{{name}}}\"");
        self.warnings.push(Diagnostic::warning(template.span(), message).with_help(&help));
    }

    pub(super) fn formula(&mut self, expr: &Expr) -> Option<BoundExpr> {
        match expr.bind(self) {
            Ok(bound) => Some(bound),
            Err(error) => {
                self.note(error);
                None
            }
        }
    }

    /// A template that need not be there; the outer `None` after an error was noted.
    pub(super) fn optional(
        &mut self,
        template: Option<&'p Template>,
    ) -> Option<Option<BoundTemplate>> {
        match template {
            Some(template) => self.template(template).map(Some),
            None => Some(None),
        }
    }

    /// Compiles a JSON-like value.
    pub(super) fn json(&mut self, json: &'p Json) -> Option<JsonOp> {
        Some(match json {
            Json::Null => JsonOp::Constant(Value::Null),
            Json::Bool(value) => JsonOp::Constant(Value::Bool(*value)),
            Json::Int(value) => JsonOp::Constant(Value::Int(*value)),
            Json::Float(value) => JsonOp::Constant(Value::Float(*value)),
            Json::Text(text) => {
                let text = self.template(text)?;
                match text.constant_value() {
                    Some(value) => JsonOp::Constant(value),
                    None => JsonOp::Text(text),
                }
            }
            Json::List(items) => {
                JsonOp::List(items.iter().map(|item| self.json(item)).collect::<Option<_>>()?)
            }
            Json::Map(entries) => JsonOp::Map(
                entries
                    .iter()
                    .map(|(key, value)| Some((self.template(key)?, self.json(value)?)))
                    .collect::<Option<_>>()?,
            ),
        })
    }
}
