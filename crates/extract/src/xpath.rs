//! XPath 1.0 over HTML and XML: all of its axes but `namespace`, all of its operators and its core
//! functions. Two things are other than in the specification, because a plan cannot bind prefixes:
//! `name` selects what has that local name, whatever its prefix and namespace, and `p:name` what
//! is written just so in the document. In HTML the case of names does not matter.

mod axes;
mod functions;
mod parse;
mod search;
#[cfg(test)]
mod tests;
mod value;

use serde_json::Number;

use crate::error::{CompileError, ExtractError};
use crate::found::{Chosen, Found, Item, MatchChoice};
use crate::fuel::Fuel;
use crate::markup::Tree;
use functions::Function;
use search::{Context, Search};
use value::{XPathValue, number_to_text};

/// A compiled expression.
#[derive(Debug, Clone)]
pub(crate) struct XPath(Expression);

impl XPath {
    pub(crate) fn compile(expression: &str) -> Result<Self, CompileError> {
        parse::expression(expression).map(XPath)
    }

    /// Takes what the expression gives: the text of each node, or the one value that it computes.
    pub(crate) fn find<'b>(
        &self,
        tree: &Tree,
        fuel: &Fuel,
        which: MatchChoice,
        random: u64,
    ) -> Result<Found<'b>, ExtractError> {
        let search = Search { tree, fuel };
        let item = match search.evaluate(&self.0, Context::document())? {
            XPathValue::Nodes(nodes) => {
                let nodes = nodes.into_iter().map(Ok);
                let chosen = Chosen::among(nodes, which, random, fuel.results_left())?;
                return chosen.try_into_found(|node| {
                    let text = search.text(node);
                    fuel.count_result(text.len())?;
                    Ok(Item::text(text))
                });
            }
            XPathValue::Number(number) => number_item(number),
            XPathValue::Text(text) => Item::text(&text),
            XPathValue::Boolean(boolean) => Item::Json(boolean.into()),
        };
        Chosen::among(std::iter::once(Ok::<_, ExtractError>(item)), which, random, 1)?
            .try_into_found(Ok)
    }
}

/// A number as JSON, whole numbers without a fraction; what JSON cannot say as text.
fn number_item<'b>(number: f64) -> Item<'b> {
    if number.fract() == 0.0 && number.abs() < 2f64.powi(53) {
        return Item::Json((number as i64).into());
    }
    match Number::from_f64(number) {
        Some(number) => Item::Json(number.into()),
        None => Item::text(&number_to_text(number)),
    }
}

#[derive(Debug, Clone)]
enum Expression {
    Number(f64),
    Text(String),
    /// Operands of one precedence, from left to right.
    Chain(Box<Expression>, Vec<(Operator, Expression)>),
    Negate(Box<Expression>),
    Union(Vec<Expression>),
    Call(Function, Vec<Expression>),
    Path(Start, Vec<LocationStep>),
}

impl Expression {
    /// Whether it gives nodes, which is known before it is evaluated.
    fn gives_nodes(&self) -> bool {
        match self {
            Expression::Union(_) | Expression::Path(..) => true,
            Expression::Call(function, _) => *function == Function::Id,
            _ => false,
        }
    }
}

impl Expression {
    /// Whether what it gives as a predicate depends on the place of the node that it is about.
    fn is_positional(&self) -> bool {
        let gives_number = match self {
            Expression::Number(_) | Expression::Negate(_) => true,
            Expression::Chain(_, others) => {
                others.iter().any(|(operator, _)| operator.calculates())
            }
            Expression::Call(function, _) => function.gives_number(),
            _ => false,
        };
        gives_number || self.looks_at_place()
    }

    /// Whether `position()` or `last()` is in it, but for predicates in it, which have places of their own.
    fn looks_at_place(&self) -> bool {
        match self {
            Expression::Number(_) | Expression::Text(_) => false,
            Expression::Chain(first, others) => {
                first.looks_at_place() || others.iter().any(|(_, other)| other.looks_at_place())
            }
            Expression::Negate(operand) => operand.looks_at_place(),
            Expression::Union(operands) => operands.iter().any(Expression::looks_at_place),
            Expression::Call(function, arguments) => {
                matches!(function, Function::Position | Function::Last)
                    || arguments.iter().any(Expression::looks_at_place)
            }
            Expression::Path(Start::Nodes(start, _), _) => start.looks_at_place(),
            Expression::Path(..) => false,
        }
    }
}

/// Where a path begins.
#[derive(Debug, Clone)]
enum Start {
    Document,
    Context,
    /// The nodes that an expression gives, filtered all together.
    Nodes(Box<Expression>, Vec<Expression>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

impl Operator {
    /// Whether it gives a number.
    fn calculates(self) -> bool {
        use Operator::{Add, Divide, Multiply, Remainder, Subtract};
        matches!(self, Add | Subtract | Multiply | Divide | Remainder)
    }
}

#[derive(Debug, Clone)]
struct LocationStep {
    axis: Axis,
    test: NodeTest,
    predicates: Vec<Expression>,
    /// Whether it matters which one a node is among those on the axis: from several nodes, each of them
    /// must be gone from by itself.
    positional: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Axis {
    Ancestor,
    AncestorOrSelf,
    Attribute,
    Child,
    Descendant,
    DescendantOrSelf,
    Following,
    FollowingSibling,
    Parent,
    Preceding,
    PrecedingSibling,
    OneSelf,
}

#[derive(Debug, Clone)]
enum NodeTest {
    /// `*`: any element, or any attribute on the attribute axis.
    Star,
    /// `p:*`
    Prefix(String),
    /// `name`: whatever the prefix.
    Local(String),
    /// `p:name`: as written in the document.
    Full(String),
    /// `node()`
    Any,
    Text,
    Comment,
    Instruction(Option<String>),
}
