//! Evaluates an expression in a tree. The recursion follows the nesting of the expression, which
//! is bounded, never that of the tree; each node looked at is paid with fuel.

use std::borrow::Cow;
use std::collections::HashSet;

use super::expression::{Expression, LocationStep, Operator, Start};
use super::value::{Node, XPathValue, number_to_text, text_to_number};
use crate::error::ExtractError;
use crate::fuel::Fuel;
use crate::markup::{Tree, local};

/// Where an expression is evaluated: a node, which it is among those it was found with, and how
/// many they are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Context {
    pub(super) node: Node,
    pub(super) position: usize,
    pub(super) size: usize,
}

impl Context {
    pub(super) fn document() -> Self {
        Context { node: Node::DOCUMENT, position: 1, size: 1 }
    }
}

pub(super) struct Search<'t> {
    pub(super) tree: &'t Tree,
    pub(super) fuel: &'t Fuel,
}

impl<'t> Search<'t> {
    pub(super) fn evaluate(
        &self,
        expression: &'t Expression,
        context: Context,
    ) -> Result<XPathValue<'t>, ExtractError> {
        self.fuel.burn(1)?;
        Ok(match expression {
            Expression::Number(number) => XPathValue::Number(*number),
            Expression::Text(text) => XPathValue::Text(Cow::Borrowed(text)),
            Expression::Chain(first, others) => self.chain(first, others, context)?,
            Expression::Negate(operand) => {
                XPathValue::Number(-self.number(&self.evaluate(operand, context)?)?)
            }
            Expression::Union(operands) => {
                let mut all = Vec::new();
                for operand in operands {
                    all.append(&mut self.nodes(operand, context)?);
                }
                XPathValue::Nodes(self.in_order(all)?)
            }
            Expression::Call(function, arguments) => self.call(*function, arguments, context)?,
            Expression::Path(start, steps) => XPathValue::Nodes(self.path(start, steps, context)?),
        })
    }

    /// The nodes that an expression gives; the reader of expressions has seen that it gives some.
    pub(super) fn nodes(
        &self,
        expression: &'t Expression,
        context: Context,
    ) -> Result<Vec<Node>, ExtractError> {
        match self.evaluate(expression, context)? {
            XPathValue::Nodes(nodes) => Ok(nodes),
            _ => Ok(Vec::new()),
        }
    }

    fn in_order(&self, mut nodes: Vec<Node>) -> Result<Vec<Node>, ExtractError> {
        self.fuel.burn(nodes.len())?;
        // Most axes give them so.
        if !nodes.is_sorted_by(|a, b| a < b) {
            nodes.sort_unstable();
            nodes.dedup();
        }
        Ok(nodes)
    }

    fn path(
        &self,
        start: &'t Start,
        steps: &'t [LocationStep],
        context: Context,
    ) -> Result<Vec<Node>, ExtractError> {
        let mut nodes = match start {
            Start::Document => vec![Node::DOCUMENT],
            Start::Context => vec![context.node],
            Start::Nodes(expression, predicates) => {
                self.filter(self.nodes(expression, context)?, predicates)?
            }
        };
        for step in steps {
            nodes = self.step(step, nodes)?;
        }
        Ok(nodes)
    }

    fn step(&self, step: &'t LocationStep, from: Vec<Node>) -> Result<Vec<Node>, ExtractError> {
        if !step.positional && from.len() > 1 && from.iter().all(|node| node.attribute.is_none()) {
            let mut found = Vec::new();
            self.along_all(step.axis, &from, &mut |candidate| {
                self.fuel.burn(1)?;
                if self.passes(candidate, step) {
                    found.push(candidate);
                }
                Ok(true)
            })?;
            return self.in_order(self.filter(found, &step.predicates)?);
        }
        let mut found = Vec::new();
        // [1] and its like need not look further.
        let enough = match step.predicates.first() {
            Some(Expression::Number(n)) => *n as usize,
            _ => usize::MAX,
        };
        // From several nodes, the same may be found again and again.
        let mut tidy_at = 1024 + 2 * self.tree.len() as usize;
        for node in &from {
            let mut candidates = Vec::new();
            self.along(step.axis, *node, &mut |candidate| {
                self.fuel.burn(1)?;
                if self.passes(candidate, step) {
                    candidates.push(candidate);
                }
                Ok(candidates.len() < enough)
            })?;
            found.append(&mut self.filter(candidates, &step.predicates)?);
            if found.len() > tidy_at {
                found = self.in_order(found)?;
                tidy_at = 1024 + 2 * found.len().max(self.tree.len() as usize);
            }
        }
        self.in_order(found)
    }

    /// What is left of nodes after all predicates; positions follow the order they come in.
    fn filter(
        &self,
        mut nodes: Vec<Node>,
        predicates: &'t [Expression],
    ) -> Result<Vec<Node>, ExtractError> {
        for predicate in predicates {
            let size = nodes.len();
            let mut left = Vec::new();
            for (index, node) in nodes.into_iter().enumerate() {
                let position = index + 1;
                let value = self.evaluate(predicate, Context { node, position, size })?;
                let holds = match value {
                    XPathValue::Number(number) => number == position as f64,
                    value => self.boolean(&value),
                };
                if holds {
                    left.push(node);
                }
            }
            nodes = left;
        }
        Ok(nodes)
    }

    /// The name of an element, attribute or instruction as written.
    pub(super) fn name(&self, node: Node) -> &'t str {
        match node.attribute {
            Some(attribute) => self.tree.attribute_name(attribute),
            None => self.tree.name(node.id),
        }
    }

    pub(super) fn local_name(&self, node: Node) -> &'t str {
        match node.attribute {
            Some(attribute) => local(self.tree.attribute_name(attribute)),
            None => self.tree.local_name(node.id),
        }
    }

    /// The text of a node: its string-value (section 5).
    pub(super) fn text(&self, node: Node) -> &'t str {
        match node.attribute {
            Some(attribute) => self.tree.attribute_value(attribute),
            None => self.tree.text(node.id),
        }
    }

    pub(super) fn boolean(&self, value: &XPathValue<'_>) -> bool {
        match value {
            XPathValue::Nodes(nodes) => !nodes.is_empty(),
            XPathValue::Number(number) => *number != 0.0 && !number.is_nan(),
            XPathValue::Text(text) => !text.is_empty(),
            XPathValue::Boolean(boolean) => *boolean,
        }
    }

    pub(super) fn number(&self, value: &XPathValue<'t>) -> Result<f64, ExtractError> {
        Ok(match value {
            XPathValue::Number(number) => *number,
            XPathValue::Boolean(boolean) => f64::from(u8::from(*boolean)),
            value => {
                let text = self.string(value);
                self.fuel.burn_text(text.len())?;
                text_to_number(&text)
            }
        })
    }

    /// A value as text; of nodes, the first one in the document.
    pub(super) fn string(&self, value: &XPathValue<'t>) -> Cow<'t, str> {
        match value {
            XPathValue::Nodes(nodes) => nodes.first().map_or("", |node| self.text(*node)).into(),
            XPathValue::Number(number) => number_to_text(*number).into(),
            XPathValue::Text(text) => text.clone(),
            XPathValue::Boolean(boolean) => if *boolean { "true" } else { "false" }.into(),
        }
    }

    fn chain(
        &self,
        first: &'t Expression,
        others: &'t [(Operator, Expression)],
        context: Context,
    ) -> Result<XPathValue<'t>, ExtractError> {
        let mut value = self.evaluate(first, context)?;
        for (operator, operand) in others {
            let settled = match operator {
                Operator::Or => Some(true),
                Operator::And => Some(false),
                _ => None,
            };
            if let Some(settled) = settled {
                if self.boolean(&value) == settled {
                    return Ok(XPathValue::Boolean(settled));
                }
                let operand = self.evaluate(operand, context)?;
                value = XPathValue::Boolean(self.boolean(&operand));
                continue;
            }
            let operand = self.evaluate(operand, context)?;
            value = match operator {
                Operator::Equal
                | Operator::NotEqual
                | Operator::Less
                | Operator::LessOrEqual
                | Operator::Greater
                | Operator::GreaterOrEqual => {
                    XPathValue::Boolean(self.compare(&value, *operator, &operand)?)
                }
                _ => XPathValue::Number(calculate(
                    self.number(&value)?,
                    *operator,
                    self.number(&operand)?,
                )),
            };
        }
        Ok(value)
    }

    /// Compares two values (section 3.4): nodes compare if one of them does.
    fn compare(
        &self,
        left: &XPathValue<'t>,
        operator: Operator,
        right: &XPathValue<'t>,
    ) -> Result<bool, ExtractError> {
        use XPathValue::{Boolean, Nodes, Number};
        let equality = matches!(operator, Operator::Equal | Operator::NotEqual);
        match (left, right) {
            (Boolean(_), _) | (_, Boolean(_)) if equality => {
                Ok((self.boolean(left) == self.boolean(right)) == (operator == Operator::Equal))
            }
            (Nodes(left), Nodes(right)) => self.compare_nodes(left, operator, right),
            (Nodes(nodes), other) if !matches!(other, Boolean(_)) => {
                for node in nodes {
                    let text = XPathValue::Text(Cow::Borrowed(self.text(*node)));
                    if self.compare(&text, operator, other)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            (other, Nodes(_)) if !matches!(other, Boolean(_)) => {
                self.compare(right, mirrored(operator), left)
            }
            (Number(_), _) | (_, Number(_)) => {
                Ok(holds(self.number(left)?, operator, self.number(right)?))
            }
            _ if equality => {
                let (left, right) = (self.string(left), self.string(right));
                self.fuel.burn_text(left.len().min(right.len()))?;
                Ok((left == right) == (operator == Operator::Equal))
            }
            _ => Ok(holds(self.number(left)?, operator, self.number(right)?)),
        }
    }

    /// Whether a node on the left and one on the right compare so, in linear time.
    fn compare_nodes(
        &self,
        left: &[Node],
        operator: Operator,
        right: &[Node],
    ) -> Result<bool, ExtractError> {
        for node in left.iter().chain(right) {
            self.fuel.burn_text(self.text(*node).len())?;
        }
        let numbers = |nodes: &[Node]| -> Vec<f64> {
            let numbers = nodes.iter().map(|node| text_to_number(self.text(*node)));
            numbers.filter(|number| !number.is_nan()).collect()
        };
        let least = |nodes| numbers(nodes).into_iter().reduce(f64::min);
        let most = |nodes| numbers(nodes).into_iter().reduce(f64::max);
        let bounds = match operator {
            Operator::Equal => {
                let texts: HashSet<&str> = left.iter().map(|node| self.text(*node)).collect();
                return Ok(right.iter().any(|node| texts.contains(self.text(*node))));
            }
            Operator::NotEqual => {
                // Only if all texts are the same, none differs from another.
                let mut all = left.iter().chain(right).map(|node| self.text(*node));
                let first = all.next();
                return Ok(!left.is_empty()
                    && !right.is_empty()
                    && all.any(|text| Some(text) != first));
            }
            Operator::Less | Operator::LessOrEqual => least(left).zip(most(right)),
            _ => most(left).zip(least(right)),
        };
        Ok(bounds.is_some_and(|(left, right)| holds(left, operator, right)))
    }
}

fn mirrored(operator: Operator) -> Operator {
    match operator {
        Operator::Less => Operator::Greater,
        Operator::LessOrEqual => Operator::GreaterOrEqual,
        Operator::Greater => Operator::Less,
        Operator::GreaterOrEqual => Operator::LessOrEqual,
        same => same,
    }
}

fn holds(left: f64, operator: Operator, right: f64) -> bool {
    match operator {
        Operator::Equal => left == right,
        Operator::NotEqual => left != right,
        Operator::Less => left < right,
        Operator::LessOrEqual => left <= right,
        Operator::Greater => left > right,
        Operator::GreaterOrEqual => left >= right,
        _ => false,
    }
}

fn calculate(left: f64, operator: Operator, right: f64) -> f64 {
    match operator {
        Operator::Add => left + right,
        Operator::Subtract => left - right,
        Operator::Multiply => left * right,
        Operator::Divide => left / right,
        Operator::Remainder => left % right,
        _ => f64::NAN,
    }
}
