//! Conditions, numbers of passes and lists that steps are given: one that is written out, and is none, is an error, as no run
//! could do anything with it.

use squall_plan::expr::{BoundExpr, Expr};
use squall_plan::value::Value;

use super::compiler::Compiler;

impl Compiler<'_> {
    /// The condition of an `if` or a `while`; `None` after an error was noted.
    pub(super) fn condition(&mut self, expr: &Expr) -> Option<BoundExpr> {
        let help = "compare it with something, as in `status == 200`";
        self.literal(expr, "true or false", help, |value| matches!(value, Value::Bool(_)))
    }

    /// How often steps are repeated; `None` after an error was noted.
    pub(super) fn times(&mut self, expr: &Expr) -> Option<BoundExpr> {
        self.literal(expr, "a whole number, 0 or more", "", |value| match value {
            Value::Int(times) => *times >= 0,
            Value::Float(times) => *times >= 0.0 && times.fract() == 0.0,
            _ => false,
        })
    }

    /// The list of a `for_each`; `None` after an error was noted.
    pub(super) fn list(&mut self, expr: &Expr) -> Option<BoundExpr> {
        let help = "write it as in `for_each: {x: \"[1, 2]\"}`";
        self.literal(expr, "a list", help, |value| matches!(value, Value::List(_)))
    }

    /// An expression that may be written out: then it `is` what is expected.
    fn literal(
        &mut self,
        expr: &Expr,
        expected: &str,
        help: &str,
        is: impl Fn(&Value) -> bool,
    ) -> Option<BoundExpr> {
        let bound = self.formula(expr)?;
        // What variables hold may be another thing in the next run.
        match bound.constant().filter(|_| expr.names().is_empty()) {
            Some(value) if !is(value) => {
                let message = format!("expected {expected}, found `{}`", expr.source());
                self.error(expr.span(), message, help);
                None
            }
            _ => Some(bound),
        }
    }
}
