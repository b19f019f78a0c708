//! What a plan has that several machines cannot share without asking each other at every step: it holds within each of
//! them, and the plan may mean something else on many than on one.

use crate::model::{CountedBy, End, Load, Plan, Scenario, Step, StepKind};
use crate::span::Span;

/// What of a plan holds within each node of a fleet alone: where it is in the plan, and a sentence for the user. In the
/// order of the plan, each place once.
pub fn holds_within_a_node(plan: &Plan) -> Vec<(Span, String)> {
    let mut found = Vec::new();
    let vars = plan.vars.iter().chain(plan.scenarios.iter().flat_map(|own| &own.vars));
    for var in vars.filter(|var| var.shared) {
        let name = &var.name.value;
        let text =
            format!("each node has its own `{name}`: users see what those of their node set");
        found.push((var.name.span, text));
    }
    for scenario in &plan.scenarios {
        in_scenario(scenario, &mut found);
        scenario.steps.iter().for_each(|step| in_step(step, &mut found));
    }
    let mut seen = std::collections::HashSet::new();
    found.retain(|(span, text)| seen.insert((span.file, span.line, span.column, text.clone())));
    found
}

fn in_scenario(scenario: &Scenario, found: &mut Vec<(Span, String)>) {
    let name = &scenario.name.value;
    if let Some(first) = scenario.after.first() {
        let text = format!(
            "`after`: on each node `{name}` starts when that node's part of what it waits for is done"
        );
        found.push((first.span, text));
    }
    if let Some(load) = &scenario.load
        && let Load::Closed(closed) = &load.value
        && closed.end == End::Together
    {
        let text = "`end: together`: on each node the users end with the first of that node \
                    which has made its iterations";
        found.push((load.span, text.to_owned()));
    }
}

fn in_step(step: &Step, found: &mut Vec<(Span, String)>) {
    let text = match &step.kind {
        StepKind::Rendezvous(rendezvous) => Some(format!(
            "`rendezvous`: {} users of the same node meet, so that each node needs as many",
            rendezvous.users
        )),
        StepKind::CriticalSection(_) => Some(
            "`critical_section`: one user of each node is in it at a time, not one of all"
                .to_owned(),
        ),
        StepKind::Passes(passes) if passes.of == CountedBy::Scenario => {
            Some("`passes` with `of: scenario`: each node counts those of its own users".to_owned())
        }
        _ => None,
    };
    found.extend(text.map(|text| (step.span, text)));
    step.inner().for_each(|step| in_step(step, found));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(plan: &str) -> Vec<String> {
        let options = crate::vars::LoadOptions::default();
        let loaded = crate::yaml::load_str("plan", plan, "".as_ref(), &options);
        let plan = loaded.expect("a good plan").plan;
        let all = holds_within_a_node(&plan);
        assert!(all.iter().all(|(span, _)| span.is_known()), "{all:?}");
        all.into_iter()
            .map(|(_, text)| text.split(':').next().unwrap_or_default().to_owned())
            .collect()
    }

    #[test]
    fn what_needs_others_is_named_and_nothing_else() {
        let plan = "
target: http://h
vars: {stock: {value: 1, shared: true}, own: 2}
scenarios:
  a:
    load: {users: 2, iterations: 3, end: together}
    steps:
      - get: /
      - group: g
        steps:
          - {rendezvous: {users: 2}}
          - {critical_section: till, steps: [{get: /}]}
      - {passes: {percent: 50, of: scenario, steps: [{get: /}]}}
      - {passes: {percent: 50, steps: [{get: /}]}}
      - {pace: {rate: 5, by: run_in_line}}
  b: {load: {users: 1, for: 1s}, after: [a], steps: [{get: /}]}
";
        let expected = [
            "each node has its own `stock`",
            "`end",
            "`rendezvous`",
            "`critical_section`",
            "`passes` with `of",
            "`after`",
        ];
        assert_eq!(found(plan), expected);
        let plain =
            "target: http://h\nscenarios: {a: {load: {users: 1, for: 1s}, steps: [{get: /}]}}";
        assert_eq!(found(plain), [""; 0]);
    }
}
