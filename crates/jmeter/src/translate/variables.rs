//! Functions that look for variables by a name: one that is written, or one that only the run makes. Pure.

use super::Translator;
use super::texts::{TextPiece, expression, literal, quoted};
use crate::constants::OF_START;

/// All that is looked through, in an expression.
const ALL: &str = "each_0";
/// Most variables among which one is looked for by a name that only the run makes.
const MOST_CANDIDATES: usize = 200;

impl Translator<'_> {
    /// The value of the variable of a name (`__V`), or what is given for one that nobody has set: the name itself, as a
    /// rule. `None`: it has no equal.
    pub(super) fn value_named(
        &self,
        name: &[TextPiece],
        without: Option<&[TextPiece]>,
    ) -> Option<TextPiece> {
        let without = without.unwrap_or(name);
        if let Some(known) = literal(name) {
            let unset = expression(without);
            return self.value_or(known, &unset).map(|found| match (found, literal(without)) {
                (TextPiece::Expr(value), Some(text)) if value == unset => {
                    TextPiece::Text(text.to_owned())
                }
                (found, _) => found,
            });
        }
        let key = expression(name);
        let without = expression(without);
        let begin = match name.first()? {
            TextPiece::Text(text) => text.as_str(),
            TextPiece::Expr(_) => "",
        };
        let end = match name.last()? {
            TextPiece::Text(text) => text.as_str(),
            TextPiece::Expr(_) => "",
        };
        // One of an extractor's matches, by its number.
        let of_matches = begin.strip_suffix('_').and_then(|set| self.names.matches(set));
        if let (Some(found), [_, TextPiece::Expr(number)]) = (of_matches, name) {
            return Some(TextPiece::Expr(one_of(found, number, &without)));
        }
        if self.names.all_sets().any(|set| overlaps(&format!("{set}_"), begin)) {
            return None;
        }
        let fits = |name: &&str| {
            let longest = begin.len() + end.len();
            name.len() >= longest && name.starts_with(begin) && name.ends_with(end)
        };
        let mut unset = OF_START.iter().filter(|(name, _)| self.names.variable(name).is_none());
        if unset.any(|(name, _)| fits(name)) {
            return None;
        }
        let mut candidates: Vec<&str> = self.names.iter().map(|(name, _)| name).collect();
        candidates.extend(self.constants.variables());
        candidates.retain(|name| fits(name));
        candidates.sort_unstable();
        candidates.dedup();
        if candidates.len() > MOST_CANDIDATES {
            return None;
        }
        let entries = candidates.iter().map(|name| {
            let value = match self.value_or(name, &without)? {
                TextPiece::Text(text) => quoted(&text),
                TextPiece::Expr(value) => format!("string({value})"),
            };
            Some(format!("{}: {value}", quoted(name)))
        });
        let entries = entries.collect::<Option<Vec<_>>>()?;
        if entries.is_empty() {
            return Some(TextPiece::Expr(without));
        }
        let entries = entries.join(", ");
        Some(TextPiece::Expr(format!(
            "[{{{entries}}}].map({ALL}, ({key}) in {ALL} ? {ALL}[{key}] : ({without}))[0]"
        )))
    }

    /// The value of a variable, or what an expression gives where nobody has set it.
    fn value_or(&self, name: &str, without: &str) -> Option<TextPiece> {
        if let Some(variable) = self.names.variable(name) {
            let unset = quoted(&format!("${{{name}}}"));
            let value = format!("({variable} == {unset} ? {without} : {variable})");
            return Some(TextPiece::Expr(value));
        }
        if let Some(one) = self.names.one_of_matches(name, &format!("({without})")) {
            return Some(TextPiece::Expr(one));
        }
        match self.constants.known(name) {
            Some(value) => value.map(|value| TextPiece::Text(value.to_owned())),
            // What JMeter sets itself is what it is without asking by name.
            None => match self.variable(name).ok()? {
                TextPiece::Text(_) => Some(TextPiece::Expr(without.to_owned())),
                set => Some(set),
            },
        }
    }

    /// Whether a variable has a value (`__isVarDefined`).
    pub(super) fn is_set(&self, name: &str) -> Option<TextPiece> {
        let unset = quoted("\u{0}");
        Some(match self.value_or(name, &unset)? {
            TextPiece::Expr(value) if value == unset => TextPiece::Text("false".to_owned()),
            TextPiece::Expr(value) => TextPiece::Expr(format!("{value} != {unset}")),
            TextPiece::Text(_) => TextPiece::Text("true".to_owned()),
        })
    }

    /// The value of any of some variables (`__RandomFromMultipleVars`): of those that are set and not empty, at random.
    pub(super) fn any_of(&self, names: &str) -> Option<TextPiece> {
        let none = quoted("");
        let mut values = Vec::new();
        for name in names.split('|').filter(|name| !name.is_empty()) {
            if self.names.matches(name).is_some() {
                return None;
            }
            match self.value_or(name, &none)? {
                TextPiece::Text(text) if text.is_empty() => {}
                TextPiece::Text(text) => values.push(format!("[{}]", quoted(&text))),
                TextPiece::Expr(value) if value == none => {}
                TextPiece::Expr(value) => {
                    values.push(format!("(string({value}) == {none} ? [] : [string({value})])"))
                }
            }
        }
        if values.is_empty() {
            return Some(TextPiece::Text(String::new()));
        }
        let values = values.join(" + ");
        Some(TextPiece::Expr(format!(
            "[{values}].map({ALL}, size({ALL}) == 0 ? {none} : choice({ALL}))[0]"
        )))
    }
}

/// One of the matches that an extractor has found, by its number from 1.
fn one_of(found: &str, number: &str, without: &str) -> String {
    let number = format!("string({number})");
    let place = format!("int({number}) - 1");
    format!(
        "({found} != null && {number}.matches({}) && int({number}) <= size({found}) \
         && {found}[{place}] != null ? string({found}[{place}]) : {without})",
        quoted("^[1-9][0-9]{0,8}$")
    )
}

/// Whether a text that begins with one of two may begin with the other.
fn overlaps(one: &str, other: &str) -> bool {
    one.starts_with(other) || other.starts_with(one)
}
