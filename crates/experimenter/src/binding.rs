//! Texts of an experiment's file with `${...}` over what its variants set.

use std::cell::RefCell;
use std::collections::BTreeSet;

use squall_plan::diagnostic::Diagnostic;
use squall_plan::expr::{BindError, Binder, Bound, FunctionId};
use squall_plan::model::Json;
use squall_plan::template::Template;
use squall_plan::value::Value;

use crate::variants::Setting;

/// The variables of a variant, and which of them were used.
pub(crate) struct Variables<'v> {
    vars: &'v [Setting<String>],
    used: RefCell<BTreeSet<String>>,
}

impl<'v> Variables<'v> {
    pub fn new(vars: &'v [Setting<String>]) -> Variables<'v> {
        Variables { vars, used: RefCell::default() }
    }

    /// The text that a template comes to.
    ///
    /// # Errors
    /// It uses what the variant does not set, or what is known only while users run.
    pub fn text(&self, template: &Template) -> Result<String, Diagnostic> {
        template.bind(&mut Known(self))?.constant().ok_or_else(|| {
            let message = "what stands here must be known before the run";
            Diagnostic::error(template.span(), message).with_help(&self.help())
        })
    }

    /// The names of the variables that texts have used.
    pub fn used(self) -> BTreeSet<String> {
        self.used.into_inner()
    }

    fn help(&self) -> String {
        match self.vars {
            [] => "variables come from factors, or from `vars` of a variant".to_owned(),
            vars => {
                let names: Vec<&str> = vars.iter().map(|own| own.what.as_str()).collect();
                format!("the variables of this variant are {}", names.join(", "))
            }
        }
    }
}

/// Gives expressions their variables.
struct Known<'k>(&'k Variables<'k>);

impl Binder for Known<'_> {
    fn variable(&mut self, path: &[&str]) -> Result<Bound, BindError> {
        let name = path.first().copied().unwrap_or_default();
        let Some(found) = self.0.vars.iter().find(|own| own.what == name) else {
            let error = BindError::new(format!("unknown variable `{name}`"));
            return Err(error.with_help(self.0.help()));
        };
        self.0.used.borrow_mut().insert(name.to_owned());
        Ok(Bound::Constant(value(&found.value), 1))
    }

    fn function(&mut self, name: &str, _: &[Option<Value>]) -> Result<FunctionId, BindError> {
        Err(BindError::unknown_function(name))
    }
}

fn value(json: &Json) -> Value {
    match json {
        Json::Text(_) => Value::text(json.to_string()),
        other => Value::from_json(&other.written()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use squall_plan::span::Span;

    fn setting(name: &str, value: Json) -> Setting<String> {
        Setting { what: name.to_owned(), value, by: String::new(), span: Span::default() }
    }

    #[test]
    fn texts_hold_variables_and_expressions_over_them() {
        let vars = [
            setting("threads", Json::Text(Template::text("virtual"))),
            setting("n", Json::Int(3)),
            setting("idle", Json::Bool(false)),
        ];
        let variables = Variables::new(&vars);
        let text = |text: &str| {
            let template = Template::parse(text, Span { line: 1, column: 1, file: 0 }).unwrap();
            variables.text(&template)
        };
        assert_eq!(text("--threads=${threads}").as_deref(), Ok("--threads=virtual"));
        assert_eq!(text("${n + 1}").as_deref(), Ok("4"));
        assert_eq!(text("$${n}").as_deref(), Ok("${n}"));
        for (wrong, said) in
            [("a ${thread}", "threads, n, idle"), ("${user}", "unknown variable `user`")]
        {
            let error = text(wrong).unwrap_err();
            let told = format!("{} {}", error.message, error.help.unwrap_or_default());
            assert!(told.contains(said), "{told}");
        }
        assert_eq!(variables.used(), ["n", "threads"].map(str::to_owned).into());
    }
}
