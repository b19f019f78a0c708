//! A tree of names to a tree of slots, with what is constant evaluated.

use super::eval::{Budget, Context};
use super::functions;
use super::parse::{Node, NodeKind};
use super::tree::{Macro, Op, Tree};
use super::{BindError, Binder, Bound, EvalError, FunctionId, Scope, Slot};
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use crate::value::{Value, ValueRef};

pub(super) fn bind(node: &Node, binder: &mut dyn Binder, span: Span) -> Result<Tree, Diagnostic> {
    Binding { binder, span, parameters: Vec::new() }.node(node)
}

struct Binding<'b> {
    binder: &'b mut dyn Binder,
    span: Span,
    /// Parameters of the macros around, outermost first.
    parameters: Vec<String>,
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
            NodeKind::Binary(sign, a, b) => {
                Tree::Binary(Op::of(sign), self.boxed(a)?, self.boxed(b)?)
            }
            NodeKind::If(a, b, c) => Tree::If(self.boxed(a)?, self.boxed(b)?, self.boxed(c)?),
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
                let body = self.boxed(body);
                self.parameters.pop();
                Tree::Over(Macro::of(name), list, body?)
            }
        };
        Ok(fold(tree))
    }

    fn boxed(&mut self, node: &Node) -> Result<Box<Tree>, Diagnostic> {
        self.node(node).map(Box::new)
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
        Ok(fold(fields.fold(tree, |tree, name| Tree::Field(Box::new(tree), name.as_str().into()))))
    }

    /// `has(a.b)`: the last field is looked for, and not read. `has(a)`: whether a variable, or a cell
    /// of a row, has a value.
    fn has(&mut self, node: &Node) -> Result<Tree, Diagnostic> {
        Ok(match self.node(node)? {
            Tree::Field(inner, name) => Tree::Has(inner, name),
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
                return Err(BindError { message, help: Some(function.about.to_owned()) }.at(span));
            }
            let pattern = functions::constant_pattern(function, &trees)
                .map(|source| self.binder.pattern(source))
                .transpose()
                .map_err(|error| error.at(span))?;
            let tree = functions::call(function, pattern, trees);
            return Ok(if function.pure { fold(tree) } else { tree });
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
}

/// A tree of constants to its value. One that fails is left as it is, and fails when it runs.
fn fold(tree: Tree) -> Tree {
    if !tree.is_pure() {
        return tree;
    }
    match tree.eval(Context { scope: &Nothing, budget: &Budget::new(), frame: None }) {
        Ok(value) => Tree::Constant(value.into_value()),
        Err(_) => tree,
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
