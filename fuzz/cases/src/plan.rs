//! What users write: plans, templates, expressions.

use std::path::Path;

use squall_plan::expr::{BindError, Binder, Bound, EvalError, Expr, FunctionId, Scope, Slot};
use squall_plan::span::Span;
use squall_plan::template::Template;
use squall_plan::value::{Value, ValueRef};
use squall_plan::vars::{LoadOptions, parse_env_file};
use squall_plan::yaml::{load_str, print};

/// Any text as a plan: it is read or refused; one that is read prints and reads again as the same.
pub(crate) fn plan(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    // Includes would read files of this machine.
    if text.contains("include") {
        return;
    }
    if let Ok(loaded) = load_str("fuzz.yaml", text, Path::new(""), &LoadOptions::default()) {
        let printed = print(&loaded.plan, false);
        let again = load_str("fuzz.yaml", &printed, Path::new(""), &LoadOptions::default());
        let again = again.unwrap_or_else(|failure| panic!("{:?}\n{printed}", failure.diagnostics));
        assert_eq!(again.plan, loaded.plan, "{printed}");
        let mut hoisted = loaded.plan;
        hoisted.hoist();
        let printed = print(&hoisted, false);
        let again = load_str("fuzz.yaml", &printed, Path::new(""), &LoadOptions::default());
        let again = again.unwrap_or_else(|failure| panic!("{:?}\n{printed}", failure.diagnostics));
        assert_eq!(again.plan, hoisted, "{printed}");
    }
}

/// Any text as a file of steps that a plan includes twice: both are read or refused, and a plan that is read prints and reads again as
/// the same.
pub(crate) fn includes(bytes: &[u8]) {
    const PLAN: &str = "target: http://127.0.0.1\nscenarios:\n  a:\n    load: {users: 1, iterations: 1}\n    \
                        steps:\n      - include: steps.yaml\n      - group: g\n        steps: [{include: steps.yaml}]\n";
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    // It may include itself, and nothing else of this machine.
    if text.matches("include").count() != text.matches("include: steps.yaml").count() {
        return;
    }
    let Ok(folder) = tempfile::tempdir() else { return };
    if std::fs::write(folder.path().join("steps.yaml"), text).is_err() {
        return;
    }
    let load = |text: &str| load_str("fuzz.yaml", text, folder.path(), &LoadOptions::default());
    match load(PLAN) {
        Ok(loaded) => {
            let printed = print(&loaded.plan, false);
            let again = load(&printed);
            let again =
                again.unwrap_or_else(|failure| panic!("{:?}\n{printed}", failure.diagnostics));
            assert_eq!(again.plan, loaded.plan, "{printed}");
        }
        Err(failure) => assert!(!failure.diagnostics.is_empty()),
    }
}

/// Any text as a template: read, bound and rendered.
pub(crate) fn template(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(template) = Template::parse(text, Span::default())
        && let Ok(bound) = template.bind(&mut World)
    {
        let _ = bound.render(&World, &mut Vec::new());
    }
}

/// Any text as an expression: read, bound and evaluated.
pub(crate) fn expression(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(expr) = Expr::parse(text, Span::default())
        && let Ok(program) = expr.bind(&mut World)
    {
        let _ = program.eval(&World);
    }
}

/// Any text as a file of variables: it is refused, or what was read of it reads again as the same.
pub(crate) fn env_file(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(values) = parse_env_file("fuzz", text) else { return };
    // In quotes a value keeps its edges; a key that begins like a comment or an `export` would be read as that.
    let is_plain = |key: &str| !key.starts_with(['#', '"', '\'']) && !key.starts_with("export ");
    if values.iter().all(|(key, _)| is_plain(key)) {
        let written: String =
            values.iter().map(|(key, value)| format!("{key}=\"{value}\"\n")).collect();
        assert_eq!(parse_env_file("again", &written).as_ref(), Ok(&values), "{written}");
    }
}

/// Every name is the text `42`.
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

    fn is_set(&self, _: Slot) -> bool {
        true
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
