//! The variables that get values while a plan runs, and what they are called here: JMeter takes any text for a name.

use std::collections::BTreeMap;

use super::data::Columns;
use crate::properties::{Property, PropertyValue};
use crate::tree::{Element, Tree};

/// Names that mean something else in expressions.
const TAKEN: [&str; 18] = [
    "head",
    "head_bytes",
    "reason",
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
];

/// JMeter's names, each with the variable that it is here.
#[derive(Debug, Default)]
pub(super) struct Names {
    variables: BTreeMap<String, String>,
    /// What is taken by something else.
    reserved: Vec<String>,
}

impl Names {
    /// All that the elements of a plan set, with the columns of data files.
    pub(super) fn of(tree: &Tree, columns: &Columns) -> Names {
        let mut names = Names::default();
        for (id, element) in tree.iter() {
            if tree.takes_part(id) {
                set_by(element).into_iter().for_each(|name| names.add(&name));
            }
        }
        columns.values().flatten().flatten().for_each(|name| names.add(name));
        names
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
fn set_by(element: &Element) -> Vec<String> {
    let property = match element.class.as_str() {
        "RegexExtractor" => "RegexExtractor.refname",
        "BoundaryExtractor" => "BoundaryExtractor.refname",
        "JSONPostProcessor" => "JSONPostProcessor.referenceNames",
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
