//! Extractors: what is taken from a response into a variable, and what it is where nothing matches.

use squall_plan::model::{Extract, Extractor, Json, Match, Request, StepKind, Within};
use squall_plan::span::{Span, Spanned};
use squall_plan::template::Template;

use super::Translator;
use super::jmespath;
use super::json::JSON_PATH_EXTRACTOR;
use super::looks::Looks;
use super::pattern::{self, Subject};
use super::search::Search;
use super::texts::{TextPiece, expression, literal, quoted};
use crate::scope::Scope;
use crate::tree::ElementId;

#[derive(Default)]
pub(super) struct Taken {
    pub extracts: Vec<Extract>,
    /// What follows from it once the request is done.
    pub after: Vec<StepKind>,
}

/// The variable that an extractor sets.
pub(super) struct Wanted<'n> {
    pub name: &'n str,
    /// Which match: 0 is any, below it all, as variables with numbers.
    pub which: i64,
    pub default: Option<&'n str>,
    /// Whether the default is the variable's value where there are several, too.
    pub default_first: bool,
}

impl Translator<'_> {
    /// Sets a request's extracts; gives what is done after it.
    pub(super) fn extracts(&self, held: &Scope, request: &mut Request) -> Vec<StepKind> {
        let (mut after, mut read_after) = (Vec::new(), Vec::new());
        for id in &held.post_processors {
            let taken = match self.class(*id) {
                "RegexExtractor" => self.by_regex(*id, request),
                "BoundaryExtractor" => self.by_boundaries(*id, request),
                "JSONPostProcessor" => self.by_json_paths(*id, request),
                JSON_PATH_EXTRACTOR => self.by_plugin_path(*id),
                "JMESPathExtractor" => self.by_jmespath(*id, request),
                "HtmlExtractor" => self.by_css(*id, request),
                "XPathExtractor" | "XPath2Extractor" => self.by_xpath(*id, request),
                _ => None,
            };
            let Some(taken) = taken else { continue };
            // What is done afterwards would read what a later extractor has set.
            let is_read_after = !taken.after.is_empty();
            after.extend(taken.after);
            for extract in taken.extracts {
                let variable = &extract.variable.value;
                let is_same = |own: &Extract| own.variable.value == *variable;
                let is_set = request.extract.iter().any(is_same);
                if is_set && (is_read_after || read_after.contains(variable)) {
                    self.obstacle(
                        *id,
                        "a variable that another extractor of the same request sets, with all matches or several groups",
                    );
                    continue;
                }
                if is_read_after {
                    read_after.push(variable.clone());
                }
                request.extract.push(extract);
            }
        }
        after
    }

    fn by_regex(&self, id: ElementId, request: &Request) -> Option<Taken> {
        let reader = self.read(id);
        let which = reader.number("RegexExtractor.match_number", 0)?;
        let looks = self.looks(&reader, request, which);
        let field = "RegexExtractor.useHeaders";
        let (within, looks) = match reader.source(field) {
            "true" if looks.of.is_none() => (Within::Head, looks),
            _ => (Within::Body, self.looks_at_field(&reader, field, looks)),
        };
        let looks = &looks;
        let name = reader.source("RegexExtractor.refname");
        let source = self.pieces(id, reader.source("RegexExtractor.regex"));
        let template = reader.source("RegexExtractor.template");
        let default = reader.source("RegexExtractor.default");
        let default_is_empty = reader.flag("RegexExtractor.default_empty_value", false);
        reader.finish();
        let is_given = !default.is_empty() || default_is_empty;
        let default = is_given.then_some(default);
        let wanted = Wanted { name, which, default, default_first: true };
        let parts = parts(template);
        let refused = |what| self.obstacle(id, what);
        let Some(known) = literal(&source) else {
            let pattern =
                pattern::regex_of_pieces(&source, Subject::Lines).map_err(refused).ok()?;
            let groups = pattern::groups_of_pieces(&source, Subject::Lines);
            return self.by_search(looks, within, &wanted, &Search { pattern, groups, parts });
        };
        let pattern = pattern::regex(known, Subject::Lines).map_err(refused).ok()?;
        let of_group = |group: u32| Extractor::Regex {
            pattern: spanned(pattern.clone()),
            within,
            group: Some(group),
        };
        let groups = pattern::groups(&pattern);
        // Of a group that there is not Java's text is this word.
        let parts = parts.into_iter().map(|part| match part {
            TemplatePart::Group(group) if group > groups => TemplatePart::Text("null".to_owned()),
            part => part,
        });
        let parts: Vec<TemplatePart> = parts.collect();
        let asks_groups = which == 0 && self.names.groups_of(name).next().is_some();
        // A match is chosen once for all of its groups.
        if asks_groups || which <= 0 && !matches!(parts.as_slice(), [TemplatePart::Group(_)]) {
            let search = Search { pattern: quoted(&pattern), groups, parts };
            return self.by_search(looks, within, &wanted, &search);
        }
        let mut taken = match parts.as_slice() {
            [TemplatePart::Group(group)] => self.take(looks, &wanted, of_group(*group))?,
            _ => self.of_groups(looks, &wanted, parts, &of_group)?,
        };
        let beside = self.groups_beside(looks, &wanted, groups, &of_group);
        taken.extracts.extend(beside);
        Some(taken)
    }

    /// A variable that is a text with several groups of one match.
    fn of_groups(
        &self,
        looks: &Looks,
        wanted: &Wanted<'_>,
        parts: Vec<TemplatePart>,
        of_group: &dyn Fn(u32) -> Extractor,
    ) -> Option<Taken> {
        let id = looks.element;
        let number = u32::try_from(wanted.which).ok()?;
        let variable = self.names.variable(wanted.name)?;
        let mut taken = Taken::default();
        let mut pieces = Vec::new();
        for (index, part) in parts.into_iter().enumerate() {
            let TemplatePart::Group(group) = part else {
                let TemplatePart::Text(text) = part else { continue };
                pieces.push(TextPiece::Text(text));
                continue;
            };
            let value = self.held("value", id, 1 + index);
            // Of a group that takes no part Java's text is a word; that nothing matched is told by the whole match.
            let from = of_group(group);
            taken.extracts.push(self.one(looks, &value, Match::Nth(number), from, Json::Null));
            let value = format!("({value} == null ? \"null\" : {value})");
            pieces.push(TextPiece::Expr(value));
        }
        let whole = self.held("value", id, 0);
        taken.extracts.push(self.one(looks, &whole, Match::Nth(number), of_group(0), Json::Null));
        let without = match wanted.default {
            Some(default) => expression(&self.pieces(id, default)),
            None => variable.to_owned(),
        };
        let value = format!("{whole} == null ? {without} : {}", expression(&pieces));
        taken.after.push(self.set(id, variable, &value));
        Some(taken)
    }

    /// The groups of one match that something asks for, as `name_g1`, of those that the pattern has.
    fn groups_beside(
        &self,
        looks: &Looks,
        wanted: &Wanted<'_>,
        groups: u32,
        of_group: &dyn Fn(u32) -> Extractor,
    ) -> Vec<Extract> {
        let asked = self.names.groups_of(wanted.name);
        let asked = asked.filter(|(group, _)| wanted.which >= 0 && *group <= groups);
        let extracts = asked.filter_map(|(group, name)| {
            let variable = self.names.variable(name)?;
            let number = u32::try_from(wanted.which).unwrap_or(1).max(1);
            let unset = Json::Text(Template::text(&format!("${{{name}}}")));
            Some(self.one(looks, variable, Match::Nth(number), of_group(group), unset))
        });
        extracts.collect()
    }

    fn by_boundaries(&self, id: ElementId, request: &Request) -> Option<Taken> {
        let reader = self.read(id);
        let which = reader.number("BoundaryExtractor.match_number", 0)?;
        let looks = self.looks(&reader, request, which);
        let looks = &self.looks_at_field(&reader, "BoundaryExtractor.useHeaders", looks);
        let name = reader.source("BoundaryExtractor.refname");
        let left = reader.constant("BoundaryExtractor.lboundary");
        let right = reader.constant("BoundaryExtractor.rboundary");
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
        let default = is_given.then_some(default);
        self.take(looks, &Wanted { name, which, default, default_first: true }, from)
    }

    fn by_css(&self, id: ElementId, request: &Request) -> Option<Taken> {
        let reader = self.read(id);
        let which = reader.number("HtmlExtractor.match_number", 0)?;
        let looks = &self.looks(&reader, request, which);
        let name = reader.source("HtmlExtractor.refname");
        let selector = reader.constant("HtmlExtractor.expr");
        let attr = reader.constant("HtmlExtractor.attribute");
        let default = reader.source("HtmlExtractor.default");
        let default_is_empty = reader.flag("HtmlExtractor.default_empty_value", false);
        // Both of its engines take the same selectors.
        reader.pass(&["HtmlExtractor.extractor_impl"]);
        reader.finish();
        let attr = attr?.trim().to_owned();
        let attr = (!attr.is_empty()).then_some(attr);
        let from = Extractor::Css { selector: spanned(selector?.trim().to_owned()), attr };
        let is_given = !default.is_empty() || default_is_empty;
        let default = is_given.then_some(default);
        self.take(looks, &Wanted { name, which, default, default_first: true }, from)
    }

    fn by_xpath(&self, id: ElementId, request: &Request) -> Option<Taken> {
        let reader = self.read(id);
        let is_second = self.class(id) == "XPath2Extractor";
        let prefix = if is_second { "XPathExtractor2" } else { "XPathExtractor" };
        let property = |name: &str| format!("{prefix}.{name}");
        let which = reader.number(&property("matchNumber"), -1)?;
        let mut looks = self.looks(&reader, request, which);
        // What is not read by Tidy is read as XML.
        if let Some(of) = looks.of.take() {
            let is_xml = is_second || !reader.flag(&property("tolerant"), false);
            looks.of = Some(if is_xml { self.as_xml(id, &of) } else { of });
        }
        let looks = &looks;
        let name = reader.source(&property("refname"));
        let path = self.template(id, reader.source(&property("xpathQuery")).trim());
        let default = reader.source(&property("default"));
        reader.refuse(&property("fragment"), "the markup of what is found");
        reader.given(&property("namespaces"), "namespaces of its own");
        // How documents are read, and what is said of those that are not well-formed.
        for how in ["validate", "tolerant", "namespace", "quiet", "report_errors", "show_warnings"]
        {
            reader.pass(&[&property(how)]);
        }
        reader.pass(&[&property("whitespace"), &property("download_dtds")]);
        reader.finish();
        let from = Extractor::XPath(path);
        // The variable itself is the first of several.
        let wanted = Wanted {
            name,
            which: if which < 0 { 1 } else { which },
            default: Some(default),
            default_first: false,
        };
        let mut taken = self.take(looks, &wanted, from.clone())?;
        if let Some(found) = self.names.matches(name) {
            match u32::try_from(which) {
                Err(_) => {
                    let none = Json::List(Vec::new());
                    taken.extracts.push(self.one(looks, found, Match::All, from, none));
                }
                Ok(0) => self.obstacle(id, format!("`{name}_1`, which is any match")),
                // That match alone is one of the variables with numbers.
                Ok(number) => {
                    let one = self.held("value", id, 0);
                    let which = Match::Nth(number);
                    taken.extracts.push(self.one(looks, &one, which, from, Json::Null));
                    let list = format!("{one} == null ? [] : [{one}]");
                    taken.after.push(self.set(id, found, &list));
                }
            }
        }
        Some(taken)
    }

    /// What a path leads to; of a list, one of its elements or all.
    fn by_jmespath(&self, id: ElementId, request: &Request) -> Option<Taken> {
        let reader = self.read(id);
        let name = reader.source("JMESExtractor.referenceName");
        let path = reader.constant("JMESExtractor.jmesPathExpr");
        let which = reader.number("JMESExtractor.matchNumber", 0)?;
        let default = reader.source("JMESExtractor.defaultValue");
        let looks = &self.looks(&reader, request, which);
        reader.finish();
        let path = jmespath::json_path(&path?).map_err(|what| self.obstacle(id, what)).ok()?;
        let wanted = Wanted { name, which, default: Some(default), default_first: false };
        let from = Extractor::Json(spanned(path.clone()));
        if path.contains("[*]") {
            return self.take(looks, &wanted, from);
        }
        // It may be a list, of whose elements one or all are meant.
        let variable = self.names.variable(name)?;
        let whole = self.held("value", id, 0);
        let mut taken = Taken::default();
        taken.extracts.push(self.one(looks, &whole, Match::First, from, Json::Null));
        let all = format!("({whole} == null ? [] : list({whole}))");
        let default = expression(&self.pieces(id, default));
        if which < 0 {
            let found = self.names.matches(name)?;
            taken.after.push(self.set(id, found, &all));
            let value = format!("{found} == [] ? {default} : {variable}");
            taken.after.push(self.set(id, variable, &value));
            return Some(taken);
        }
        let value = match which {
            0 => format!("{all} == [] ? {default} : string(choice({all}))"),
            number => {
                let place = number - 1;
                format!("size({all}) > {place} ? string({all}[{place}]) : {default}")
            }
        };
        taken.after.push(self.set(id, variable, &value));
        Some(taken)
    }

    /// What sets a variable; without a default it stays as it is where nothing matches.
    pub(super) fn take(
        &self,
        looks: &Looks,
        wanted: &Wanted<'_>,
        from: Extractor,
    ) -> Option<Taken> {
        let id = looks.element;
        let variable = self.names.variable(wanted.name).filter(|_| !wanted.name.contains("${"));
        let Some(variable) = variable else {
            self.obstacle(id, format!("`{}` as the name of a variable", wanted.name));
            return None;
        };
        let mut taken = Taken::default();
        let which = match wanted.which {
            0 => Match::Random,
            number => match u32::try_from(number) {
                Ok(number) => Match::Nth(number),
                Err(_) => {
                    // Where the number is written as one, there is a place for them.
                    let Some(found) = self.names.matches(wanted.name) else {
                        self.obstacle(id, "all matches, by a number that is not written there");
                        return None;
                    };
                    let none = Json::List(Vec::new());
                    taken.extracts.push(self.one(looks, found, Match::All, from, none));
                    if let Some(default) = wanted.default {
                        let default = expression(&self.pieces(id, default));
                        let value = match wanted.default_first {
                            true => default,
                            false => format!("{found} == [] ? {default} : {variable}"),
                        };
                        taken.after.push(self.set(id, variable, &value));
                    }
                    return Some(taken);
                }
            },
        };
        let unchanged = [TextPiece::Expr(variable.to_owned())];
        let default = match wanted.default {
            Some(default) => self.template(id, default),
            None => self.template_of(id, &unchanged),
        };
        taken.extracts.push(self.one(looks, variable, which, from, Json::Text(default)));
        Some(taken)
    }

    pub(super) fn one(
        &self,
        looks: &Looks,
        variable: &str,
        which: Match,
        from: Extractor,
        default: Json,
    ) -> Extract {
        // These a response always has.
        let is_there = matches!(from, Extractor::Body | Extractor::Head);
        Extract {
            variable: spanned(variable.to_owned()),
            from,
            which,
            default: (!is_there).then_some(default),
            redirects: looks.redirects,
            resources: looks.resources,
            of: looks.of.clone(),
        }
    }
}

