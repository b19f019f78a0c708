//! Walks a document along a query, depth first, so that no list of nodes is built and the walk
//! ends as soon as enough is found. The order is that of RFC 9535.

use std::borrow::Cow;
use std::cell::RefCell;

use serde_json::Value;

use super::document::{Document, Kind, Node, is_named};
use super::query::{Operand, Query, Segment, Selector, Test, Tested, TextPattern, text_pattern};
use crate::error::ExtractError;
use crate::fuel::Fuel;

/// The price of compiling a pattern that stands in the document.
const PATTERN_FUEL: usize = 20_000;

/// The most elements of a slice that are kept to be visited backwards.
const BLOCK: i64 = 1 << 14;

/// Why a walk ended before its end.
pub(super) enum Stop {
    Enough,
    Failed(ExtractError),
}

impl From<ExtractError> for Stop {
    fn from(error: ExtractError) -> Self {
        Stop::Failed(error)
    }
}

type Visit<'s> = &'s mut dyn FnMut(Node) -> Result<(), Stop>;

pub(super) struct Search<'d> {
    pub(super) document: &'d Document<'d>,
    pub(super) fuel: &'d Fuel,
    /// What paths from the root select that a filter names for each value it looks at.
    constants: RefCell<Vec<(*const Query, Option<Node>)>>,
}

