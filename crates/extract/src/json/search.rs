//! Walks a document along a query, depth first, so that no list of nodes is built and the walk
//! ends as soon as enough is found. The order is that of RFC 9535.

use std::borrow::Cow;
use std::cmp::Ordering;

use serde_json::Value;

use super::{
    Comparison, Operand, Query, Segment, Selector, Test, TextPattern, compare_numbers, text_pattern,
};
use crate::ExtractError;
use crate::fuel::Fuel;

/// The price of compiling a pattern that stands in the document.
const PATTERN_FUEL: usize = 20_000;

/// Why a walk ended before its end.
pub(super) enum Stop {
    /// No more is wanted.
    Enough,
    Failed(ExtractError),
}

impl From<ExtractError> for Stop {
    fn from(error: ExtractError) -> Self {
        Stop::Failed(error)
    }
}

type Visit<'s, 'v> = &'s mut dyn FnMut(&'v Value) -> Result<(), Stop>;

/// A search in a document.
pub(super) struct Search<'v> {
    pub(super) root: &'v Value,
    pub(super) fuel: &'v Fuel,
}

impl<'v> Search<'v> {
    /// Visits each value that a query selects; `current` is what `@` stands for.
    pub(super) fn walk(
        &self,
        query: &Query,
        current: &'v Value,
        visit: Visit<'_, 'v>,
    ) -> Result<(), Stop> {
        if query.is_singular() {
            return self.only(query, current).map_or(Ok(()), visit);
        }
        let start = if query.from_root { self.root } else { current };
        self.segments(&query.segments, start, visit)
    }

    /// The value that a singular query selects.
    fn only(&self, query: &Query, current: &'v Value) -> Option<&'v Value> {
        let mut node = if query.from_root { self.root } else { current };
        for segment in &query.segments {
            node = match segment.selectors.first()? {
                Selector::Name(name) => node.as_object()?.get(name)?,
                Selector::Index(index) => element(node.as_array()?, *index)?,
                _ => return None,
            };
        }
        Some(node)
    }

    fn segments(
        &self,
        segments: &[Segment],
        node: &'v Value,
        visit: Visit<'_, 'v>,
    ) -> Result<(), Stop> {
        let Some((segment, rest)) = segments.split_first() else { return visit(node) };
        self.fuel.nested(|| {
            for selector in &segment.selectors {
                self.select(selector, node, &mut |node| self.segments(rest, node, visit))?;
            }
            if segment.descendants {
                for child in children(node) {
                    self.fuel.burn(1)?;
                    self.segments(segments, child, visit)?;
                }
            }
            Ok(())
        })
    }

    fn select(
        &self,
        selector: &Selector,
        node: &'v Value,
        visit: Visit<'_, 'v>,
    ) -> Result<(), Stop> {
        self.fuel.burn(1)?;
        match selector {
            Selector::Name(name) => {
                node.as_object().and_then(|object| object.get(name)).map_or(Ok(()), visit)
            }
            Selector::Index(index) => {
                node.as_array().and_then(|array| element(array, *index)).map_or(Ok(()), visit)
            }
            Selector::Wildcard => children(node).try_for_each(|child| {
                self.fuel.burn(1)?;
                visit(child)
            }),
            Selector::Slice { start, end, step } => {
                let Some(array) = node.as_array() else { return Ok(()) };
                slice(array, *start, *end, *step).try_for_each(|element| {
                    self.fuel.burn(1)?;
                    visit(element)
                })
            }
            Selector::Filter(test) => children(node).try_for_each(|child| {
                self.fuel.burn(1)?;
                if self.holds(test, child)? { visit(child) } else { Ok(()) }
            }),
        }
    }

    fn holds(&self, test: &Test, current: &'v Value) -> Result<bool, ExtractError> {
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
                self.compare(left.as_deref(), *comparison, right.as_deref())
            }
            Test::Matches { text, pattern, whole } => {
                let text = self.value(text, current)?;
                let Some(text) = text.as_deref().and_then(Value::as_str) else { return Ok(false) };
                self.fuel.burn_text(text.len())?;
                match pattern {
                    TextPattern::Fixed(regex) => Ok(regex.is_match(text)),
                    TextPattern::Computed(operand) => {
                        self.fuel.burn(PATTERN_FUEL)?;
                        let pattern = self.value(operand, current)?;
                        let regex = pattern
                            .as_deref()
                            .and_then(Value::as_str)
                            .and_then(|pattern| text_pattern(pattern, *whole));
                        Ok(regex.is_some_and(|regex| regex.is_match(text)))
                    }
                }
            }
        }
    }

    /// The first and the second value that a query selects, looking for `wanted` of them.
    fn first_two(
        &self,
        query: &Query,
        current: &'v Value,
        wanted: usize,
    ) -> Result<(Option<&'v Value>, Option<&'v Value>), ExtractError> {
        let mut found = (None, None);
        let walked = self.walk(query, current, &mut |node| {
            match found.0 {
                None => found.0 = Some(node),
                Some(_) => found.1 = Some(node),
            }
            if wanted == 1 || found.1.is_some() { Err(Stop::Enough) } else { Ok(()) }
        });
        match walked {
            Err(Stop::Failed(error)) => Err(error),
            Ok(()) | Err(Stop::Enough) => Ok(found),
        }
    }

    /// The value of an operand; `None` is the RFC's Nothing.
    fn value<'o>(
        &self,
        operand: &'o Operand,
        current: &'v Value,
    ) -> Result<Option<Cow<'o, Value>>, ExtractError>
    where
        'v: 'o,
    {
        Ok(match operand {
            Operand::Literal(value) => Some(Cow::Borrowed(value)),
            Operand::Query(query) => self.only(query, current).map(Cow::Borrowed),
            Operand::Length(operand) => {
                let length = match self.value(operand, current)?.as_deref() {
                    Some(Value::String(text)) => {
                        self.fuel.burn_text(text.len())?;
                        text.chars().count()
                    }
                    Some(Value::Array(array)) => array.len(),
                    Some(Value::Object(object)) => object.len(),
                    _ => return Ok(None),
                };
                Some(Cow::Owned(length.into()))
            }
            Operand::Count(query) => {
                let mut count = 0usize;
                let walked = self.walk(query, current, &mut |_| {
                    count += 1;
                    Ok(())
                });
                if let Err(Stop::Failed(error)) = walked {
                    return Err(error);
                }
                Some(Cow::Owned(count.into()))
            }
            Operand::Value(query) => match self.first_two(query, current, 2)? {
                (Some(value), None) => Some(Cow::Borrowed(value)),
                _ => None,
            },
        })
    }

    fn compare(
        &self,
        left: Option<&Value>,
        comparison: Comparison,
        right: Option<&Value>,
    ) -> Result<bool, ExtractError> {
        let equal = || match (left, right) {
            (Some(left), Some(right)) => equal(left, right, self.fuel),
            (left, right) => Ok(left.is_none() && right.is_none()),
        };
        let order = order(left, right);
        Ok(match comparison {
            Comparison::Equal => equal()?,
            Comparison::NotEqual => !equal()?,
            Comparison::Less => order == Some(Ordering::Less),
            Comparison::Greater => order == Some(Ordering::Greater),
            Comparison::LessOrEqual => order == Some(Ordering::Less) || equal()?,
            Comparison::GreaterOrEqual => order == Some(Ordering::Greater) || equal()?,
        })
    }
}

