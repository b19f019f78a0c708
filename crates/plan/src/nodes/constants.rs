//! Variables in quantities (`users: "${n}"`): what they come to is known before the run.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, nearest};
use crate::expr::{BindError, Binder, Bound, Budget, FunctionId};
use crate::json::Json;
use crate::template::Template;
use crate::value::{MAX_VARIABLES, Value};

/// The variables of the plan, and over them those of the scenario at hand. `None`: one that is not known
/// before the run, or not the same each time.
pub(super) struct Constants {
    layers: Vec<HashMap<String, Option<Value>>>,
    /// What is left for their evaluation.
    budget: Rc<Budget>,
    /// Those that quantities have used.
    pub used: BTreeSet<String>,
}

impl Default for Constants {
    fn default() -> Self {
        let budget = Rc::new(Budget::of_constants());
        Constants { layers: Vec::new(), budget, used: BTreeSet::new() }
    }
}

impl Constants {
    /// Puts further variables over those that are known, in their order.
    pub fn enter<'v>(&mut self, vars: impl Iterator<Item = (&'v str, Cow<'v, Json>)>) {
        self.layers.push(HashMap::new());
        let mut left = MAX_VARIABLES;
        for (name, value) in vars {
            // Too much of it is an error of its own, when the plan is compiled.
            let value = self.value(&value);
            let value = value.and_then(|value| Some((value.left_of(left)?, value)));
            let value = value.map(|(less, value)| {
                left = less;
                value
            });
            if let Some(layer) = self.layers.last_mut() {
                layer.insert(name.to_owned(), value);
            }
        }
    }

    /// Undoes [`Constants::enter`].
    pub fn leave(&mut self) {
        self.layers.pop();
    }

    /// The text that a template comes to.
    ///
    /// # Errors
    /// It holds what is not known before the run, or not the same each time.
    pub fn text(&mut self, template: &Template) -> Result<String, Diagnostic> {
        let mut known = Known { constants: self, hints: true, used: BTreeSet::new() };
        let bound = template.bind(&mut known)?;
        let used = known.used;
        self.used.extend(used);
        bound.constant().ok_or_else(|| {
            let message =
                "what stands here must be known before the run, and be the same each time";
            BindError::new(message).with_help(HELP).at(template.span())
        })
    }

    fn value(&self, json: &Json) -> Option<Value> {
        let mut known = Known { constants: self, hints: false, used: BTreeSet::new() };
        Some(match json {
            Json::Null => Value::Null,
            Json::Bool(value) => Value::Bool(*value),
            Json::Int(value) => Value::Int(*value),
            Json::Float(value) => Value::Float(*value),
            Json::Text(text) => text.bind(&mut known).ok()?.constant_value()?,
            Json::List(items) => {
                let items = items.iter().map(|item| self.value(item));
                Value::List(items.collect::<Option<Vec<_>>>()?.into())
            }
            Json::Map(entries) => {
                let entries = entries.iter().map(|(name, value)| {
                    let name = name.bind(&mut known).ok()?.constant()?;
                    Some((name.into(), self.value(value)?))
                });
                Value::Map(Arc::new(entries.collect::<Option<_>>()?))
            }
        })
    }
}

const HELP: &str =
    "only variables of `vars`, --set, --env-file and the environment can be used here";

/// Gives the values of constants; `hints`: and what was meant by a name that there is not.
struct Known<'c> {
    constants: &'c Constants,
    hints: bool,
    used: BTreeSet<String>,
}

impl Binder for Known<'_> {
    fn variable(&mut self, path: &[&str]) -> Result<Bound, BindError> {
        let name = path[0];
        let layers = &self.constants.layers;
        match layers.iter().rev().find_map(|layer| layer.get(name)) {
            Some(Some(value)) => {
                if self.hints {
                    self.used.insert(name.to_owned());
                }
                Ok(Bound::Constant(value.clone(), 1))
            }
            Some(None) => {
                let message =
                    format!("`{name}` is not known before the run, or not the same each time");
                Err(BindError::new(message).with_help(HELP))
            }
            None if self.hints => {
                let known = layers.iter().flat_map(HashMap::keys).map(String::as_str);
                let near = nearest(name, known).map(|near| format!("did you mean `{near}`?"));
                let help = near.unwrap_or_else(|| HELP.to_owned());
                Err(BindError::new(format!("unknown variable `{name}`")).with_help(help))
            }
            None => Err(BindError::new("unknown variable")),
        }
    }

    fn function(&mut self, name: &str, _: &[Option<Value>]) -> Result<FunctionId, BindError> {
        Err(BindError::unknown_function(name))
    }

    fn budget(&self) -> Rc<Budget> {
        self.constants.budget.clone()
    }
}
