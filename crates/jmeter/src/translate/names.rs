//! The variables that get values while a plan runs, and what they are called here: JMeter takes any text for a name.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::assign;
use super::data::Columns;
use super::found;
use super::hidden::{Hidden, is_hidden};
use super::json::JSON_PATH_EXTRACTOR;
use super::links;
use super::passes;
use super::scripted;
use crate::functions;
use crate::properties::{Property, PropertyValue};
use crate::text::Text;
use crate::tree::{Element, ElementId, Tree};

/// Names that mean something else in expressions.
const TAKEN: [&str; 25] = [
    "head",
    "head_bytes",
    "reason",
    "raw_body",
    "sent_method",
    "sent_url",
    "sent_headers",
    "sent_cookies",
    "sent_body",
    "status",
    "body",
    "body_bytes",
    "duration",
    "body_hash",
    "body_file",
    "user",
    "iteration",
    "scenario",
    "elapsed",
    "last_ok",
    "true",
    "false",
    "null",
    "in",
    "has",
];

/// A name that is not taken: this one, or else with a number behind it, from 2 on.
pub(super) fn numbered(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let mut own = name.to_owned();
    let mut number = 1;
    while is_taken(&own) {
        number += 1;
        own = format!("{name} ({number})");
    }
    own
}

/// JMeter's names, each with the variable that it is here.
#[derive(Debug, Default)]
pub(super) struct Names {
    variables: BTreeMap<String, String>,
    /// What is taken by something else.
    reserved: Vec<String>,
    /// The hidden variable that has all matches of an extractor, for the names that are made variables with numbers.
    matches: BTreeMap<String, String>,
    /// Those of these names that a text is split into, whose number is `name_n`.
    split: BTreeSet<String>,
    /// Those of these names of which `name_ALL` is all matches in one text.
    joined: BTreeSet<String>,
    /// Groups of one match that something asks for: the extractor's variable, the group, and the group's variable.
    groups: Vec<(String, u32, String)>,
    /// Properties that get values while the plan runs, each with the variable that all users have for it.
    properties: BTreeMap<String, String>,
    /// What patterns of functions set variables of, with their groups and how many they are.
    patterns: BTreeSet<String>,
    /// Whether a function looks at the response before.
    looks_back: bool,
    /// Whether some request may follow a link, so that those of every page are kept.
    follows_links: bool,
    /// The names of hidden variables.
    hidden: RefCell<Hidden>,
}

impl Names {
    /// All that the elements of a plan set, with the columns of data files.
    pub(super) fn of(tree: &Tree, columns: &Columns) -> Names {
        let mut names = Names::default();
        for (id, element) in tree.iter() {
            if tree.takes_part(id) {
                names.follows_links |= element.class == links::CLASS;
                set_by(element).into_iter().for_each(|name| names.add(&name));
                let script = scripted::script_of(element).unwrap_or_default();
                scripted::names_in(script, "vars", "put").for_each(|name| names.add(name));
            }
        }
        names.add_properties(tree);
        columns.values().flatten().flatten().for_each(|name| names.add(name));
        for (_, element) in tree.iter().filter(|(id, _)| tree.takes_part(*id)) {
            names.add_set_by_text(&element.name);
            element.properties.each_text(&mut |text| names.add_set_by_text(text));
        }
        names.add_asked(tree);
        names.add_matches(tree);
        names
    }

    /// The name of a hidden variable that nothing else has.
    pub(super) fn hidden(&self, purpose: &'static str) -> String {
        self.hidden.borrow_mut().another(purpose)
    }

    /// That of a hidden variable of an element, the same each time; `part`: which of those that it has for one purpose.
    pub(super) fn hidden_of(
        &self,
        purpose: &'static str,
        element: ElementId,
        part: usize,
    ) -> String {
        self.hidden.borrow_mut().of(purpose, element, part)
    }

    /// The properties that scripts and functions set.
    fn add_properties(&mut self, tree: &Tree) {
        let mut set: Vec<String> = Vec::new();
        for (_, element) in tree.iter().filter(|(id, _)| tree.takes_part(*id)) {
            let script = scripted::script_of(element).unwrap_or_default();
            let calls =
                [("props", "put"), ("props", "setProperty"), ("JMeterUtils", "setProperty")];
            let names = calls.iter().flat_map(|(of, call)| scripted::names_in(script, of, call));
            set.extend(names.map(str::to_owned));
            set_properties(&element.name, &mut set);
            element.properties.each_text(&mut |text| set_properties(text, &mut set));
        }
        for name in set {
            if !self.properties.contains_key(&name) {
                let variable = self.reserve(&format!("property_{name}"));
                self.properties.insert(name, variable);
            }
        }
    }

