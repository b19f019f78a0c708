//! Reads an expression by the grammar of XPath 1.0, and checks the types that are known before it
//! is evaluated.

use super::expression::{Axis, Expression, LocationStep, NodeTest, Operator, Start};
use super::signatures::Function;
use crate::cursor::Cursor;
use crate::error::CompileError;

/// Binary operators by precedence, the loosest first; longer signs before their beginnings.
const OPERATORS: [&[(&str, Operator)]; 6] = [
    &[("or", Operator::Or)],
    &[("and", Operator::And)],
    &[("=", Operator::Equal), ("!=", Operator::NotEqual)],
    &[
        ("<=", Operator::LessOrEqual),
        ("<", Operator::Less),
        (">=", Operator::GreaterOrEqual),
        (">", Operator::Greater),
    ],
    &[("+", Operator::Add), ("-", Operator::Subtract)],
    &[("*", Operator::Multiply), ("div", Operator::Divide), ("mod", Operator::Remainder)],
];

const AXES: [(&str, Axis); 12] = [
    ("ancestor", Axis::Ancestor),
    ("ancestor-or-self", Axis::AncestorOrSelf),
    ("attribute", Axis::Attribute),
    ("child", Axis::Child),
    ("descendant", Axis::Descendant),
    ("descendant-or-self", Axis::DescendantOrSelf),
    ("following", Axis::Following),
    ("following-sibling", Axis::FollowingSibling),
    ("parent", Axis::Parent),
    ("preceding", Axis::Preceding),
    ("preceding-sibling", Axis::PrecedingSibling),
    ("self", Axis::OneSelf),
];

pub(super) fn expression(text: &str) -> Result<Expression, CompileError> {
    let mut cursor = Cursor::new(text);
    let expression = any(&mut cursor)?;
    cursor.skip_space();
    if cursor.at_end() { Ok(expression) } else { Err(cursor.expected("an operator or the end")) }
}

fn any(cursor: &mut Cursor<'_>) -> Result<Expression, CompileError> {
    chain(cursor, 0)
}

/// Reads operands joined by the operators of one precedence or tighter ones.
fn chain(cursor: &mut Cursor<'_>, precedence: usize) -> Result<Expression, CompileError> {
    let Some(operators) = OPERATORS.get(precedence) else { return negation(cursor) };
    let first = chain(cursor, precedence + 1)?;
    let mut others = Vec::new();
    loop {
        cursor.skip_space();
        let found = operators.iter().find(|(sign, _)| eat_operator(cursor, sign));
        let Some((_, operator)) = found else { break };
        others.push((*operator, chain(cursor, precedence + 1)?));
    }
    if others.is_empty() { Ok(first) } else { Ok(Expression::Chain(Box::new(first), others)) }
}

fn eat_operator(cursor: &mut Cursor<'_>, sign: &str) -> bool {
    let word = sign.starts_with(|c: char| c.is_ascii_alphabetic());
    let follows = cursor.rest().strip_prefix(sign).and_then(|rest| rest.chars().next());
    !(word && follows.is_some_and(is_name)) && cursor.eat(sign)
}

fn negation(cursor: &mut Cursor<'_>) -> Result<Expression, CompileError> {
    let mut negative = false;
    let mut signs = false;
    cursor.skip_space();
    while cursor.eat("-") {
        (negative, signs) = (!negative, true);
        cursor.skip_space();
    }
    let operand = union(cursor)?;
    if !signs {
        return Ok(operand);
    }
    // Even an even number of signs makes a number of it.
    let negated = Expression::Negate(Box::new(operand));
    Ok(if negative { negated } else { Expression::Negate(Box::new(negated)) })
}

fn union(cursor: &mut Cursor<'_>) -> Result<Expression, CompileError> {
    cursor.skip_space();
    let start = cursor.clone();
    let first = path(cursor)?;
    let mut others = Vec::new();
    loop {
        cursor.skip_space();
        if !cursor.eat("|") {
            break;
        }
        cursor.skip_space();
        let start = cursor.clone();
        let other = path(cursor)?;
        others.push(nodes(other, &start)?);
    }
    if others.is_empty() {
        return Ok(first);
    }
    others.insert(0, nodes(first, &start)?);
    Ok(Expression::Union(others))
}

/// Lets an expression pass that gives nodes.
fn nodes(expression: Expression, place: &Cursor<'_>) -> Result<Expression, CompileError> {
    if expression.gives_nodes() {
        Ok(expression)
    } else {
        Err(place.error("nodes are needed here").help("such as a path, //a/@href"))
    }
}

fn path(cursor: &mut Cursor<'_>) -> Result<Expression, CompileError> {
    cursor.skip_space();
    if begins_primary(cursor) {
        return filtered(cursor);
    }
    let mut steps = Vec::new();
    let start = if cursor.starts_with("/") { Start::Document } else { Start::Context };
    if cursor.eat("//") {
        steps.push(any_below());
    } else if cursor.eat("/") {
        cursor.skip_space();
        if !begins_step(cursor) {
            return Ok(Expression::Path(start, steps));
        }
    }
    relative(cursor, &mut steps)?;
    Ok(Expression::Path(start, steps))
}

