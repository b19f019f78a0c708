//! CSS selectors over HTML and XML: Selectors Level 4, without pseudo-elements and column
//! combinators. What forms are in is taken from the page as it came,
//! before a user has touched it; `:hover` and its like select nothing. `:contains()` and `[name!=value]` are not of the standard, but known
//! from other tools.

mod language;
mod matching;
mod parse;
mod positions;
mod pseudo;
mod states;
#[cfg(test)]
mod tests;

use crate::error::{CompileError, ExtractError};
use crate::found::{Chosen, Found, Item, MatchChoice};
use crate::fuel::Fuel;
use crate::markup::{NodeId, Tree};
use matching::Matcher;

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
        let matcher = Matcher::new(tree, fuel);
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
            Some(name) => matching::attribute(tree, element, name),
            None => Some(tree.text(element).trim()),
        }
    }
}

/// A sequence of compounds joined by combinators, such as `ul > li.new a`. In `:has(…)` the first
/// one is joined to the element that has it.
#[derive(Debug, Clone)]
struct Complex(Vec<Compound>);

/// What one element must be, and how it stands to the compound before.
#[derive(Debug, Clone)]
struct Compound {
    combinator: Combinator,
    tests: Vec<Test>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Combinator {
    Descendant,
    Child,
    NextSibling,
    LaterSibling,
}

/// One condition on an element.
#[derive(Debug, Clone)]
enum Test {
    Name(Name),
    Id(String),
    Class(String),
    Attribute {
        name: String,
        value: Option<(Operator, String)>,
        case: Case,
    },
    Is(Vec<Complex>),
    Not(Vec<Complex>),
    Has(Vec<Complex>),
    /// It is number `step * n + offset`, for some n from 0.
    Nth {
        step: i64,
        offset: i64,
        from_end: bool,
        among: Among,
    },
    Root,
    Empty,
    /// It is of HTML, and not of another language.
    Html,
    /// One of the texts is in its text, or in that of its own text nodes.
    Contains {
        texts: Vec<String>,
        own: bool,
    },
    /// It is in one of the languages, as RFC 4647 compares them.
    Language(Vec<String>),
    Direction(Direction),
    /// Its value is between `min` and `max`, or not.
    InRange(bool),
    /// It is no element that only a script can define.
    Defined,
    /// The first button that sends its form.
    DefaultButton,
    /// A radio button of whose group none is checked.
    UncheckedGroup,
}

/// Among which of its siblings an element is counted.
#[derive(Debug, Clone)]
enum Among {
    All,
    SameName,
    /// Those that match a selector, as it does itself.
    Matching(Vec<Complex>),
}

/// In which direction a text runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    LeftToRight,
    RightToLeft,
}

/// Whether the case of an attribute's value matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Case {
    Matters,
    Ignored,
    IgnoredInHtml,
}

/// The name of an element.
#[derive(Debug, Clone)]
enum Name {
    /// Whatever its prefix.
    Local(String),
    /// As written in the document, with or without a prefix.
    Full(String),
    /// Any with this prefix.
    Prefix(String),
}

/// How the value of an attribute is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Equals,
    /// One of the words in it.
    Word,
    /// Itself, or followed by a hyphen.
    Language,
    Prefix,
    Suffix,
    Substring,
}
