//! Samples that send nothing: a span of some steps, with a text that is looked at as a response.

use squall_plan::expr::Expr;
use squall_plan::model::{
    Check, Extractor, GroupSamples, Look, Request, StepKind, Tags, ThinkTime,
};
use squall_plan::span::Span;
use squall_plan::template::Template;

use super::texts::Piece;
use super::{Translator, step};
use crate::scope::Scope;
use crate::tree::ElementId;

/// A sample of which the plan itself says what it comes to.
pub(super) struct Made {
    /// What it does.
    pub steps: Vec<StepKind>,
    /// What its response is.
    pub text: Vec<Piece>,
    /// Its code, as an expression.
    pub status: String,
    /// Whether it is no error by itself, as an expression.
    pub ok: String,
}

impl Made {
    /// One that does nothing.
    pub(super) fn empty() -> Made {
        let (steps, text) = (Vec::new(), Vec::new());
        Made { steps, text, status: "200".to_owned(), ok: "true".to_owned() }
    }
}

impl Translator<'_> {
    /// Such a sample, with what looks at it, and what comes after it.
    pub(super) fn made(
        &self,
        id: ElementId,
        name: Option<&str>,
        made: Made,
        held: &Scope,
    ) -> Vec<StepKind> {
        let Made { steps, text, status, ok } = made;
        // Its code says nothing of whether it is an error.
        let mut seen = Request { status_errors: Some(false), ..Request::default() };
        let after = self.judged(held, &mut seen);
        self.refuse_heads(id, held);
        if seen.counted == Some(false) {
            self.obstacle(id, "a sample that is passed over");
        }
        let assumes = |id: &ElementId| {
            self.tree.element(*id).properties.flag("Assertion.assume_success", false)
        };
        if ok != "true" && !held.assertions.iter().any(assumes) {
            let name = Some(self.tree.element(id).name.clone()).filter(|name| !name.is_empty());
            let expr =
                Expr::parse(&ok, Span::default()).map_err(|error| self.obstacle(id, error.message));
            seen.check.splice(0..0, expr.ok().map(|expr| Check { expr, name, ..Check::default() }));
        }
        let before = Self::before_facts(&seen);
        let look = Look {
            text: self.template_of(id, &text),
            status: self.expression(id, &status).unwrap_or_default(),
            extract: seen.extract,
            check: seen.check,
        };
        let mut steps: Vec<_> = steps.into_iter().map(step).collect();
        steps.push(step(StepKind::Look(Box::new(look))));
        let name = name.map_or_else(|| self.name(id), Template::text);
        let tags = Tags::new();
        let (think_time, samples) = (ThinkTime::Included, GroupSamples::Apart);
        let group = StepKind::Group { name, tags, think_time, samples, steps };
        before.into_iter().chain([group]).chain(after).collect()
    }

    /// What looks at more than the text of a sample that has no head, and sent nothing, is an obstacle.
    pub(super) fn refuse_heads(&self, id: ElementId, held: &Scope) {
        for other in held.assertions.iter().chain(&held.post_processors) {
            let properties = &self.tree.element(*other).properties;
            let is_of_variable = ["Assertion.scope", "Sample.scope"]
                .iter()
                .any(|scope| properties.text(scope) == Some("variable"));
            let fields = [
                "Assertion.test_field",
                "RegexExtractor.useHeaders",
                "BoundaryExtractor.useHeaders",
            ];
            let has_none = |field: &&str| {
                matches!(
                    properties.text(field).unwrap_or_default(),
                    "Assertion.response_headers"
                        | "Assertion.response_message"
                        | "Assertion.request_headers"
                        | "Assertion.request_data"
                        | "Assertion.sample_label"
                        | "true"
                        | "URL"
                        | "message"
                        | "request_headers"
                )
            };
            if !is_of_variable && fields.iter().any(has_none) {
                let name = &self.tree.element(*other).name;
                self.obstacle(id, format!("`{name}`, which looks at it"));
            }
        }
    }

    /// Everything that looks at a sample: extracts and checks, and what is done after it.
    pub(super) fn judged(&self, held: &Scope, request: &mut Request) -> Vec<StepKind> {
        let is_within = self.is_judging.replace(true);
        let mut after = self.without_settings(|| {
            self.find_sessions(request);
            let after = self.extracts(held, request);
            self.checks(held, request);
            after
        });
        after.extend(self.scripts_after(held, request));
        self.refuse_later_values(held, &after);
        self.is_judging.set(is_within);
        if self.names.looks_back() {
            self.keep(super::found::PREVIOUS, &Extractor::Body, request);
        }
        if self.names.follows_links() {
            self.keep(super::links::LEADS_TO, &Extractor::Links, request);
        }
        after
    }
}
