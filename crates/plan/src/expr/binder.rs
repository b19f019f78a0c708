//! What names stand for, which only who binds an expression knows.

use std::rc::Rc;

use super::budget::Budget;
use super::functions::FUNCTIONS;
use super::pattern::Pattern;
use super::scope::{FunctionId, Slot};
use crate::diagnostic::{Diagnostic, nearest};
use crate::span::Span;
use crate::value::Value;

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
    /// The number of a function that is not one of [`functions`](super::functions). `args`: the values of those
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
        let known = FUNCTIONS
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
