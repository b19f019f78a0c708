//! Samples that send nothing: a span of some steps, with a text that is looked at as a response.

use squall_plan::expr::Expr;
use squall_plan::model::{
    Check, Extractor, Group, GroupSamples, Look, Request, StepKind, Tags, ThinkTime,
};
use squall_plan::span::Span;

use super::texts::{TextPiece, expression, literal};
use super::told::untold;
use super::{Translator, step};
use crate::scope::Scope;
use crate::tree::ElementId;

/// What is asked for by what looks at the headers of a sample, or at where it went.
pub(super) const HEADS: [&str; 6] = [
    "Assertion.response_headers",
    "Assertion.request_headers",
    "Assertion.sample_label",
    "true",
    "URL",
    "request_headers",
];
/// What is asked for by what looks at the message of a sample.
pub(super) const MESSAGE: [&str; 3] =
    ["Assertion.response_message", "SizeAssertion.response_message", "message"];
/// What is asked for by what looks at the code of a sample.
pub(super) const CODE: [&str; 3] =
    ["Assertion.response_code", "SizeAssertion.response_code", "code"];
/// What is asked for by what looks at the data that a sample sent.
pub(super) const SENT: [&str; 1] = ["Assertion.request_data"];

/// A sample of which the plan itself says what it comes to.
pub(super) struct Made {
    /// Its name, if it is not the element's.
    pub name: Option<Vec<TextPiece>>,
    pub steps: Vec<StepKind>,
    /// What its response is.
    pub text: Vec<TextPiece>,
    pub code: Vec<TextPiece>,
    /// What it says beside the code.
    pub message: Vec<TextPiece>,
    /// What it sent, as it were.
    pub sent: Vec<TextPiece>,
    /// What of it is not known here: nothing may ask for that.
    pub unknown: Vec<&'static str>,
    /// Whether it is no error by itself, as an expression.
    pub ok: String,
}

impl Made {
    /// One with this response that does nothing.
    pub(super) fn of(text: Vec<TextPiece>) -> Made {
        let said = |text: &str| vec![TextPiece::Text(text.to_owned())];
        Made {
            name: None,
            steps: Vec::new(),
            text,
            code: said("200"),
            message: said("OK"),
            sent: Vec::new(),
            unknown: Vec::new(),
            ok: "true".to_owned(),
        }
    }
}

impl Translator<'_> {
    /// Such a sample, with what looks at it, and what comes after it.
    pub(super) fn made(&self, id: ElementId, made: Made, held: &Scope) -> Vec<StepKind> {
        // Its code says nothing of whether it is an error.
        let mut seen = Request::default();
        seen.http.status_errors = Some(false);
        let after = self.judged(held, &mut seen);
        self.refuse_looks(id, held, &made.unknown);
        if seen.counted == Some(false) {
            self.obstacle(id, "a sample that is passed over");
        }
        if made.ok != "true" && !self.assumes_success(held) {
            let name = Some(self.tree.element(id).name.clone()).filter(|name| !name.is_empty());
            let expr = Expr::parse(&made.ok, Span::default())
                .map_err(|error| self.obstacle(id, error.message));
            seen.check.splice(0..0, expr.ok().map(|expr| Check { expr, name, ..untold() }));
        }
        let before = Self::before_facts(&seen);
        let sent = (!made.sent.is_empty()).then(|| self.template_of(id, &made.sent));
        let is_ok = literal(&made.message) == Some("OK");
        let look = Look {
            text: self.template_of(id, &made.text),
            status: self.expression(id, &code(&made.code)).unwrap_or_default(),
            reason: (!is_ok).then(|| self.template_of(id, &made.message)),
            sent,
            extract: seen.extract,
            check: seen.check,
        };
        let mut steps: Vec<_> = made.steps.into_iter().map(step).collect();
        steps.push(step(StepKind::Look(Box::new(look))));
        let name = made.name.map_or_else(|| self.name(id), |own| self.template_of(id, &own));
        let tags = Tags::new();
        let (think_time, samples) = (ThinkTime::Included, GroupSamples::Apart);
        let group = StepKind::Group(Box::new(Group { name, tags, think_time, samples, steps }));
        before.into_iter().chain([group]).chain(after).collect()
    }

    /// Whether an assertion ignores what a sample says of itself.
    pub(super) fn assumes_success(&self, held: &Scope) -> bool {
        let assumes = |id: &ElementId| {
            self.tree.element(*id).properties.flag("Assertion.assume_success", false)
        };
        held.assertions.iter().any(assumes)
    }

    /// Whether an element looks at a variable in the place of a sample.
    pub(super) fn is_of_variable(&self, other: ElementId) -> bool {
        let properties = &self.tree.element(other).properties;
        let scopes = ["Assertion.scope", "Sample.scope"];
        scopes.iter().any(|scope| properties.text(scope) == Some("variable"))
    }

    /// Whether an element looks at one of these parts of a sample.
    pub(super) fn asks_for(&self, other: ElementId, parts: &[&str]) -> bool {
        let properties = &self.tree.element(other).properties;
        let fields =
            ["Assertion.test_field", "RegexExtractor.useHeaders", "BoundaryExtractor.useHeaders"];
        fields.iter().any(|field| properties.text(field).is_some_and(|own| parts.contains(&own)))
    }

    /// What looks at that of a sample which is not known is an obstacle.
    pub(super) fn refuse_looks(&self, id: ElementId, held: &Scope, unknown: &[&str]) {
        for other in held.assertions.iter().chain(&held.post_processors) {
            if !self.is_of_variable(*other) && self.asks_for(*other, unknown) {
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

/// A code as an expression: a number, or another text.
fn code(pieces: &[TextPiece]) -> String {
    let number = literal(pieces).and_then(|text| Some((text, text.parse::<u32>().ok()?)));
    match number {
        Some((text, number)) if number.to_string() == text => number.to_string(),
        _ => expression(pieces),
    }
}
