//! CSS selectors over HTML and XML: Selectors Level 4, without pseudo-elements and column
//! combinators. What forms are in is taken from the page as it came,
//! before a user has touched it; `:hover` and its like select nothing. `:contains()` and `[name!=value]` are not of the standard, but known
//! from other tools.

mod elements;
mod language;
mod matching;
mod parse;
mod positions;
mod selector;
mod shorthands;
mod states;
#[cfg(test)]
mod tests;
mod words;

use crate::error::{CompileError, ExtractError};
use crate::found::{Chosen, Found, Item, MatchChoice};
use crate::fuel::Fuel;
use crate::markup::{NodeId, Tree};
use elements::Elements;
use matching::Matcher;
use selector::Complex;

/// A compiled selector, and what to take of the elements it selects.
#[derive(Debug, Clone)]
pub(crate) struct Css {
    selectors: Vec<Complex>,
    attribute: Option<String>,
}

impl Css {
    pub(crate) fn compile(selector: &str, attribute: Option<&str>) -> Result<Self, CompileError> {
        if attribute.is_some_and(|name| name.trim().is_empty()) {
            return Err(CompileError::new("the name of the attribute is empty"));
        }
        let attribute = attribute.map(|name| name.trim().to_owned());
        Ok(Css { selectors: parse::selectors(selector)?, attribute })
    }

    /// Takes the attribute or the text of the elements that the selector selects.
    pub(crate) fn find<'b>(
        &self,
        tree: &Tree,
        fuel: &Fuel,
        which: MatchChoice,
        random: u64,
    ) -> Result<Found<'b>, ExtractError> {
        let matcher = Matcher::new(Elements { tree, fuel });
        let mut values = Vec::new();
        for element in tree.elements() {
            if which.enough().is_some_and(|enough| values.len() >= enough) {
                break;
            }
            if !matcher.any(&self.selectors, element)? {
                continue;
            }
            if let Some(value) = self.value(tree, element) {
                fuel.burn(8)?;
                values.push(value);
            }
        }
        let values = values.into_iter().map(Ok);
        Chosen::among(values, which, random, fuel.results_left())?.try_into_found(|value| {
            fuel.count_result(value.len())?;
            Ok(Item::text(value))
        })
    }

    fn value<'t>(&self, tree: &'t Tree, element: NodeId) -> Option<&'t str> {
        match &self.attribute {
            Some(name) => elements::attribute(tree, element, name),
            None => Some(tree.text(element).trim()),
        }
    }
}
