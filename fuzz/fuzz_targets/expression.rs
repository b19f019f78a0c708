//! Any text as an expression: read, bound and evaluated.
#![no_main]

use libfuzzer_sys::fuzz_target;
use squall_plan::expr::{BindError, Binder, Bound, EvalError, Expr, FunctionId, Scope, Slot};
use squall_plan::span::Span;
use squall_plan::value::{Value, ValueRef};

struct World;

impl Binder for World {
    fn variable(&mut self, _: &[&str]) -> Result<Bound, BindError> {
        Ok(Bound::Slot(Slot(0), 1))
    }

    fn function(&mut self, name: &str, _: &[Option<Value>]) -> Result<FunctionId, BindError> {
        Err(BindError::unknown_function(name))
    }
}

impl Scope for World {
    fn variable(&self, _: Slot) -> ValueRef<'_> {
        ValueRef::Text("42")
    }

    fn call(&self, _: FunctionId, _: &[Value]) -> Result<Value, EvalError> {
        Ok(Value::Null)
    }

    fn random(&self) -> u64 {
        7
    }

    fn now_unix_ms(&self) -> i64 {
        0
    }
}

fuzz_target!(|text: &str| {
    if let Ok(expr) = Expr::parse(text, Span::default())
        && let Ok(program) = expr.bind(&mut World)
    {
        let _ = program.eval(&World);
    }
});