    /// The variable of a property that gets values while the plan runs.
    pub(super) fn property(&self, name: &str) -> Option<&str> {
        self.properties.get(name.trim()).map(String::as_str)
    }

    /// Such properties, with their variables.
    pub(super) fn properties(&self) -> impl Iterator<Item = (&str, &str)> {
        self.properties.iter().map(|(name, variable)| (name.as_str(), variable.as_str()))
    }

    /// What functions set that a text calls.
    fn add_set_by_text(&mut self, text: &str) {
        if !text.contains("${__") {
            return;
        }
        let text = Text::parse(text, &functions::is_function).unwrap_or_default();
        for call in text.calls() {
            assign::set_by(call).into_iter().for_each(|name| self.add(name));
            if call.name == "__regexFunction" {
                self.patterns.extend(assign::set_by(call).map(str::to_owned));
                self.looks_back |= found::looks_back(call);
            }
            assign::split_into(call).into_iter().for_each(|prefix| self.add_split(prefix));
        }
    }

    /// The parts of a text that is split into variables of a name with numbers.
    fn add_split(&mut self, prefix: &str) {
        self.add(prefix);
        if !self.matches.contains_key(prefix) {
            let found = self.hidden("found");
            self.matches.insert(prefix.to_owned(), found);
        }
        self.split.insert(prefix.to_owned());
    }

    /// What is set only because something asks for it: the numbers of loops' passes, and what patterns find beside their
    /// matches.
    fn add_asked(&mut self, tree: &Tree) {
        let asked = asked(tree);
        for (_, element) in tree.iter().filter(|(id, _)| tree.takes_part(*id)) {
            let index = passes::index_of(element).filter(|index| asked.contains(index));
            index.into_iter().for_each(|index| self.add(&index));
        }
        for name in std::mem::take(&mut self.patterns) {
            let before = format!("{name}_");
            let beside = asked.range(before.clone()..).map_while(|own| own.strip_prefix(&before));
            let is_number = |rest: &str| {
                let digits = rest.strip_prefix('g').unwrap_or_default();
                !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
            };
            let beside = beside.filter(|rest| *rest == "matchNr" || is_number(rest));
            beside.for_each(|rest| self.add(&format!("{name}_{rest}")));
        }
    }

    /// Whether a function looks at the response before.
    pub(super) fn looks_back(&self) -> bool {
        self.looks_back
    }

    /// Whether some request may follow a link of the page before.
    pub(super) fn follows_links(&self) -> bool {
        self.follows_links
    }

    /// What extractors set beside their own variables, as far as something asks for it.
    fn add_matches(&mut self, tree: &Tree) {
        let asked = asked(tree);
        for (_, element) in tree.iter().filter(|(id, _)| tree.takes_part(*id)) {
            let all_are_there = match element.class.as_str() {
                "JSONPostProcessor" | "XPathExtractor" | "XPath2Extractor"
                | JSON_PATH_EXTRACTOR => true,
                "RegexExtractor" | "BoundaryExtractor" | "HtmlExtractor" | "JMESPathExtractor" => {
                    false
                }
                _ => continue,
            };
            let takes_all = match_numbers(element).any(|number| number.starts_with('-'));
            for name in set_by(element).iter().filter(|name| !name.is_empty()) {
                let before = format!("{name}_");
                let beside = asked.range(before.clone()..);
                let beside = beside.map_while(|asked| asked.strip_prefix(before.as_str()));
                let (groups, others): (Vec<&str>, Vec<&str>) =
                    beside.partition(|rest| rest.starts_with('g'));
                // Nothing behind the name: what follows is known only while the plan runs.
                let is_number = |rest: &&str| rest.bytes().all(|byte| byte.is_ascii_digit());
                let is_asked = others.iter().any(|rest| *rest == "matchNr" || is_number(rest));
                let is_new = !self.matches.contains_key(name);
                if is_new && (takes_all || all_are_there && is_asked) {
                    let found = self.hidden("found");
                    self.matches.insert(name.clone(), found);
                }
                let joins = element.properties.flag("JSONPostProcessor.compute_concat", false);
                if joins && takes_all && others.contains(&"ALL") {
                    self.joined.insert(name.clone());
                }
                if element.class == "RegexExtractor" && !takes_all {
                    groups.into_iter().for_each(|rest| self.add_group(name, rest));
                }
            }
        }
    }

