//! A tree of names to a tree of slots, with what is constant evaluated.

use std::rc::Rc;

use super::binder::{BindError, Binder, Bound};
use super::budget::Budget;
use super::eval::Context;
use super::functions::{self, Call, Function};
use super::operators::Op;
use super::parse::{Node, NodeKind};
use super::scope::{EvalError, FunctionId, Scope, Slot};
use super::tree::{Macro, Tree};
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use crate::value::{AsKey, KeyRef, Value, ValueRef};

pub(super) fn bind(node: &Node, binder: &mut dyn Binder, span: Span) -> Result<Tree, Diagnostic> {
    let budget = binder.budget();
    let mut binding = Binding {
        binder,
        budget,
        span,
        parameters: Vec::new(),
        guards: 0,
        failed: None,
        may: None,
    };
    let tree = binding.node(node)?;
    let Binding { binder, failed, may, .. } = binding;
    // What fails where that need not matter does matter where nothing else is left of the expression.
    let is_left = !matches!(tree, Tree::Constant(_)) && tree.is_pure();
    if let Some((at, error)) = failed.or(may.filter(|_| is_left)) {
        let message = format!("this fails whenever it is evaluated: {error}");
        binder.warn(Diagnostic::warning(span.later(at), message));
    }
    Ok(tree)
}

/// The pattern that a call looks with, where it is constant.
fn constant_pattern<'t>(function: &Function, args: &'t [Tree]) -> Option<&'t str> {
    match args.get(1) {
        Some(Tree::Constant(Value::Text(pattern)))
            if matches!(function.name, "matches" | "find_all") =>
        {
            Some(pattern)
        }
        _ => None,
    }
}

/// Something of constants that failed: where it stands in the expression, and why.
type Failed = Option<(usize, EvalError)>;

struct Binding<'b> {
    binder: &'b mut dyn Binder,
    /// What constants may still cost.
    budget: Rc<Budget>,
    span: Span,
    /// Parameters of the macros around, outermost first.
    parameters: Vec<String>,
    /// How many operations are around whose operands may fail, or are not always evaluated.
    guards: usize,
    /// What failed first beside these, ...
    failed: Failed,
    /// ... and within them.
    may: Failed,
}

