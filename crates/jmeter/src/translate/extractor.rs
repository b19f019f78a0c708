//! Extractors: what is taken from a response into a variable, and what it is where nothing matches.

use squall_plan::model::{Extract, Extractor, Json, Match, Request, Within};
use squall_plan::span::{Span, Spanned};

use super::Translator;
use super::pattern;
use super::reader::Reader;
use super::texts::Piece;
use crate::scope::Scope;
use crate::tree::ElementId;

impl Translator<'_> {
    /// Sets a request's extracts.
    pub(super) fn extracts(&self, held: &Scope, request: &mut Request) {
        for id in &held.post_processors {
            let found = match self.class(*id) {
                "RegexExtractor" => vec![self.by_regex(*id, request)],
                "BoundaryExtractor" => vec![self.by_boundaries(*id, request)],
                "JSONPostProcessor" => self.by_json_paths(*id, request),
                _ => Vec::new(),
            };
            for extract in found.into_iter().flatten() {
                let is_same = |own: &Extract| own.variable.value == extract.variable.value;
                if request.extract.iter().any(is_same) {
                    self.obstacle(
                        *id,
                        "a variable that another extractor of the same request sets",
                    );
                } else {
                    request.extract.push(extract);
                }
            }
        }
    }

    /// That an extractor looks at the response itself.
    fn looks_at_response(&self, reader: &Reader<'_>, request: &Request) {
        let scope = reader.source("Sample.scope");
        // Without sub-samples all of them are the response itself.
        let is_alone = request.redirects.is_none() && request.resources.is_none();
        if !(matches!(scope, "" | "parent") || scope == "all" && is_alone) {
            self.obstacle(reader.element, format!("the scope `{scope}`"));
        }
        reader.pass(&["Scope.variable"]);
    }

    fn looks_at_body(&self, reader: &Reader<'_>, field: &str) {
        let field = reader.source(field);
        if !matches!(field, "" | "false") {
            self.obstacle(reader.element, format!("the field `{field}`"));
        }
    }

    fn by_regex(&self, id: ElementId, request: &Request) -> Option<Extract> {
        let reader = self.read(id);
        self.looks_at_response(&reader, request);
        let within = match reader.source("RegexExtractor.useHeaders") {
            "true" => Within::Head,
            _ => {
                self.looks_at_body(&reader, "RegexExtractor.useHeaders");
                Within::Body
            }
        };
        let name = reader.source("RegexExtractor.refname");
        let source = reader.constant("RegexExtractor.regex");
        let template = reader.source("RegexExtractor.template");
        let number = template.strip_prefix('$').and_then(|rest| rest.strip_suffix('$'));
        let group = number.and_then(|number| number.parse().ok());
        if group.is_none() {
            self.obstacle(id, format!("the template `{template}`"));
        }
        let which = reader.number("RegexExtractor.match_number", 0);
        let default = reader.source("RegexExtractor.default");
        let default_is_empty = reader.flag("RegexExtractor.default_empty_value", false);
        reader.finish();
        let pattern =
            pattern::regex(&source?, false).map_err(|what| self.obstacle(id, what)).ok()?;
        let from = Extractor::Regex { pattern: spanned(pattern), within, group };
        let is_given = !default.is_empty() || default_is_empty;
        self.extract(id, name, from, which?, is_given.then_some(default))
    }

    fn by_boundaries(&self, id: ElementId, request: &Request) -> Option<Extract> {
        let reader = self.read(id);
        self.looks_at_response(&reader, request);
        self.looks_at_body(&reader, "BoundaryExtractor.useHeaders");
        let name = reader.source("BoundaryExtractor.refname");
        let left = reader.constant("BoundaryExtractor.lboundary");
        let right = reader.constant("BoundaryExtractor.rboundary");
        let which = reader.number("BoundaryExtractor.match_number", 0);
        let default = reader.source("BoundaryExtractor.default");
        let default_is_empty = reader.flag("BoundaryExtractor.default_empty_value", false);
        reader.finish();
        let (left, right) = (left?, right?);
        if left.is_empty() || right.is_empty() {
            self.obstacle(id, "an empty boundary");
            return None;
        }
        let from = Extractor::Between { left: spanned(left), right: spanned(right) };
        let is_given = !default.trim().is_empty() || default_is_empty;
        self.extract(id, name, from, which?, is_given.then_some(default))
    }

    fn by_json_paths(&self, id: ElementId, request: &Request) -> Vec<Option<Extract>> {
        let reader = self.read(id);
        self.looks_at_response(&reader, request);
        let names: Vec<&str> = split(reader.source("JSONPostProcessor.referenceNames"));
        let paths = reader.constant("JSONPostProcessor.jsonPathExprs").unwrap_or_default();
        let paths: Vec<&str> = split(&paths);
        let defaults: Vec<&str> = split(reader.source("JSONPostProcessor.defaultValues"));
        let numbers = reader.constant("JSONPostProcessor.match_numbers").unwrap_or_default();
        let numbers: Vec<&str> = split(&numbers).into_iter().map(str::trim).collect();
        // It makes another variable, which is refused where it is used.
        reader.pass(&["JSONPostProcessor.compute_concat"]);
        reader.finish();
        let is_blank = numbers == [""];
        if names.len() != paths.len()
            || names.len() != defaults.len()
            || !is_blank && names.len() != numbers.len()
        {
            self.obstacle(id, "lists of different lengths");
            return Vec::new();
        }
        let each = names.iter().zip(&paths).zip(&defaults).enumerate();
        let extracts = each.map(|(index, ((name, path), default))| {
            let which = if is_blank { Ok(0) } else { numbers[index].parse() };
            let which = which
                .map_err(|_| self.obstacle(id, format!("the match number `{}`", numbers[index])));
            let path = pattern::json_path(path.trim()).map_err(|what| self.obstacle(id, what));
            self.extract(
                id,
                name.trim(),
                Extractor::Json(spanned(path.ok()?)),
                which.ok()?,
                Some(default),
            )
        });
        extracts.collect()
    }

    /// An extract; without a default the variable stays as it is where nothing matches.
    fn extract(
        &self,
        id: ElementId,
        name: &str,
        from: Extractor,
        which: i64,
        default: Option<&str>,
    ) -> Option<Extract> {
        let which = match which {
            0 => Match::Random,
            number => match u32::try_from(number) {
                Ok(number) => Match::Nth(number),
                Err(_) => {
                    self.obstacle(id, "all matches, as variables with numbers");
                    return None;
                }
            },
        };
        let Some(variable) = self.names.variable(name).filter(|_| !name.contains("${")) else {
            self.obstacle(id, format!("`{name}` as the name of a variable"));
            return None;
        };
        let unchanged = [Piece::Expr(variable.to_owned())];
        let default = match default {
            Some(default) => self.template(id, default),
            None => self.template_of(id, &unchanged),
        };
        Some(Extract {
            variable: spanned(variable.to_owned()),
            from,
            which,
            default: Some(Json::Text(default)),
        })
    }
}

/// A list as JMeter 5.6.3 splits it: without what is empty at its end.
fn split(text: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = text.split(';').collect();
    while parts.len() > 1 && parts.last() == Some(&"") {
        parts.pop();
    }
    parts
}

fn spanned(text: String) -> Spanned<String> {
    Spanned::new(text, Span::default())
}
