//! Loads a plan: reads it whole, gives its variables their values, and looks for what is wrong with it.

use std::collections::HashSet;
use std::path::Path;

use crate::diagnostic::{Diagnostic, Severity, Sources, nearest};
use crate::model::{Plan, Var, read_plan};
use crate::nodes::Reader;
use crate::span::Span;
use crate::validate;
use crate::vars::LoadOptions;

/// A plan and where it came from.
#[derive(Debug, Clone)]
pub struct Loaded {
    pub plan: Plan,
    pub sources: Sources,
    /// What may not mean what was meant.
    pub warnings: Vec<Diagnostic>,
}

/// What is wrong with a plan.
#[derive(Debug, Clone)]
pub struct PlanErrors {
    /// The errors, in the order of the file.
    pub diagnostics: Vec<Diagnostic>,
    /// What may not mean what was meant, beside the errors.
    pub warnings: Vec<Diagnostic>,
    /// The files that they stand in.
    pub sources: Sources,
    /// What could be read, so that more can be found: what is wrong is as if it were not there.
    pub plan: Box<Plan>,
    /// Whether all of it could be read: what is wrong is what stands there.
    pub is_whole: bool,
}

/// Reads a plan from a text; relative paths in it are relative to `folder`.
///
/// # Errors
/// It is no good plan.
pub fn load_str(
    name: &str,
    text: &str,
    folder: &Path,
    options: &LoadOptions,
) -> Result<Loaded, PlanErrors> {
    let mut reader = Reader::new(folder, options.clone());
    let plan = read(&mut reader, name, text);
    let (found, sources) = reader.finish();
    let is_whole = plan.is_some() && found.iter().all(|own| own.severity == Severity::Warning);
    let plan = plan.unwrap_or_default();
    match finish(Loaded { plan, sources, warnings: found }, options) {
        Err(errors) => Err(PlanErrors { is_whole, ..errors }),
        loaded => loaded,
    }
}

fn read(reader: &mut Reader, name: &str, text: &str) -> Option<Plan> {
    let root = reader.parse(name, text)?;
    read_plan(reader, &root)
}

/// Gives a plan's variables their values, and looks for what is wrong with it beyond its form. `warnings` are what was found
/// when it was read, errors among them.
///
/// # Errors
/// It is no good plan.
pub fn finish(loaded: Loaded, options: &LoadOptions) -> Result<Loaded, PlanErrors> {
    let Loaded { mut plan, mut sources, warnings: mut found } = loaded;
    sources.hide(&options.secrets());
    if plan.name.is_empty() {
        let file = sources.plan_file().and_then(|file| Path::new(file).file_stem());
        plan.name = file.map_or("plan".into(), |stem| stem.to_string_lossy()).into_owned();
    }
    // Values that others take the place of stand in the file all the same.
    sources.hide(&plan.secrets());
    let own = plan.scenarios.iter_mut().flat_map(|scenario| &mut scenario.vars);
    found.extend(replace(options, plan.vars.iter_mut().chain(own)));
    let secrets = plan.secrets();
    sources.hide(&secrets);
    found.extend(secrets.too_many());
    let masked = plan.masked_secrets();
    found.extend(if masked.is_empty() { plan.short_secrets() } else { masked });
    found.extend(validate::validate(&plan));
    sort(&mut found);
    let (errors, warnings): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|found| found.severity == Severity::Error);
    if errors.is_empty() {
        return Ok(Loaded { plan, sources, warnings });
    }
    let plan = Box::new(plan);
    Err(PlanErrors { diagnostics: errors, warnings, sources, plan, is_whole: true })
}

/// Puts the values that were given in place of the variables' own, which are remembered.
fn replace<'v>(options: &LoadOptions, vars: impl Iterator<Item = &'v mut Var>) -> Vec<Diagnostic> {
    let mut known: Vec<&str> = Vec::new();
    for var in vars {
        for value in options.given(&var.name.value) {
            var.replaced.push(std::mem::replace(&mut var.value, value));
        }
        known.push(&var.name.value);
    }
    // Files and environments often hold more than one plan uses.
    let is_unknown = |name: &str| !known.iter().any(|own| own.eq_ignore_ascii_case(name));
    let unknown = options.set.iter().map(|(name, _)| name).filter(|name| is_unknown(name));
    let diagnostic = |name: &String| {
        let help = match nearest(name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if known.is_empty() => "the plan has no variables: add `vars:`".to_owned(),
            None => format!("its variables are {}", known.join(", ")),
        };
        let message = format!("`{name}`: the plan has no such variable");
        Diagnostic::error(Span::default(), message).with_help(&help)
    };
    unknown.map(diagnostic).collect()
}

fn place(found: &Diagnostic) -> (u16, u32, u32) {
    (found.span.file, found.span.line, found.span.column)
}

/// Sorts by place, and leaves out what is said twice.
pub fn sort(found: &mut Vec<Diagnostic>) {
    let mut seen = HashSet::new();
    found.retain(|found| seen.insert((place(found), found.message.clone())));
    found.sort_by_key(place);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_for_an_unknown_variable() {
        let options = LoadOptions {
            set: vec![("host".to_owned(), "a".to_owned())],
            ..LoadOptions::default()
        };
        let help = |mut vars: Vec<Var>| {
            replace(&options, vars.iter_mut())[0].help.clone().unwrap_or_default()
        };
        assert!(help(Vec::new()).contains("the plan has no variables"), "{}", help(Vec::new()));
        let mut var = Var::default();
        var.name.value = "colour".to_owned();
        assert!(help(vec![var]).contains("its variables are colour"));
    }
}