/// The elements of an array or the values of an object, in their order.
fn children(node: &Value) -> impl Iterator<Item = &Value> {
    let array = node.as_array().into_iter().flatten();
    let object = node.as_object().into_iter().flat_map(|object| object.values());
    array.chain(object)
}

/// The element at an index, from the end if negative.
fn element(array: &[Value], index: i64) -> Option<&Value> {
    let index = if index < 0 { index + array.len() as i64 } else { index };
    array.get(usize::try_from(index).ok()?)
}

/// The elements of a slice (RFC 9535, section 2.3.4.2.2).
fn slice(
    array: &[Value],
    start: Option<i64>,
    end: Option<i64>,
    step: i64,
) -> impl Iterator<Item = &Value> {
    let length = array.len() as i64;
    let normal = |index: i64| if index < 0 { index + length } else { index };
    let (first, last) = if step >= 0 {
        let clamp = |index: i64| normal(index).clamp(0, length);
        (start.map_or(0, clamp), end.map_or(length, clamp))
    } else {
        let clamp = |index: i64| normal(index).clamp(-1, length - 1);
        (start.map_or(length - 1, clamp), end.map_or(-1, clamp))
    };
    let inside = move |index: &i64| match step {
        0 => false,
        1.. => *index < last,
        _ => *index > last,
    };
    let first = Some(first).filter(inside);
    std::iter::successors(first, move |index| Some(index + step).filter(inside))
        .filter_map(|index| array.get(usize::try_from(index).ok()?))
}

/// How two values are ordered, if they are two numbers or two texts.
fn order(left: Option<&Value>, right: Option<&Value>) -> Option<Ordering> {
    match (left?, right?) {
        (Value::Number(left), Value::Number(right)) => compare_numbers(left, right),
        (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
        _ => None,
    }
}

fn equal(left: &Value, right: &Value, fuel: &Fuel) -> Result<bool, ExtractError> {
    fuel.burn(1)?;
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            Ok(compare_numbers(left, right) == Some(Ordering::Equal))
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (left, right) in left.iter().zip(right) {
                if !equal(left, right, fuel)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Value::Object(left), Value::Object(right)) if left.len() == right.len() => {
            for (name, left) in left {
                match right.get(name) {
                    Some(right) if equal(left, right, fuel)? => {}
                    _ => return Ok(false),
                }
            }
            Ok(true)
        }
        (Value::String(left), Value::String(right)) => {
            fuel.burn_text(left.len().min(right.len()))?;
            Ok(left == right)
        }
        _ => Ok(left == right),
    }
}

/// Takes the price of copying a value.
pub(super) fn burn_size(value: &Value, fuel: &Fuel) -> Result<(), ExtractError> {
    fuel.burn_result(value.as_str().map_or(64, |text| 64 + text.len()))?;
    children(value).try_for_each(|child| burn_size(child, fuel))
}
