//! Plans as YAML: reading with every error that can be found in one go, printing, and the schema.

mod node;
mod parts;
mod print;
mod read;
mod schema;
mod steps;
mod suggest;
mod tables;

use std::path::Path;

use crate::diagnostic::{Diagnostic, Severity, Sources};
use crate::model::Plan;
use crate::span::Span;
use crate::validate;
use crate::vars::LoadOptions;

pub use print::print;
pub use schema::schema;

/// A plan and where it came from.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The plan.
    pub plan: Plan,
    /// Its files.
    pub sources: Sources,
    /// What may not mean what was meant.
    pub warnings: Vec<Diagnostic>,
}

/// What is wrong with a plan.
#[derive(Debug, Clone)]
pub struct PlanErrors {
    /// The errors, in the order of the file.
    pub diagnostics: Vec<Diagnostic>,
    /// The files that they stand in.
    pub sources: Sources,
}

/// Reads a plan from a file.
///
/// # Errors
/// It cannot be read, or is no good plan.
pub fn load(path: &Path, options: &LoadOptions) -> Result<Loaded, PlanErrors> {
    let name = path.display().to_string();
    match std::fs::read_to_string(path) {
        Ok(text) => {
            let folder = path.parent().unwrap_or(Path::new(""));
            load_str(&name, &text, folder, options)
        }
        Err(error) => {
            let diagnostic = Diagnostic::error(Span::default(), format!("{name}: {error}"));
            Err(PlanErrors { diagnostics: vec![diagnostic], sources: Sources::default() })
        }
    }
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
    let mut reader = read::Reader::new(folder);
    let plan = reader.plan(name, text);
    let (mut diagnostics, mut sources) = reader.finish();
    sources.hide(&options.secrets());
    if let Some(mut plan) = plan.filter(|_| diagnostics.is_empty()) {
        if plan.name.is_empty() {
            let stem = Path::new(name).file_stem().map(|stem| stem.to_string_lossy().into_owned());
            plan.name = stem.unwrap_or_else(|| "plan".to_owned());
        }
        // Values that others take the place of stand in the file all the same.
        sources.hide(&plan.secrets());
        diagnostics.extend(options.apply(&mut plan));
        sources.hide(&plan.secrets());
        diagnostics.extend(plan.short_secrets());
        diagnostics.extend(validate::validate(&plan));
        let (errors, warnings): (Vec<_>, Vec<_>) =
            diagnostics.into_iter().partition(|diagnostic| diagnostic.severity == Severity::Error);
        if errors.is_empty() {
            return Ok(Loaded { plan, sources, warnings });
        }
        diagnostics = errors;
    }
    diagnostics.sort_by_key(|diagnostic| {
        (diagnostic.span.file, diagnostic.span.line, diagnostic.span.column)
    });
    Err(PlanErrors { diagnostics, sources })
}

#[cfg(test)]
mod tests;