    /// A group of a match, `g1`, of a name.
    fn add_group(&mut self, name: &str, group: &str) {
        let of_group = format!("{name}_{group}");
        let number = group.strip_prefix('g').and_then(|number| number.parse().ok());
        let is_known = self.groups.iter().any(|(.., own)| *own == of_group);
        if let Some(number) = number.filter(|_| !is_known) {
            self.add(&of_group);
            self.groups.push((name.to_owned(), number, of_group));
        }
    }

    /// The hidden variable that has all matches of a name: null until there was an extraction.
    pub(super) fn matches(&self, name: &str) -> Option<&str> {
        self.matches.get(name).map(String::as_str)
    }

    /// All hidden variables that have matches.
    pub(super) fn all_matches(&self) -> impl Iterator<Item = &str> {
        self.matches.values().map(String::as_str)
    }

    /// The names of which all matches are known.
    pub(super) fn all_sets(&self) -> impl Iterator<Item = &str> {
        self.matches.keys().map(String::as_str)
    }

    /// The groups of one match that something asks for, each with its variable's name.
    pub(super) fn groups_of(&self, name: &str) -> impl Iterator<Item = (u32, &str)> {
        let own = self.groups.iter().filter(move |(set, ..)| set == name);
        own.map(|(_, group, name)| (*group, name.as_str()))
    }

    /// A variable that is one of several matches, or says how many there are, as an expression; `without` where there
    /// is none.
    pub(super) fn one_of_matches(&self, name: &str, without: &str) -> Option<String> {
        let (set, last) = name.rsplit_once('_')?;
        let found = self.matches.get(set)?;
        let count = if self.split.contains(set) { "n" } else { "matchNr" };
        if last == count {
            return Some(format!("({found} == null ? {without} : string(size({found})))"));
        }
        if last == "ALL" {
            let texts = format!("{found}.map(each_4, each_4 == null ? \"\" : string(each_4))");
            let text = format!("({found} == null ? {without} : join({texts}, \",\"))");
            return self.joined.contains(set).then_some(text);
        }
        let number: u32 = last.parse().ok().filter(|_| !last.starts_with(['0', '+']))?;
        let place = number - 1;
        Some(format!(
            "({found} != null && size({found}) > {place} && {found}[{place}] != null \
             ? string({found}[{place}]) : {without})"
        ))
    }

    pub(super) fn add(&mut self, name: &str) {
        if name.is_empty() || self.variables.contains_key(name) {
            return;
        }
        let variable = self.free(name);
        self.variables.insert(name.to_owned(), variable);
    }

    /// A name that nothing else has, like this one.
    pub(super) fn reserve(&mut self, wish: &str) -> String {
        let name = self.free(if wish.is_empty() { "data" } else { wish });
        self.reserved.push(name.clone());
        name
    }

    /// A name of squall's, like this one, that is free.
    fn free(&self, name: &str) -> String {
        let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let mut variable: String =
            name.chars().map(|c| if is_letter(c) { c } else { '_' }).collect();
        if variable.starts_with(|c: char| c.is_ascii_digit()) {
            variable.insert(0, '_');
        }
        if is_hidden(&variable) {
            variable.insert(0, '_');
        }
        while TAKEN.contains(&variable.as_str())
            || self.variables.values().chain(&self.reserved).any(|own| *own == variable)
        {
            variable.push('_');
        }
        variable
    }

    /// The variable of a name, if anything sets it.
    pub(super) fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// All, in the order of their names.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables.iter().map(|(name, variable)| (name.as_str(), variable.as_str()))
    }

    /// Whether an extractor that sets a variable makes others with it, such as `name_g1` or `name_matchNr`.
    pub(super) fn is_made_beside(&self, name: &str) -> bool {
        self.variables.keys().any(|set| {
            let rest = name.strip_prefix(set.as_str()).and_then(|rest| rest.strip_prefix('_'));
            rest.is_some_and(|rest| {
                let number = rest.strip_prefix('g').unwrap_or(rest);
                rest == "matchNr" || rest == "ALL" || number.chars().all(|c| c.is_ascii_digit())
            })
        })
    }
}