/// A value in a comparison: of the document, written in the path, or computed.
pub(super) enum Operated<'o> {
    Node(Node),
    Literal(&'o Value),
    Number(usize),
    Text(Cow<'o, str>),
}

impl<'d> Search<'d> {
    pub(super) fn new(document: &'d Document<'d>, fuel: &'d Fuel) -> Self {
        Search { document, fuel, constants: RefCell::default() }
    }

    /// Visits each value that a query selects; `current` is what `@` stands for.
    pub(super) fn walk(&self, query: &Query, current: Node, visit: Visit<'_>) -> Result<(), Stop> {
        if query.is_singular() {
            return self.only(query, current)?.map_or(Ok(()), visit);
        }
        let start = if query.from_root { self.document.root() } else { current };
        self.segments(&query.segments, start, visit)
    }

    /// The value that a singular query selects.
    fn only(&self, query: &Query, current: Node) -> Result<Option<Node>, ExtractError> {
        if !query.from_root {
            return self.follow(query, current);
        }
        let known =
            self.constants.borrow().iter().find(|(of, _)| std::ptr::eq(*of, query)).copied();
        if let Some((_, node)) = known {
            return Ok(node);
        }
        let node = self.follow(query, self.document.root())?;
        self.constants.borrow_mut().push((query, node));
        Ok(node)
    }

    /// Follows a singular query from a value.
    fn follow(&self, query: &Query, start: Node) -> Result<Option<Node>, ExtractError> {
        let mut node = start;
        for segment in &query.segments {
            let next = match segment.selectors.first() {
                Some(Selector::Name(name)) => self.member(node, name)?,
                Some(Selector::Index(index)) => self.element(node, *index)?,
                _ => None,
            };
            match next {
                Some(next) => node = next,
                None => return Ok(None),
            }
        }
        Ok(Some(node))
    }

    /// Goes over the values in an array or object, and takes the price of it.
    #[inline]
    pub(super) fn each_child<E: From<ExtractError>>(
        &self,
        node: Node,
        mut visit: impl FnMut(&str, Node) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut children = self.document.children(node);
        while let Some((name, child)) = children.step() {
            self.fuel.burn_text(children.looked_at())?;
            visit(name, child)?;
        }
        Ok(self.fuel.burn_text(children.looked_at())?)
    }

    /// The member of a name; of members with the same name the last.
    fn member(&self, node: Node, name: &str) -> Result<Option<Node>, ExtractError> {
        if self.document.kind(node) != Kind::Object {
            return Ok(None);
        }
        let mut found = None;
        self.each_child(node, |actual, child| {
            if is_named(actual, name) {
                found = Some(child);
            }
            Ok::<_, ExtractError>(())
        })?;
        Ok(found)
    }

    /// The element at an index, from the end if negative.
    fn element(&self, node: Node, index: i64) -> Result<Option<Node>, ExtractError> {
        if self.document.kind(node) != Kind::Array {
            return Ok(None);
        }
        let index = if index < 0 { index + self.count(node)? as i64 } else { index };
        let Ok(index) = usize::try_from(index) else { return Ok(None) };
        let (mut at, mut found) = (0, None);
        let walked = self.each_child(node, |_, child| {
            if at == index {
                found = Some(child);
                return Err(Stop::Enough);
            }
            at += 1;
            Ok(())
        });
        finished(walked).map(|()| found)
    }

    /// How many values there are in an array or object.
    fn count(&self, node: Node) -> Result<usize, ExtractError> {
        let mut count = 0;
        self.each_child(node, |_, _| {
            count += 1;
            Ok::<_, ExtractError>(())
        })?;
        Ok(count)
    }

    fn segments(&self, segments: &[Segment], node: Node, visit: Visit<'_>) -> Result<(), Stop> {
        let Some((segment, rest)) = segments.split_first() else { return visit(node) };
        self.fuel.nested(|| {
            for selector in &segment.selectors {
                self.select(selector, node, &mut |node| self.segments(rest, node, visit))?;
            }
            if segment.descendants {
                self.each_child(node, |_, child| self.segments(segments, child, visit))?;
            }
            Ok(())
        })
    }

    fn select(&self, selector: &Selector, node: Node, visit: Visit<'_>) -> Result<(), Stop> {
        self.fuel.burn(1)?;
        match selector {
            Selector::Name(name) => self.member(node, name)?.map_or(Ok(()), visit),
            Selector::Index(index) => self.element(node, *index)?.map_or(Ok(()), visit),
            Selector::Wildcard => self.each_child(node, |_, child| visit(child)),
            Selector::Slice { start, end, step } => self.slice(node, *start, *end, *step, visit),
            Selector::Filter(test, tested) => self.filter(test, *tested, node, visit),
        }
    }

    fn filter(
        &self,
        test: &Test,
        tested: Tested,
        node: Node,
        visit: Visit<'_>,
    ) -> Result<(), Stop> {
        let itself = match (tested, self.document.kind(node)) {
            (Tested::Children, _) | (Tested::Items, Kind::Array) => false,
            (Tested::Items | Tested::Objects, Kind::Object) => true,
            _ => return Ok(()),
        };
        let mut one = |node| if self.holds(test, node)? { visit(node) } else { Ok(()) };
        if itself { one(node) } else { self.each_child(node, |_, child| one(child)) }
    }

    /// Visits the elements of a slice (RFC 9535, section 2.3.4.2.2).
    fn slice(
        &self,
        node: Node,
        start: Option<i64>,
        end: Option<i64>,
        step: i64,
        visit: Visit<'_>,
    ) -> Result<(), Stop> {
        if self.document.kind(node) != Kind::Array || step == 0 {
            return Ok(());
        }
        let length = self.count(node)? as i64;
        let normal = |index: i64| if index < 0 { index + length } else { index };
        let (first, last) = if step > 0 {
            let clamp = |index: i64| normal(index).clamp(0, length);
            (start.map_or(0, clamp), end.map_or(length, clamp))
        } else {
            let clamp = |index: i64| normal(index).clamp(-1, length - 1);
            (start.map_or(length - 1, clamp), end.map_or(-1, clamp))
        };
        let selected = |at: i64| match step {
            1.. => at >= first && at < last && (at - first) % step == 0,
            _ => at <= first && at > last && (first - at) % step == 0,
        };
        if step > 0 {
            let mut at = 0;
            return self.each_child(node, |_, child| {
                at += 1;
                if selected(at - 1) { visit(child) } else { Ok(()) }
            });
        }
        // Elements are found from the start only: backwards goes block by block.
        let mut behind = length;
        while behind > 0 {
            let begin = (behind - BLOCK).max(0);
            let mut at = 0;
            let mut block = Vec::new();
            finished(self.each_child(node, |_, child| {
                if (begin..behind).contains(&at) && selected(at) {
                    block.push(child);
                }
                at += 1;
                if at < behind { Ok(()) } else { Err(Stop::Enough) }
            }))?;
            block.into_iter().rev().try_for_each(&mut *visit)?;
            behind = begin;
        }
        Ok(())
    }

    fn holds(&self, test: &Test, current: Node) -> Result<bool, ExtractError> {
        self.fuel.burn(1)?;
        match test {
            Test::Any(tests) => {
                for test in tests {
                    if self.holds(test, current)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Test::All(tests) => {
                for test in tests {
                    if !self.holds(test, current)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Test::Not(test) => Ok(!self.holds(test, current)?),
            Test::Exists(query) => Ok(self.first_two(query, current, 1)?.0.is_some()),
            Test::Compare(left, comparison, right) => {
                let (left, right) = (self.value(left, current)?, self.value(right, current)?);
                self.compare(left, *comparison, right)
            }
            Test::Matches { text, pattern, whole } => {
                let Some(text) = self.value(text, current)? else { return Ok(false) };
                let Some(text) = self.text(text)? else { return Ok(false) };
                // An automaton takes some steps where a comparison takes one.
                self.fuel.burn_copy(text.len())?;
                match pattern {
                    TextPattern::Fixed(regex) => Ok(regex.is_match(&*text)),
                    TextPattern::Computed(operand) => {
                        self.fuel.burn(PATTERN_FUEL)?;
                        let Some(pattern) = self.value(operand, current)? else {
                            return Ok(false);
                        };
                        let regex = self.text(pattern)?.and_then(|p| text_pattern(&p, *whole));
                        Ok(regex.is_some_and(|regex| regex.is_match(&*text)))
                    }
                }
            }
        }
    }

    /// The first and the second value that a query selects, looking for `wanted` of them.
    fn first_two(
        &self,
        query: &Query,
        current: Node,
        wanted: usize,
    ) -> Result<(Option<Node>, Option<Node>), ExtractError> {
        let mut found = (None, None);
        let walked = self.walk(query, current, &mut |node| {
            match found.0 {
                None => found.0 = Some(node),
                Some(_) => found.1 = Some(node),
            }
            if wanted == 1 || found.1.is_some() { Err(Stop::Enough) } else { Ok(()) }
        });
        finished(walked).map(|()| found)
    }

    /// The value of an operand; `None` is the RFC's Nothing.
    fn value<'o>(
        &self,
        operand: &'o Operand,
        current: Node,
    ) -> Result<Option<Operated<'o>>, ExtractError>
    where
        'd: 'o,
    {
        Ok(match operand {
            Operand::Literal(value) => Some(Operated::Literal(value)),
            Operand::Query(query) => self.only(query, current)?.map(Operated::Node),
            Operand::Length(operand) => {
                let Some(value) = self.value(operand, current)? else { return Ok(None) };
                self.length(value)?.map(Operated::Number)
            }
            Operand::Text(operand) => {
                let Some(value) = self.value(operand, current)? else { return Ok(None) };
                self.text_of(value)?.map(Operated::Text)
            }
            Operand::Count(query) => {
                let mut count = 0usize;
                let walked = self.walk(query, current, &mut |_| {
                    count += 1;
                    Ok(())
                });
                finished(walked)?;
                Some(Operated::Number(count))
            }
            Operand::Value(query) => match self.first_two(query, current, 2)? {
                (Some(value), None) => Some(Operated::Node(value)),
                _ => None,
            },
        })
    }

    /// The characters of a text, or the values in an array or object.
    fn length(&self, value: Operated<'_>) -> Result<Option<usize>, ExtractError> {
        if let Operated::Node(node) = value
            && let Kind::Array | Kind::Object = self.document.kind(node)
        {
            return self.count(node).map(Some);
        }
        Ok(self.text(value)?.map(|text| text.chars().count()))
    }

    /// A text, or what is written of a number or boolean; `None` of other values.
    fn text_of<'o>(&self, value: Operated<'o>) -> Result<Option<Cow<'o, str>>, ExtractError>
    where
        'd: 'o,
    {
        Ok(match value {
            Operated::Node(node) => match self.document.kind(node) {
                Kind::Number | Kind::Boolean(_) => {
                    let raw = self.document.raw(node);
                    self.fuel.burn_text(raw.len())?;
                    Some(Cow::Borrowed(raw))
                }
                _ => self.string(node)?,
            },
            Operated::Literal(Value::Number(number)) => Some(Cow::Owned(number.to_string())),
            Operated::Literal(Value::Bool(value)) => Some(Cow::Owned(value.to_string())),
            Operated::Number(number) => Some(Cow::Owned(number.to_string())),
            value => self.text(value)?,
        })
    }

    /// A value as a text, if it is one.
    fn text<'o>(&self, value: Operated<'o>) -> Result<Option<Cow<'o, str>>, ExtractError>
    where
        'd: 'o,
    {
        match value {
            Operated::Node(node) => self.string(node),
            Operated::Literal(value) => Ok(value.as_str().map(Cow::Borrowed)),
            Operated::Number(_) => Ok(None),
            Operated::Text(text) => Ok(Some(text)),
        }
    }

    pub(super) fn string(&self, node: Node) -> Result<Option<Cow<'d, str>>, ExtractError> {
        if self.document.kind(node) != Kind::String {
            return Ok(None);
        }
        self.fuel.burn_text(self.document.raw(node).len())?;
        Ok(self.document.string(node))
    }
}

/// A walk that ended by itself or because no more was wanted.
pub(super) fn finished(walked: Result<(), Stop>) -> Result<(), ExtractError> {
    match walked {
        Ok(()) | Err(Stop::Enough) => Ok(()),
        Err(Stop::Failed(error)) => Err(error),
    }
}