/// A part of an extractor's template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TemplatePart {
    Text(String),
    /// `$1$`
    Group(u32),
}

/// The parts of a template.
pub(super) fn parts(template: &str) -> Vec<TemplatePart> {
    let mut found = Vec::new();
    let mut text = String::new();
    let mut rest = template;
    while let Some(c) = rest.chars().next() {
        let number = rest.strip_prefix('$').and_then(|inner| inner.split_once('$'));
        let digits = number.filter(|(digits, _)| digits.bytes().all(|byte| byte.is_ascii_digit()));
        match digits.and_then(|(digits, left)| Some((digits.parse().ok()?, left))) {
            Some((group, left)) => {
                found.extend(
                    (!text.is_empty()).then(|| TemplatePart::Text(std::mem::take(&mut text))),
                );
                found.push(TemplatePart::Group(group));
                rest = left;
            }
            None => {
                text.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    found.extend((!text.is_empty()).then_some(TemplatePart::Text(text)));
    found
}

pub(super) fn spanned(text: String) -> Spanned<String> {
    Spanned::new(text, Span::default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_have_texts_and_groups() {
        let text = |text: &str| TemplatePart::Text(text.to_owned());
        assert_eq!(parts("$1$$2$"), [TemplatePart::Group(1), TemplatePart::Group(2)]);
        assert_eq!(
            parts("a$1$, $x$12$"),
            [text("a"), TemplatePart::Group(1), text(", $x"), TemplatePart::Group(12)]
        );
        assert_eq!(parts("true$"), [text("true$")]);
    }
}
