//! Reads a plan that stands somewhere in a file: as all of it, or as a part of an experiment.

use super::{Json, Plan, Resolved, Var, Variable};
use crate::keys::{ByName, Form, Of};
use crate::nodes::{Node, Reader};

/// Reads the plan that stands at a node.
pub(crate) fn read_plan(reader: &mut Reader, root: &Node) -> Option<Plan> {
    enter_vars(reader, root);
    let mut plan = Of::<Plan>::read(reader, root)?;
    let (lost, resolved) = reader.take_variables();
    let factors = undefined(reader, &plan.vars);
    plan.vars.extend(factors);
    // What uses a variable is not wrong because its definition is.
    plan.vars.extend(lost.into_iter().map(|name| Var { name, ..Var::default() }));
    plan.resolved = Resolved(resolved);
    whole(reader, root, &plan);
    Some(plan)
}

/// Lets quantities hold the plan's variables. What is wrong with them is said when they are read.
fn enter_vars(reader: &mut Reader, root: &Node) {
    let node = root.get("vars").filter(|vars| vars.is_map());
    let vars = node.and_then(|node| reader.quietly(|own| ByName::<Variable>::read(own, node)));
    let mut vars = vars.unwrap_or_default();
    vars.extend(undefined(reader, &vars));
    if !vars.is_empty() {
        reader.enter(vars.iter().map(Var::definition));
    }
}

/// Variables that an experiment gives a plan and that the plan does not define.
fn undefined(reader: &Reader, vars: &[Var]) -> Vec<Var> {
    let is_defined = |name: &str| vars.iter().any(|var| var.name.value.eq_ignore_ascii_case(name));
    let factors = reader.factors().iter().filter(|(name, _)| !is_defined(name));
    let var = |(name, value): &(String, Json)| Var {
        name: name.as_str().into(),
        value: value.clone(),
        ..Var::default()
    };
    factors.map(var).collect()
}

/// What is wrong with the parts of a plan taken together. Whether something is there at all is asked of
/// the text, since what is wrong with it has been said.
fn whole(reader: &mut Reader, root: &Node, plan: &Plan) {
    let is_there = |node: &Node, key: &str| node.get(key).is_some_and(|node| !node.is_null());
    let scenarios = root.get("scenarios").map(Node::values).unwrap_or_default();
    let weighted = scenarios.iter().any(|scenario| is_there(scenario, "weight"));
    let has_load = is_there(root, "load");
    for scenario in plan.scenarios.iter().filter(|scenario| scenario.weight.is_some() && !has_load)
    {
        let name = &scenario.name.value;
        let message = format!("scenario `{name}` has a weight, but the plan has no load to share");
        reader.error(scenario.span, message, "add a `load` to the plan");
    }
    if has_load && !weighted {
        let span = root.get("load").map_or(root.span, |load| load.span);
        let help = "give scenarios a `weight`, or move the load into one";
        reader.error(span, "no scenario has a weight to share this load", help);
    }
}
