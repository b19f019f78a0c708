//! Tells whether an element matches a selector: from right to left, each step paid with fuel.

use std::cell::OnceCell;
use std::collections::HashMap;

use super::{Case, Combinator, Complex, Compound, Name, Operator, Test};
use crate::ExtractError;
use crate::fuel::Fuel;
use crate::markup::{DOCUMENT, Kind, NodeId, Tree};

/// Matches the elements of one tree.
pub(super) struct Matcher<'t> {
    tree: &'t Tree,
    fuel: &'t Fuel,
    /// Positions among all siblings, and among those of the same name.
    positions: [OnceCell<Vec<Position>>; 2],
}

/// Which child an element is, from the start and from the end; both begin with 1.
#[derive(Clone, Copy, Default)]
struct Position {
    from_start: u32,
    from_end: u32,
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
    pub(super) fn new(tree: &'t Tree, fuel: &'t Fuel) -> Self {
        Matcher { tree, fuel, positions: Default::default() }
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
        self.fuel.burn(1)?;
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
            Combinator::Child => match self.parent(element) {
                Some(parent) => Ok(match self.ends_at(before, parent, anchor)? {
                    Match::NotHere => Match::No,
                    result => result,
                }),
                None => Ok(Match::Never),
            },
            Combinator::NextSibling => match self.previous(element)? {
                Some(previous) => self.ends_at(before, previous, anchor),
                None => Ok(Match::NotHere),
            },
            Combinator::Descendant => {
                let mut next = self.parent(element);
                while let Some(ancestor) = next {
                    match self.ends_at(before, ancestor, anchor)? {
                        Match::No | Match::NotHere => next = self.parent(ancestor),
                        result => return Ok(result),
                    }
                }
                Ok(Match::Never)
            }
            Combinator::LaterSibling => {
                let mut next = self.previous(element)?;
                while let Some(sibling) = next {
                    match self.ends_at(before, sibling, anchor)? {
                        Match::No => next = self.previous(sibling)?,
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
            Combinator::Child => self.tree.parent(element) == Some(anchor),
            Combinator::Descendant => self.tree.descendants(anchor).contains(&element),
            Combinator::NextSibling => self.previous(element)? == Some(anchor),
            Combinator::LaterSibling => {
                anchor < element && self.tree.parent(anchor) == self.tree.parent(element)
            }
        })
    }

    fn parent(&self, element: NodeId) -> Option<NodeId> {
        self.tree.parent(element).filter(|parent| *parent != DOCUMENT)
    }

    /// The element before this one among its siblings.
    fn previous(&self, element: NodeId) -> Result<Option<NodeId>, ExtractError> {
        let mut next = self.tree.previous_sibling(element);
        while let Some(sibling) = next {
            self.fuel.burn(1)?;
            if self.tree.is_element(sibling) {
                return Ok(Some(sibling));
            }
            next = self.tree.previous_sibling(sibling);
        }
        Ok(None)
    }

    fn all(&self, tests: &[Test], element: NodeId) -> Result<bool, ExtractError> {
        for test in tests {
            if !self.holds(test, element)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn holds(&self, test: &Test, element: NodeId) -> Result<bool, ExtractError> {
        let tree = self.tree;
        Ok(match test {
            Test::Name(Name::Local(name)) => tree.same_name(tree.local_name(element), name),
            Test::Name(Name::Full(name)) => tree.same_name(tree.name(element), name),
            Test::Id(id) => {
                self.fuel.burn(tree.attributes(element).len())?;
                tree.attribute(element, "id") == Some(id)
            }
            Test::Class(class) => match self.class(element)? {
                Some(value) => {
                    self.fuel.burn_text(value.len())?;
                    has_word(value, class)
                }
                None => false,
            },
            Test::Attribute { name, value, case } => {
                self.fuel.burn(tree.attributes(element).len())?;
                match (attribute(tree, element, name), value) {
                    (None, _) => false,
                    (Some(_), None) => true,
                    (Some(actual), Some((operator, wanted))) => {
                        self.fuel.burn_text(actual.len())?;
                        let ignored = match case {
                            Case::Matters => false,
                            Case::Ignored => true,
                            Case::OfAttribute => {
                                tree.is_html() && name.eq_ignore_ascii_case("type")
                            }
                        };
                        operator.holds(actual, wanted, ignored)
                    }
                }
            }
            Test::Is(list) => self.any(list, element)?,
            Test::Not(list) => !self.any(list, element)?,
            Test::Has(list) => self.has(list, element)?,
            Test::Nth { step, offset, of_type, from_end } => {
                let position = self.position(element, *of_type)?;
                let position = if *from_end { position.from_end } else { position.from_start };
                is_nth(i64::from(position), *step, *offset)
            }
            Test::NthOf { step, offset, from_end, of } => {
                self.any(of, element)?
                    && is_nth(self.position_among(of, element, *from_end)?, *step, *offset)
            }
            Test::Root => tree.parent(element) == Some(DOCUMENT),
            Test::Empty => {
                let mut children = tree.descendants(element);
                children.all(|id| matches!(tree.kind(id), Kind::Comment | Kind::Instruction))
            }
        })
    }

    fn class(&self, element: NodeId) -> Result<Option<&'t str>, ExtractError> {
        self.fuel.burn(self.tree.attributes(element).len())?;
        Ok(self.tree.attribute(element, "class"))
    }

    fn has(&self, list: &[Complex], anchor: NodeId) -> Result<bool, ExtractError> {
        for Complex(compounds) in list {
            let candidates = match compounds.first().map(|first| first.combinator) {
                Some(Combinator::NextSibling | Combinator::LaterSibling) => {
                    let parent = self.tree.parent(anchor).unwrap_or(DOCUMENT);
                    self.tree.descendants(anchor).end..self.tree.descendants(parent).end
                }
                _ => self.tree.descendants(anchor),
            };
            for candidate in candidates {
                self.fuel.burn(1)?;
                if self.tree.is_element(candidate)
                    && self.ends_at(compounds, candidate, Some(anchor))? == Match::Yes
                {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Which of the siblings that match a selector an element is, from 1; each sibling before it
    /// (or behind it) is paid for.
    fn position_among(
        &self,
        of: &[Complex],
        element: NodeId,
        from_end: bool,
    ) -> Result<i64, ExtractError> {
        let next = |id| match from_end {
            true => self.tree.next_sibling(id),
            false => self.tree.previous_sibling(id),
        };
        let mut position = 1;
        for sibling in std::iter::successors(next(element), |id| next(*id)) {
            self.fuel.burn(1)?;
            if self.tree.is_element(sibling) && self.any(of, sibling)? {
                position += 1;
            }
        }
        Ok(position)
    }

    fn position(&self, element: NodeId, of_type: bool) -> Result<Position, ExtractError> {
        let positions = &self.positions[usize::from(of_type)];
        if positions.get().is_none() {
            self.fuel.burn(self.tree.len() as usize)?;
        }
        let positions = positions.get_or_init(|| positions_in(self.tree, of_type));
        Ok(positions.get(element as usize).copied().unwrap_or_default())
    }
}

/// The positions of all elements at once: one by one they would take quadratic time.
fn positions_in(tree: &Tree, of_type: bool) -> Vec<Position> {
    let family = |element| {
        let name = if of_type { tree.name(element) } else { "" };
        (tree.parent(element), name)
    };
    let mut counts = HashMap::new();
    let mut positions = vec![Position::default(); tree.len() as usize];
    for element in tree.elements() {
        let count = counts.entry(family(element)).or_insert(0);
        *count += 1;
        positions[element as usize].from_start = *count;
    }
    for element in tree.elements() {
        // Counted above, as are all elements of the tree.
        let position = &mut positions[element as usize];
        position.from_end = counts[&family(element)] + 1 - position.from_start;
    }
    positions
}

/// Whether a position is `step * n + offset` for some n from 0.
fn is_nth(position: i64, step: i64, offset: i64) -> bool {
    let distance = position - offset;
    match step {
        0 => distance == 0,
        step => distance % step == 0 && distance / step >= 0,
    }
}

/// The value of an attribute; in HTML the case of its name does not matter.
pub(super) fn attribute<'t>(tree: &'t Tree, element: NodeId, name: &str) -> Option<&'t str> {
    let mut attributes = tree.attributes(element);
    let found = attributes.find(|a| tree.same_name(tree.attribute_name(*a), name))?;
    Some(tree.attribute_value(found))
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
