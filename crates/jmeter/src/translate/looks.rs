//! What extractors and assertions look at: the response, others beside it, or a variable.

use squall_plan::model::{Body, Check, Request, StepKind};
use squall_plan::template::Template;

use super::Translator;
use super::reader::Reader;
use super::texts::{TextPiece, quoted};
use crate::scope::Scope;
use crate::tree::ElementId;

/// Where an extractor looks.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Looks {
    pub element: ElementId,
    /// Whether at responses that redirect, too.
    pub redirects: bool,
    /// Whether at what the page loads, too.
    pub resources: bool,
    /// A text in the place of the body.
    pub of: Option<Template>,
}

impl Translator<'_> {
    /// Which responses an extractor looks at. `which`: a later one, or all, are not counted over several responses; any
    /// is one of the first response that has one.
    pub(super) fn looks(&self, reader: &Reader<'_>, request: &Request, which: i64) -> Looks {
        let scope = reader.source("Sample.scope");
        let variable = reader.source("Scope.variable");
        let element = reader.element;
        if scope == "variable" {
            let of = self.text_of_variable(element, variable);
            return Looks { element, redirects: false, resources: false, of };
        }
        let redirects = scope == "all" && request.http.redirects.is_some();
        let resources = scope == "all" && request.http.resources.is_some();
        // Without sub-samples all of them are the response itself.
        let is_alone = !redirects && !resources || matches!(which, 0 | 1);
        if !(matches!(scope, "" | "parent") || scope == "all" && is_alone) {
            self.obstacle(element, format!("the scope `{scope}`"));
        }
        Looks { element, redirects, resources, of: None }
    }

    /// What an assertion looks at beside the response itself, or in its place.
    pub(super) fn asserts_of(&self, reader: &Reader<'_>, request: &Request) -> Check {
        let scope = reader.source("Assertion.scope");
        let variable = reader.source("Scope.variable");
        if scope == "variable" {
            let of = self.text_of_variable(reader.element, variable);
            return Check { of, ..Check::default() };
        }
        // Without sub-samples all of them are the response itself.
        if !matches!(scope, "" | "parent" | "all") {
            self.obstacle(reader.element, format!("the scope `{scope}`"));
        }
        let is_all = scope == "all";
        Check {
            redirects: is_all && request.http.redirects.is_some(),
            resources: is_all && request.http.resources.is_some(),
            ..Check::default()
        }
    }

    /// That an assertion looks at the response itself, or at a variable.
    pub(super) fn asserts_of_one(&self, reader: &Reader<'_>, request: &Request) -> Check {
        let looks = self.asserts_of(reader, request);
        if looks.redirects || looks.resources {
            self.obstacle(reader.element, "the scope `all`");
        }
        looks
    }

    /// Where an extractor looks that has a field: of a response, what its `property` names.
    pub(super) fn looks_at_field(
        &self,
        reader: &Reader<'_>,
        property: &str,
        looks: Looks,
    ) -> Looks {
        let field = reader.source(property);
        // Of a variable there are no parts.
        if looks.of.is_some() {
            return looks;
        }
        let fact = match field {
            "" | "false" => return looks,
            "true" => "head",
            "URL" => "sent_url",
            "code" => "status",
            "message" => "reason",
            "request_headers" => "sent_headers",
            "unescaped" => "html_decode(body)",
            _ => {
                self.obstacle(looks.element, format!("the field `{field}`"));
                return looks;
            }
        };
        if looks.redirects || looks.resources {
            self.obstacle(looks.element, format!("the field `{field}` of all samples"));
        }
        let of = Some(self.template_of(looks.element, &[TextPiece::Expr(fact.to_owned())]));
        Looks { redirects: false, resources: false, of, ..looks }
    }

    /// What is read from a file while it is sent nobody keeps.
    pub(super) fn refuse_files(&self, id: ElementId, request: &Request) {
        if matches!(request.body, Body::File { .. } | Body::Multipart(_)) {
            self.obstacle(id, "the data of a request that sends a file, or parts");
        }
    }

    /// What a variable holds; nothing, if nobody has set it.
    pub(super) fn text_of_variable(&self, id: ElementId, name: &str) -> Option<Template> {
        let value = self.value_named(&self.pieces(id, name), Some(&[]));
        if value.is_none() {
            self.obstacle(id, format!("the variable `{name}`, which it looks at"));
        }
        Some(self.template_of(id, &[value?]))
    }

    /// A text that is read as XML, although it may not say that it is some.
    pub(super) fn as_xml(&self, id: ElementId, of: &Template) -> Template {
        let declaration = "<?xml version=\"1.0\"?>";
        let source = of.source();
        let Some(value) = source.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')) else {
            // It is known, and the same each time.
            let begins = source.trim_start().starts_with("<?xml");
            return if begins {
                of.clone()
            } else {
                Template::text(&format!("{declaration}{source}"))
            };
        };
        let value = format!("string({value})");
        let begins = format!("trim({value}).startsWith({})", quoted("<?xml"));
        let begin = format!("{begins} ? trim({value}) : {} + {value}", quoted(declaration));
        self.template_of(id, &[TextPiece::Expr(begin)])
    }

    /// Variables that are looked at must have their values by then: what is made of a response only after the request
    /// has not.
    pub(super) fn refuse_later_values(&self, held: &Scope, after: &[StepKind]) {
        let mut set = Vec::new();
        set_in(after, &mut set);
        let elements = held.post_processors.iter().chain(&held.assertions);
        for id in elements {
            if !self.is_of_variable(*id) {
                continue;
            }
            let properties = &self.tree.element(*id).properties;
            let name = properties.text("Scope.variable").unwrap_or_default();
            let of_matches = name.rsplit_once('_').and_then(|(set, _)| self.names.matches(set));
            let holds = [self.names.variable(name), of_matches];
            if holds.into_iter().flatten().any(|variable| set.iter().any(|own| own == variable)) {
                self.obstacle(*id, format!("`{name}`, which gets its value after the request"));
            }
        }
    }
}

/// The variables that steps set.
fn set_in(steps: &[StepKind], set: &mut Vec<String>) {
    for step in steps {
        match step {
            StepKind::Set(values) => set.extend(values.iter().map(|(name, _)| name.value.clone())),
            StepKind::If(own) => {
                let inner = own.then.iter().chain(&own.otherwise).map(|step| step.kind.clone());
                set_in(&inner.collect::<Vec<_>>(), set);
            }
            _ => {}
        }
    }
}