/// Whether a bracket, text, number, variable or function call comes next, and not a step.
fn begins_primary(cursor: &Cursor<'_>) -> bool {
    let mut ahead = cursor.clone();
    match ahead.next() {
        Some('(' | '"' | '\'' | '$' | '0'..='9') => true,
        Some('.') => ahead.peek().is_some_and(|c| c.is_ascii_digit()),
        Some(c) if is_name_start(c) => {
            ahead.rewind(cursor.offset());
            let name = ahead.take_while(|c| is_name(c) || c == ':');
            ahead.skip_space();
            ahead.starts_with("(") && !is_node_type(name) && !name.contains("::")
        }
        _ => false,
    }
}

fn begins_step(cursor: &Cursor<'_>) -> bool {
    cursor.peek().is_some_and(|c| is_name_start(c) || matches!(c, '*' | '@' | '.'))
}

fn is_node_type(name: &str) -> bool {
    matches!(name, "comment" | "text" | "processing-instruction" | "node")
}

/// Reads a primary expression with its predicates and the path that goes on from it.
fn filtered(cursor: &mut Cursor<'_>) -> Result<Expression, CompileError> {
    let start = cursor.clone();
    let primary = primary(cursor)?;
    let predicates = predicates(cursor)?;
    let mut steps = Vec::new();
    if cursor.eat("//") {
        steps.push(any_below());
        relative(cursor, &mut steps)?;
    } else if cursor.eat("/") {
        relative(cursor, &mut steps)?;
    }
    if predicates.is_empty() && steps.is_empty() {
        return Ok(primary);
    }
    let primary = Box::new(nodes(primary, &start)?);
    Ok(Expression::Path(Start::Nodes(primary, predicates), steps))
}

fn primary(cursor: &mut Cursor<'_>) -> Result<Expression, CompileError> {
    match cursor.peek() {
        Some('(') => {
            cursor.next();
            let inner = cursor.nested(any)?;
            cursor.skip_space();
            cursor.expect(")")?;
            Ok(inner)
        }
        Some('"' | '\'') => text(cursor).map(Expression::Text),
        Some('$') => Err(cursor
            .error("XPath variables are not known here")
            .help("a variable of the plan is written ${name}, in quotes if it is a text")),
        Some('.' | '0'..='9') => number(cursor),
        _ => call(cursor),
    }
}

fn text(cursor: &mut Cursor<'_>) -> Result<String, CompileError> {
    let start = cursor.clone();
    let quote = cursor.next();
    let text = cursor.take_while(|c| Some(c) != quote);
    match cursor.next() {
        Some(_) => Ok(text.to_owned()),
        None => Err(start.error("the quote is not closed")),
    }
}

fn number(cursor: &mut Cursor<'_>) -> Result<Expression, CompileError> {
    let start = cursor.clone();
    let whole = cursor.take_while(|c| c.is_ascii_digit());
    let fraction = if cursor.eat(".") { cursor.take_while(|c| c.is_ascii_digit()) } else { "" };
    let number = format!("{whole}.{fraction}").parse();
    number.map(Expression::Number).map_err(|_| start.expected("a number"))
}

fn call(cursor: &mut Cursor<'_>) -> Result<Expression, CompileError> {
    let start = cursor.clone();
    let name = cursor.take_while(|c| is_name(c) || c == ':');
    let function = Function::by_name(name).ok_or_else(|| {
        start
            .error(format!("there is no function `{name}`"))
            .help("the functions are those of XPath 1.0, such as contains() and normalize-space()")
    })?;
    cursor.skip_space();
    cursor.expect("(")?;
    let places_and_arguments = cursor.nested(arguments)?;
    let arguments = places_and_arguments.len();
    if !function.takes(arguments) {
        let takes = function.arity_text();
        return Err(start.error(format!("{name}() takes {takes}, not {arguments}")));
    }
    let arguments = places_and_arguments.into_iter().map(|(place, argument)| {
        if function.takes_nodes() { nodes(argument, &place) } else { Ok(argument) }
    });
    Ok(Expression::Call(function, arguments.collect::<Result<_, _>>()?))
}

/// Reads arguments, each with its place, behind the opening bracket.
fn arguments<'p>(cursor: &mut Cursor<'p>) -> Result<Vec<(Cursor<'p>, Expression)>, CompileError> {
    let mut arguments = Vec::new();
    cursor.skip_space();
    if cursor.eat(")") {
        return Ok(arguments);
    }
    loop {
        cursor.skip_space();
        let place = cursor.clone();
        arguments.push((place, any(cursor)?));
        cursor.skip_space();
        if cursor.eat(")") {
            return Ok(arguments);
        }
        if !cursor.eat(",") {
            return Err(cursor.expected("`,` or `)`"));
        }
    }
}

