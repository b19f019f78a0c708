//! An expression that has been read.

use super::signatures::Function;

#[derive(Debug, Clone)]
pub(super) enum Expression {
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
    pub(super) fn gives_nodes(&self) -> bool {
        match self {
            Expression::Union(_) | Expression::Path(..) => true,
            Expression::Call(function, _) => *function == Function::Id,
            _ => false,
        }
    }

    /// Whether what it gives as a predicate depends on the place of the node that it is about.
    pub(super) fn is_positional(&self) -> bool {
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
    pub(super) fn looks_at_place(&self) -> bool {
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

#[derive(Debug, Clone)]
pub(super) enum Start {
    Document,
    Context,
    /// The nodes that an expression gives, filtered all together.
    Nodes(Box<Expression>, Vec<Expression>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
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
    pub(super) fn calculates(self) -> bool {
        use Operator::{Add, Divide, Multiply, Remainder, Subtract};
        matches!(self, Add | Subtract | Multiply | Divide | Remainder)
    }
}

#[derive(Debug, Clone)]
pub(super) struct LocationStep {
    pub(super) axis: Axis,
    pub(super) test: NodeTest,
    pub(super) predicates: Vec<Expression>,
    /// Whether it matters which one a node is among those on the axis: from several nodes, each of them
    /// must be gone from by itself.
    pub(super) positional: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Axis {
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
pub(super) enum NodeTest {
    /// `*`: any element, or any attribute on the attribute axis.
    Star,
    /// `p:*`
    Prefix(String),
    /// `name`: whatever the prefix.
    Local(String),
    /// `p:name`: as written in the document.
    Full(String),
    Any,
    Text,
    Comment,
    Instruction(Option<String>),
}
