//! The variables of a plan: which are constants that are known before the run, and which have a slot since a
//! step sets them; and which of them are secret.

use std::collections::{HashMap, HashSet};

use squall_plan::expr::Slot;
use squall_plan::model::{Plan, Var};
use squall_plan::secrets::sounds_secret;
use squall_plan::span::Span;
use squall_plan::value::{MAX_VARIABLES, Value};

use super::compiler::{Compiler, Section};
use super::constant_scope::ConstantScope;
use super::ops::JsonOp;
use super::places::Place;
use crate::parts::url;

/// What a variable of a scenario stands in place of.
pub(super) struct Replaced {
    name: String,
    constant: Option<Value>,
    slot: Option<Slot>,
}

impl<'p> Compiler<'p> {
    /// Gives a slot to every variable that a step sets, and folds all others to constants.
    pub(super) fn declare(&mut self) {
        let plan = self.plan;
        let mut set = Vec::new();
        for step in plan.scenarios.iter().flat_map(|scenario| &scenario.steps) {
            step.written(&mut set);
        }
        if self.options.section == Section::Teardown {
            plan.teardown.iter().for_each(|step| step.written(&mut set));
        }
        // What setup found is a constant of the load and of teardown. To setup itself it is a variable;
        // so it is to the others while setup has not run, or if it found nothing.
        let mut of_setup = Vec::new();
        plan.setup.iter().for_each(|step| step.written(&mut of_setup));
        let is_setup = self.options.section == Section::Setup;
        set.extend(of_setup.into_iter().filter(|name| is_setup || !self.is_of_setup(name)));
        for (name, value) in &self.options.setup {
            if self.is_secret(name) {
                self.secrets.add_value(value);
            }
            self.constants.insert(name.clone(), value.clone());
        }
        for var in &plan.vars {
            if self.constants.contains_key(&var.name.value) {
                continue;
            }
            if let Some(value) = self.evaluate(var) {
                self.constants.insert(var.name.value.clone(), value);
            }
        }
        let shared = plan.vars.iter().filter(|var| var.shared);
        let shared: HashSet<&str> = shared.map(|var| var.name.value.as_str()).collect();
        for name in set {
            if self.known_slot(name).is_none() {
                let initial = self.constants.remove(name);
                match shared.contains(name) {
                    true => self.new_shared(name.to_owned(), initial),
                    false => self.new_slot(name.to_owned(), initial),
                };
            }
        }
    }

    /// Whether what a variable holds is secret: the plan says so, or its name does.
    pub(super) fn is_secret(&self, name: &str) -> bool {
        self.are_secret.get(name).copied().unwrap_or_else(|| sounds_secret(name))
    }