/// Reads steps joined by `/` and `//`.
fn relative(cursor: &mut Cursor<'_>, steps: &mut Vec<LocationStep>) -> Result<(), CompileError> {
    loop {
        cursor.skip_space();
        push(steps, step(cursor)?);
        cursor.skip_space();
        if cursor.eat("//") {
            steps.push(any_below());
        } else if !cursor.eat("/") {
            return Ok(());
        }
    }
}

/// What `//` stands for.
fn any_below() -> LocationStep {
    any_on(Axis::DescendantOrSelf)
}

fn any_on(axis: Axis) -> LocationStep {
    LocationStep { axis, test: NodeTest::Any, predicates: vec![], positional: false }
}

/// Adds a step. `//x` is one step: the descendants that are x, unless x is asked for its place among its
/// siblings.
fn push(steps: &mut Vec<LocationStep>, mut step: LocationStep) {
    let is_any_below = |step: &LocationStep| {
        step.axis == Axis::DescendantOrSelf
            && matches!(step.test, NodeTest::Any)
            && step.predicates.is_empty()
    };
    if step.axis == Axis::Child && !step.positional && steps.last().is_some_and(is_any_below) {
        steps.pop();
        step.axis = Axis::Descendant;
    }
    steps.push(step);
}

fn step(cursor: &mut Cursor<'_>) -> Result<LocationStep, CompileError> {
    for (sign, axis) in [("..", Axis::Parent), (".", Axis::OneSelf)] {
        if cursor.eat(sign) {
            return Ok(any_on(axis));
        }
    }
    let axis = axis(cursor)?;
    cursor.skip_space();
    let test = node_test(cursor)?;
    let predicates = predicates(cursor)?;
    let positional = predicates.iter().any(Expression::is_positional);
    Ok(LocationStep { axis, test, predicates, positional })
}

fn axis(cursor: &mut Cursor<'_>) -> Result<Axis, CompileError> {
    if cursor.eat("@") {
        return Ok(Axis::Attribute);
    }
    let start = cursor.clone();
    let name = cursor.take_while(is_name);
    cursor.skip_space();
    if !cursor.eat("::") {
        cursor.rewind(start.offset());
        return Ok(Axis::Child);
    }
    AXES.iter().find(|(known, _)| *known == name).map(|(_, axis)| *axis).ok_or_else(|| {
        start.error(format!("there is no axis `{name}`")).help(
            "the axes are child, descendant, parent, ancestor, following-sibling, \
                   preceding-sibling, following, preceding, attribute, self, descendant-or-self \
                   and ancestor-or-self",
        )
    })
}

fn node_test(cursor: &mut Cursor<'_>) -> Result<NodeTest, CompileError> {
    if cursor.eat("*") {
        return Ok(NodeTest::Star);
    }
    let start = cursor.clone();
    let name = read_name(cursor)?;
    if cursor.starts_with(":") && !cursor.starts_with("::") {
        cursor.next();
        if cursor.eat("*") {
            return Ok(NodeTest::Prefix(name.to_owned()));
        }
        return Ok(NodeTest::Full(format!("{name}:{}", read_name(cursor)?)));
    }
    let after_name = cursor.offset();
    cursor.skip_space();
    if !cursor.eat("(") {
        cursor.rewind(after_name);
        return Ok(NodeTest::Local(name.to_owned()));
    }
    cursor.skip_space();
    let test = match name {
        "node" => NodeTest::Any,
        "text" => NodeTest::Text,
        "comment" => NodeTest::Comment,
        "processing-instruction" => {
            let target = matches!(cursor.peek(), Some('"' | '\'')).then(|| text(cursor));
            NodeTest::Instruction(target.transpose()?)
        }
        _ => {
            return Err(start
                .error(format!("{name}() cannot be a step of a path"))
                .help("the steps with brackets are text(), node(), comment()"));
        }
    };
    cursor.skip_space();
    cursor.expect(")")?;
    Ok(test)
}

fn read_name<'p>(cursor: &mut Cursor<'p>) -> Result<&'p str, CompileError> {
    if cursor.peek().is_some_and(is_name_start) {
        return Ok(cursor.take_while(is_name));
    }
    Err(cursor.expected("a name, `*`, `@`, `.` or a value"))
}

fn is_name_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || !c.is_ascii()
}

fn is_name(c: char) -> bool {
    is_name_start(c) || c.is_ascii_digit() || matches!(c, '-' | '.')
}

fn predicates(cursor: &mut Cursor<'_>) -> Result<Vec<Expression>, CompileError> {
    let mut predicates = Vec::new();
    loop {
        cursor.skip_space();
        if !cursor.eat("[") {
            return Ok(predicates);
        }
        predicates.push(cursor.nested(any)?);
        cursor.skip_space();
        cursor.expect("]")?;
    }
}
