//! Compares values of a document, of a path, and computed ones (RFC 9535, section 2.3.5.2.2).

use std::borrow::Cow;
use std::cmp::Ordering;

use serde_json::{Number, Value};

use super::document::{Kind, Node};
use super::query::Comparison;
use super::search::{Operated, Search, Stop, finished};
use crate::error::ExtractError;

/// What two values are compared by.
enum Comparable<'o> {
    Number(Number),
    Text(Cow<'o, str>),
    Boolean(bool),
    Null,
    /// An array or object of the document.
    Container(Node),
}

impl<'d> Search<'d> {
    fn comparable<'o>(&self, value: Operated<'o>) -> Result<Comparable<'o>, ExtractError>
    where
        'd: 'o,
    {
        let node = match value {
            Operated::Number(number) => return Ok(Comparable::Number(number.into())),
            Operated::Text(text) => return Ok(Comparable::Text(text)),
            Operated::Literal(Value::Number(number)) => {
                return Ok(Comparable::Number(number.clone()));
            }
            Operated::Literal(Value::String(text)) => return Ok(Comparable::Text(text.into())),
            Operated::Literal(Value::Bool(value)) => return Ok(Comparable::Boolean(*value)),
            // Arrays and objects cannot be written in a path.
            Operated::Literal(_) => return Ok(Comparable::Null),
            Operated::Node(node) => node,
        };
        Ok(match self.document.kind(node) {
            Kind::Null => Comparable::Null,
            Kind::Boolean(value) => Comparable::Boolean(value),
            Kind::Number => {
                self.fuel.burn_text(self.document.raw(node).len())?;
                Comparable::Number(self.document.number(node)?)
            }
            Kind::String => Comparable::Text(self.string(node)?.unwrap_or_default()),
            Kind::Array | Kind::Object => Comparable::Container(node),
        })
    }

    pub(super) fn compare(
        &self,
        left: Option<Operated<'_>>,
        comparison: Comparison,
        right: Option<Operated<'_>>,
    ) -> Result<bool, ExtractError> {
        let equals = matches!(
            comparison,
            Comparison::Equal | Comparison::LessOrEqual | Comparison::GreaterOrEqual
        );
        let (left, right) = match (left, right) {
            (Some(left), Some(right)) => (self.comparable(left)?, self.comparable(right)?),
            (left, right) => {
                let equal = left.is_none() && right.is_none();
                return Ok(if equal { equals } else { comparison == Comparison::NotEqual });
            }
        };
        let order = self.order(&left, &right)?;
        Ok(match comparison {
            Comparison::Equal => self.equal(&left, &right)?,
            Comparison::NotEqual => !self.equal(&left, &right)?,
            Comparison::Less => order == Some(Ordering::Less),
            Comparison::Greater => order == Some(Ordering::Greater),
            Comparison::LessOrEqual => {
                order == Some(Ordering::Less) || self.equal(&left, &right)?
            }
            Comparison::GreaterOrEqual => {
                order == Some(Ordering::Greater) || self.equal(&left, &right)?
            }
        })
    }

    /// How two values are ordered, if they are two numbers or two texts.
    fn order(
        &self,
        left: &Comparable<'_>,
        right: &Comparable<'_>,
    ) -> Result<Option<Ordering>, ExtractError> {
        Ok(match (left, right) {
            (Comparable::Number(left), Comparable::Number(right)) => compare_numbers(left, right),
            (Comparable::Text(left), Comparable::Text(right)) => {
                self.fuel.burn_text(left.len().min(right.len()))?;
                Some(left.cmp(right))
            }
            _ => None,
        })
    }

    fn equal(&self, left: &Comparable<'_>, right: &Comparable<'_>) -> Result<bool, ExtractError> {
        Ok(match (left, right) {
            (Comparable::Null, Comparable::Null) => true,
            (Comparable::Boolean(left), Comparable::Boolean(right)) => left == right,
            (Comparable::Container(left), Comparable::Container(right)) => {
                self.equal_containers(*left, *right)?
            }
            _ => self.order(left, right)? == Some(Ordering::Equal),
        })
    }

    fn equal_nodes(&self, left: Node, right: Node) -> Result<bool, ExtractError> {
        let left = self.comparable(Operated::Node(left))?;
        self.equal(&left, &self.comparable(Operated::Node(right))?)
    }

    /// Compares two arrays or two objects. The recursion follows the nesting of the document,
    /// which is bounded.
    fn equal_containers(&self, left: Node, right: Node) -> Result<bool, ExtractError> {
        let kinds = (self.document.kind(left), self.document.kind(right));
        match kinds {
            (Kind::Array, Kind::Array) => {
                let mut others = self.document.children(right);
                let mut equal = true;
                let walked = self.each_child(left, |_, child| {
                    let other = others.step();
                    self.fuel.burn_text(others.looked_at())?;
                    equal = match other {
                        Some((_, other)) => self.equal_nodes(child, other)?,
                        None => false,
                    };
                    if equal { Ok(()) } else { Err(Stop::Enough) }
                });
                finished(walked)?;
                let as_long = others.step().is_none();
                self.fuel.burn_text(others.looked_at())?;
                Ok(equal && as_long)
            }
            (Kind::Object, Kind::Object) => {
                for node in [left, right] {
                    self.fuel.burn_copy(self.document.raw(node).len())?;
                }
                let (left, right) = (self.document.members(left), self.document.members(right));
                if left.len() != right.len() {
                    return Ok(false);
                }
                for (name, left) in left {
                    match right.get(&name) {
                        Some(right) if self.equal_nodes(left, *right)? => {}
                        _ => return Ok(false),
                    }
                }
                Ok(true)
            }
            _ => Ok(false),
        }
    }
}

/// Compares numbers by what they are worth: 1 equals 1.0.
fn compare_numbers(a: &Number, b: &Number) -> Option<Ordering> {
    let integer = |n: &Number| n.as_i64().map(i128::from).or(n.as_u64().map(i128::from));
    match (integer(a), integer(b)) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        _ => a.as_f64()?.partial_cmp(&b.as_f64()?),
    }
}