impl Binding<'_> {
    fn node(&mut self, node: &Node) -> Result<Tree, Diagnostic> {
        let tree = match &node.kind {
            NodeKind::Constant(value) => Tree::Constant(value.clone()),
            NodeKind::Path(path) => return self.path(path, node.at),
            NodeKind::Field(inner, name) => Tree::Field(self.boxed(inner)?, name.as_str().into()),
            NodeKind::Index(list, index) => Tree::Index(self.boxed(list)?, self.boxed(index)?),
            NodeKind::Call(name, args) => return self.call(name, args, node.at),
            NodeKind::Not(inner) => Tree::Not(self.boxed(inner)?),
            NodeKind::Minus(inner) => Tree::Minus(self.boxed(inner)?),
            NodeKind::Binary(sign, a, b) => match Op::of(sign) {
                op @ (Op::And | Op::Or) => Tree::Binary(op, self.guarded(a)?, self.guarded(b)?),
                op => Tree::Binary(op, self.boxed(a)?, self.boxed(b)?),
            },
            NodeKind::If(a, b, c) => Tree::If(self.boxed(a)?, self.guarded(b)?, self.guarded(c)?),
            NodeKind::List(items) => Tree::List(self.all(items)?),
            NodeKind::Map(entries) => Tree::Map(
                entries
                    .iter()
                    .map(|(key, value)| Ok((self.node(key)?, self.node(value)?)))
                    .collect::<Result<_, _>>()?,
            ),
            NodeKind::Has(inner) => return self.has(inner),
            NodeKind::Over(name, list, parameter, body) => {
                let list = self.boxed(list)?;
                self.parameters.push(parameter.clone());
                let body = self.guarded(body);
                self.parameters.pop();
                Tree::Over(Macro::of(name), list, body?)
            }
        };
        Ok(self.fold(tree, node.at))
    }

    fn boxed(&mut self, node: &Node) -> Result<Box<Tree>, Diagnostic> {
        self.node(node).map(Box::new)
    }

    /// The same, where it may fail, or may not be evaluated at all.
    fn guarded(&mut self, node: &Node) -> Result<Box<Tree>, Diagnostic> {
        self.guards += 1;
        let tree = self.boxed(node);
        self.guards -= 1;
        tree
    }

    fn all(&mut self, nodes: &[Node]) -> Result<Vec<Tree>, Diagnostic> {
        nodes.iter().map(|node| self.node(node)).collect()
    }

    fn path(&mut self, path: &[String], at: usize) -> Result<Tree, Diagnostic> {
        let parameter = self.parameters.iter().rev().position(|own| *own == path[0]);
        let (tree, covered) = match parameter {
            Some(depth) => (Tree::Parameter(depth), 1),
            None => {
                let parts: Vec<&str> = path.iter().map(String::as_str).collect();
                match self.binder.variable(&parts).map_err(|error| error.at(self.span.later(at)))? {
                    Bound::Slot(slot, covered) => {
                        (Tree::Slot(slot, path[..covered].join(".").into()), covered)
                    }
                    Bound::Constant(value, covered) => (Tree::Constant(value), covered),
                }
            }
        };
        let fields = path.iter().skip(covered);
        Ok(fields.fold(tree, |tree, name| {
            self.fold(Tree::Field(Box::new(tree), name.as_str().into()), at)
        }))
    }

    /// `has(a.b)`: the last field is looked for, and not read. `has(a)`: whether a variable, or a cell
    /// of a row, has a value.
    fn has(&mut self, node: &Node) -> Result<Tree, Diagnostic> {
        let (failed, may) = (self.failed.clone(), self.may.clone());
        Ok(match self.node(node)? {
            Tree::Field(inner, name) => {
                // That the last field is not there is no failure.
                if matches!(*inner, Tree::Constant(_)) {
                    (self.failed, self.may) = (failed, may);
                }
                self.fold(Tree::Has(inner, name), node.at)
            }
            Tree::Slot(slot, _) => Tree::HasSlot(slot),
            Tree::Constant(Value::Null) if matches!(&node.kind, NodeKind::Path(path) if path.len() == 1) => {
                Tree::Constant(Value::Bool(false))
            }
            // A constant field that could be read is there, and so is what a macro goes over.
            _ => Tree::Constant(Value::Bool(true)),
        })
    }

    fn call(&mut self, name: &str, args: &[Node], at: usize) -> Result<Tree, Diagnostic> {
        let trees = self.all(args)?;
        let span = self.span.later(at);
        if let Some(function) = functions::find(name) {
            if !function.args.contains(&trees.len()) {
                let (least, most) = (function.args.start(), function.args.end());
                let count =
                    if least == most { least.to_string() } else { format!("{least} to {most}") };
                let arguments = if *most == 1 { "argument" } else { "arguments" };
                let message = format!("{name}() takes {count} {arguments}, found {}", trees.len());
                return Err(BindError::new(message).with_help(function.about).at(span));
            }
            let pattern = constant_pattern(function, &trees)
                .map(|source| self.binder.pattern(source))
                .transpose()
                .map_err(|error| error.at(span))?;
            let tree = Tree::Call(Call::new(function, pattern), trees);
            return Ok(if function.pure { self.fold(tree, at) } else { tree });
        }
        let constants: Vec<Option<Value>> = trees
            .iter()
            .map(|tree| match tree {
                Tree::Constant(value) => Some(value.clone()),
                _ => None,
            })
            .collect();
        let id = self.binder.function(name, &constants).map_err(|error| error.at(span))?;
        Ok(Tree::Extern(id, trees))
    }

    /// One operation on constants to its value. One that fails is left as it is, and fails when it runs; so is one
    /// that costs too much, and all that come after it. What holds such a one is not tried again.
    fn fold(&mut self, tree: Tree, at: usize) -> Tree {
        let tree = decided(tree);
        if !tree.is_of_constants() || self.budget.exceeded().is_some() {
            return tree;
        }
        let failed = match &tree {
            Tree::Field(inner, name) => match field_of(inner, name) {
                // It is shared, and not made.
                Some(value) => return Tree::Constant(value),
                None => {
                    tree.eval(Context { scope: &Nothing, budget: &self.budget, frame: None }).err()
                }
            },
            _ => match made(&tree, &self.budget) {
                Ok(value) => return Tree::Constant(value),
                Err(error) => Some(error),
            },
        };
        if let Some(bound) = self.budget.exceeded() {
            self.binder.warn(too_much(bound, self.span.later(at)));
            return tree;
        }
        let place = if self.guards > 0 { &mut self.may } else { &mut self.failed };
        *place = place.take().or(failed.map(|error| (at, error)));
        tree
    }
}

/// That constants cost more than may be done before a run.
pub(crate) fn too_much(bound: &str, span: Span) -> Diagnostic {
    let message = format!("the constants of the plan come to more than {bound}");
    Diagnostic::warning(span, message).with_help(
        "those from here on are evaluated whenever they are used: use smaller ones, or fewer",
    )
}

/// The value of an operation on constants, which is kept from now on.
fn made(tree: &Tree, budget: &Budget) -> Result<Value, EvalError> {
    let value = tree.eval(Context { scope: &Nothing, budget, frame: None })?.into_value();
    budget.keep(value.weight())?;
    Ok(value)
}

/// The field of a constant.
fn field_of(tree: &Tree, name: &str) -> Option<Value> {
    let Tree::Constant(Value::Map(map)) = tree else { return None };
    map.get(&KeyRef::Text(name) as &dyn AsKey).cloned()
}

/// What is left of a choice that a constant decides: the branch, or the side which decides although the other fails.
fn decided(tree: Tree) -> Tree {
    let is = |tree: &Tree, value: bool| matches!(tree, Tree::Constant(Value::Bool(own)) if *own == value);
    match tree {
        Tree::If(a, b, c) if is(&a, true) && c.is_pure() => *b,
        Tree::If(a, b, c) if is(&a, false) && b.is_pure() => *c,
        Tree::Binary(op @ (Op::And | Op::Or), a, b)
            if (is(&a, op == Op::Or) && b.is_pure()) || (is(&b, op == Op::Or) && a.is_pure()) =>
        {
            Tree::Constant(Value::Bool(op == Op::Or))
        }
        tree => tree,
    }
}

/// The scope of constants.
struct Nothing;

impl Scope for Nothing {
    fn variable(&self, _: Slot) -> ValueRef<'_> {
        ValueRef::Null
    }

    fn is_set(&self, _: Slot) -> bool {
        true // constants have no variables
    }

    fn call(&self, _: FunctionId, _: &[Value]) -> Result<Value, EvalError> {
        Err(EvalError::new("not a constant"))
    }

    fn random(&self) -> u64 {
        0
    }

    fn now_unix_ms(&self) -> i64 {
        0
    }
}