/// The names that an element sets.
pub(super) fn set_by(element: &Element) -> Vec<String> {
    let property = match element.class.as_str() {
        "RegexExtractor" => "RegexExtractor.refname",
        "BoundaryExtractor" => "BoundaryExtractor.refname",
        "JSONPostProcessor" => "JSONPostProcessor.referenceNames",
        JSON_PATH_EXTRACTOR => "VAR",
        "HtmlExtractor" => "HtmlExtractor.refname",
        "JMESPathExtractor" => "JMESExtractor.referenceName",
        "XPathExtractor" => "XPathExtractor.refname",
        "XPath2Extractor" => "XPathExtractor2.refname",
        "ForeachController" => "ForeachController.returnVal",
        "CounterConfig" => "CounterConfig.name",
        "RandomVariableConfig" => "variableName",
        "UserParameters" => {
            let list = element.properties.list("UserParameters.names").iter();
            return list.filter_map(text_of).collect();
        }
        _ => return Vec::new(),
    };
    let text = element.properties.text(property).unwrap_or_default();
    match element.class.as_str() {
        "JSONPostProcessor" => text.split(';').map(|name| name.trim().to_owned()).collect(),
        _ => vec![text.to_owned()],
    }
}

/// The properties that calls of `__setProperty` set within a text.
fn set_properties(text: &str, set: &mut Vec<String>) {
    if text.contains("__setProperty") {
        let split = Text::parse(text, &functions::is_function).unwrap_or_default();
        let calls = split.calls().into_iter().filter(|call| call.name == "__setProperty");
        let names = calls.filter_map(|call| call.parameters.first()?.as_literal());
        set.extend(names.map(|name| name.trim().to_owned()));
    }
}

/// The match numbers of an extractor, as they are written.
fn match_numbers(element: &Element) -> impl Iterator<Item = &str> {
    let property = match element.class.as_str() {
        "RegexExtractor" => "RegexExtractor.match_number",
        "BoundaryExtractor" => "BoundaryExtractor.match_number",
        "HtmlExtractor" => "HtmlExtractor.match_number",
        "JMESPathExtractor" => "JMESExtractor.matchNumber",
        "JSONPostProcessor" => "JSONPostProcessor.match_numbers",
        _ => "",
    };
    let text = element.properties.text(property).unwrap_or_default();
    text.split(';').map(str::trim)
}

/// What may be the name of a variable that something asks for: all variables of texts, all words, and what a ForEach
/// Controller goes through, with a `_` behind it.
fn asked(tree: &Tree) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (_, element) in tree.iter().filter(|(id, _)| tree.takes_part(*id)) {
        words_of(&element.name, &mut found);
        element.properties.each_text(&mut |text| words_of(text, &mut found));
        let input = element.properties.text("ForeachController.inputVal");
        found.extend(input.map(|input| format!("{input}_")));
    }
    found
}

fn words_of(text: &str, found: &mut BTreeSet<String>) {
    // What is made beside a variable has this behind its name.
    if !text.contains('_') {
        return;
    }
    let split = Text::parse(text, &functions::is_function).unwrap_or_default();
    found.extend(split.variables().into_iter().map(str::to_owned));
    let is_letter = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let words = text.split(|c| !is_letter(c)).filter(|word| word.contains('_'));
    found.extend(words.map(str::to_owned));
}

fn text_of(property: &Property) -> Option<String> {
    match &property.value {
        PropertyValue::Text(text) => Some(text.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_becomes_a_name_of_its_own() {
        let mut names = Names::default();
        for name in ["user.id", "user_id", "token", "body", "1st", "token", ""] {
            names.add(name);
        }
        let all: Vec<_> = names.iter().collect();
        let expected = [
            ("1st", "_1st"),
            ("body", "body_"),
            ("token", "token"),
            ("user.id", "user_id"),
            ("user_id", "user_id_"),
        ];
        assert_eq!(all, expected);
        for (name, beside) in [
            ("token_g1", true),
            ("token_g", true),
            ("token_matchNr", true),
            ("token_3", true),
            ("token_x", false),
            ("token", false),
        ] {
            assert_eq!(names.is_made_beside(name), beside, "{name}");
        }
    }
}
