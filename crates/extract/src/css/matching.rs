//! Tells whether an element matches a selector: from right to left, each step paid with fuel.

use super::elements::Elements;
use super::positions::{Family, Position, Positions, number, number_by_name};
use super::selector::{Among, Case, Combinator, Complex, Compound, Name, Operator, Test};
use super::states::is_defined;
use crate::error::ExtractError;
use crate::markup::{DOCUMENT, Kind, NodeId, Tree};

pub(super) struct Matcher<'t> {
    elements: Elements<'t>,
    positions: Positions,
}

/// Whether a selector ends at an element and, if not, where else it is no use to try. That keeps
/// `a b c d` from trying all combinations of ancestors.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Match {
    Yes,
    /// Not at this element.
    No,
    /// Nor at one of its earlier siblings.
    NotHere,
    /// Nor at one of its ancestors, nor at their siblings.
    Never,
}

impl<'t> Matcher<'t> {
    pub(super) fn new(elements: Elements<'t>) -> Self {
        Matcher { elements, positions: Positions::default() }
    }

    /// Whether an element matches one of the selectors.
    pub(super) fn any(&self, list: &[Complex], element: NodeId) -> Result<bool, ExtractError> {
        for Complex(compounds) in list {
            if self.ends_at(compounds, element, None)? == Match::Yes {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether `element` matches the last compound, and what it is joined to the ones before. In
    /// `:has(…)` the first compound is joined to `anchor`.
    fn ends_at(
        &self,
        compounds: &[Compound],
        element: NodeId,
        anchor: Option<NodeId>,
    ) -> Result<Match, ExtractError> {
        let Some((last, before)) = compounds.split_last() else { return Ok(Match::Yes) };
        self.elements.fuel.burn(1)?;
        if !self.all(&last.tests, element)? {
            return Ok(Match::No);
        }
        if before.is_empty() {
            let joined = match anchor {
                Some(anchor) => self.joined(anchor, last.combinator, element)?,
                None => true,
            };
            return Ok(if joined { Match::Yes } else { Match::No });
        }
        match last.combinator {
            Combinator::Child => match self.elements.parent(element) {
                Some(parent) => Ok(match self.ends_at(before, parent, anchor)? {
                    Match::NotHere => Match::No,
                    result => result,
                }),
                None => Ok(Match::Never),
            },
            Combinator::NextSibling => match self.elements.previous(element)? {
                Some(previous) => self.ends_at(before, previous, anchor),
                None => Ok(Match::NotHere),
            },
            Combinator::Descendant => {
                let mut next = self.elements.parent(element);
                while let Some(ancestor) = next {
                    match self.ends_at(before, ancestor, anchor)? {
                        Match::No | Match::NotHere => next = self.elements.parent(ancestor),
                        result => return Ok(result),
                    }
                }
                Ok(Match::Never)
            }
            Combinator::LaterSibling => {
                let mut next = self.elements.previous(element)?;
                while let Some(sibling) = next {
                    match self.ends_at(before, sibling, anchor)? {
                        Match::No => next = self.elements.previous(sibling)?,
                        result => return Ok(result),
                    }
                }
                Ok(Match::NotHere)
            }
        }
    }

    /// Whether `element` stands to `anchor` as a combinator says.
    fn joined(
        &self,
        anchor: NodeId,
        combinator: Combinator,
        element: NodeId,
    ) -> Result<bool, ExtractError> {
        Ok(match combinator {
            Combinator::Child => self.elements.tree.parent(element) == Some(anchor),
            Combinator::Descendant => self.elements.tree.descendants(anchor).contains(&element),
            Combinator::NextSibling => self.elements.previous(element)? == Some(anchor),
            Combinator::LaterSibling => {
                anchor < element
                    && self.elements.tree.parent(anchor) == self.elements.tree.parent(element)
            }
        })
    }

    fn all(&self, tests: &[Test], element: NodeId) -> Result<bool, ExtractError> {
        for test in tests {
            let holds = match test {
                // Most elements fail at their name: that is not worth a call.
                Test::Name(name) => is_named(self.elements.tree, element, name),
                test => self.holds(test, element)?,
            };
            if !holds {
                return Ok(false);
            }
        }
        Ok(true)
    }

    #[inline(never)]
    fn holds(&self, test: &Test, element: NodeId) -> Result<bool, ExtractError> {
        let tree = self.elements.tree;
        Ok(match test {
            Test::Name(name) => is_named(tree, element, name),
            Test::Id(id) => self.elements.attribute(element, "id")? == Some(id),
            Test::Class(class) => match self.elements.attribute(element, "class")? {
                Some(value) => {
                    self.elements.fuel.burn_text(value.len())?;
                    has_word(value, class)
                }
                None => false,
            },
            Test::Attribute { name, value, case } => {
                match (self.elements.attribute(element, name)?, value) {
                    (None, _) => false,
                    (Some(_), None) => true,
                    (Some(actual), Some((operator, wanted))) => {
                        self.elements.fuel.burn_text(actual.len())?;
                        let ignored = match case {
                            Case::Matters => false,
                            Case::Ignored => true,
                            Case::IgnoredInHtml => tree.is_html(),
                        };
                        operator.holds(actual, wanted, ignored)
                    }
                }
            }
            Test::Is(list) => self.any(list, element)?,
            Test::Not(list) => !self.any(list, element)?,
            Test::Has(list) => self.has(list, element)?,
            Test::Nth { step, offset, from_end, among } => {
                self.is_nth(element, (*step, *offset), *from_end, among)?
            }
            Test::Root => tree.parent(element) == Some(DOCUMENT),
            Test::Empty => {
                let mut children = tree.descendants(element);
                children.all(|id| matches!(tree.kind(id), Kind::Comment | Kind::Instruction))
            }
            Test::Html => self.elements.is_html(element)?,
            Test::Contains { texts, own } => self.contains(element, texts, *own)?,
            Test::Language(ranges) => self.elements.speaks(element, ranges)?,
            Test::Direction(direction) => self.elements.direction(element)? == Some(*direction),
            Test::InRange(within) => self.elements.is_in_range(element)? == Some(*within),
            Test::Defined => is_defined(tree.local_name(element)),
            Test::DefaultButton => self.elements.is_default_button(element)?,
            Test::UncheckedGroup => self.elements.is_of_unchecked_group(element)?,
        })
    }

    fn is_nth(
        &self,
        element: NodeId,
        (step, offset): (i64, i64),
        from_end: bool,
        among: &Among,
    ) -> Result<bool, ExtractError> {
        match among {
            // The first and the last need no numbers.
            Among::All if (step, offset) == (0, 1) => {
                return Ok(match from_end {
                    true => self.elements.next(element)?.is_none(),
                    false => self.elements.previous(element)?.is_none(),
                });
            }
            Among::Matching(list) if !self.any(list, element)? => return Ok(false),
            _ => {}
        }
        let position = self.position(element, among)?;
        let position = if from_end { position.from_end } else { position.from_start };
        Ok(is_nth(i64::from(position), step, offset))
    }

    /// Which child an element is, among those siblings; it must be one of them itself.
    fn position(&self, element: NodeId, among: &Among) -> Result<Position, ExtractError> {
        let family = Family::of(among);
        if let Some(position) = self.positions.known(family, element) {
            return Ok(position);
        }
        let mut counted = Vec::new();
        for child in self
            .elements
            .tree
            .parent(element)
            .into_iter()
            .flat_map(|p| self.elements.tree.children(p))
        {
            self.elements.fuel.burn(1)?;
            let counts = self.elements.tree.is_element(child)
                && match among {
                    Among::Matching(list) => self.any(list, child)?,
                    _ => true,
                };
            if counts {
                counted.push(child);
            }
        }
        let mut table = match self.positions.take(family) {
            Some(table) => table,
            None => {
                let nodes = self.elements.tree.len() as usize;
                self.elements.fuel.burn(nodes / 8)?;
                vec![Position::default(); nodes]
            }
        };
        match family {
            Family::SameName => {
                number_by_name(&counted, |id| self.elements.tree.name_id(id), &mut table)
            }
            _ => number(counted.iter().copied(), &mut table),
        }
        let position = table[element as usize];
        self.positions.keep(family, table);
        Ok(position)
    }

    /// Whether one of the texts is in that of an element, or in its own text nodes.
    fn contains(&self, element: NodeId, texts: &[String], own: bool) -> Result<bool, ExtractError> {
        let holds = |id: NodeId| {
            let text = self.elements.tree.text(id);
            self.elements.fuel.burn_text(text.len() * texts.len())?;
            Ok(texts.iter().any(|wanted| text.contains(wanted.as_str())))
        };
        if !own {
            return holds(element);
        }
        for child in self.elements.tree.children(element) {
            self.elements.fuel.burn(1)?;
            if self.elements.tree.kind(child) == Kind::Text && holds(child)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn has(&self, list: &[Complex], anchor: NodeId) -> Result<bool, ExtractError> {
        for Complex(compounds) in list {
            let candidates = match compounds.first().map(|first| first.combinator) {
                Some(Combinator::NextSibling | Combinator::LaterSibling) => {
                    let parent = self.elements.tree.parent(anchor).unwrap_or(DOCUMENT);
                    self.elements.tree.descendants(anchor).end
                        ..self.elements.tree.descendants(parent).end
                }
                _ => self.elements.tree.descendants(anchor),
            };
            for candidate in candidates {
                self.elements.fuel.burn(1)?;
                if self.elements.tree.is_element(candidate)
                    && self.ends_at(compounds, candidate, Some(anchor))? == Match::Yes
                {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

#[inline]
fn is_named(tree: &Tree, element: NodeId, name: &Name) -> bool {
    match name {
        Name::Local(name) => tree.same_name(tree.local_name(element), name),
        Name::Full(name) => tree.same_name(tree.name(element), name),
        Name::Prefix(prefix) => {
            let (own, _) = tree.name(element).split_once(':').unwrap_or_default();
            tree.same_name(own, prefix)
        }
    }
}

/// Whether a position is `step * n + offset` for some n from 0.
fn is_nth(position: i64, step: i64, offset: i64) -> bool {
    let distance = position - offset;
    match step {
        0 => distance == 0,
        step => distance % step == 0 && distance / step >= 0,
    }
}

fn has_word(value: &str, word: &str) -> bool {
    value.split_ascii_whitespace().any(|w| w == word)
}

impl Operator {
    fn holds(self, actual: &str, wanted: &str, ignore_case: bool) -> bool {
        if ignore_case {
            return self.holds(&actual.to_ascii_lowercase(), &wanted.to_ascii_lowercase(), false);
        }
        // An empty text is part of every text, but selects nothing.
        let said = !wanted.is_empty();
        match self {
            Operator::Equals => actual == wanted,
            Operator::Word => has_word(actual, wanted),
            Operator::Language => actual
                .strip_prefix(wanted)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('-')),
            Operator::Prefix => said && actual.starts_with(wanted),
            Operator::Suffix => said && actual.ends_with(wanted),
            Operator::Substring => said && actual.contains(wanted),
        }
    }
}