    /// Which variables of a plan are secret, by name.
    pub(super) fn are_secret(plan: &'p Plan) -> HashMap<&'p str, bool> {
        let own = plan.scenarios.iter().flat_map(|scenario| &scenario.vars);
        let mut known = HashMap::new();
        for var in plan.vars.iter().chain(own) {
            *known.entry(var.name.value.as_str()).or_default() |= var.is_secret();
        }
        known
    }

    /// The secret variables that setup or teardown itself sets: what they hold is secret as soon as it is
    /// found. Those that users of a load set are not looked at, which would cost every request.
    pub(super) fn secrets_to_find(&self) -> HashSet<String> {
        let steps = match self.options.section {
            Section::Setup => &self.plan.setup,
            Section::Teardown => &self.plan.teardown,
            Section::Load | Section::Trial => return HashSet::new(),
        };
        let mut names = Vec::new();
        steps.iter().for_each(|step| step.written(&mut names));
        names.into_iter().filter(|name| self.is_secret(name)).map(str::to_owned).collect()
    }

    /// What a variable comes to before the run; `None`: that is an error.
    fn evaluate(&mut self, var: &'p Var) -> Option<Value> {
        if self.left == 0 {
            // There is no room for any, and that was said.
            return None;
        }
        let value = self.json(&var.value)?;
        let value = self.fold(&value, var.name.span)?;
        let Some(left) = value.left_of(self.left) else {
            // One that doubles others has more that double it.
            if std::mem::take(&mut self.left) > 0 {
                let (most, name) = (MAX_VARIABLES >> 20, &var.name.value);
                let message = format!("the variables come to more than {most} MiB with `{name}`");
                self.error(var.name.span, message, "");
            }
            return None;
        };
        self.left = left;
        if var.is_secret() {
            self.secrets.add_value(&value);
        }
        self.allow_urls(&value);
        Some(value)
    }

    /// Puts the variables of a scenario in place of those of the plan, and gives what they replace. One that
    /// a step sets has a slot of its own, with this value at first.
    pub(super) fn enter(&mut self, vars: &'p [Var]) -> Vec<Replaced> {
        let mut replaced = Vec::new();
        for var in vars {
            let Some(value) = self.evaluate(var) else { continue };
            let name = var.name.value.clone();
            let (constant, slot) = (self.constants.remove(&name), self.slots.remove(&name));
            match (slot, var.shared) {
                (Some(_), true) => drop(self.new_shared(name.clone(), Some(value))),
                (Some(_), false) => drop(self.new_slot(name.clone(), Some(value))),
                (None, _) => drop(self.constants.insert(name.clone(), value)),
            }
            replaced.push(Replaced { name, constant, slot });
        }
        replaced
    }

    /// Undoes [`Compiler::enter`].
    pub(super) fn leave(&mut self, replaced: Vec<Replaced>) {
        for Replaced { name, constant, slot } in replaced.into_iter().rev() {
            self.slots.remove(&name);
            self.constants.remove(&name);
            self.slots.extend(slot.map(|slot| (name.clone(), slot)));
            self.constants.extend(constant.map(|value| (name, value)));
        }
    }

    /// A URL in a variable of the plan names its host, whatever becomes of the variable.
    fn allow_urls(&mut self, value: &Value) {
        match value {
            Value::Text(text) => {
                if let Ok(url::Location { origin, .. }) = url::parse(text) {
                    self.hosts.allow_origin(&origin.host, origin.port);
                }
            }
            Value::List(items) => items.iter().for_each(|item| self.allow_urls(item)),
            Value::Map(map) => map.values().for_each(|value| self.allow_urls(value)),
            _ => {}
        }
    }

    /// Whether a variable's value is one that setup has found.
    pub(super) fn is_of_setup(&self, name: &str) -> bool {
        self.found_by_setup.contains(name)
    }

    /// The value of something that may only depend on what is known before the run.
    fn fold(&mut self, json: &JsonOp, span: Span) -> Option<Value> {
        let scope = ConstantScope::new(self.options.seed);
        match (json.value_within(&scope, &self.budget), self.budget.exceeded()) {
            (Ok(value), _) => Some(value),
            (Err(_), Some(bound)) => {
                // That there is no more room for those after it need not be said again.
                self.left = 0;
                let message = format!("the variables up to this one come to more than {bound}");
                let help = "that is the most that is evaluated before a run: use smaller lists and texts, or fewer";
                self.error(span, message, help);
                None
            }
            (Err(error), None) => {
                self.error(
                    span,
                    error.to_string(),
                    "variables of the plan are evaluated before the run",
                );
                None
            }
        }
    }

    /// The slot of a variable; [`Compiler::declare`] has seen all that steps set.
    pub(super) fn slot(&mut self, name: &str) -> Slot {
        self.known_slot(name).unwrap_or_else(|| self.new_slot(name.to_owned(), None))
    }

    /// A slot for a loop's own use.
    pub(super) fn hidden_slot(&mut self) -> Slot {
        self.new_slot(String::new(), None)
    }

    fn new_slot(&mut self, name: String, initial: Option<Value>) -> Slot {
        let slot = Place::Variable(self.variables.len()).slot();
        if !name.is_empty() {
            self.slots.insert(name.clone(), slot);
        }
        self.variables.push(name);
        self.initial.push(initial);
        slot
    }

    /// A slot for a variable that all users have together.
    fn new_shared(&mut self, name: String, initial: Option<Value>) -> Slot {
        let slot = Place::Shared(self.shared.len()).slot();
        self.slots.insert(name.clone(), slot);
        self.shared.push(name);
        self.initial_shared.push(initial);
        slot
    }

    pub(super) fn known_slot(&self, name: &str) -> Option<Slot> {
        self.slots.get(name).copied()
    }

    pub(super) fn is_variable(&self, name: &str) -> bool {
        self.known_slot(name).is_some() || self.constants.contains_key(name)
    }

    /// Names of everything that a plan defines.
    pub(super) fn variables(&self) -> impl Iterator<Item = &str> {
        self.variables
            .iter()
            .chain(&self.shared)
            .chain(self.constants.keys())
            .chain(self.feeds.iter().map(|feed| &feed.name))
            .map(String::as_str)
    }
}
