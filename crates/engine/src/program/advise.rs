//! What is not wrong with a plan but cannot have been meant: variables and data that nothing uses,
//! rules about names that no request can have. Looks at the programs of all parts; no I/O.

use squall_plan::diagnostic::{Diagnostic, nearest};
use squall_plan::model::Plan;
use squall_plan::span::Span;

use super::{NameOp, Op, Program};

/// Warnings about a plan. `programs`: of setup, load and teardown; `judged`: the names that thresholds are
/// about, each with the place of its threshold.
pub fn advise(plan: &Plan, programs: &[&Program], judged: &[(&str, Span)]) -> Vec<Diagnostic> {
    let used = |name: &str| {
        plan.resolved.0.contains(name) || programs.iter().any(|program| program.used.contains(name))
    };
    let unused = |what: &str, name: &str, span: Span| {
        Diagnostic::warning(span, format!("{what} `{name}` is never used"))
            .with_help("use it as `${...}` or in an expression, or remove it")
    };
    let own = plan.scenarios.iter().flat_map(|scenario| &scenario.vars);
    let vars = plan.vars.iter().chain(own).map(|var| ("the variable", &var.name));
    let data = plan.data.iter().map(|data| ("the data source", &data.name));
    let mut found: Vec<Diagnostic> = vars
        .chain(data)
        .filter(|(_, name)| !used(&name.value))
        .map(|(what, name)| unused(what, &name.value, name.span))
        .collect();
    if programs.iter().all(|program| program.names_are_known()) {
        let known: Vec<&str> = programs
            .iter()
            .flat_map(|program| &program.names)
            .map(|(_, name)| name.as_str())
            .collect();
        let metrics = plan.metrics();
        found.extend(judged.iter().filter_map(|(name, span)| {
            // With tags it is `name{key=value}`.
            let metric = name.split('{').next().unwrap_or(name);
            let is_metric = metrics.iter().any(|own| own.name.value == metric);
            (!is_metric && !known.contains(name)).then(|| strange(name, &known, *span))
        }));
    }
    found
}

fn strange(name: &str, known: &[&str], span: Span) -> Diagnostic {
    let help = match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the names of this plan are {}", known.join(", ")),
    };
    Diagnostic::warning(span, format!("no request or group is named `{name}`")).with_help(&help)
}

impl Program {
    /// Whether the names of all requests are known before the run.
    fn names_are_known(&self) -> bool {
        let known = |op: &Op| match op {
            Op::Request(request) => matches!(request.name, NameOp::Static(_)),
            _ => true,
        };
        self.scenarios.iter().flat_map(|scenario| &scenario.ops).all(known)
    }
}
