//! What a plan must have beyond its form. What other crates know better (patterns, names in
//! expressions, thresholds) is found when it is compiled.

use crate::diagnostic::Diagnostic;
use crate::model::{Bandwidth, ConnectionReuse, Load, Plan, SampleForm};

/// What is wrong with a plan that was read.
pub(crate) fn validate(plan: &Plan) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for scenario in &plan.scenarios {
        let slow = scenario.bandwidth.unwrap_or(plan.bandwidth) != Bandwidth::default();
        if slow && matches!(plan.connections.reuse, ConnectionReuse::Pool(_)) {
            let name = &scenario.name.value;
            let message = format!(
                "scenario `{name}` has a bandwidth, but its users share a pool of connections"
            );
            let help = "leave out `connections.reuse: pool` or the `bandwidth`";
            found.push(Diagnostic::error(scenario.span, message).with_help(help));
        }
    }
    let own = plan.scenarios.iter().filter_map(|scenario| scenario.load.as_ref());
    for load in own.chain(plan.load.as_ref()) {
        if let Load::Closed(closed) = &load.value
            && closed.users == Some(0)
            && closed.stages.is_empty()
        {
            found.push(Diagnostic::error(load.span, "a load of 0 users does nothing"));
        }
    }
    for samples in &plan.samples {
        if samples.append && matches!(samples.form, SampleForm::Csv | SampleForm::Parquet) {
            let message = "only files of the forms `jtl` and `jtl_xml` can go on";
            found.push(Diagnostic::error(samples.file.span, message));
        }
        let is_there = |name: &str| plan.scenarios.iter().any(|own| own.name.value == name);
        for name in samples.scenarios.iter().filter(|name| !is_there(&name.value)) {
            let message = format!("there is no scenario `{}`", name.value);
            found.push(Diagnostic::error(name.span, message));
        }
    }
    found
}
