//! What a plan must have beyond its form. What other crates know better (patterns, names in
//! expressions, thresholds) is found when it is compiled.

use crate::diagnostic::Diagnostic;
use crate::model::{Bandwidth, ConnectionReuse, Load, Plan};

/// Everything that is wrong with a plan that was read.
pub(crate) fn validate(plan: &Plan) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for scenario in &plan.scenarios {
        let name = &scenario.name.value;
        let mut error = |message: String, help: &str| {
            found.push(Diagnostic::error(scenario.span, message).with_help(help));
        };
        match (&scenario.load, &scenario.weight, &plan.load) {
            (Some(_), Some(_), _) => {
                error(format!("scenario `{name}` has a load and a weight"), "leave out one of them")
            }
            (None, None, _) => error(
                format!("scenario `{name}` has no load"),
                "add `load: {users: 10, for: 1m}`, or a `weight` and a `load` for the plan",
            ),
            (None, Some(_), None) => error(
                format!("scenario `{name}` has a weight, but the plan has no load to share"),
                "add a `load` to the plan",
            ),
            (None, Some(weight), _) if weight.value <= 0.0 => {
                error("a weight must be above 0".to_owned(), "")
            }
            _ => {}
        }
        let slow = scenario.bandwidth.unwrap_or(plan.bandwidth) != Bandwidth::default();
        if slow && matches!(plan.connections.reuse, ConnectionReuse::Pool(_)) {
            error(
                format!(
                    "scenario `{name}` has a bandwidth, but its users share a pool of connections"
                ),
                "leave out `connections.reuse: pool` or the `bandwidth`",
            );
        }
        if scenario.steps.is_empty() {
            error(format!("scenario `{name}` has no steps"), "add `steps:` with at least one");
        }
    }
    let weighted = plan.scenarios.iter().any(|scenario| scenario.weight.is_some());
    if let Some(load) = plan.load.as_ref().filter(|_| !weighted) {
        let diagnostic =
            Diagnostic::error(load.span, "no scenario has a weight to share this load");
        found.push(diagnostic.with_help("give scenarios a `weight`, or move the load into one"));
    }
    for load in plan
        .scenarios
        .iter()
        .filter_map(|scenario| scenario.load.as_ref())
        .chain(plan.load.as_ref())
    {
        if let Load::Closed(closed) = &load.value
            && closed.users == Some(0)
            && closed.stages.is_empty()
        {
            found.push(Diagnostic::error(load.span, "a load of 0 users does nothing"));
        }
        if let Load::Open(open) = &load.value
            && open.max_users == 0
        {
            found.push(Diagnostic::error(load.span, "`max_users` must be above 0"));
        }
    }
    found
}
