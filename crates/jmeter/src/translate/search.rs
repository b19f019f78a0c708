//! Regular expressions that are looked for after the request, in all that came: those of which the run gives parts, and
//! those of which any match, or each, becomes more than one text.

use squall_plan::model::{Extractor, Json, Match, StepKind, Within};
use squall_plan::span::{Span, Spanned};

use super::Translator;
use super::extractor::{Taken, TemplatePart, Wanted};
use super::found::ONE;
use super::looks::Looks;
use super::texts::{expression, quoted};

const ALL: &str = r"(?s)\A.*\z";

/// What is looked for.
pub(super) struct Search {
    /// The pattern, as an expression.
    pub pattern: String,
    /// How many groups it has.
    pub groups: u32,
    /// What becomes of a match.
    pub parts: Vec<TemplatePart>,
}

impl Search {
    /// What becomes of a match that an expression gives.
    fn text_of(&self, found: &str) -> String {
        let terms = self.parts.iter().map(|part| match part {
            TemplatePart::Text(text) => quoted(text),
            // Of a group that there is not, or that takes no part, Java's text is this word.
            TemplatePart::Group(group) if *group > self.groups => quoted("null"),
            TemplatePart::Group(group) => group_of(found, *group, "null"),
        });
        let terms: Vec<String> = terms.collect();
        if terms.is_empty() { quoted("") } else { terms.join(" + ") }
    }
}

/// What takes a text as it is.
pub(super) fn everything() -> Extractor {
    let pattern = Spanned::new(ALL.to_owned(), Span::default());
    Extractor::Regex { pattern, within: Within::Body, group: Some(0) }
}

/// A group of a match, and what stands for one that takes no part.
fn group_of(found: &str, group: u32, without: &str) -> String {
    format!("({found}[{group}] == null ? {} : {found}[{group}])", quoted(without))
}

impl Translator<'_> {
    /// Keeps what is looked at until the request is done, and looks for the pattern then.
    pub(super) fn by_search(
        &self,
        looks: &Looks,
        within: Within,
        wanted: &Wanted<'_>,
        search: &Search,
    ) -> Option<Taken> {
        let id = looks.element;
        if looks.redirects || looks.resources {
            self.obstacle(id, "the scope `all`, of several groups or of a pattern with variables");
        }
        let variable = self.names.variable(wanted.name).filter(|_| !wanted.name.contains("${"));
        let Some(variable) = variable else {
            self.obstacle(id, format!("`{}` as the name of a variable", wanted.name));
            return None;
        };
        let (text, found) = (self.held("value", id, 0), self.held("value", id, 1));
        let from = match (&looks.of, within) {
            (None, Within::Body) => Extractor::Body,
            (None, Within::Head) => Extractor::Head,
            (Some(_), _) => everything(),
        };
        let mut taken = Taken::default();
        taken.extracts.push(self.one(looks, &text, Match::First, from, Json::Null));
        let all = format!("{text} == null ? [] : find_all(string({text}), {})", search.pattern);
        taken.after.push(self.set(id, &found, &all));
        // A response is not kept longer than it is needed.
        taken.after.push(StepKind::Set(vec![(Spanned::new(text, Span::default()), Json::Null)]));
        let without = match wanted.default {
            Some(default) => expression(&self.pieces(id, default)),
            None => variable.to_owned(),
        };
        let Ok(number) = u32::try_from(wanted.which) else {
            // Where the number is written as one, there is a place for them.
            let Some(matches) = self.names.matches(wanted.name) else {
                self.obstacle(id, "all matches, by a number that is not written there");
                return None;
            };
            let texts = format!("{found}.map({ONE}, {})", search.text_of(ONE));
            taken.after.push(self.set(id, matches, &texts));
            taken.after.push(self.set(id, variable, &without));
            return Some(taken);
        };
        if number == 0 {
            let one = format!("{found} == [] ? [] : [choice({found})]");
            taken.after.push(self.set(id, &found, &one));
        }
        let place = number.saturating_sub(1);
        let one = format!("{found}[{place}]");
        let is_there = format!("size({found}) > {place}");
        let value = format!("{is_there} ? {} : {without}", search.text_of(&one));
        taken.after.push(self.set(id, variable, &value));
        taken.after.extend(self.groups_found(looks, wanted, search, (&is_there, &one)));
        Some(taken)
    }

    /// What sets the groups of a match that something asks for. `one`: a condition for that there is one, and the match.
    fn groups_found(
        &self,
        looks: &Looks,
        wanted: &Wanted<'_>,
        search: &Search,
        (is_there, one): (&str, &str),
    ) -> Vec<StepKind> {
        let asked = self.names.groups_of(wanted.name).filter(|(group, _)| *group <= search.groups);
        let set = asked.filter_map(|(group, name)| {
            let variable = self.names.variable(name)?;
            let unset = format!("${{{name}}}");
            let text = group_of(one, group, &unset);
            let value = format!("{is_there} ? {text} : {}", quoted(&unset));
            Some(self.set(looks.element, variable, &value))
        });
        set.collect()
    }
}
