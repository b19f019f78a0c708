//! Expressions: a subset of CEL (the Common Expression Language, cel.dev), read once, bound to slots
//! once, and evaluated without a copy of what they look at.
//!
//! Of CEL's language it has literals, operators, lists, maps, fields, indexes, conditionals, the
//! macros `has`, `all`, `exists`, `exists_one`, `map`, `filter`, and the functions in
//! [`functions`]. Beyond CEL it has durations as literals, which are milliseconds: `duration < 300ms`;
//! ints and floats compare and calculate with each other.

mod bind;
mod binder;
mod budget;
mod date;
mod digest;
mod eval;
mod evaluated;
pub mod functions;
mod lex;
mod loose;
mod operators;
mod parse;
mod pattern;
mod scope;
mod tree;
mod zone;

use std::sync::Arc;

use self::eval::Context;
use self::evaluated::Evaluated;
use self::tree::Tree;

pub(crate) use self::bind::too_much;
pub use self::binder::{BindError, Binder, Bound};
pub use self::budget::Budget;
pub use self::pattern::Pattern;
pub use self::scope::{EvalError, FunctionId, Scope, Slot};

use crate::diagnostic::Diagnostic;
use crate::span::Span;
use crate::value::{Value, ValueRef};

/// An expression as it was written, read and found good.
#[derive(Debug, Clone)]
pub struct Expr {
    source: String,
    span: Span,
    tree: Arc<parse::Node>,
}

impl PartialEq for Expr {
    fn eq(&self, other: &Expr) -> bool {
        self.source == other.source
    }
}

/// `null`.
impl Default for Expr {
    fn default() -> Self {
        let tree = Arc::new(parse::Node::constant(Value::Null));
        Expr { source: "null".to_owned(), span: Span::default(), tree }
    }
}

impl Expr {
    /// Reads an expression that begins at `span`.
    ///
    /// # Errors
    /// The text is none; the error says where and what was expected.
    pub fn parse(source: &str, span: Span) -> Result<Expr, Diagnostic> {
        match parse::parse(source) {
            Ok(tree) => Ok(Expr { source: source.to_owned(), span, tree: Arc::new(tree) }),
            Err(error) => Err(Diagnostic::error(span.later(error.at), error.message)
                .with_help(&error.help.unwrap_or_default())),
        }
    }

    pub fn number(number: i64, span: Span) -> Expr {
        let tree = Arc::new(parse::Node::constant(Value::Int(number)));
        Expr { source: number.to_string(), span, tree }
    }

    /// As it was written.
    pub fn source(&self) -> &str {
        &self.source
    }

    pub fn span(&self) -> Span {
        self.span
    }

    /// Where one of these names is compared with a text, the name and the text: `status == "200"`.
    pub(crate) fn compared_with_text<'n>(
        &self,
        names: &[&'n str],
    ) -> Option<(&'n str, String, Span)> {
        let find = |name| parse::compared_with_text(&self.tree, name);
        let found = names.iter().find_map(|name| Some((*name, find(name)?)));
        found.map(|(name, (text, at))| (name, text, self.span.later(at)))
    }

    /// The dotted names in it that are no parameters of its own macros.
    pub fn names(&self) -> Vec<(Vec<String>, Span)> {
        parse::names(&self.tree).into_iter().map(|(path, at)| (path, self.span.later(at))).collect()
    }

    /// Binds its names.
    ///
    /// # Errors
    /// A name or function is not known.
    pub fn bind(&self, binder: &mut dyn Binder) -> Result<BoundExpr, Diagnostic> {
        let tree = Arc::new(bind::bind(&self.tree, binder, self.span)?);
        Ok(BoundExpr { tree, source: self.source.as_str().into() })
    }
}

/// An expression bound to slots. Cheap to clone.
#[derive(Debug, Clone)]
pub struct BoundExpr {
    tree: Arc<Tree>,
    /// As it was written, for messages.
    source: Arc<str>,
}

impl BoundExpr {
    /// As it was written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether it looks at the value of a variable.
    pub fn reads(&self, slot: Slot) -> bool {
        self.tree.find_slot(&|own| own == slot).is_some()
    }

