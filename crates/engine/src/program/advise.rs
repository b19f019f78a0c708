//! What is not wrong with a plan but cannot have been meant: variables and data that nothing uses,
//! rules about names that things of several kinds have. Looks at the programs of all parts; no I/O.

use std::collections::{HashMap, HashSet};

use squall_metrics::{RowKey, RowKind, Selector};
use squall_plan::diagnostic::Diagnostic;
use squall_plan::model::{Plan, Step, StepKind};
use squall_plan::span::Span;

use super::compiled::Program;
use super::judged::{Judged, Recorded, recorded};

/// Warnings about a plan. `programs`: of setup, load and teardown; `judged`: what thresholds are about.
pub fn advise(plan: &Plan, programs: &[&Program], judged: &[Judged<'_>]) -> Vec<Diagnostic> {
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
        // What has no place no person wrote.
        .filter(|(_, name)| name.span.is_known() && !used(&name.value))
        .map(|(what, name)| unused(what, &name.value, name.span))
        .collect();
    let rows: Vec<RowKey> = programs.iter().flat_map(|program| program.names.keys()).collect();
    let mut named: HashMap<&str, Vec<&RowKey>> = HashMap::new();
    rows.iter().for_each(|row| named.entry(&row.name).or_default().push(row));
    let scenarios = programs.iter().flat_map(|program| &program.scenarios);
    let mut metrics: HashMap<String, Vec<Recorded>> = HashMap::new();
    for metric in scenarios.flat_map(|scenario| &scenario.ops).flat_map(recorded) {
        metrics.entry(metric.name.clone()).or_default().push(metric);
    }
    // Only a metric has a limit without a unit.
    for Judged { selector, span, .. } in judged.iter().filter(|own| !own.is_of_metric) {
        let Some(name) = selector.name.as_deref() else { continue };
        let rows = named.get(name).map_or(&[][..], Vec::as_slice);
        let rows: Vec<&RowKey> = rows.iter().copied().filter(|row| selector.matches(row)).collect();
        let metrics = selector.metric().and_then(|name| metrics.get(name));
        let is_metric =
            metrics.is_some_and(|all| all.iter().any(|metric| metric.is_meant(selector)));
        found.extend(ambiguous(selector, &rows, is_metric, *span));
    }
    // What holds for all steps is compiled with each.
    let mut seen = HashSet::new();
    for warning in programs.iter().flat_map(|program| &program.warnings) {
        let Span { file, line, column } = warning.span;
        if seen.insert((file, line, column, &warning.message)) {
            found.push(warning.clone());
        }
    }
    let users: u64 = programs.iter().map(|program| program.users_of_loads()).max().unwrap_or(0);
    let steps = plan.scenarios.iter().flat_map(|scenario| &scenario.steps);
    steps.for_each(|step| too_few(step, users, &mut found));
    found
}

/// Waits for more users than there are, without end.
fn too_few(step: &Step, most: u64, found: &mut Vec<Diagnostic>) {
    if let StepKind::Rendezvous(rendezvous) = &step.kind
        && rendezvous.timeout.is_none()
        && u64::from(rendezvous.users) > most
    {
        let wanted = rendezvous.users;
        let message = format!("{wanted} users never meet here: the loads have at most {most}");
        let help = "give it a `timeout`, or fewer `users`";
        found.push(Diagnostic::warning(step.span, message).with_help(help));
    }
    step.inner().for_each(|step| too_few(step, most, found));
}

/// A name that things of several kinds have: these rows, and a metric or none.
fn ambiguous(
    selector: &Selector,
    rows: &[&RowKey],
    is_metric: bool,
    span: Span,
) -> Option<Diagnostic> {
    let own = selector.name.as_deref()?;
    let mut kinds: Vec<RowKind> = rows.iter().map(|key| key.place.kind).collect();
    kinds.sort();
    kinds.dedup();
    if kinds.len() + usize::from(is_metric) < 2 || selector.kind.is_some() {
        return None;
    }
    let meant = selector.kinds(rows.iter().copied()).first().map_or("", |kind| kind.label());
    let labels = kinds.iter().map(|kind| kind.label()).chain(is_metric.then_some("metric"));
    let with_article = |label: &str| match label.starts_with('i') {
        true => format!("of an {label}"),
        false => format!("of a {label}"),
    };
    let all: Vec<String> = labels.map(with_article).collect();
    let all = all.join(" and ");
    let message = format!("`{own}` is the name {all}: this threshold is about the {meant}");
    Some(
        Diagnostic::warning(span, message)
            .with_help("add `kind:`, as in `p99(login, kind: group)`"),
    )
}
