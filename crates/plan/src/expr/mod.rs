//! Expressions: a subset of CEL (the Common Expression Language, cel.dev), read once, bound to slots
//! once, and evaluated without a copy of what they look at.
//!
//! Of CEL's language it has literals, operators, lists, maps, fields, indexes, conditionals, the
//! macros `has`, `all`, `exists`, `exists_one`, `map`, `filter`, and the functions in
//! [`functions`]. Beyond CEL it has durations as literals, which are milliseconds: `duration < 300ms`;
//! ints and floats compare and calculate with each other.

mod bind;
mod budget;
mod date;
mod digest;
mod eval;
pub mod functions;
mod lex;
mod loose;
mod operators;
mod parse;
mod pattern;
mod tree;
mod zone;

use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use eval::{Context, Evaluated};
use tree::Tree;

pub(crate) use bind::too_much;
pub use budget::Budget;
pub use pattern::Pattern;

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
    /// A constant pattern of `matches()`, compiled. Who binds many expressions shares what is equal, and bounds it.
    fn pattern(&mut self, source: &str) -> Result<Pattern, BindError> {
        Pattern::compile(source).map_err(BindError::new)
    }
    /// What the constants may cost that are evaluated when something is bound. Who binds many expressions has one
    /// for all of them.
    fn budget(&self) -> Rc<Budget> {
        Rc::new(Budget::of_constants())
    }
    /// Takes note of what cannot have been meant.
    fn warn(&mut self, _: Diagnostic) {}
}

/// Gives values while an expression is evaluated.
pub trait Scope {
    /// The value of a variable; null where it has none.
    fn variable(&self, slot: Slot) -> ValueRef<'_>;
    /// Whether a variable was ever given a value, which may be null.
    fn is_set(&self, slot: Slot) -> bool;
    /// Calls a function of the binder.
    fn call(&self, function: FunctionId, args: &[Value]) -> Result<Value, EvalError>;
    /// 64 random bits.
    fn random(&self) -> u64;
    /// Milliseconds since 1970.
    fn now_unix_ms(&self) -> i64;
}

/// Functions of other tools, and what is written here.
const FOREIGN_FUNCTIONS: [(&str, &str); 20] = [
    ("is", "`==`, as in `status == 200`"),
    ("eq", "`==`, as in `status == 200`"),
    ("equals", "`==`, as in `status == 200`"),
    ("equal", "`==`, as in `status == 200`"),
    ("toBe", "`==`, as in `status == 200`"),
    ("not", "`!=`, as in `status != 500`"),
    ("lt", "`<`, as in `duration < 300ms`"),
    ("lte", "`<=`, as in `duration <= 300ms`"),
    ("gt", "`>`, as in `body_bytes > 0`"),
    ("gte", "`>=`, as in `body_bytes >= 1`"),
    ("includes", "`contains`, as in `body.contains(\"ok\")`"),
    ("indexOf", "`contains`, as in `body.contains(\"ok\")`"),
    ("jsonPath", "`json`, as in `json(\"$.id\") == 5`"),
    ("jsonpath", "`json`, as in `json(\"$.id\") == 5`"),
    ("jmesPath", "`json`, as in `json(\"$.id\") == 5`"),
    ("__Random", "`random`, as in `random(1, 5)`"),
    ("__UUID", "`uuid()`"),
    ("__time", "`now()`"),
    ("__threadNum", "`user`, the number of the virtual user"),
    ("__P", "`${name}`, with a variable that `vars` names and `--set name=value` sets"),
];

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
        let message = format!("unknown function `{name}()`");
        if let Some((_, ours)) = FOREIGN_FUNCTIONS.iter().find(|(theirs, _)| *theirs == name) {
            return BindError { message, help: Some(format!("write {ours}")) };
        }
        let known = functions::FUNCTIONS
            .iter()
            .map(|function| function.name)
            .chain(["header", "trailer", "cookie", "json", "json_all", "xpath"]);
        let help = nearest(name, known).map(|near| format!("did you mean `{near}()`?"));
        BindError { message, help }
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
pub struct EvalError {
    message: String,
    lacks_value: bool,
}

impl EvalError {
    /// An error with this text.
    pub fn new(message: impl Into<String>) -> EvalError {
        EvalError { message: message.into(), lacks_value: false }
    }

    /// A variable that is needed was never given a value.
    fn unset(name: &str) -> EvalError {
        let message = format!("variable `{name}` has no value: {DEFAULTS}");
        EvalError { message, lacks_value: true }
    }

    /// What has to be a text is null.
    fn null(source: &str) -> EvalError {
        let message = format!("`{source}` is null, and null has no text: {DEFAULTS}");
        EvalError { message, lacks_value: true }
    }

    /// Whether it could not be evaluated because something that is needed has no value.
    pub fn lacks_value(&self) -> bool {
        self.lacks_value
    }
}

/// What helps where there is no value.
const DEFAULTS: &str =
    "give a default, such as `vars: {x: \"\"}`, or `default: \"\"` in an `extract`";

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for EvalError {}

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
