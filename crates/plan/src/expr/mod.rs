//! Expressions: a subset of CEL (the Common Expression Language, cel.dev), read once, bound to slots
//! once, and evaluated without a copy of what they look at.
//!
//! Of CEL's language it has literals, operators, lists, maps, fields, indexes, conditionals, the
//! macros `has`, `all`, `exists`, `exists_one`, `map`, `filter`, and the functions in
//! [`functions`]. Beyond CEL it has durations as literals, which are milliseconds: `duration < 300ms`;
//! ints and floats compare and calculate with each other.

mod bind;
mod eval;
pub mod functions;
mod lex;
mod parse;

use std::fmt;
use std::sync::Arc;

use eval::{Budget, Context, Evaluated};

use crate::diagnostic::{Diagnostic, nearest};
use crate::span::Span;
use crate::value::{Value, ValueRef};

/// Number of a variable, given by a [`Binder`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot(pub u32);

/// Number of a function that only the binder knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FunctionId(pub u32);

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

/// What a name stands for.
#[derive(Debug, Clone, PartialEq)]
pub enum Bound {
    /// A variable, covering so many parts of the dotted name.
    Slot(Slot, usize),
    /// A value known before the run, likewise.
    Constant(Value, usize),
}

/// Knows what names stand for.
pub trait Binder {
    /// What the dotted name `path` (at least one part) stands for; parts that are not covered are
    /// fields of its value.
    fn variable(&mut self, path: &[&str]) -> Result<Bound, BindError>;
    /// The number of a function that is not one of [`functions`]. `args`: the values of those
    /// arguments that are constants.
    fn function(&mut self, name: &str, args: &[Option<Value>]) -> Result<FunctionId, BindError>;
}

/// Gives values while an expression is evaluated.
pub trait Scope {
    /// The value of a variable.
    fn variable(&self, slot: Slot) -> ValueRef<'_>;
    /// Calls a function of the binder.
    fn call(&self, function: FunctionId, args: &[Value]) -> Result<Value, EvalError>;
    /// 64 random bits.
    fn random(&self) -> u64;
    /// Milliseconds since 1970.
    fn now_unix_ms(&self) -> i64;
}

/// A name that stands for nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BindError {
    message: String,
    help: Option<String>,
}

impl BindError {
    /// An error in the binder's words.
    pub fn new(message: impl Into<String>) -> BindError {
        BindError { message: message.into(), help: None }
    }

    /// There is no variable of that name.
    pub fn unknown_variable<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> BindError {
        let help = match nearest(name, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "variables come from vars, data, extract, set, for_each, and repeat's counter"
                .to_owned(),
        };
        BindError { message: format!("unknown variable `{name}`"), help: Some(help) }
    }

    /// There is no function of that name.
    pub fn unknown_function(name: &str) -> BindError {
        let known = functions::FUNCTIONS
            .iter()
            .map(|function| function.name)
            .chain(["header", "cookie", "json"]);
        let help = nearest(name, known).map(|near| format!("did you mean `{near}()`?"));
        BindError { message: format!("unknown function `{name}()`"), help }
    }

    /// The same with what to do.
    pub fn with_help(self, help: impl Into<String>) -> BindError {
        BindError { help: Some(help.into()), ..self }
    }

    /// As a diagnostic of what stands at `span`.
    pub fn at(self, span: Span) -> Diagnostic {
        Diagnostic::error(span, self.message).with_help(&self.help.unwrap_or_default())
    }
}

/// An expression that could not be evaluated, in a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvalError(String);

impl EvalError {
    /// An error with this text.
    pub fn new(message: impl Into<String>) -> EvalError {
        EvalError(message.into())
    }
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for EvalError {}

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

    /// A whole number.
    pub fn number(number: i64, span: Span) -> Expr {
        let tree = Arc::new(parse::Node::constant(Value::Int(number)));
        Expr { source: number.to_string(), span, tree }
    }

    /// As it was written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Where it stands.
    pub fn span(&self) -> Span {
        self.span
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
        bind::bind(&self.tree, binder, self.span).map(|tree| BoundExpr(Arc::new(tree)))
    }
}

/// An expression bound to slots. Cheap to clone.
#[derive(Debug, Clone)]
pub struct BoundExpr(Arc<eval::Tree>);

impl BoundExpr {
    /// Its value, if it does not depend on anything.
    pub fn constant(&self) -> Option<&Value> {
        match &*self.0 {
            eval::Tree::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// The slot, if it is nothing but a variable.
    pub fn slot(&self) -> Option<Slot> {
        match &*self.0 {
            eval::Tree::Slot(slot) => Some(*slot),
            _ => None,
        }
    }

    /// Its value.
    ///
    /// # Errors
    /// Values do not fit the operations; the evaluation takes too long, or makes too large a value.
    pub fn eval(&self, scope: &dyn Scope) -> Result<Value, EvalError> {
        Ok(self.evaluated(scope, &Budget::new())?.into_value())
    }

    /// Whether it is true.
    ///
    /// # Errors
    /// As [`BoundExpr::eval`], or the value is no bool.
    pub fn test(&self, scope: &dyn Scope) -> Result<bool, EvalError> {
        match self.evaluated(scope, &Budget::new())?.as_ref() {
            ValueRef::Bool(value) => Ok(value),
            other => Err(EvalError::new(format!(
                "expected the condition to be a bool, found {}",
                other.kind()
            ))),
        }
    }

    fn evaluated<'a>(
        &'a self,
        scope: &'a dyn Scope,
        budget: &Budget,
    ) -> Result<Evaluated<'a>, EvalError> {
        self.0.eval(Context { scope, budget, frame: None })
    }

    /// Appends its value as it stands in a text.
    ///
    /// # Errors
    /// As [`BoundExpr::eval`].
    pub fn render(&self, scope: &dyn Scope, out: &mut Vec<u8>) -> Result<(), EvalError> {
        self.evaluated(scope, &Budget::new())?.as_ref().render(out);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
