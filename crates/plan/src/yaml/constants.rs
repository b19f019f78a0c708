//! Variables in quantities (`users: "${n}"`): what they come to is known before the run.

use std::collections::{HashMap, HashSet};

use crate::expr::{BindError, Binder, Bound, FunctionId};
use crate::model::{Json, Var};
use crate::template::Template;
use crate::value::{MAX_VARIABLES, Value};

/// The variables of a plan that are the same each time, and the names of all.
#[derive(Default)]
pub(super) struct Constants {
    values: HashMap<String, Value>,
    /// Variables that are not known before the run, or not the same each time.
    others: HashSet<String>,
}

impl Constants {
    /// Of the plan's variables, in their order.
    pub fn of(vars: &[Var]) -> Constants {
        let mut constants = Constants::default();
        let mut left = MAX_VARIABLES;
        for var in vars {
            let value = constants.value(&var.value);
            // Too much of it is an error of its own, when the plan is compiled.
            match value.and_then(|value| Some((value.left_of(left)?, value))) {
                Some((less, value)) => {
                    left = less;
                    constants.values.insert(var.name.value.clone(), value);
                }
                None => {
                    constants.others.insert(var.name.value.clone());
                }
            }
        }
        constants
    }

    /// The text that a template comes to.
    ///
    /// # Errors
    /// It holds what is not known before the run, or not the same each time.
    pub fn text(&mut self, template: &Template) -> Result<String, crate::diagnostic::Diagnostic> {
        let bound = template.bind(self)?;
        bound.constant().ok_or_else(|| {
            BindError::new(
                "what stands here must be known before the run, and be the same each time",
            )
            .with_help(HELP)
            .at(template.span())
        })
    }

    fn value(&mut self, json: &Json) -> Option<Value> {
        Some(match json {
            Json::Null => Value::Null,
            Json::Bool(value) => Value::Bool(*value),
            Json::Int(value) => Value::Int(*value),
            Json::Float(value) => Value::Float(*value),
            Json::Text(text) => text.bind(self).ok()?.constant_value()?,
            Json::List(items) => Value::List(
                items.iter().map(|item| self.value(item)).collect::<Option<Vec<_>>>()?.into(),
            ),
            Json::Map(entries) => {
                let entry = |(name, value): &(Template, Json)| {
                    let name = name.bind(self).ok()?.constant()?;
                    Some((name.into(), self.value(value)?))
                };
                Value::Map(std::sync::Arc::new(entries.iter().map(entry).collect::<Option<_>>()?))
            }
        })
    }
}

const HELP: &str =
    "only variables of `vars`, --set, --env-file and the environment can be used here";

impl Binder for Constants {
    fn variable(&mut self, path: &[&str]) -> Result<Bound, BindError> {
        if let Some(value) = self.values.get(path[0]) {
            return Ok(Bound::Constant(value.clone(), 1));
        }
        if self.others.contains(path[0]) {
            let message = format!("`{}` is not the same each time", path[0]);
            return Err(BindError::new(message).with_help(HELP));
        }
        let known = self.values.keys().map(String::as_str);
        Err(BindError::unknown_variable(path[0], known).with_help(HELP))
    }

    fn function(&mut self, name: &str, _: &[Option<Value>]) -> Result<FunctionId, BindError> {
        Err(BindError::unknown_function(name))
    }
}