    /// Its value, if it does not depend on anything.
    pub fn constant(&self) -> Option<&Value> {
        match &*self.tree {
            Tree::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// The slot, if it is nothing but a variable.
    pub fn slot(&self) -> Option<Slot> {
        match &*self.tree {
            Tree::Slot(slot, _) => Some(*slot),
            _ => None,
        }
    }

    /// Its value; null only if something was given that value.
    ///
    /// # Errors
    /// Values do not fit the operations, or a variable was never given one; the evaluation takes too
    /// long, or makes too large a value.
    pub fn eval(&self, scope: &dyn Scope) -> Result<Value, EvalError> {
        self.evaluated(scope, &Budget::new())?.given()
    }

    /// Its value, before the run.
    ///
    /// # Errors
    /// As [`BoundExpr::eval`]; and the budget is not enough.
    pub fn eval_within(&self, scope: &dyn Scope, budget: &Budget) -> Result<Value, EvalError> {
        self.evaluated(scope, budget)?.given()
    }

    /// Whether it is true.
    ///
    /// # Errors
    /// As [`BoundExpr::eval`], or the value is no bool.
    pub fn test(&self, scope: &dyn Scope) -> Result<bool, EvalError> {
        match self.evaluated(scope, &Budget::new())? {
            Evaluated::Unset(name) => Err(EvalError::unset(name)),
            value => match value.as_ref() {
                ValueRef::Bool(value) => Ok(value),
                other => Err(EvalError::new(format!(
                    "expected the condition to be a bool, found {}",
                    other.kind()
                ))),
            },
        }
    }

    fn evaluated<'a>(
        &'a self,
        scope: &'a dyn Scope,
        budget: &Budget,
    ) -> Result<Evaluated<'a>, EvalError> {
        let value = self.tree.eval(Context { scope, budget, frame: None });
        // What does not fit an operation often is what has no value: that is the better message.
        value.map_err(|error| match self.tree.find_slot(&|slot| !scope.is_set(slot)) {
            Some(name) if !error.lacks_value => EvalError::unset(name),
            _ => error,
        })
    }

    /// Appends its value as it stands in a text.
    ///
    /// # Errors
    /// As [`BoundExpr::eval`], or the value is null.
    pub fn render(&self, scope: &dyn Scope, out: &mut Vec<u8>) -> Result<(), EvalError> {
        self.render_within(scope, &Budget::new(), out)
    }

    /// The same, before the run.
    ///
    /// # Errors
    /// As [`BoundExpr::render`]; and the budget is not enough.
    pub fn render_within(
        &self,
        scope: &dyn Scope,
        budget: &Budget,
        out: &mut Vec<u8>,
    ) -> Result<(), EvalError> {
        match self.evaluated(scope, budget)? {
            Evaluated::Unset(name) => Err(EvalError::unset(name)),
            value => match value.as_ref() {
                ValueRef::Null => Err(EvalError::null(&self.source)),
                value => {
                    value.render(out);
                    Ok(())
                }
            },
        }
    }

    /// Its value as it stands in a text, borrowed if it is a text that lies somewhere; if not, it is made in
    /// `room`.
    ///
    /// # Errors
    /// As [`BoundExpr::render`].
    pub fn text_in<'a>(
        &'a self,
        scope: &'a dyn Scope,
        room: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], EvalError> {
        let value = match self.evaluated(scope, &Budget::new())? {
            Evaluated::Unset(name) => return Err(EvalError::unset(name)),
            Evaluated::Ref(ValueRef::Text(text)) => return Ok(text.as_bytes()),
            Evaluated::Ref(ValueRef::Bytes(bytes)) => return Ok(bytes),
            value => value,
        };
        room.clear();
        match value.as_ref() {
            ValueRef::Null => return Err(EvalError::null(&self.source)),
            value => value.render(room),
        }
        Ok(room)
    }

    /// Appends its value for a person to read: null, and what has no value, as `null`. Returns whether
    /// it has a value.
    ///
    /// # Errors
    /// As [`BoundExpr::eval`], but for a variable without a value.
    pub fn show(&self, scope: &dyn Scope, out: &mut Vec<u8>) -> Result<bool, EvalError> {
        let value = self.evaluated(scope, &Budget::new())?;
        match value.as_ref() {
            ValueRef::Null => out.extend_from_slice(b"null"),
            value => value.render(out),
        }
        Ok(!matches!(value.as_ref(), ValueRef::Null))
    }
}

#[cfg(test)]
mod tests;
